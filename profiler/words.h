/* SPDX-License-Identifier: MIT */
/* Command lines as text. */
#ifndef MEMLAG_WORDS_H
#define MEMLAG_WORDS_H

/* The words up to NULL (none when WORDS is NULL), each quoted where a shell would not
 * read it as one word. The caller frees it; NULL: no memory. */
char *words_join(const char *const *words);

#endif
