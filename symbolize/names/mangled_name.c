/* SPDX-License-Identifier: MIT */
/* The Itanium C++ ABI, 5.1. The parser only distinguishes forms that determine where a
 * part ends. */
#include "mangled_name.h"

#include <string.h>

enum { DEPTH_LIMIT = 64 };

struct text {
        const char *at;
        const char *end;
        int depth;
};

static bool skip_item(struct text *text);

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_small(char c)
{
        return c >= 'a' && c <= 'z';
}

static bool take(struct text *text, char c)
{
        bool there = text->at < text->end && *text->at == c;

        text->at += there;
        return there;
}

static char peek(const struct text *text)
{
        return text->at < text->end ? *text->at : '\0';
}

static bool skip_characters(struct text *text, size_t count)
{
        if (count > (size_t)(text->end - text->at))
                return false;
        text->at += count;
        return true;
}

static bool skip_identifier(struct text *text)
{
        size_t length = 0;

        if (!is_digit(peek(text)) || peek(text) == '0')
                return false;
        for (; is_digit(peek(text)); text->at++) {
                length = 10 * length + (size_t)(*text->at - '0');
                if (length > (size_t)(text->end - text->at))
                        return false;
        }
        return skip_characters(text, length);
}

/* Skips past the E that ends the current group. */
static bool skip_to_end(struct text *text)
{
        while (!take(text, 'E'))
                if (!skip_item(text))
                        return false;
        return true;
}

/* "_", "0_", "1A_". */
static bool skip_number(struct text *text)
{
        while (is_digit(peek(text)) || (peek(text) >= 'A' && peek(text) <= 'Z'))
                text->at++;
        return take(text, '_');
}

/* A template's argument that is a number or an address, behind its L. */
static bool skip_literal(struct text *text)
{
        if (take(text, '_'))
                return take(text, 'Z') && skip_to_end(text);
        if (!skip_item(text))
                return false;
        while (peek(text) == 'n' || is_digit(peek(text)) ||
               (peek(text) >= 'a' && peek(text) <= 'f'))
                text->at++;
        return take(text, 'E');
}

/* The discriminator of names local to a function. */
static void skip_discriminator(struct text *text)
{
        if (peek(text) != '_')
                return;
        text->at++;
        if (take(text, '_'))
                skip_number(text);
        else if (is_digit(peek(text)))
                text->at++;
}

/* A name local to a function, behind its Z. */
static bool skip_local(struct text *text)
{
        if (!skip_to_end(text))
                return false;
        if (!take(text, 's') && !skip_item(text))
                return false;
        skip_discriminator(text);
        return true;
}

/* A lambda or another type without a name, behind its U. */
static bool skip_unnamed(struct text *text)
{
        if (take(text, 'l'))
                return skip_to_end(text) && skip_number(text);
        if (take(text, 't'))
                return skip_number(text);
        return skip_identifier(text);
}

static bool skip_substitution(struct text *text)
{
        char c = peek(text);

        if (c >= 'a' && c <= 'z')
                return skip_characters(text, 1);
        return skip_number(text);
}

/* Types that begin with D, and destructors. */
static bool skip_d(struct text *text)
{
        static const bool known[128] = {
            ['p'] = true, ['n'] = true, ['a'] = true, ['c'] = true, ['i'] = true,
            ['s'] = true, ['u'] = true, ['f'] = true, ['d'] = true, ['e'] = true,
            ['h'] = true, ['o'] = true, ['O'] = true, ['0'] = true, ['1'] = true,
            ['2'] = true, ['5'] = true,
        };
        unsigned char c = (unsigned char)peek(text);

        return c < sizeof(known) && known[c] && skip_characters(text, 1);
}

/* Of expressions only an address, behind the X. */
static bool skip_address(struct text *text)
{
        return take(text, 'a') && take(text, 'd') && skip_item(text) && take(text, 'E');
}

static bool skip_array(struct text *text)
{
        while (is_digit(peek(text)))
                text->at++;
        return take(text, '_');
}

static bool skip_any(struct text *text)
{
        char c = peek(text);

        if (is_digit(c))
                return skip_identifier(text);
        if (text->at == text->end)
                return false;
        text->at++;
        switch (c) {
        case 'N':
        case 'I':
        case 'J':
        case 'F':
                return skip_to_end(text);
        case 'L':
                return skip_literal(text);
        case 'Z':
                return skip_local(text);
        case 'U':
                return skip_unnamed(text);
        case 'S':
                return skip_substitution(text);
        case 'T':
                return skip_number(text);
        case 'D':
                return skip_d(text);
        case 'X':
                return skip_address(text);
        case 'A':
                return skip_array(text);
        case 'B':
                return skip_identifier(text);
        case 'C': /* a constructor, or before a type: complex */
                text->at += peek(text) >= '1' && peek(text) <= '5';
                return true;
        case 'M':
        case 'P':
        case 'R':
        case 'O':
        case 'K':
        case 'V':
        case 'G':
                return true;
        default: /* fundamental types, operators */
                return is_small(c);
        }
}

