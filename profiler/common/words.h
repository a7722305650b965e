/* SPDX-License-Identifier: MIT */
/* Command lines as text. */
#ifndef MEMLAG_WORDS_H
#define MEMLAG_WORDS_H

/* Joins the words up to NULL (none when WORDS is NULL), each quoted for a shell where
 * necessary. The caller frees it; NULL: no memory. */
char *words_join(const char *const *words);

#endif
