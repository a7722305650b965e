/* SPDX-License-Identifier: MIT */
/* The part of a survey that is about latency under load. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "survey.h"

enum { TURNS_MAX = 64, DELAYS = 9, VISITS = 5, SAMPLES_MIN = 20 };

/* Of the bandwidth that a load reaches beside few neighbours: in a turn in which it had
 * less, the latency is not that beside this load. */
static const double REACHED = 0.95;

/* H19 and this project's rule for contention: a quarter more than idle. */
static const double KNEE_FACTOR = 1.25;

/* Adds VALUE under KEY unless it was not measured. */
static void add_measured(json_t *object, const char *key, double value)
{
        if (!isnan(value))
                json_object_set_new(object, key, json_real(value));
}

/* The load and the chase beside it, for a while. */
struct turn {
        double gbs; /* of the load */
        double ns;  /* of the chase */
        enum disturbance disturbance;
        struct point_counts chase, load;
};

/* One delay of the load: what was measured in several turns. */
struct loaded_point {
        uint32_t delay_nops;
        struct turn turns[TURNS_MAX];
        size_t count;
        struct sampled_latency sampled; /* of the chase, in all turns */
};

struct loaded {
        struct loaded_point idle; /* the chase alone, where a PMU counts it */
        struct loaded_point points[DELAYS];
        size_t count;
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
                         const struct load *load, struct turn *turn, struct diag *diag)
{
        struct point_counters *beside = NULL, *own = NULL;
        struct series visits = {0};
        int rc = 0;
        if (survey->events && load)
                rc = count_threads(survey, load, &beside, diag);
        if (rc == 0 && survey->events)
                rc = count_threads(survey, NULL, &own, diag);
        for (size_t i = 0; rc == 0 && i < VISITS; i++)
                survey_visit(survey, chase, load, &visits);
        *turn = (struct turn){.chase = {NAN, NAN}, .load = {NAN, NAN}};
        if (own)
                turn->chase = point_counters_stop(own);
        if (beside)
                turn->load = point_counters_stop(beside);
        if (rc == 0) {
                turn->ns = series_estimate(&visits).value;
                turn->disturbance = series_disturbance(&visits);
        }
        return rc;
}

/* Visits of which samples are taken, and not the time, as sampling takes some of it: one,
 * or as many as it takes to have enough. */
static int visit_sampled(struct survey *survey, struct chase *chase,
                         const struct load *load, struct loaded_point *point,
                         struct diag *diag)
{
        struct series ignored = {0};
        if (!survey->samples)
                return 0;
        for (size_t i = 0; i == 0 || (i < VISITS && point->sampled.samples < SAMPLES_MIN);
             i++) {
                struct point_samples *samples =
                    point_samples_start(survey->samples, diag);
                if (!samples)
                        return -EIO;
                survey_visit(survey, chase, load, &ignored);
                point_samples_stop(samples, &point->sampled);
        }
        return 0;
}

/* What the load goes over: not a power of two, of which its four arrays would be so far
 * apart that they meet in the same banks of the memory. */
static uint64_t load_bytes(const struct survey *survey)
{
        return survey->data_bytes / 64 * 61;
}

static int take_turn(struct survey *survey, struct chase *chase,
                     struct loaded_point *point, struct diag *diag)
{
        struct kernel_parameters parameters = kernel_memread.defaults;
        struct turn *turn = &point->turns[point->count];
        struct load *load;
        parameters.threads = (uint32_t)survey->cpus.count - 1;
        parameters.delay_nops = point->delay_nops;
        parameters.node = -1;
        parameters.passes = 1;
        parameters.size_bytes = load_bytes(survey);
        survey_progress(survey, "latency beside %u threads with delay %u",
                        parameters.threads, point->delay_nops);
        int rc =
            load_start(&kernel_memread, &parameters, survey->cpus.cpus + 1, &load, diag);
        if (rc < 0)
                return rc;
        rc = visit_counted(survey, chase, load, turn, diag);
        if (rc == 0)
                rc = visit_sampled(survey, chase, load, point, diag);
        turn->gbs = load_stop(load);
        point->count += rc == 0;
        return rc;
}

