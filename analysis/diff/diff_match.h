/* SPDX-License-Identifier: MIT */
/* Which lines of functions in one build are which in another. Pure: no database. */
#ifndef MEMLAG_DIFF_MATCH_H
#define MEMLAG_DIFF_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A sampled line of a function. A NUMBER that no line has (<= 0: code of no line) does
 * not move. */
struct match_line {
        int64_t number;
        int64_t samples;
};

#define MATCH_NONE SIZE_MAX

/* A function in both builds: its sampled lines by ascending number, each once. */
struct match_function {
        const struct match_line *before, *after;
        size_t before_count, after_count;
        bool same_build;
        size_t *partners; /* of BEFORE_COUNT: filled in */
};

/* Finds for each line before of the COUNT FUNCTIONS, all of one file, the index of the
 * one after that it is, or MATCH_NONE. In the same build lines are equal by their number.
 * Else the lines of a function are taken to have moved together, by the distance at which
 * the most lines meet one and their samples agree best; where none is clearly the best,
 * by that of the function above or below it in the file, of which it is clear. And
 * between lines that met, those that did not, where they have VERDICT_SAMPLES_MIN samples
 * and are equally many on both sides, are taken to be each other in their order.
 * -ENOMEM. */
int match_lines(const struct match_function *functions, size_t count);

#endif
