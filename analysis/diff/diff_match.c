/* SPDX-License-Identifier: MIT */
/* Matches the lines of functions across builds with moved line numbers. */
#include "diff_match.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "verdict.h"

/* Limits on the pairs of lines of a function, and on the distances that the lines of a
 * function and of a file may move. */
enum { PAIRS_MAX = 1 << 20, FUNCTION_DISTANCES_MAX = 4, DISTANCES_MAX = 64 };

/* Weight of a matched pair of lines, plus up to 1 for similar sample counts. A line that
 * became cheap still matches itself if the lines around it agree. */
static const double MEETS = 0.5;

/* Cost of a distance that differs from the previous line's: text was added or removed
 * between the two. */
static const double CHANGES = 1;

/* The best distance must exceed the next one by this much. Less can be chance: 20 samples
 * vary by a fifth. */
static const double CLEARLY = 0.1;

/* The agreement of all pairs of lines at a distance. */
struct vote {
        int64_t distance;
        double agreement;
};

/* A line that may have moved. */
struct moved {
        const struct match_function *function;
        size_t index; /* in BEFORE */
        int64_t number;
};

/* All such lines of a file by number, and the distances that they may have moved. For
 * each distance of each line: the largest sum of agreements up to this line (best), and
 * of the lines below it (after). */
struct alignment {
        struct moved *lines;
        size_t count;
        struct vote *votes;
        size_t distances, capacity;
        double *best, *after;
};

static bool moves(const struct match_line *line)
{
        return line->number > 0 && line->number <= UINT32_MAX;
}

static bool has_samples(const struct match_line *line)
{
        return moves(line) && line->samples >= VERDICT_SAMPLES_MIN;
}

/* Few samples are similar by chance. */
static double agreement_of(const struct match_line *from, const struct match_line *to)
{
        const double least = fmin((double)from->samples, (double)to->samples);
        const double most = fmax((double)from->samples, (double)to->samples);
        return least > 0 ? MEETS + least / fmax(most, VERDICT_SAMPLES_MIN) : MEETS;
}

static int by_number(const void *left, const void *right)
{
        const struct moved *a = left, *b = right;
        return (a->number > b->number) - (a->number < b->number);
}

static int by_distance(const void *left, const void *right)
{
        const struct vote *a = left, *b = right;
        return (a->distance > b->distance) - (a->distance < b->distance);
}

static int by_agreement(const void *left, const void *right)
{
        const struct vote *a = left, *b = right;
        return a->agreement != b->agreement ? (a->agreement < b->agreement ? 1 : -1)
                                            : by_distance(left, right);
}

/* The function's votes begin at FIRST. */
static int add_votes(struct alignment *alignment, const struct moved *line, size_t first)
{
        const struct match_function *function = line->function;
        for (size_t a = 0;
             a < function->after_count && alignment->distances - first < PAIRS_MAX; a++) {
                const struct match_line *to = &function->after[a];
                if (!moves(to))
                        continue;
                if (array_reserve(&alignment->votes, &alignment->capacity,
                                  alignment->distances, sizeof(*alignment->votes)))
                        return -ENOMEM;
                alignment->votes[alignment->distances++] =
                    (struct vote){to->number - line->number,
                                  agreement_of(&function->before[line->index], to)};
        }
        return 0;
}

/* Sums up the votes of each distance from FIRST on, and retains the MOST distances with
 * most. */
static void keep_best(struct alignment *alignment, size_t first, size_t most)
{
        struct vote *votes = alignment->votes + first;
        const size_t count = alignment->distances - first;
        size_t kept = 0;
        if (!count)
                return;
        qsort(votes, count, sizeof(*votes), by_distance);
        for (size_t i = 0; i < count; i++)
                if (kept && votes[kept - 1].distance == votes[i].distance)
                        votes[kept - 1].agreement += votes[i].agreement;
                else
                        votes[kept++] = votes[i];
        qsort(votes, kept, sizeof(*votes), by_agreement);
        alignment->distances = first + (kept < most ? kept : most);
}

/* The lines of a function are beside each other. A large function must not outvote the
 * others. */
static int choose_distances(struct alignment *alignment)
{
        const struct moved *lines = alignment->lines;
        size_t first = 0;
        for (size_t i = 0; i < alignment->count; i++) {
                if (i && lines[i].function != lines[i - 1].function) {
                        keep_best(alignment, first, FUNCTION_DISTANCES_MAX);
                        first = alignment->distances;
                }
                if (add_votes(alignment, &lines[i], first))
                        return -ENOMEM;
        }
        keep_best(alignment, first, FUNCTION_DISTANCES_MAX);
        const size_t room = 1 + PAIRS_MAX / (alignment->count + 1);
        keep_best(alignment, 0, room < DISTANCES_MAX ? room : DISTANCES_MAX);
        return 0;
}

/* The index of the line NUMBER after the change. */
static size_t find_after(const struct match_function *function, int64_t number)
{
        size_t low = 0, high = function->after_count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (function->after[middle].number < number)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < function->after_count && function->after[low].number == number
                   ? low
                   : MATCH_NONE;
}

