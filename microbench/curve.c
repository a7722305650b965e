/* SPDX-License-Identifier: MIT */
/* Reads a machine's structure out of measured curves. */
#include "curve.h"

#include <math.h>
#include <stdlib.h>

/* From one size to the next, a quarter of an octave further: more than this is a rise. */
static const double RISE = 1.08;
/* What tells one level from the one before. */
static const double STEP = 1.4;
/* Points that are within this of a level's latency speak for it; it needs so many. */
static const double NEAR = 1.1;
static const size_t POINTS_MIN = 3;
/* More than this part of memory's latency is no cache's. */
static const double MEMORY_LIKE = 0.6;

/* The point of the lowest latency from INDEX on. */
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

/* Whether a flat stretch is one of the measured points and not only of their floor. */
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
                /* Its beginning still has hits in the level before. */
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

static int by_latency(const void *a, const void *b)
{
        const struct latency_point *x = a, *y = b;
        return (x->ns > y->ns) - (x->ns < y->ns);
}

void curve_steady_latencies(const struct latency_point *points, size_t count,
                            const uint64_t *reports, struct plateau *plateaus,
                            size_t found)
{
        enum { SIZES_MAX = 16 };
        for (size_t level = 1; level < found; level++) {
                struct plateau *plateau = &plateaus[level];
                struct latency_point sizes[SIZES_MAX];
                size_t chosen = 0;
                for (size_t i = 0; i < count && chosen < SIZES_MAX; i++)
                        if (points[i].size_bytes >= 2 * reports[level - 1] &&
                            points[i].size_bytes <= 4 * reports[level - 1] &&
                            points[i].size_bytes <= plateau->capacity_bytes)
                                sizes[chosen++] = points[i];
                if (chosen == 0)
                        continue;
                qsort(sizes, chosen, sizeof(sizes[0]), by_latency);
                const struct latency_point *quartile =
                    &sizes[(size_t)(0.25 * (double)(chosen - 1) + 0.5)];
                plateau->ns = quartile->ns;
                plateau->error = quartile->error;
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

static int by_bandwidth(const void *a, const void *b)
{
        const struct load_point *x = a, *y = b;
        return (x->gbs > y->gbs) - (x->gbs < y->gbs);
}

/* Latency does not fall when bandwidth grows: points that say so are noise, of which the
 * means of neighbours are the nearest curve that never falls (isotonic regression). */
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

unsigned curve_saturating_threads(const struct threads_gbs *points, size_t count)
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
        while (points[i].gbs < 0.95 * greatest)
                i++;
        return points[i].threads;
}
