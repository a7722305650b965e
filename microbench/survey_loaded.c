/* SPDX-License-Identifier: MIT */
/* The part of a survey that is about latency under load. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "survey.h"

enum { TURNS = 5, TURNS_QUICK = 2, DELAYS = 9, VISITS = 5 };

/* H19 and this project's rule for contention: a quarter more than idle. */
static const double KNEE_FACTOR = 1.25;

/* Adds VALUE under KEY unless it was not measured. */
static void add_measured(json_t *object, const char *key, double value)
{
        if (!isnan(value))
                json_object_set_new(object, key, json_real(value));
}

/* One delay of the load: what was measured in several turns. */
struct loaded_point {
        uint32_t delay_nops;
        struct series series; /* of the chase, ns */
        double gbs[TURNS];    /* of the load */
        size_t turns;
        struct point_counts chase, load; /* of the last turn */
        struct sampled_latency sampled;  /* of the chase, in all turns */
};

static int count_threads(const struct survey *survey, const struct load *load,
                         struct point_counters **counters, struct diag *diag)
{
        uint32_t threads = load ? load_thread_count(load) : 1;
        pid_t *numbers = calloc(threads, sizeof(*numbers)); /* 0: the one that calls */
        if (!numbers)
                return diag_no_memory(diag);
        if (load)
                load_threads(load, numbers);
        *counters = point_counters_start(survey->events, numbers, threads, diag);
        free(numbers);
        return *counters ? 0 : -EIO;
}

/* Visits of the chase beside LOAD (NULL: alone), and what the PMU counts in both. */
static int visit_counted(struct survey *survey, struct chase *chase,
                         const struct load *load, size_t visits,
                         struct loaded_point *point, struct diag *diag)
{
        struct point_counters *beside = NULL, *own = NULL;
        int rc = 0;
        if (survey->events && load)
                rc = count_threads(survey, load, &beside, diag);
        if (rc == 0 && survey->events)
                rc = count_threads(survey, NULL, &own, diag);
        for (size_t i = 0; rc == 0 && i < visits; i++)
                survey_visit(survey, chase, load, &point->series);
        if (own)
                point->chase = point_counters_stop(own);
        if (beside)
                point->load = point_counters_stop(beside);
        return rc;
}

/* A visit of which samples are taken, and not the time, as sampling takes some of it. */
static int visit_sampled(struct survey *survey, struct chase *chase,
                         const struct load *load, struct loaded_point *point,
                         struct diag *diag)
{
        struct series ignored = {0};
        if (!survey->samples)
                return 0;
        struct point_samples *samples = point_samples_start(survey->samples, diag);
        if (!samples)
                return -EIO;
        survey_visit(survey, chase, load, &ignored);
        point_samples_stop(samples, &point->sampled);
        return 0;
}

static int loaded_turn(struct survey *survey, struct chase *chase, size_t visits,
                       struct loaded_point *point, struct diag *diag)
{
        struct kernel_parameters parameters = kernel_memread.defaults;
        struct load *load;
        parameters.threads = (uint32_t)survey->cpus.count - 1;
        parameters.delay_nops = point->delay_nops;
        parameters.node = -1;
        parameters.passes = 1;
        parameters.size_bytes = survey->data_bytes;
        survey_progress(survey, "latency beside %u threads with delay %u",
                        parameters.threads, point->delay_nops);
        int rc =
            load_start(&kernel_memread, &parameters, survey->cpus.cpus + 1, &load, diag);
        if (rc < 0)
                return rc;
        rc = visit_counted(survey, chase, load, visits, point, diag);
        if (rc == 0)
                rc = visit_sampled(survey, chase, load, point, diag);
        point->gbs[point->turns++] = load_stop(load);
        return rc;
}

/* All delays in turns, several times. */
static int measure_loads(struct survey *survey, struct chase *chase,
                         struct loaded_point *points, size_t count, struct diag *diag)
{
        size_t turns = survey->quick ? TURNS_QUICK : TURNS;
        for (size_t turn = 0; turn < turns; turn++) {
                for (size_t i = 0; i < count; i++) {
                        bool late = survey_is_late(survey);
                        survey->hurried += late;
                        if (late &&
                            (turn > 0 || (i > 0 && i + 1 < count && i != count / 2)))
                                continue; /* the ends and the middle are enough */
                        int rc = loaded_turn(survey, chase, VISITS, &points[i], diag);
                        if (rc < 0)
                                return rc;
                }
        }
        return 0;
}

static double sampling_cycles(const struct loaded_point *point)
{
        enum { ENOUGH = 20 };
        const struct sampled_latency *sampled = &point->sampled;
        return sampled->samples >= ENOUGH ? sampled->cycles / (double)sampled->samples
                                          : NAN;
}

