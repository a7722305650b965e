/* SPDX-License-Identifier: MIT */
/* Numbers in options, parsed the same for all options: decimal digits, a point where
 * fractions are allowed, and a unit after byte counts. No sign, exponent, hexadecimal
 * digits or blanks. */
#ifndef MEMLAG_OPTION_NUMBER_H
#define MEMLAG_OPTION_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"

/* Parses the LENGTH bytes at TEXT; false: not a number. */
bool number_parse(const char *text, size_t length, double *value);
/* Likewise, with a unit as in option_bytes. */
bool number_parse_bytes(const char *text, size_t length, double *value);

/* The value TEXT of OPTION ("--period"), from LEAST to MOST. 0, or -EINVAL with a
 * message. */
int option_number(const char *option, const char *text, double least, double most,
                  double *value, struct diag *diag);
int option_whole(const char *option, const char *text, uint64_t least, uint64_t most,
                 uint64_t *value, struct diag *diag);
/* With K, M, G or T for powers of 1024. */
int option_bytes(const char *option, const char *text, uint64_t least, uint64_t most,
                 uint64_t *value, struct diag *diag);

#endif