static double agreement_at(const struct alignment *alignment, size_t i, size_t distance)
{
        const struct moved *line = &alignment->lines[i];
        const struct match_function *function = line->function;
        size_t a =
            find_after(function, line->number + alignment->votes[distance].distance);
        return a == MATCH_NONE || !moves(&function->after[a])
                   ? 0
                   : agreement_of(&function->before[line->index], &function->after[a]);
}

/* The cost if line I - 1 moves by the distance FROM, and line I by TO. Lines of a
 * function stay in order. */
static double cost_of(const struct alignment *alignment, size_t i, size_t from, size_t to)
{
        const struct moved *line = &alignment->lines[i];
        if (from == to)
                return 0;
        return line->function == line[-1].function &&
                       line->number + alignment->votes[to].distance <=
                           line[-1].number + alignment->votes[from].distance
                   ? INFINITY
                   : CHANGES;
}

/* Finds the best distances by dynamic programming over the lines of the file, from both
 * ends (Viterbi). */
static void align(struct alignment *alignment)
{
        const size_t count = alignment->count, distances = alignment->distances;
        for (size_t i = 0; i < count; i++)
                for (size_t to = 0; to < distances; to++) {
                        double most = i                               ? -INFINITY
                                      : alignment->votes[to].distance ? -CHANGES
                                                                      : 0;
                        for (size_t from = 0; i && from < distances; from++)
                                most = fmax(most,
                                            alignment->best[(i - 1) * distances + from] -
                                                cost_of(alignment, i, from, to));
                        alignment->best[i * distances + to] =
                            most + agreement_at(alignment, i, to);
                }
        for (size_t i = count; --i > 0;)
                for (size_t to = 0; to < distances; to++) {
                        const double sum = alignment->after[i * distances + to] +
                                           agreement_at(alignment, i, to);
                        double *after = &alignment->after[(i - 1) * distances];
                        for (size_t from = 0; from < distances; from++)
                                after[from] = fmax(after[from],
                                                   sum - cost_of(alignment, i, from, to));
                }
}

/* The clearly best distance of line I; DISTANCES_MAX without one. */
static size_t best_distance(const struct alignment *alignment, size_t i)
{
        const size_t first = i * alignment->distances;
        double most = -INFINITY, next = -INFINITY;
        size_t best = DISTANCES_MAX;
        for (size_t d = 0; d < alignment->distances; d++) {
                const double sum =
                    alignment->best[first + d] + alignment->after[first + d];
                next = fmax(next, fmin(sum, most));
                if (sum <= most)
                        continue;
                most = sum;
                best = d;
        }
        return most - next > CLEARLY ? best : DISTANCES_MAX;
}

/* Lines of other functions may be between two lines of a function: it stays in order. */
static void pair_aligned(const struct alignment *alignment)
{
        for (size_t i = 0; i < alignment->count; i++) {
                const struct moved *line = &alignment->lines[i];
                const size_t best = best_distance(alignment, i);
                if (best == DISTANCES_MAX || agreement_at(alignment, i, best) == 0)
                        continue;
                size_t *partners = line->function->partners;
                size_t before = line->index;
                while (before > 0 && partners[before - 1] == MATCH_NONE)
                        before--;
                const size_t met = find_after(
                    line->function, line->number + alignment->votes[best].distance);
                if (before == 0 || partners[before - 1] < met)
                        partners[line->index] = met;
        }
}

static int pair_moved(struct alignment *alignment)
{
        int code = choose_distances(alignment);
        if (code || !alignment->distances)
                return code;
        const size_t cells = alignment->count * alignment->distances;
        alignment->best = calloc(cells, sizeof(double));
        alignment->after = calloc(cells, sizeof(double));
        if (!alignment->best || !alignment->after)
                return -ENOMEM;
        qsort(alignment->lines, alignment->count, sizeof(*alignment->lines), by_number);
        align(alignment);
        pair_aligned(alignment);
        return 0;
}

/* Pairs the lines that cannot have moved, and adds the others to ALIGNMENT. */
static void pair_unmoved(const struct match_function *function,
                         struct alignment *alignment)
{
        for (size_t b = 0; b < function->before_count; b++) {
                const struct match_line *line = &function->before[b];
                const bool moved = !function->same_build && moves(line);
                function->partners[b] =
                    moved ? MATCH_NONE : find_after(function, line->number);
                if (moved)
                        alignment->lines[alignment->count++] =
                            (struct moved){function, b, line->number};
        }
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

int match_lines(const struct match_function *functions, size_t count)
{
        struct alignment alignment = {.count = 0};
        size_t lines = 0;
        for (size_t i = 0; i < count; i++)
                lines += functions[i].before_count;
        alignment.lines = calloc(lines + 1, sizeof(*alignment.lines));
        if (!alignment.lines)
                return -ENOMEM;
        for (size_t i = 0; i < count; i++)
                pair_unmoved(&functions[i], &alignment);
        int code = pair_moved(&alignment);
        for (size_t i = 0; !code && i < count; i++)
                if (!functions[i].same_build)
                        pair_in_order(&functions[i]);
        free(alignment.lines);
        free(alignment.votes);
        free(alignment.best);
        free(alignment.after);
        return code;
}