/* A name, a type or a prefix. Every form with nested forms calls this for them, so all
 * levels are counted. */
static bool skip_item(struct text *text)
{
        if (text->depth >= DEPTH_LIMIT)
                return false;
        text->depth++;
        bool whole = skip_any(text);

        text->depth--;
        return whole;
}

/* The type that an operator converts to. */
static bool skip_converted(struct text *text)
{
        while (peek(text) && strchr("PROKVrG", peek(text)))
                text->at++;
        return skip_item(text);
}

/* One of names in scopes: as an item, but for L, which only says that one file knows it,
 * and operators, which have two letters. */
static bool skip_name(struct text *text)
{
        if (peek(text) == 'L')
                text->at++;
        if (!is_small(peek(text)))
                return skip_item(text);
        const char *name = text->at;

        return skip_characters(text, 2) &&
               (strncmp(name, "cv", 2) != 0 || skip_converted(text));
}

/* Scopes and the name behind N and the qualifiers, up to behind the E. Constructors of
 * one class with the same parameters are one to who reads, and so are destructors: their
 * number is left out. */
static bool take_nested(struct text *text, struct mangled *parts)
{
        const char *last;

        parts->scoped = last = text->at;
        while (peek(text) != 'E') {
                last = text->at;
                if (!skip_name(text))
                        return false;
        }
        parts->scoped_length = (size_t)(text->at - parts->scoped);
        if (parts->scoped_length > 0 && (*last == 'C' || *last == 'D') &&
            text->at - last == 2 && is_digit(last[1]))
                parts->scoped_length--;
        return take(text, 'E') && parts->scoped_length > 0;
}

/* Allocation functions share a label for all parameters. */
static bool of_memory(const char *operator_name)
{
        return strncmp(operator_name, "nw", 2) == 0 ||
               strncmp(operator_name, "na", 2) == 0 ||
               strncmp(operator_name, "dl", 2) == 0 ||
               strncmp(operator_name, "da", 2) == 0;
}

/* A name in no scope, or in std. */
static bool take_unscoped(struct text *text, struct mangled *parts)
{
        parts->scoped = text->at;
        if (text->end - text->at > 2 && strncmp(text->at, "St", 2) == 0)
                text->at += 2;
        else if (take(text, 'L'))
                parts->scoped++;
        if (is_digit(peek(text))) {
                if (!skip_identifier(text))
                        return false;
        } else if (is_small(peek(text))) { /* an operator */
                if (of_memory(text->at) || !skip_characters(text, 2))
                        return false;
        } else {
                return false;
        }
        while (peek(text) == 'B')
                if (!skip_item(text))
                        return false;
        if (take(text, 'I') && !skip_to_end(text))
                return false;
        parts->scoped_length = (size_t)(text->at - parts->scoped);
        return true;
}

static bool take_name(struct text *text, struct mangled *parts)
{
        if (!take(text, 'N'))
                return take_unscoped(text, parts);
        parts->qualifiers = text->at;
        while (peek(text) && strchr("rVKRO", peek(text)))
                text->at++;
        parts->qualifiers_length = (size_t)(text->at - parts->qualifiers);
        return take_nested(text, parts);
}

bool mangled_take_apart(const char *link, size_t length, struct mangled *parts)
{
        struct text text = {.at = link, .end = link + length};

        *parts = (struct mangled){.around = link, .qualifiers = link};
        if (!take(&text, '_') || !take(&text, 'Z'))
                return false;
        parts->around = text.at;
        if (take(&text, 'Z')) {
                if (!skip_to_end(&text))
                        return false;
                parts->around_length = (size_t)(text.at - parts->around);
        }
        if (!take_name(&text, parts))
                return false;
        if (parts->around_length > 0)
                skip_discriminator(&text);
        parts->parameters = text.at;
        parts->parameters_length = (size_t)(text.end - text.at);
        return parts->parameters_length > 0;
}

/* Whether the item of NAME's scopes that begins at AT is a constructor or destructor. */
static bool is_constructor_at(const char *name, size_t at)
{
        struct text text = {.at = name, .end = name + strlen(name)};

        if (!take(&text, '_') || !take(&text, 'Z'))
                return false;
        if (take(&text, 'Z') && !skip_to_end(&text))
                return false;
        if (!take(&text, 'N'))
                return false;
        while (peek(&text) && strchr("rVKRO", peek(&text)))
                text.at++;
        while (text.at < name + at)
                if (peek(&text) == 'E' || !skip_name(&text))
                        return false;
        return text.at == name + at && (peek(&text) == 'C' || peek(&text) == 'D');
}

bool mangled_same_constructor(const char *a, const char *b)
{
        size_t at = 0;

        while (a[at] && a[at] == b[at])
                at++;
        return at > 0 && is_digit(a[at]) && is_digit(b[at]) &&
               strcmp(a + at + 1, b + at + 1) == 0 && is_constructor_at(a, at - 1);
}
