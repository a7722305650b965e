/* SPDX-License-Identifier: MIT */
/* Derives a machine's structure from measured curves. */
#include "curve.h"

#include <math.h>
#include <stdlib.h>

/* Between neighbouring sizes, a quarter octave apart, a larger ratio is a rise. */
static const double RISE = 1.08;
/* Least ratio between two levels. */
static const double STEP = 1.4;
/* Points within this ratio of a level's latency support the level; it needs POINTS_MIN.
 */
static const double NEAR = 1.1;
static const size_t POINTS_MIN = 3;
/* A plateau that ends before this multiple of a level's reported size belongs to the
 * level. */
static const double BEYOND = 1.25;
/* A level above this part of memory's latency is no cache. A cache without measured sizes
 * must be below the lesser part. */
static const double MEMORY_LIKE = 0.6, HIDDEN_LIKE = 0.4;
/* A chase through so many times a cache's size cannot be half way: too few of its random
 * lines are in the cache. */
static const double TOO_LARGE = 1.5;

/* The point with the lowest latency from INDEX on. */
static const struct latency_point *floor_of(const struct latency_point *points,
                                            size_t count, size_t index)
{
        const struct latency_point *lowest = &points[index];
        for (size_t i = index + 1; i < count; i++)
                if (points[i].ns < lowest->ns)
                        lowest = &points[i];
        return lowest;
}

/* The end of the flat stretch that begins at FIRST. */
static size_t flat_until(const struct latency_point *points, size_t count, size_t first)
{
        double last = floor_of(points, count, first)->ns;
        size_t i = first + 1;
        for (; i < count; i++) {
                double ns = floor_of(points, count, i)->ns;
                if (ns > last * RISE)
                        break;
                last = ns;
        }
        return i;
}

/* Whether the measured points form a flat stretch, not only their floor. */
static bool supported(const struct latency_point *points, size_t first, size_t end,
                      double ns)
{
        size_t near = 0;
        for (size_t i = first; i < end; i++)
                near += points[i].ns <= ns * NEAR && points[i].ns >= ns / NEAR;
        return near >= POINTS_MIN;
}

size_t curve_plateaus(const struct latency_point *points, size_t count,
                      struct plateau *plateaus, size_t maximum)
{
        size_t found = 0;
        for (size_t i = 0; i < count && found < maximum;) {
                size_t end = flat_until(points, count, i);
                /* The beginning of a stretch still hits in the previous level. */
                const struct latency_point *level =
                    floor_of(points, count, i + (end - i) * 3 / 4);
                bool long_enough = supported(points, i, end, level->ns) || end == count;
                bool slower = found == 0 || level->ns > plateaus[found - 1].ns * STEP;
                if (long_enough && slower)
                        plateaus[found++] = (struct plateau){points[end - 1].size_bytes,
                                                             level->ns, level->error};
                else if (long_enough)
                        plateaus[found - 1].capacity_bytes = points[end - 1].size_bytes;
                i = end;
        }
        return found;
}

size_t curve_merge_plateaus(struct plateau *plateaus, size_t found,
                            const uint64_t *reports, size_t count)
{
        size_t kept = found > 0;
        for (size_t i = 1; i < found; i++) {
                bool ends_before =
                    kept <= count && (double)plateaus[i].capacity_bytes <
                                         BEYOND * (double)reports[kept - 1];
                if (ends_before)
                        plateaus[kept - 1].capacity_bytes = plateaus[i].capacity_bytes;
                else
                        plateaus[kept++] = plateaus[i];
        }
        return kept;
}

bool curve_is_beyond(uint64_t size_bytes, uint64_t before_bytes)
{
        return 4 * size_bytes >= 9 * before_bytes && size_bytes <= 3 * before_bytes;
}

void curve_steady_latencies(const struct latency_point *beyond, struct plateau *plateaus,
                            size_t found)
{
        for (size_t level = 1; level < found; level++) {
                const struct latency_point *point = &beyond[level - 1];
                if (isnan(point->ns) ||
                    point->size_bytes > plateaus[level].capacity_bytes)
                        continue;
                plateaus[level].ns = point->ns;
                plateaus[level].error = point->error;
        }
}

bool curve_hidden_level(const struct latency_point *beyond, double memory_ns,
                        struct plateau *level)
{
        *level = (struct plateau){beyond->size_bytes, beyond->ns, beyond->error};
        return beyond->ns <= HIDDEN_LIKE * memory_ns;
}

/* The size with a latency of NS, between POINT, which has less, and the NEXT point. */
static uint64_t size_at(const struct latency_point *point, bool next, double ns)
{
        if (!next || !(point[1].ns > ns))
                return point->size_bytes;
        double part = (ns - point->ns) / (point[1].ns - point->ns);
        return (
            uint64_t)((double)point->size_bytes *
                      pow((double)point[1].size_bytes / (double)point->size_bytes, part));
}

