/* SPDX-License-Identifier: MIT */
/* Matches the lines of functions across builds with moved line numbers. */
#include "diff_match.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "verdict.h"

/* Limit on the pairs of lines in one function when searching a common distance. */
enum { PAIRS_MAX = 1 << 20 };

/* Weight of a matched pair of lines, plus up to 1 for similar sample counts. A line that
 * became cheap still matches itself if the lines around it agree. */
static const double MEETS = 0.5;

/* The best distance must exceed the next one by this much. Less can be chance: 20 samples
 * vary by a fifth. */
static const double CLEARLY = 0.25;

/* A pair of lines with its distance and weight. */
struct met_lines {
        int64_t distance;
        double agreement;
};

/* A function with the distance of its move. */
struct moved {
        const struct match_function *function;
        int64_t first; /* line in BEFORE, if any */
        int64_t distance;
        bool clear;
};

static bool moves(const struct match_line *line)
{
        return line->number > 0 && line->number <= UINT32_MAX;
}

static bool has_samples(const struct match_line *line)
{
        return moves(line) && line->samples >= VERDICT_SAMPLES_MIN;
}

static double agreement_of(const struct match_line *from, const struct match_line *to)
{
        double before = (double)from->samples, after = (double)to->samples;
        bool sampled = before > 0 && after > 0;
        return MEETS + (sampled ? fmin(before, after) / fmax(before, after) : 0);
}

static int by_distance(const void *left, const void *right)
{
        const struct met_lines *a = left, *b = right;
        return (a->distance > b->distance) - (a->distance < b->distance);
}

/* Lists all pairs of lines with enough samples in at least one line, sorted by distance.
 */
static size_t list_met(const struct match_function *function, struct met_lines *met)
{
        size_t count = 0;
        for (size_t b = 0; b < function->before_count; b++)
                for (size_t a = 0; a < function->after_count; a++) {
                        const struct match_line *from = &function->before[b];
                        const struct match_line *to = &function->after[a];
                        if (moves(from) && moves(to) &&
                            (has_samples(from) || has_samples(to)))
                                met[count++] = (struct met_lines){
                                    to->number - from->number, agreement_of(from, to)};
                }
        qsort(met, count, sizeof(*met), by_distance);
        return count;
}

/* Chooses the distance with the highest agreement in the sorted MET, if it is clearly the
 * best. */
static void choose_distance(const struct met_lines *met, size_t count,
                            struct moved *moved)
{
        double best = 0, next = 0;
        for (size_t i = 0, end; i < count; i = end) {
                double agreement = 0;
                for (end = i; end < count && met[end].distance == met[i].distance; end++)
                        agreement += met[end].agreement;
                next = fmax(next, fmin(agreement, best));
                if (agreement <= best)
                        continue;
                best = agreement;
                moved->distance = met[i].distance;
        }
        moved->clear = best - next > CLEARLY;
}

static int find_distance(struct moved *moved)
{
        const struct match_function *function = moved->function;
        if (!function->before_count || !function->after_count ||
            function->before_count > PAIRS_MAX / function->after_count)
                return 0;
        struct met_lines *met =
            calloc(function->before_count * function->after_count, sizeof(*met));
        if (!met)
                return -ENOMEM;
        choose_distance(met, list_met(function, met), moved);
        free(met);
        return 0;
}

static void pair_at_distance(const struct match_function *function, int64_t distance)
{
        size_t a = 0;
        for (size_t b = 0; b < function->before_count; b++) {
                const struct match_line *from = &function->before[b];
                int64_t wanted = from->number + (moves(from) ? distance : 0);
                while (a < function->after_count && function->after[a].number < wanted)
                        a++;
                const struct match_line *to = &function->after[a];
                bool met = a < function->after_count && to->number == wanted &&
                           moves(to) == moves(from);
                function->partners[b] = met ? a : MATCH_NONE;
        }
}

/* The agreement of all lines at DISTANCE, also of lines with few samples. */
static double agreement_at(const struct match_function *function, int64_t distance)
{
        double agreement = 0;
        pair_at_distance(function, distance);
        for (size_t b = 0; b < function->before_count; b++) {
                const struct match_line *from = &function->before[b];
                size_t a = function->partners[b];
                if (a != MATCH_NONE && moves(from))
                        agreement += agreement_of(from, &function->after[a]);
        }
        return agreement;
}

/* Pairs the sampled lines of two gaps in order, if both have equally many. The gaps, B to
 * B_END and A to A_END, contain no matched lines. */
static void pair_gap(const struct match_function *function, size_t b, size_t b_end,
                     size_t a, size_t a_end)
{
        size_t before = 0, after = 0;
        for (size_t i = b; i < b_end; i++)
                before += has_samples(&function->before[i]);
        for (size_t i = a; i < a_end; i++)
                after += has_samples(&function->after[i]);
        if (before != after)
                return;
        for (; b < b_end; b++) {
                if (!has_samples(&function->before[b]))
                        continue;
                while (!has_samples(&function->after[a]))
                        a++;
                function->partners[b] = a++;
        }
}

static void pair_in_order(const struct match_function *function)
{
        size_t b = 0, a = 0;
        for (size_t i = 0; i <= function->before_count; i++) {
                bool ends = i == function->before_count;
                if (!ends && function->partners[i] == MATCH_NONE)
                        continue;
                size_t met = ends ? function->after_count : function->partners[i];
                pair_gap(function, b, i, a, met);
                b = i + 1;
                a = met + 1;
        }
}

static int by_first_line(const void *left, const void *right)
{
        const struct moved *a = left, *b = right;
        return (a->first > b->first) - (a->first < b->first);
}

/* Text added to a file moves everything below it. A function without a clear distance
 * takes the distance of the clear function above it, or below it if that fits better. */
static void move_with_neighbours(struct moved *moved, size_t count)
{
        int64_t above = 0;
        for (size_t i = 0; i < count; i++) {
                size_t next = i;
                while (next < count && !moved[next].clear)
                        next++;
                int64_t below = next < count ? moved[next].distance : above;
                for (; i < next; i++) {
                        const struct match_function *function = moved[i].function;
                        bool fits_below =
                            agreement_at(function, below) > agreement_at(function, above);
                        moved[i].distance = fits_below ? below : above;
                }
                above = below;
        }
}

static int make_moved(const struct match_function *function, struct moved *moved)
{
        const struct match_line *before = function->before;
        *moved = (struct moved){.function = function};
        for (size_t i = 0; i < function->before_count && !moved->first; i++)
                moved->first = moves(&before[i]) ? before[i].number : 0;
        moved->clear = function->same_build;
        return function->same_build ? 0 : find_distance(moved);
}

int match_lines(const struct match_function *functions, size_t count)
{
        struct moved *moved = calloc(count + 1, sizeof(*moved));
        int code = moved ? 0 : -ENOMEM;
        for (size_t i = 0; !code && i < count; i++)
                code = make_moved(&functions[i], &moved[i]);
        if (!code) {
                qsort(moved, count, sizeof(*moved), by_first_line);
                move_with_neighbours(moved, count);
        }
        for (size_t i = 0; !code && i < count; i++) {
                pair_at_distance(moved[i].function, moved[i].distance);
                if (!moved[i].function->same_build)
                        pair_in_order(moved[i].function);
        }
        free(moved);
        return code;
}
