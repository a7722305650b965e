/* SPDX-License-Identifier: MIT */
/* Survey of other tenants' traffic in the last cache, by the data that a chase and
 * overlapping chases keep there. */
#include <math.h>

#include "elapsed.h"
#include "interference.h"
#include "reported.h"
#include "survey.h"
#include "tenants.h"

enum { SLOW, FAST, KINDS, SIZES_MAX = 24, SIZES_PER_OCTAVE = 3 };

static chase_timer *const timers[KINDS] = {chase_time, chase_overlapping_time};

/* Enough passes to bring data into the cache. */
static const double WARM_SECONDS = 0.04;

/* Tenants come and go. If what stays differs by more between the halves of the visits, it
 * is not known. */
static const double VARIATION_MOST = 0.3;

struct shared {
        size_t count; /* of sizes; 0: no such cache, or no time */
        double sizes[SIZES_MAX];
        struct series series[SIZES_MAX][KINDS]; /* ns a load */
};

/* From just beyond L2 to well beyond the last cache. */
static int shared_open(struct survey *survey, void *state, struct diag *diag)
{
        struct shared *shared = state;
        double size = 2.5 * (double)reported_cache_bytes(2);
        double most = 1.6 * (double)reported_cache_bytes(3);
        (void)diag;
        if (survey->quick || most > (double)survey->data_bytes / 4)
                return 0;
        for (; size > 0 && size < most && shared->count < SIZES_MAX;
             size *= exp2(1.0 / SIZES_PER_OCTAVE))
                shared->sizes[shared->count++] = size;
        return 0;
}

static void visit(struct survey *survey, struct chase *chase, chase_timer *timer,
                  struct series *series)
{
        enum { ROUNDS = 8, WARM_STEPS = 8192 };
        struct machine_time before, after;
        struct chase_time time, times[ROUNDS];
        struct series all = {0};
        double end = clock_seconds() + WARM_SECONDS;
        do
                time = timer(chase, WARM_STEPS);
        while (clock_seconds() < end);
        uint64_t steps = (uint64_t)(survey->round_seconds * 1e9 / time.step);
        machine_time_read(survey->cpus.cpus, 1, &before);
        double begin = clock_seconds();
        for (size_t i = 0; i < ROUNDS; i++)
                times[i] = timer(chase, steps + WARM_STEPS);
        double seconds = clock_seconds() - begin;
        machine_time_read(survey->cpus.cpus, 1, &after);
        bool others = machine_was_shared(&before, &after, seconds);
        for (size_t i = 0; i < ROUNDS; i++)
                series_add(&all, times[i].step,
                           disturbance_of(times[i].disturbed, others));
        survey_add_visit(survey, &all, series);
}

static int shared_sweep(struct survey *survey, void *state, struct diag *diag)
{
        struct shared *shared = state;
        int rc = 0;
        survey_progress(survey, "the traffic of other tenants");
        for (size_t i = 0; rc == 0 && i < shared->count; i++) {
                struct chase chase;
                struct series *series = shared->series[i];
                if (!survey_wants(survey, &series[SLOW], false))
                        continue;
                rc = chase_open((uint64_t)shared->sizes[i], KERNEL_LINE_BYTES, PAGES_HUGE,
                                -1, &chase, diag);
                for (size_t kind = 0; rc == 0 && kind < KINDS; kind++)
                        visit(survey, &chase, timers[kind], &series[kind]);
                if (rc == 0)
                        chase_close(&chase);
        }
        return rc;
}

/* The median is what programs meet. */
static double median(const struct series *series, enum part part)
{
        struct series half = {0};
        size_t first = part == LATE ? series->count / 2 : 0;
        size_t end = part == EARLY ? series->count / 2 : series->count;
        double low, high;
        for (size_t i = first; i < end; i++)
                series_add(&half, series->values[i], series->disturbances[i]);
        series_range(&half, 0, &low, &high);
        return (low + high) / 2;
}

static struct pass pass_of(const struct shared *shared, size_t kind, enum part part)
{
        struct load_point points[SIZES_MAX];
        size_t last = shared->count - 1;
        for (size_t i = 0; i <= last; i++)
                points[i] = (struct load_point){
                    .gbs = shared->sizes[i],
                    .ns = median(&shared->series[i][kind], part),
                };
        struct pass pass = {.hit_ns = points[0].ns, .miss_ns = points[last].ns};
        double half_way = (1 + pass.miss_ns / pass.hit_ns) / 2;
        pass.cliff_bytes = curve_knee_gbs(points, last + 1, pass.hit_ns, half_way);
        return pass;
}

/* The difference between the cliffs of both halves of the visits. If it is too large, the
 * cliff is listed as left out. */
static double variation(struct survey *survey, const struct shared *shared, size_t kind)
{
        static const char *const names[KINDS] = {"a chase", "overlapping loads"};
        double cliffs[PARTS];
        for (enum part part = 0; part < PARTS; part++)
                cliffs[part] = pass_of(shared, kind, part).cliff_bytes;
        struct estimate cliff = estimate_of_parts(cliffs);
        double drift = estimate_drift(&cliff);
        if (!(drift <= VARIATION_MOST))
                json_array_append_new(isnan(drift) ? survey->unvisited : survey->drifted,
                                      json_sprintf("what %s keeps in L3", names[kind]));
        return drift;
}

static json_t *shared_result(struct survey *survey, void *state)
{
        const struct shared *shared = state;
        unsigned ways = reported_cache_ways(3);
        double varied = NAN;
        if (shared->count > 0)
                varied = fmax(variation(survey, shared, SLOW),
                              variation(survey, shared, FAST));
        if (!(varied <= VARIATION_MOST))
                return json_object();
        struct pass slow = pass_of(shared, SLOW, WHOLE);
        struct pass fast = pass_of(shared, FAST, WHOLE);
        struct tenants tenants = tenants_solve(ways ? ways : 16, &slow, &fast);
        return json_pack("{s:f, s:f, s:f, s:f, s:f}", "capacity_bytes",
                         tenants.capacity_bytes, "inserted_gbs", tenants.gbs,
                         "chase_bytes", slow.cliff_bytes, "overlapping_bytes",
                         fast.cliff_bytes, "variation", varied);
}

const struct survey_part survey_tenants = {
    .key = "tenants",
    .state_bytes = sizeof(struct shared),
    .open = shared_open,
    .sweep = shared_sweep,
    .result = shared_result,
};
