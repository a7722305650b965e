/* SPDX-License-Identifier: MIT */
/* Matches the lines of a function over a rebuild, in which numbers move. */
#include "diff_match.h"

#include <errno.h>
#include <stdlib.h>

#include "verdict.h"

/* More pairs of lines in one function are not tried for a common distance. */
enum { PAIRS_MAX = 1 << 20 };

struct sides {
        const struct match_line *before, *after;
        size_t before_count, after_count;
};

static bool has_samples(const struct match_line *line)
{
        return line->number > 0 && line->samples >= VERDICT_SAMPLES_MIN;
}

static int by_value(const void *left, const void *right)
{
        int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
        return (a > b) - (a < b);
}

/* The distances of all pairs of lines of which one has samples enough. */
static size_t list_distances(const struct sides *sides, int64_t *distances)
{
        size_t count = 0;
        for (size_t b = 0; b < sides->before_count; b++)
                for (size_t a = 0; a < sides->after_count; a++) {
                        const struct match_line *from = &sides->before[b];
                        const struct match_line *to = &sides->after[a];
                        if (from->number > 0 && to->number > 0 &&
                            (has_samples(from) || has_samples(to)))
                                distances[count++] = to->number - from->number;
                }
        qsort(distances, count, sizeof(*distances), by_value);
        return count;
}

/* The one that occurs most often in the sorted DISTANCES; 0 where it is not more often
 * than another, or than 0. */
static int64_t most_frequent(const int64_t *distances, size_t count)
{
        int64_t best = 0;
        size_t most = 0, unmoved = 0;
        bool alone = false;
        for (size_t i = 0, end; i < count; i = end) {
                for (end = i; end < count && distances[end] == distances[i];)
                        end++;
                unmoved = distances[i] == 0 ? end - i : unmoved;
                if (end - i < most)
                        continue;
                alone = end - i > most;
                most = end - i;
                best = distances[i];
        }
        return alone && most > unmoved ? best : 0;
}

static int find_distance(const struct sides *sides, int64_t *distance)
{
        *distance = 0;
        if (!sides->before_count || !sides->after_count ||
            sides->before_count > PAIRS_MAX / sides->after_count)
                return 0;
        int64_t *distances =
            calloc(sides->before_count * sides->after_count, sizeof(*distances));
        if (!distances)
                return -ENOMEM;
        *distance = most_frequent(distances, list_distances(sides, distances));
        free(distances);
        return 0;
}

static void pair_at_distance(const struct sides *sides, int64_t distance,
                             size_t *partners)
{
        size_t a = 0;
        for (size_t b = 0; b < sides->before_count; b++) {
                int64_t number = sides->before[b].number;
                int64_t wanted = number;
                partners[b] = MATCH_NONE;
                /* A damaged file may have lines of any number. */
                if (number > 0 && __builtin_add_overflow(number, distance, &wanted))
                        continue;
                while (a < sides->after_count && sides->after[a].number < wanted)
                        a++;
                if (a < sides->after_count && sides->after[a].number == wanted)
                        partners[b] = a;
        }
}

/* Pairs in their order the lines with samples from FIRST to LAST of either side, none of
 * which met, if they are equally many. */
static void pair_gap(const struct sides *sides, size_t b, size_t b_end, size_t a,
                     size_t a_end, size_t *partners)
{
        size_t before = 0, after = 0;
        for (size_t i = b; i < b_end; i++)
                before += has_samples(&sides->before[i]);
        for (size_t i = a; i < a_end; i++)
                after += has_samples(&sides->after[i]);
        if (before != after)
                return;
        for (; b < b_end; b++) {
                if (!has_samples(&sides->before[b]))
                        continue;
                while (!has_samples(&sides->after[a]))
                        a++;
                partners[b] = a++;
        }
}

static void pair_in_order(const struct sides *sides, size_t *partners)
{
        size_t b = 0, a = 0;
        for (size_t i = 0; i <= sides->before_count; i++) {
                bool ends = i == sides->before_count;
                if (!ends && partners[i] == MATCH_NONE)
                        continue;
                size_t met = ends ? sides->after_count : partners[i];
                pair_gap(sides, b, i, a, met, partners);
                b = i + 1;
                a = met + 1;
        }
}

int match_lines(const struct match_line *before, size_t before_count,
                const struct match_line *after, size_t after_count, bool same_build,
                size_t *partners)
{
        const struct sides sides = {before, after, before_count, after_count};
        int64_t distance = 0;
        int code = same_build ? 0 : find_distance(&sides, &distance);
        if (code)
                return code;
        pair_at_distance(&sides, distance, partners);
        if (!same_build)
                pair_in_order(&sides, partners);
        return 0;
}
