/* SPDX-License-Identifier: MIT */
/* Survey of latency under load. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "curve.h"
#include "reported.h"
#include "survey.h"

enum { TURNS_MAX = 256, DELAYS = 9, SEATS_MAX = 2, VISITS = 2, SAMPLES_MIN = 20 };

/* Turns of each point per sweep: turns are short. */
enum { TURNS_IN_SWEEP = 2 };

/* Least number of turns, if time allows: consecutive turns are similar, and a few turns
 * seem more precise than they are. */
enum { TURNS_MIN = 40 };

/* Data that a load reads between checks for a stop command. */
#define LOAD_WINDOW_BYTES (UINT64_C(8) << 20)

/* Share of the bandwidth that the load reaches without interference. In a turn with less,
 * the latency does not belong to this load. */
static const double REACHED = 0.95;

/* H19, and this project's rule for contention: a quarter above idle. */
static const double KNEE_FACTOR = 1.25;

/* Share of the turns in the printed range. */
static const double RANGE_PART = 0.8;

/* Adds VALUE under KEY if it was measured. */
static void add_measured(json_t *object, const char *key, double value)
{
        if (!isnan(value))
                json_object_set_new(object, key, json_real(value));
}

/* The load with the chase beside it, for a while: the mean over the chase's seats, one
 * CPU after the other. A saturated memory favours some CPUs, and the favoured CPU changes
 * within seconds. */
struct turn {
        double gbs; /* of the load */
        double ns;  /* of the chase */
        enum disturbance disturbance;
        struct stay stay;
        struct point_counts chase, load;
};

/* One delay of the load, with several turns. */
struct loaded_point {
        uint32_t delay_nops;
        struct turn turns[TURNS_MAX];
        size_t count;
        struct sampled_latency sampled; /* of the chase, over all turns */
};

struct loaded {
        struct loaded_point idle; /* the chase alone, if the PMU counts it */
        struct loaded_point points[DELAYS];
        size_t count;
        size_t seats[SEATS_MAX]; /* CPUs of the chase, as indices of the survey's CPUs */
        size_t seat_count;
};

/* The chase, and the threads that load the memory beside it. */
struct rig {
        struct survey *survey;
        const struct loaded *loaded;
        struct chase chase;
        struct load *load;
        int *others; /* CPUs of the load */
};

static int count_threads(const struct survey *survey, const struct load *load,
                         struct point_counters **counters, struct diag *diag)
{
        uint32_t threads = load ? load_thread_count(load) : 1;
        pid_t *numbers = calloc(threads, sizeof(*numbers)); /* 0: the calling thread */
        if (!numbers)
                return diag_no_memory(diag);
        if (load)
                load_threads(load, numbers);
        *counters = point_counters_start(survey->events, numbers, threads, diag);
        free(numbers);
        return *counters ? 0 : -EIO;
}

/* Visits the chase beside LOAD (NULL: idle), with PMU counts of both. */
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
                survey_visit(survey, chase_time, chase, load, &visits);
        *turn = (struct turn){.stay = {PLACES_UNREAD, PLACES_UNREAD},
                              .chase = {NAN, NAN},
                              .load = {NAN, NAN}};
        if (own)
                turn->chase = point_counters_stop(own);
        if (beside)
                turn->load = point_counters_stop(beside);
        if (rc == 0) {
                struct estimate estimate = series_estimate(&visits);
                turn->ns = estimate.value;
                turn->disturbance = estimate.disturbance;
        }
        return rc;
}

/* Visits for samples only, because sampling costs time: one, or more until there are
 * enough samples. */
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
                survey_visit(survey, chase_time, chase, load, &ignored);
                point_samples_stop(samples, &point->sampled);
        }
        return 0;
}

/* Data size of the load: no power of two, because its four arrays would then conflict in
 * memory banks. */
static uint64_t load_bytes(const struct survey *survey)
{
        return survey->data_bytes / 64 * 61;
}

/* Runs the chase on SEAT, and the load on all other CPUs. */
static int run_seat(struct rig *rig, size_t seat, struct loaded_point *point,
                    struct turn *turn, struct diag *diag)
{
        struct survey *survey = rig->survey;
        size_t others = 0;
        for (size_t i = 0; i < survey->cpus.count; i++)
                if (i != seat)
                        rig->others[others++] = survey->cpus.cpus[i];
        int rc = cpu_pin(survey->cpus.cpus[seat], diag);
        if (rc == 0)
                rc = load_run(rig->load, point->delay_nops, rig->others, diag);
        if (rc < 0)
                return rc;
        rc = visit_counted(survey, &rig->chase, rig->load, turn, diag);
        if (rc == 0)
                rc = visit_sampled(survey, &rig->chase, rig->load, point, diag);
        turn->gbs = load_rest(rig->load);
        return rc;
}

