/* SPDX-License-Identifier: MIT */
/* What a stored JSON file says, before it is printed: a terminal must not obey it. */
#ifndef MEMLAG_JSON_TEXT_H
#define MEMLAG_JSON_TEXT_H

#include <jansson.h>

/* Replaces the control characters in all strings of ROOT by '?'. 0, or -ENOMEM. Keys of
 * objects stay: those that are printed are looked for by name. */
int json_text_clean(json_t *root);

/* The same of TEXT, in UTF-8 or not. */
void text_clean(char *text);

#endif