void curve_capacities(const struct latency_point *points, size_t count, double next_ns,
                      struct plateau *levels, size_t found)
{
        for (size_t level = found; level-- > 0;) {
                double half_ns = (levels[level].ns + next_ns) / 2;
                next_ns = levels[level].ns;
                if (isnan(half_ns))
                        continue;
                for (size_t i = 0; i < count; i++)
                        if (points[i].ns <= half_ns)
                                levels[level].capacity_bytes =
                                    size_at(&points[i], i + 1 < count, half_ns);
        }
}

size_t curve_cache_levels(const struct plateau *plateaus, size_t count, size_t reports,
                          bool reach)
{
        size_t levels = count > 0 ? count - 1 : 0;
        size_t most = reports > 0 && !reach ? reports - 1 : reports;
        while (levels > 0 &&
               plateaus[levels - 1].ns > MEMORY_LIKE * plateaus[count - 1].ns)
                levels--;
        return reports > 0 && levels > most ? most : levels;
}

bool curve_may_be_memory(const struct plateau *level, uint64_t reported_bytes,
                         double memory_ns, bool small_pages)
{
        bool too_large = reported_bytes > 0 && (double)level->capacity_bytes >
                                                   TOO_LARGE * (double)reported_bytes;
        return level->ns > HIDDEN_LIKE * memory_ns && (small_pages || too_large);
}

static int by_bandwidth(const void *a, const void *b)
{
        const struct load_point *x = a, *y = b;
        return (x->gbs > y->gbs) - (x->gbs < y->gbs);
}

/* Latency does not fall with more bandwidth: contradicting points are noise. Means of
 * neighbours give the nearest curve that never falls (isotonic regression). */
static void level_out(struct load_point *points, size_t count)
{
        for (size_t end = 1; end <= count; end++) {
                size_t first = end - 1;
                double sum = points[first].ns;
                while (first > 0 && points[first - 1].ns >= sum / (double)(end - first))
                        sum += points[--first].ns;
                for (size_t i = first; i < end; i++)
                        points[i].ns = sum / (double)(end - first);
        }
}

double curve_knee_gbs(struct load_point *points, size_t count, double idle_ns,
                      double factor)
{
        double limit = idle_ns * factor;
        size_t above = 0;
        qsort(points, count, sizeof(*points), by_bandwidth);
        level_out(points, count);
        while (above < count && points[above].ns <= limit)
                above++;
        if (above == count)
                return NAN;
        if (above == 0)
                return points[0].gbs;
        const struct load_point *low = &points[above - 1], *high = &points[above];
        double part = (limit - low->ns) / (high->ns - low->ns);
        return low->gbs + part * (high->gbs - low->gbs);
}

double curve_lmrl_at(const struct load_point *points, size_t count, double gbs)
{
        for (size_t i = 0; i < count; i++) {
                if (points[i].gbs < gbs)
                        continue;
                if (points[i].gbs == gbs)
                        return points[i].lmrl_cycles;
                if (i == 0)
                        return NAN;
                const struct load_point *low = &points[i - 1], *high = &points[i];
                double part = (gbs - low->gbs) / (high->gbs - low->gbs);
                return low->lmrl_cycles + part * (high->lmrl_cycles - low->lmrl_cycles);
        }
        return NAN;
}

bool curve_threads_can(uint32_t threads, double gbs, double one_gbs)
{
        return gbs <= 1.1 * threads * one_gbs;
}

bool curve_walk_can(double walk_ns, double memory_ns)
{
        return isnan(memory_ns) || walk_ns < memory_ns / 2;
}

void curve_settle_costs(struct page_point *points, size_t count)
{
        for (size_t i = count; i-- > 1;)
                points[i - 1].ns = fmin(points[i - 1].ns, points[i].ns);
}

double curve_second_reach(const struct page_point *points, size_t count, size_t first)
{
        size_t last = count - 1, hit = first;
        while (hit < last && points[hit].pages < 2 * points[first].pages)
                hit++;
        size_t leaves = hit;
        while (leaves < last && points[leaves].ns <= 2 * points[hit].ns)
                leaves++;
        if (points[leaves].ns <= 2 * points[hit].ns)
                return (double)points[last].pages;
        size_t walk = leaves < last ? leaves + 1 : last;
        double half = (points[hit].ns + fmax(points[walk].ns, points[leaves].ns)) / 2;
        size_t above = hit;
        while (above < last && points[above].ns < half)
                above++;
        const struct page_point *from = &points[above - (above > 0)],
                                *to = &points[above];
        double part = (half - from->ns) / (to->ns - from->ns);
        return (double)from->pages *
               pow((double)to->pages / (double)from->pages, fmin(1, fmax(0, part)));
}

unsigned curve_saturating_threads(const struct threads_gbs *points, size_t count,
                                  double part)
{
        double greatest = 0;
        for (size_t i = 0; i < count; i++)
                greatest = fmax(greatest, points[i].gbs);
        if (count < 2)
                return 0;
        const struct threads_gbs *last = &points[count - 1], *before = last - 1;
        if (last->gbs - before->gbs >
            points[0].gbs / 2 * (last->threads - before->threads))
                return 0;
        size_t i = 0;
        while (points[i].gbs < part * greatest)
                i++;
        return points[i].threads;
}
