/* SPDX-License-Identifier: MIT */
/* Sanitises the strings of a stored JSON file before printing: a terminal must not
 * interpret them. */
#ifndef MEMLAG_JSON_TEXT_H
#define MEMLAG_JSON_TEXT_H

#include <jansson.h>

/* Replaces the control characters in all strings of ROOT by '?'. 0, or -ENOMEM. Keys of
 * objects stay: printed keys are looked up by name. */
int json_text_clean(json_t *root);

/* Does the same for TEXT, valid UTF-8 or not. */
void text_clean(char *text);

#endif
