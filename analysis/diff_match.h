/* SPDX-License-Identifier: MIT */
/* Which lines of a function in one build are which in another. Pure: no database. */
#ifndef MEMLAG_DIFF_MATCH_H
#define MEMLAG_DIFF_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A sampled line of a function; NUMBER <= 0: code of no line, which does not move. */
struct match_line {
        int64_t number;
        int64_t samples;
};

#define MATCH_NONE SIZE_MAX

/* Finds for each line of BEFORE the index of the one of AFTER that it is: PARTNERS, of
 * BEFORE_COUNT. Both are lines of one function, by ascending number, each once. Of the
 * SAME_BUILD lines are equal by their number. Else the lines of a function are taken to
 * have moved together, as far as makes most of those that have VERDICT_SAMPLES_MIN
 * samples on either side meet a line, if one distance alone does and more than none does;
 * and between lines that met, those that did not, where they have as many samples and are
 * equally many on both sides, are taken to be each other in their order. -ENOMEM. */
int match_lines(const struct match_line *before, size_t before_count,
                const struct match_line *after, size_t after_count, bool same_build,
                size_t *partners);

#endif
