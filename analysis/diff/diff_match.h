/* SPDX-License-Identifier: MIT */
/* Matches the lines of functions between two builds. Pure: no database. */
#ifndef MEMLAG_DIFF_MATCH_H
#define MEMLAG_DIFF_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A sampled line of a function. A NUMBER <= 0 stands for code without a line; it does not
 * move. */
struct match_line {
        int64_t number;
        int64_t samples;
};

#define MATCH_NONE SIZE_MAX

/* A function in both builds: its sampled lines by ascending number, without duplicates.
 */
struct match_function {
        const struct match_line *before, *after;
        size_t before_count, after_count;
        bool same_build;
        size_t *partners; /* result; BEFORE_COUNT elements */
};

/* Matches each BEFORE line of the COUNT FUNCTIONS, all of one file, with an AFTER line:
 * its index, or MATCH_NONE. In the same build, equal numbers match. Otherwise the lines
 * of the file are aligned: neighbours move by the same distance where that agrees with
 * the lines and samples after. A line without a clear distance has no match. Between
 * matched lines, sampled lines (VERDICT_SAMPLES_MIN) match in order if both sides have
 * equally many. Returns 0 or -ENOMEM. */
int match_lines(const struct match_function *functions, size_t count);

#endif
