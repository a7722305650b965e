/* SPDX-License-Identifier: MIT */
/* Piecewise linear interpolation between the latest points. Before these it is one line
 * from the first point, so times of long ago may change a little. */
#include "tick_clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

/* No point can lie further after the last point. */
enum { AHEAD_NS_MAX = 1000000000 };

enum { TRIALS = 3 };

bool tick_clock_is_trusted(void)
{
        char name[16] = "";
        FILE *file = fopen(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
        if (!file)
                return false;
        bool trusted = fgets(name, sizeof(name), file) && strcmp(name, "tsc\n") == 0;
        fclose(file);
        return trusted;
}

static const struct tick_point *last_point(const struct tick_clock *clock)
{
        return &clock->points[clock->count - 1];
}

/* On the line through A and B. */
static int64_t on_line(const struct tick_point *a, const struct tick_point *b,
                       uint64_t ticks)
{
        double rate = (double)(b->ns - a->ns) / (double)(b->ticks - a->ticks);
        return a->ns + (int64_t)((double)(ticks - a->ticks) * rate);
}

/* Nanoseconds from the last point to TICKS, at the rate of the whole time; 0 when that
 * cannot be. */
static int64_t ahead_ns(const struct tick_clock *clock, uint64_t ticks)
{
        const struct tick_point *first = &clock->first, *last = last_point(clock);
        if (last->ticks == first->ticks)
                return 0;
        double rate =
            (double)(last->ns - first->ns) / (double)(last->ticks - first->ticks);
        double ns = (double)(ticks - last->ticks) * rate;
        return ns < AHEAD_NS_MAX ? (int64_t)ns : 0;
}

static void add(struct tick_clock *clock, uint64_t ticks, int64_t ns)
{
        if (clock->count == TICK_CLOCK_POINTS)
                memmove(clock->points, clock->points + 1,
                        --clock->count * sizeof(clock->points[0]));
        clock->points[clock->count++] = (struct tick_point){ticks, ns};
}

void tick_clock_note(struct tick_clock *clock, uint64_t ticks, int64_t ns)
{
        if (clock->count == 0) {
                clock->first = (struct tick_point){ticks, ns};
                add(clock, ticks, ns);
                return;
        }
        if (ticks <= last_point(clock)->ticks || ticks <= clock->furthest)
                return;
        if (clock->furthest > last_point(clock)->ticks)
                add(clock, clock->furthest,
                    last_point(clock)->ns + ahead_ns(clock, clock->furthest));
        int64_t before_ns = last_point(clock)->ns;
        add(clock, ticks, ns > before_ns ? ns : before_ns);
}

/* The least disturbed of several readings is the best. */
void tick_clock_measure(struct tick_clock *clock)
{
        uint64_t ticks = 0, shortest = UINT64_MAX;
        int64_t ns = 0;
        for (int i = 0; i < TRIALS; i++) {
                struct timespec now;
                uint64_t before = __rdtsc();
                clock_gettime(CLOCK_MONOTONIC, &now);
                uint64_t took = __rdtsc() - before;
                if (took >= shortest)
                        continue;
                shortest = took;
                ticks = before + took / 2;
                ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
        }
        tick_clock_note(clock, ticks, ns);
}

int64_t tick_clock_ns(struct tick_clock *clock, uint64_t ticks)
{
        size_t i = clock->count;
        if (i == 0)
                return 0;
        if (ticks > last_point(clock)->ticks) {
                int64_t ns = ahead_ns(clock, ticks);
                if (ns > 0 && ticks > clock->furthest)
                        clock->furthest = ticks;
                return last_point(clock)->ns + ns;
        }
        while (--i > 0)
                if (ticks >= clock->points[i - 1].ticks)
                        return on_line(&clock->points[i - 1], &clock->points[i], ticks);
        const struct tick_point *first = &clock->first, *kept = &clock->points[0];
        return ticks > first->ticks && ticks < kept->ticks ? on_line(first, kept, ticks)
               : ticks < kept->ticks                       ? first->ns
                                                           : kept->ns;
}
