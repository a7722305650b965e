/* SPDX-License-Identifier: MIT */
/* Numbers in JSON arrays and text columns, many per row: the writer formats them, and
 * the later stages parse them. */
#ifndef MEMLAG_NUMBER_TEXT_H
#define MEMLAG_NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NUMBER_TEXT_WIDTH = 20 };

/* A growing text. A zeroed struct is empty. */
struct number_text {
        char *text; /* not ended by a 0 */
        size_t length, capacity;
};

void number_text_free(struct number_text *text);

/* Adds NUMBER to the array that TEXT is. 0 or -ENOMEM. */
int number_text_add(struct number_text *text, int64_t number);
/* Adds NUMBER in NUMBER_TEXT_WIDTH characters, to a text that is no array. 0 or -ENOMEM.
 */
int number_text_add_wide(struct number_text *text, int64_t number);

/* Ends the array; nothing may be added until number_text_clear. 0 or -ENOMEM. */
int number_text_end(struct number_text *text);
/* Empties the text, and retains its memory. */
void number_text_clear(struct number_text *text);

/* Takes the next number from *AT, before END. Returns false if none is left. Skips text
 * between numbers; no input is refused. */
bool number_text_next(const char **at, const char *end, int64_t *number);

#endif
