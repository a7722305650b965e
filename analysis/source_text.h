/* SPDX-License-Identifier: MIT */
/* Lines of source files, as far as they are at hand. */
#ifndef MEMLAG_SOURCE_TEXT_H
#define MEMLAG_SOURCE_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* Prints LINE of the file PATH, marked, with some lines around it, and says when
 * the file was changed after RECORDED_S (seconds of the epoch; INT64_MAX: not known) or
 * after MODULE (may be NULL) was built. Returns 0, or a negative errno value and prints
 * nothing when the file cannot be read or is shorter. */
int source_text_print(FILE *out, const char *path, int64_t line, int64_t recorded_s,
                      const char *module);

#endif