static json_t *point_json(const struct survey *survey, const struct loaded_point *loaded,
                          const struct load_point *point, double error)
{
        json_t *json =
            json_pack("{s:i, s:i, s:f, s:f, s:f}", "threads", (int)survey->cpus.count - 1,
                      "delay_nops", (int)loaded->delay_nops, "gbs", point->gbs,
                      "latency_ns", point->ns, "error", error);
        add_measured(json, "lmrl_cycles", loaded->chase.lmrl_cycles);
        add_measured(json, "sampling_latency_cycles", sampling_cycles(loaded));
        add_measured(json, "load_lmrl_cycles", loaded->load.lmrl_cycles);
        add_measured(json, "load_fb_full_share", loaded->load.fb_full_share);
        return json;
}

/* Of the points that were measured; their load is that of the middle turn. */
static size_t read_points(struct survey *survey, struct loaded_point *loaded,
                          size_t count, struct load_point *points, json_t *curve)
{
        size_t measured = 0;
        for (size_t i = 0; i < count; i++) {
                if (loaded[i].turns == 0)
                        continue;
                struct estimate estimate = survey_estimate(survey, &loaded[i].series);
                struct load_point *point = &points[measured++];
                survey_noise(survey, estimate_error(&estimate));
                estimate_sort(loaded[i].gbs, loaded[i].turns);
                *point = (struct load_point){
                    .gbs = loaded[i].gbs[loaded[i].turns / 2] +
                           KERNEL_LINE_BYTES / estimate.value,
                    .ns = estimate.value,
                    .lmrl_cycles = loaded[i].chase.lmrl_cycles,
                };
                json_array_append_new(curve, point_json(survey, &loaded[i], point,
                                                        estimate_error(&estimate)));
        }
        return measured;
}

static json_t *loaded_json(const struct survey *survey, json_t *curve,
                           const struct loaded_point *idle, struct load_point *points,
                           size_t count)
{
        double knee = curve_knee_gbs(points, count, survey->idle_ns, KNEE_FACTOR);
        json_t *loaded =
            json_pack("{s:O, s:f, s:o}", "curve", curve, "idle_ns", survey->idle_ns,
                      "knee_gbs", isnan(knee) ? json_null() : json_real(knee));
        add_measured(loaded, "idle_lmrl_cycles", idle->chase.lmrl_cycles);
        add_measured(loaded, "idle_sampling_latency_cycles", sampling_cycles(idle));
        if (!isnan(knee))
                add_measured(loaded, "lmrl_threshold_cycles",
                             curve_lmrl_at(points, count, knee));
        return loaded;
}

/* The delays of this survey, from a light load to a heavy one; none when no other CPU can
 * load the memory. */
static size_t choose_delays(const struct survey *survey, struct loaded_point *points)
{
        static const uint32_t delays[DELAYS] = {6400, 1600, 800, 400, 200,
                                                100,  50,   25,  0};
        size_t count = 0;
        for (size_t i = 0; survey->cpus.count > 1 && i < DELAYS; i++)
                if (!survey->quick || i % 2 == 0)
                        points[count++] = (struct loaded_point){
                            .delay_nops = delays[i],
                            .chase = {NAN, NAN},
                            .load = {NAN, NAN},
                        };
        return count;
}

json_t *survey_loaded(struct survey *survey, struct diag *diag)
{
        struct loaded_point *loaded = calloc(DELAYS + 1, sizeof(*loaded));
        struct load_point points[DELAYS];
        struct chase chase;
        int rc = loaded ? 0 : diag_no_memory(diag);
        if (rc < 0)
                return NULL;
        struct loaded_point *idle = &loaded[DELAYS];
        size_t count = choose_delays(survey, loaded);
        json_t *result = NULL, *curve = json_array();
        idle->chase = (struct point_counts){NAN, NAN};
        /* One CPU has no other to load it, and without a PMU nothing to count either. */
        if (count > 0 || survey->events || survey->samples) {
                rc = chase_open(survey->data_bytes, KERNEL_LINE_BYTES, PAGES_HUGE, -1,
                                &chase, diag);
                if (rc == 0) {
                        if (survey->events)
                                rc = visit_counted(survey, &chase, NULL, VISITS, idle,
                                                   diag);
                        if (rc == 0)
                                rc = visit_sampled(survey, &chase, NULL, idle, diag);
                        if (rc == 0)
                                rc = measure_loads(survey, &chase, loaded, count, diag);
                        chase_close(&chase);
                }
        }
        if (rc == 0) {
                count = read_points(survey, loaded, count, points, curve);
                result = loaded_json(survey, curve, idle, points, count);
        }
        json_decref(curve);
        free(loaded);
        return result;
}