/* The bandwidth that the load reaches: the upper quartile of its turns. */
static double reached_gbs(const struct loaded_point *point)
{
        double gbs[TURNS_MAX];
        for (size_t i = 0; i < point->count; i++)
                gbs[i] = point->turns[i].gbs;
        estimate_sort(gbs, point->count);
        return gbs[(point->count - 1) - (point->count - 1) / 4];
}

/* The latency in the turns; those in which the load was kept from its bandwidth count
 * last. */
static void latencies(const struct loaded_point *point, struct series *series)
{
        double least = point->count > 0 ? REACHED * reached_gbs(point) : 0;
        *series = (struct series){0};
        for (size_t i = 0; i < point->count; i++) {
                const struct turn *turn = &point->turns[i];
                series_add(series, turn->ns,
                           turn->gbs < least ? INTERRUPTED : turn->disturbance);
        }
}

/* Whether the ends and the middle of the curve, where there is no time for more. */
static bool is_essential(const struct loaded *loaded, size_t index)
{
        return index == 0 || index + 1 == loaded->count || index == loaded->count / 2;
}

static bool wants_turn(const struct survey *survey, const struct loaded *loaded,
                       size_t index)
{
        const struct loaded_point *point = &loaded->points[index];
        struct series series;
        latencies(point, &series);
        return point->count < TURNS_MAX && survey_wants(survey, &series, true) &&
               (!survey_is_late(survey) || is_essential(loaded, index));
}

static double sampling_cycles(const struct loaded_point *point)
{
        const struct sampled_latency *sampled = &point->sampled;
        return sampled->samples >= SAMPLES_MIN
                   ? sampled->cycles / (double)sampled->samples
                   : NAN;
}

/* The median of what the turns counted; NAN: nothing. */
static double median_of(const struct loaded_point *point,
                        double (*counted)(const struct turn *turn))
{
        double values[TURNS_MAX];
        size_t count = 0;
        for (size_t i = 0; i < point->count; i++)
                if (!isnan(counted(&point->turns[i])))
                        values[count++] = counted(&point->turns[i]);
        estimate_sort(values, count);
        return count > 0 ? values[count / 2] : NAN;
}

static double chase_lmrl(const struct turn *turn)
{
        return turn->chase.lmrl_cycles;
}

static double load_lmrl(const struct turn *turn)
{
        return turn->load.lmrl_cycles;
}

static double load_fb_full(const struct turn *turn)
{
        return turn->load.fb_full_share;
}

static json_t *point_json(const struct survey *survey, const struct loaded_point *loaded,
                          const struct load_point *point, double error)
{
        json_t *json =
            json_pack("{s:i, s:i, s:f, s:f, s:o}", "threads", (int)survey->cpus.count - 1,
                      "delay_nops", (int)loaded->delay_nops, "gbs", point->gbs,
                      "latency_ns", point->ns, "error", survey_number(error));
        add_measured(json, "lmrl_cycles", point->lmrl_cycles);
        add_measured(json, "sampling_latency_cycles", sampling_cycles(loaded));
        add_measured(json, "load_lmrl_cycles", median_of(loaded, load_lmrl));
        add_measured(json, "load_fb_full_share", median_of(loaded, load_fb_full));
        return json;
}

/* Of the points that were measured: all go to CURVE, those that tell anything of the
 * latency to POINTS. */
static size_t read_points(struct survey *survey, const struct loaded *loaded,
                          struct load_point *points, json_t *curve)
{
        size_t measured = 0;
        for (size_t i = 0; i < loaded->count; i++) {
                const struct loaded_point *source = &loaded->points[i];
                struct series series;
                if (source->count == 0) {
                        survey->hurried++;
                        continue;
                }
                latencies(source, &series);
                struct estimate estimate = survey_estimate(survey, &series);
                struct load_point *point = &points[measured];
                survey_noise(survey, estimate_error(&estimate),
                             "the latency beside a load with delay %u",
                             source->delay_nops);
                *point = (struct load_point){
                    .gbs = reached_gbs(source) + KERNEL_LINE_BYTES / estimate.value,
                    .ns = estimate.value,
                    .lmrl_cycles = median_of(source, chase_lmrl),
                };
                json_array_append_new(
                    curve, point_json(survey, source, point, estimate_error(&estimate)));
                measured += !series_is_worthless(&series);
        }
        return measured;
}