static void add_seat(const struct turn *seat, double share, struct turn *turn)
{
        turn->gbs += share * seat->gbs;
        turn->ns += share * seat->ns;
        turn->chase.lmrl_cycles += share * seat->chase.lmrl_cycles;
        turn->load.lmrl_cycles += share * seat->load.lmrl_cycles;
        turn->load.fb_full_share += share * seat->load.fb_full_share;
        if (seat->disturbance > turn->disturbance)
                turn->disturbance = seat->disturbance;
}

/* Runs the chase on each of its seats. */
static int run_turn(struct rig *rig, struct loaded_point *point, struct turn *turn,
                    struct diag *diag)
{
        struct survey *survey = rig->survey;
        struct diag ignored;
        int rc = 0;
        survey_progress(survey, "latency beside %u threads with delay %u",
                        load_thread_count(rig->load), point->delay_nops);
        *turn = (struct turn){0};
        for (size_t i = 0; rc == 0 && i < rig->loaded->seat_count; i++) {
                struct turn seat;
                rc = run_seat(rig, rig->loaded->seats[i], point, &seat, diag);
                if (rc == 0)
                        add_seat(&seat, 1.0 / (double)rig->loaded->seat_count, turn);
        }
        int back = cpu_pin(survey->cpus.cpus[0], rc == 0 ? diag : &ignored);
        return rc == 0 ? back : rc;
}

/* Runs a turn unless the CPUs are apart. */
static int take_turn(struct rig *rig, struct loaded_point *point, struct diag *diag)
{
        struct survey *survey = rig->survey;
        struct turn *turn = &point->turns[point->count];
        struct stay stay;
        bool now;
        int rc = survey_arrive(survey, survey->cpus.count, &stay, &now, diag);
        if (rc < 0 || !now)
                return rc;
        rc = run_turn(rig, point, turn, diag);
        if (rc == 0)
                rc = survey_depart(survey, survey->cpus.count, &stay, diag);
        turn->stay = stay;
        point->count += rc == 0;
        return rc;
}

/* The valid turns of a point: with the CPUs together. */
struct turns {
        const struct turn *turns[TURNS_MAX];
        size_t count;
};

static struct turns turns_of(const struct survey *survey,
                             const struct loaded_point *point)
{
        struct turns turns = {.count = 0};
        for (size_t i = 0; i < point->count; i++)
                if (survey_stayed(survey, &point->turns[i].stay))
                        turns.turns[turns.count++] = &point->turns[i];
        return turns;
}

/* The time of a byte while the load has most bandwidth. */
static struct estimate byte_ns(const struct turns *turns)
{
        struct series series = {0};
        for (size_t i = 0; i < turns->count; i++)
                series_add(&series, 1 / turns->turns[i]->gbs, UNDISTURBED);
        return series_estimate(&series);
}

/* The latencies of the turns; turns with a hindered load count only if others are too
 * few. */
static void latencies(const struct turns *turns, struct series *series)
{
        double least = REACHED / byte_ns(turns).value;
        *series = (struct series){0};
        for (size_t i = 0; i < turns->count; i++) {
                const struct turn *turn = turns->turns[i];
                series_add(series, turn->ns,
                           turn->gbs < least ? INTERRUPTED : turn->disturbance);
        }
}

/* If time is short: the ends and the middle of the curve. */
static bool is_essential(const struct loaded *loaded, size_t index)
{
        return index == 0 || index + 1 == loaded->count || index == loaded->count / 2;
}

static bool wants_turn(const struct survey *survey, const struct loaded *loaded,
                       size_t index)
{
        const struct loaded_point *point = &loaded->points[index];
        struct turns turns = turns_of(survey, point);
        struct series series;
        if (point->count >= TURNS_MAX)
                return false;
        if (!survey->quick && turns.count < TURNS_MIN && !survey_is_late(survey))
                return true;
        latencies(&turns, &series);
        return survey_wants(survey, &series, true) &&
               (!survey_is_late(survey) || is_essential(loaded, index));
}