static json_t *loaded_result(struct survey *survey, void *state)
{
        const struct loaded *loaded = state;
        struct load_point points[DELAYS];
        json_t *curve = json_array();
        size_t count = read_points(survey, loaded, points, curve);
        json_t *json = json_pack("{s:o}", "curve", curve);
        add_measured(json, "idle_lmrl_cycles", median_of(&loaded->idle, chase_lmrl));
        add_measured(json, "idle_sampling_latency_cycles",
                     sampling_cycles(&loaded->idle));
        if (isnan(survey->idle_ns))
                return json;
        double knee = curve_knee_gbs(points, count, survey->idle_ns, KNEE_FACTOR);
        json_object_set_new(json, "idle_ns", json_real(survey->idle_ns));
        /* Without all points it is not known that there is none. */
        if (!isnan(knee) || count == loaded->count)
                json_object_set_new(json, "knee_gbs", survey_number(knee));
        if (!isnan(knee))
                add_measured(json, "lmrl_threshold_cycles",
                             curve_lmrl_at(points, count, knee));
        return json;
}

/* The delays of this survey, from a light load to a heavy one; none when no other CPU can
 * load the memory, or the data does not reach it. */
static void *loaded_open(struct survey *survey, struct diag *diag)
{
        static const uint32_t delays[DELAYS] = {6400, 1600, 800, 400, 200,
                                                100,  50,   25,  0};
        struct loaded *loaded = calloc(1, sizeof(*loaded));
        if (!loaded) {
                diag_no_memory(diag);
                return NULL;
        }
        bool possible = survey->cpus.count > 1 && survey->reaches_memory;
        for (size_t i = 0; possible && i < DELAYS; i++)
                if (!survey->quick || i % 2 == 0)
                        loaded->points[loaded->count++].delay_nops = delays[i];
        return loaded;
}

/* The chase alone, once, where a PMU counts it. */
static int visit_idle(struct survey *survey, struct chase *chase,
                      struct loaded_point *idle, struct diag *diag)
{
        if (idle->count > 0 || (!survey->events && !survey->samples))
                return 0;
        int rc = visit_counted(survey, chase, NULL, &idle->turns[0], diag);
        if (rc == 0)
                rc = visit_sampled(survey, chase, NULL, idle, diag);
        idle->count += rc == 0;
        return rc;
}

static int visit_loads(struct survey *survey, struct loaded *loaded, struct diag *diag)
{
        struct chase chase;
        int rc = chase_open(survey->data_bytes, KERNEL_LINE_BYTES, PAGES_HUGE, -1, &chase,
                            diag);
        if (rc < 0)
                return rc;
        rc = visit_idle(survey, &chase, &loaded->idle, diag);
        for (size_t visit = 0; visit < survey->sweep_visits; visit++)
                for (size_t i = 0; rc == 0 && i < loaded->count; i++)
                        if (wants_turn(survey, loaded, i))
                                rc = take_turn(survey, &chase, &loaded->points[i], diag);
        chase_close(&chase);
        return rc;
}

static int loaded_sweep(struct survey *survey, void *state, struct diag *diag)
{
        struct loaded *loaded = state;
        bool wanted = loaded->idle.count == 0 && (survey->events || survey->samples) &&
                      survey->reaches_memory;
        for (size_t i = 0; i < loaded->count; i++)
                wanted |= wants_turn(survey, loaded, i);
        return wanted ? visit_loads(survey, loaded, diag) : 0;
}

const struct survey_part survey_loaded = {
    .key = "loaded",
    .open = loaded_open,
    .sweep = loaded_sweep,
    .result = loaded_result,
    .close = free,
};