static double sampling_cycles(const struct loaded_point *point)
{
        const struct sampled_latency *sampled = &point->sampled;
        return sampled->samples >= SAMPLES_MIN
                   ? sampled->cycles / (double)sampled->samples
                   : NAN;
}

/* The median of a count over the turns; NAN: not counted. */
static double median_of(const struct turns *turns,
                        double (*counted)(const struct turn *turn))
{
        double values[TURNS_MAX];
        size_t count = 0;
        for (size_t i = 0; i < turns->count; i++)
                if (!isnan(counted(turns->turns[i])))
                        values[count++] = counted(turns->turns[i]);
        estimate_sort(values, count);
        return count > 0 ? values[count / 2] : NAN;
}

static void add_range(const struct series *series, json_t *json)
{
        double low, high;
        size_t count = series_range(series, RANGE_PART, &low, &high);
        add_measured(json, "p10_ns", low);
        add_measured(json, "p90_ns", high);
        json_object_set_new(json, "turns", json_integer((json_int_t)count));
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

/* A point by the turns: all traffic, and the latency beside it. */
struct point_figures {
        struct estimate gbs, ns;
        double lmrl_cycles;
};

static json_t *point_json(const struct survey *survey, const struct loaded_point *loaded,
                          const struct turns *turns, const struct point_figures *point)
{
        json_t *json = json_pack(
            "{s:i, s:i, s:f, s:f, s:o}", "threads", (int)survey->cpus.count - 1,
            "delay_nops", (int)loaded->delay_nops, "gbs", point->gbs.value, "latency_ns",
            point->ns.value, "error", survey_number(estimate_error(&point->ns)));
        add_measured(json, "lmrl_cycles", point->lmrl_cycles);
        add_measured(json, "sampling_latency_cycles", sampling_cycles(loaded));
        add_measured(json, "load_lmrl_cycles", median_of(turns, load_lmrl));
        add_measured(json, "load_fb_full_share", median_of(turns, load_fb_full));
        return json;
}

/* Reads a point; CURVE gets it if its latency is known. */
static void read_point(struct survey *survey, const struct loaded_point *source,
                       const struct turns *turns, struct point_figures *point,
                       json_t *curve)
{
        struct series series;
        latencies(turns, &series);
        struct estimate byte = byte_ns(turns), own_byte;
        point->ns = survey_estimate(survey, &series);
        own_byte = estimate_times(1.0 / KERNEL_LINE_BYTES, &point->ns);
        struct estimate load = estimate_inverse(&byte), own = estimate_inverse(&own_byte);
        point->gbs = estimate_sum(&load, 1, &own);
        point->lmrl_cycles = median_of(turns, chase_lmrl);
        if (isnan(survey_known(survey, &point->ns,
                               "the latency beside a load with delay %u",
                               source->delay_nops)) ||
            isnan(survey_known(survey, &point->gbs,
                               "the bandwidth of a load with delay %u",
                               source->delay_nops)))
                return;
        json_t *json = point_json(survey, source, turns, point);
        add_range(&series, json);
        json_array_append_new(curve, json);
}

/* The knee by PART of the turns; POINTS gets the sorted curve. */
static double knee_of(const struct survey *survey, const struct point_figures *figures,
                      size_t count, enum part part, struct load_point *points)
{
        for (size_t i = 0; i < count; i++)
                points[i] =
                    (struct load_point){.gbs = estimate_part(&figures[i].gbs, part),
                                        .ns = estimate_part(&figures[i].ns, part),
                                        .lmrl_cycles = figures[i].lmrl_cycles};
        return curve_knee_gbs(points, count, estimate_part(&survey->idle, part),
                              KNEE_FACTOR);
}

/* A missing knee is certain only with all points. */
static void add_knee(struct survey *survey, const struct loaded *loaded,
                     const struct point_figures *figures, size_t count, json_t *json)
{
        struct load_point points[DELAYS];
        double knees[PARTS];
        for (enum part part = PARTS; part-- > 0;)
                knees[part] = knee_of(survey, figures, count, part, points);
        if (isnan(knees[WHOLE]) && isnan(knees[EARLY]) && isnan(knees[LATE])) {
                if (json_array_size(json_object_get(json, "curve")) == loaded->count)
                        json_object_set_new(json, "knee_gbs", json_null());
        } else if (survey_add(survey, json, "knee_gbs",
                              "the bandwidth where latency has grown by a quarter",
                              estimate_of_parts(knees))) {
                add_measured(json, "lmrl_threshold_cycles",
                             curve_lmrl_at(points, count, knees[WHOLE]));
        }
}

static json_t *loaded_result(struct survey *survey, void *state)
{
        const struct loaded *loaded = state;
        struct point_figures figures[DELAYS];
        size_t count = 0;
        json_t *curve = json_array();
        for (size_t i = 0; i < loaded->count; i++) {
                struct turns turns = turns_of(survey, &loaded->points[i]);
                read_point(survey, &loaded->points[i], &turns, &figures[count], curve);
                count += turns.count > 0;
        }
        struct turns idle = turns_of(survey, &loaded->idle);
        json_t *json = json_pack("{s:o}", "curve", curve);
        add_measured(json, "idle_lmrl_cycles", median_of(&idle, chase_lmrl));
        add_measured(json, "idle_sampling_latency_cycles",
                     sampling_cycles(&loaded->idle));
        if (isnan(survey->idle.value))
                return json;
        json_object_set_new(json, "idle_ns", json_real(survey->idle.value));
        add_knee(survey, loaded, figures, count, json);
        return json;
}

/* Seats: the first CPU, and the next CPU of the same kind with the same distance to the
 * chase's memory. */
static void choose_seats(const struct survey *survey, struct loaded *loaded)
{
        loaded->seats[0] = 0;
        loaded->seat_count = 1;
        for (size_t i = 1; i < survey->cpus.count && loaded->seat_count < SEATS_MAX; i++)
                if (reported_alike(survey->cpus.cpus[0], survey->cpus.cpus[i]))
                        loaded->seats[loaded->seat_count++] = i;
}

/* Chooses the delays, from light to heavy load. None if no other CPU can load the memory,
 * or the data does not reach memory. */
static int loaded_open(struct survey *survey, void *state, struct diag *diag)
{
        static const uint32_t delays[DELAYS] = {6400, 1600, 800, 400, 200,
                                                100,  50,   25,  0};
        struct loaded *loaded = state;
        (void)diag;
        bool possible = survey->cpus.count > 1 && survey->reaches_memory;
        for (size_t i = 0; possible && i < DELAYS; i++)
                if (!survey->quick || i % 2 == 0)
                        loaded->points[loaded->count++].delay_nops = delays[i];
        choose_seats(survey, loaded);
        return 0;
}

/* Visits the chase alone, once, if the PMU counts it. */
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

static void rig_close(struct rig *rig)
{
        load_close(rig->load);
        free(rig->others);
        chase_close(&rig->chase);
}

static int open_load(struct rig *rig, struct diag *diag)
{
        const struct survey *survey = rig->survey;
        struct kernel_parameters parameters = kernel_memread.defaults;
        parameters.threads = (uint32_t)survey->cpus.count - 1;
        parameters.node = -1;
        parameters.passes = 1;
        parameters.size_bytes = load_bytes(survey);
        parameters.windows =
            (uint32_t)(kernel_part_bytes(&parameters) / LOAD_WINDOW_BYTES) + 1;
        rig->others = calloc(parameters.threads, sizeof(*rig->others));
        if (!rig->others)
                return diag_no_memory(diag);
        return load_open(&kernel_memread, &parameters, survey->cpus.cpus + 1, &rig->load,
                         diag);
}

static int rig_open(struct survey *survey, const struct loaded *loaded, struct rig *rig,
                    struct diag *diag)
{
        *rig = (struct rig){.survey = survey, .loaded = loaded};
        int rc = chase_open(survey->data_bytes, KERNEL_LINE_BYTES, PAGES_HUGE, -1,
                            &rig->chase, diag);
        if (rc == 0 && loaded->count > 0)
                rc = open_load(rig, diag);
        if (rc < 0)
                rig_close(rig);
        return rc;
}

static int visit_loads(struct survey *survey, struct loaded *loaded, struct diag *diag)
{
        struct rig rig;
        int rc = rig_open(survey, loaded, &rig, diag);
        if (rc < 0)
                return rc;
        rc = visit_idle(survey, &rig.chase, &loaded->idle, diag);
        for (size_t turn = 0; turn < TURNS_IN_SWEEP; turn++)
                for (size_t i = 0; rc == 0 && i < loaded->count; i++)
                        if (wants_turn(survey, loaded, i))
                                rc = take_turn(&rig, &loaded->points[i], diag);
        rig_close(&rig);
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
    .several = true,
    .state_bytes = sizeof(struct loaded),
    .open = loaded_open,
    .sweep = loaded_sweep,
    .result = loaded_result,
};
