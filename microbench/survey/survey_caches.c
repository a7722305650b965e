/* SPDX-License-Identifier: MIT */
/* Survey of the latency of caches and of each node's memory. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "curve.h"
#include "reported.h"
#include "survey.h"

enum {
        POINTS_PER_OCTAVE = 4,
        PLATEAUS_MAX = 8,
        GROUP_MAX = 64, /* chases visited in turn */
        HUGE_PAGE_BYTES = 2 << 20,
        VISITS_ALONE = 2 /* per sweep, for each visit of other figures */
};

/* A point within this ratio of a level's latency supports it. */
static const double NEAR = 1.03;
/* Assumed latency ratio of an unidentified level to the previous one. */
static const double NEXT_LIKE = 3;

/* ---- caches ---- */

/* Cache sizes that the system reports. */
struct reports {
        uint64_t bytes[PLATEAUS_MAX + 1]; /* terminated by 0 */
        size_t count;
};

struct caches {
        struct reports reports;
        size_t count;
        struct series *series;        /* for each size, in core cycles */
        struct series *blocks;        /* for sizes just beyond a level */
        bool *figures;                /* whether SERIES determines a level */
        struct latency_point *points; /* points of the visited sizes */
        size_t *sizes;                /* indices of the visited sizes */
        size_t known;                 /* number of visited sizes */
        bool small_pages;             /* large sizes use pages of 4 KiB */
        struct latency_point beyond[PLATEAUS_MAX]; /* just beyond each reported level;
                                                    * NAN: no visit */
};

static uint64_t size_of_point(size_t index)
{
        double size = 4096 * exp2((double)index / POINTS_PER_OCTAVE);
        return (uint64_t)(size / 512 + 0.5) * 512;
}

static void caches_close(void *state)
{
        struct caches *caches = state;
        free(caches->series);
        free(caches->blocks);
        free(caches->points);
        free(caches->sizes);
        free(caches->figures);
}

static struct reports read_reports(void)
{
        struct reports reports = {.count = 0};
        while (reports.count < PLATEAUS_MAX &&
               (reports.bytes[reports.count] =
                    reported_cache_bytes((unsigned)reports.count + 1)) > 0)
                reports.count++;
        return reports;
}

static int caches_open(struct survey *survey, void *state, struct diag *diag)
{
        struct caches *caches = state;
        caches->reports = read_reports();
        while (size_of_point(caches->count) <= survey->data_bytes)
                caches->count++;
        caches->series = calloc(caches->count, sizeof(*caches->series));
        caches->blocks = calloc(caches->count, sizeof(*caches->blocks));
        caches->points = calloc(caches->count, sizeof(*caches->points));
        caches->figures = calloc(caches->count, sizeof(*caches->figures));
        caches->sizes = calloc(caches->count, sizeof(*caches->sizes));
        return caches->series && caches->blocks && caches->points && caches->figures &&
                       caches->sizes
                   ? 0
                   : diag_no_memory(diag);
}

/* Whether the size gives a level's latency. */
static bool is_beyond(const struct caches *caches, size_t index)
{
        for (size_t i = 0; i + 1 < caches->reports.count; i++)
                if (curve_is_beyond(size_of_point(index), caches->reports.bytes[i]))
                        return true;
        return false;
}

/* If time is short: a size per octave, and the sizes that determine a level. */
static bool is_essential(const struct caches *caches, size_t index)
{
        return index % POINTS_PER_OCTAVE == 0 || is_beyond(caches, index);
}

static bool wants_size(const struct survey *survey, const struct caches *caches,
                       size_t index)
{
        bool wanted =
            survey_wants(survey, &caches->series[index], caches->figures[index]) ||
            (is_beyond(caches, index) &&
             survey_wants(survey, &caches->blocks[index], true));
        return wanted && (!survey_is_late(survey) || is_essential(caches, index));
}

/* Visits the wanted sizes from point FIRST. Their total data is at most a quarter of the
 * largest size: a busy machine then visits them before others are allocated. NEXT gets
 * the next point. */
static int visit_group(struct survey *survey, struct caches *caches, size_t first,
                       size_t *next, struct diag *diag)
{
        struct chase chases[GROUP_MAX];
        struct series *series[GROUP_MAX];
        uint64_t bytes = 0;
        size_t sizes[GROUP_MAX], opened = 0, i = first;
        int rc = 0;
        survey_progress(survey, "latency of %llu KiB",
                        (unsigned long long)(size_of_point(first) >> 10));
        for (; rc == 0 && i < caches->count && opened < GROUP_MAX; i++) {
                if (!wants_size(survey, caches, i))
                        continue;
                bytes += buffer_footprint(size_of_point(i), PAGES_HUGE);
                if (opened > 0 && bytes > survey->data_bytes / 4)
                        break;
                rc = chase_open(size_of_point(i), KERNEL_LINE_BYTES, PAGES_HUGE, -1,
                                &chases[opened], diag);
                series[opened] = &caches->series[i];
                sizes[opened] = i;
                opened += rc == 0;
        }
        *next = i;
        if (rc == 0 && opened > 0 && size_of_point(sizes[opened - 1]) >= HUGE_PAGE_BYTES)
                caches->small_pages =
                    buffer_huge_bytes(&chases[opened - 1].share.buffer) == 0;
        if (rc == 0)
                survey_chases(survey, chase_cycles, chases, opened, series);
        for (size_t k = 0; k < opened; k++) {
                struct series *blocks = &caches->blocks[sizes[k]];
                if (rc == 0 && is_beyond(caches, sizes[k]))
                        survey_chases(survey, chase_block_cycles, &chases[k], 1, &blocks);
                chase_close(&chases[k]);
        }
        return rc;
}

/* If all visits were disturbed, the shortest is the best. CYCLE_NS: the core's cycle
 * time. */
static struct latency_point point_of(uint64_t size_bytes, const struct series *series,
                                     double cycle_ns)
{
        struct estimate estimate = series_estimate(series);
        bool clean = series_disturbance(series) == UNDISTURBED;
        double cycles = clean ? estimate.value : estimate.least;
        return (struct latency_point){size_bytes, cycles * cycle_ns,
                                      estimate_error(&estimate)};
}

/* The combined result of all visits just beyond a level of BEFORE_BYTES. */
static struct latency_point point_beyond(const struct caches *caches,
                                         uint64_t before_bytes, double cycle_ns)
{
        struct series all = {0};
        uint64_t largest = 0;
        for (size_t i = 0; i < caches->count; i++) {
                if (series_count(&caches->blocks[i]) == 0 ||
                    !curve_is_beyond(size_of_point(i), before_bytes))
                        continue;
                series_join(&all, &caches->blocks[i]);
                largest = size_of_point(i);
        }
        return largest > 0 ? point_of(largest, &all, cycle_ns)
                           : (struct latency_point){0, NAN, NAN};
}

/* Reads the current points with the core's CYCLE_NS. If it is not known yet, 1 works too,
 * because levels are distinguished by ratios. */
static void read_curve(struct caches *caches, double cycle_ns)
{
        caches->known = 0;
        for (size_t k = 0; k < caches->reports.count; k++)
                caches->beyond[k] =
                    point_beyond(caches, caches->reports.bytes[k], cycle_ns);
        for (size_t i = 0; i < caches->count; i++) {
                const struct series *series = &caches->series[i];
                if (series_count(series) == 0)
                        continue;
                caches->sizes[caches->known] = i;
                caches->points[caches->known++] =
                    point_of(size_of_point(i), series, cycle_ns);
        }
}

/* Whether the curve includes memory. */
static bool curve_reaches(const struct caches *caches)
{
        return caches->known > 0 &&
               survey_reaches_memory(caches->points[caches->known - 1].size_bytes);
}

/* Finds the levels with a plateau; MEMORY_NS gets the latency of the largest sizes. */
static size_t find_levels(const struct caches *caches, struct plateau *plateaus,
                          double *memory_ns)
{
        const struct reports *reports = &caches->reports;
        size_t found =
            curve_plateaus(caches->points, caches->known, plateaus, PLATEAUS_MAX);
        found = curve_merge_plateaus(plateaus, found, reports->bytes, reports->count);
        *memory_ns = found > 0 ? plateaus[found - 1].ns : NAN;
        size_t levels =
            curve_cache_levels(plateaus, found, reports->count, curve_reaches(caches));
        size_t steady = levels <= reports->count ? levels : reports->count + 1;
        curve_steady_latencies(caches->beyond, plateaus, steady);
        return levels;
}

static void find_figures(struct caches *caches)
{
        struct plateau plateaus[PLATEAUS_MAX];
        double memory_ns;
        read_curve(caches, 1);
        size_t levels = find_levels(caches, plateaus, &memory_ns);
        for (size_t i = 0; i < caches->known; i++) {
                const struct latency_point *point = &caches->points[i];
                bool *figure = &caches->figures[caches->sizes[i]];
                *figure = false;
                for (size_t k = 0; k < levels; k++)
                        *figure |= point->ns <= plateaus[k].ns * NEAR &&
                                   point->ns >= plateaus[k].ns / NEAR;
        }
}

static int caches_sweep(struct survey *survey, void *state, struct diag *diag)
{
        struct caches *caches = state;
        size_t next;
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < caches->count; i = next)
                rc = visit_group(survey, caches, i, &next, diag);
        if (rc == 0)
                find_figures(caches);
        return rc;
}

/* Whether a size determines the level NUMBER: it has the level's latency, or is just
 * beyond the previous level. */
static bool is_told(const struct caches *caches, unsigned number,
                    const struct plateau *level)
{
        uint64_t before = number > 1 ? caches->reports.bytes[number - 2] : 0;
        for (size_t i = 0; i < caches->known; i++) {
                const struct latency_point *point = &caches->points[i];
                bool near =
                    point->ns <= level->ns * NEAR && point->ns >= level->ns / NEAR;
                if ((near || curve_is_beyond(point->size_bytes, before)) &&
                    !series_is_worthless(&caches->series[caches->sizes[i]]))
                        return true;
        }
        return false;
}

/* How a level's latency and size were found. */
static const char OF_PLATEAU[] = "plateau", OF_SIZES_BEYOND[] = "sizes-just-beyond";

/* PLATEAU is NULL if the level is unknown. */
static json_t *level_json(const struct survey *survey, unsigned level,
                          const struct plateau *plateau, const char *basis)
{
        double ns = plateau ? plateau->ns : NAN;
        return json_pack(
            "{s:i, s:o, s:I, s:i, s:o, s:o, s:o, s:o}", "level", (int)level, "size_bytes",
            plateau ? json_integer((json_int_t)plateau->capacity_bytes) : json_null(),
            "reported_bytes", (json_int_t)reported_cache_bytes(level), "reported_ways",
            (int)reported_cache_ways(level), "latency_ns", survey_number(ns),
            "latency_cycles", survey_number(ns * survey->core_ghz), "error",
            survey_number(plateau ? plateau->error : NAN), "basis",
            plateau ? json_string(basis) : json_null());
}

static void add_level(struct survey *survey, const struct caches *caches,
                      const struct plateau *plateau, const char *basis, json_t *levels)
{
        unsigned level = (unsigned)json_array_size(levels) + 1;
        bool told = is_told(caches, level, plateau);
        if (told)
                survey_noise(survey, plateau->error, "the latency of L%u", level);
        else
                survey_leave_out(survey, "L%u (each of its few visits was interrupted)",
                                 level);
        json_array_append_new(levels,
                              level_json(survey, level, told ? plateau : NULL, basis));
}

/* Appends reported levels without a plateau to the FOUND levels, up to the first
 * unidentified one; returns the new number. */
static size_t find_hidden_levels(const struct caches *caches, double memory_ns,
                                 struct plateau *plateaus, size_t found)
{
        const struct reports *reports = &caches->reports;
        while (
            found > 0 && found < reports->count &&
            curve_hidden_level(&caches->beyond[found - 1], memory_ns, &plateaus[found]))
                found++;
        return found;
}

/* The latency after the COUNT levels: of memory, or of an unidentified reported level. */
static double next_ns(const struct caches *caches, const struct plateau *levels,
                      size_t count, double memory_ns)
{
        const struct reports *reports = &caches->reports;
        if (count == 0 || count >= reports->count)
                return memory_ns;
        return fmin(caches->beyond[count - 1].ns, NEXT_LIKE * levels[count - 1].ns);
}

/* DOUBTFUL: a plateau that may be memory. */
static void leave_out_level(struct survey *survey, const struct plateau *doubtful,
                            json_t *levels)
{
        unsigned level = (unsigned)json_array_size(levels) + 1;
        if (doubtful)
                survey_leave_out(survey,
                                 "L%u (sizes up to %llu KiB take %.0f ns, which may be "
                                 "memory's latency with fewer misses of the TLB)",
                                 level,
                                 (unsigned long long)doubtful->capacity_bytes >> 10,
                                 doubtful->ns);
        else
                survey_leave_out(survey,
                                 "L%u (the system reports it, and sizes just beyond L%u "
                                 "have the latency of memory: others use all of it)",
                                 level, level - 1);
        json_array_append_new(levels, level_json(survey, level, NULL, NULL));
}

/* The number of levels among COUNT that are certainly not memory. */
static size_t certain_levels(const struct caches *caches, const struct plateau *levels,
                             size_t count, double memory_ns)
{
        const struct reports *reports = &caches->reports;
        size_t i = 0;
        while (i < count && !curve_may_be_memory(
                                &levels[i], i < reports->count ? reports->bytes[i] : 0,
                                memory_ns, caches->small_pages))
                i++;
        return i;
}

static void set_capacities(const struct caches *caches, struct plateau *levels,
                           size_t count, double memory_ns)
{
        curve_capacities(caches->points, caches->known,
                         next_ns(caches, levels, count, memory_ns), levels, count);
}

static json_t *levels_json(struct survey *survey, const struct caches *caches)
{
        struct plateau plateaus[PLATEAUS_MAX];
        double memory_ns;
        size_t found = find_levels(caches, plateaus, &memory_ns), all = found;
        json_t *levels = json_array();
        /* Without memory for comparison, the last level cannot be identified. */
        if (curve_reaches(caches))
                all = find_hidden_levels(caches, memory_ns, plateaus, found);
        set_capacities(caches, plateaus, all, memory_ns);
        size_t certain = certain_levels(caches, plateaus, all, memory_ns);
        if (certain < all)
                set_capacities(caches, plateaus, certain, memory_ns);
        for (size_t i = 0; i < certain; i++)
                add_level(survey, caches, &plateaus[i],
                          i < found ? OF_PLATEAU : OF_SIZES_BEYOND, levels);
        for (size_t i = certain; curve_reaches(caches) && i < caches->reports.count; i++)
                leave_out_level(survey, i < all ? &plateaus[i] : NULL, levels);
        return levels;
}

static json_t *caches_result(struct survey *survey, void *state)
{
        struct caches *caches = state;
        json_t *curve = json_array();
        read_curve(caches, 1 / survey->core_ghz);
        for (size_t i = 0; i < caches->count; i++) {
                survey_estimate(survey, &caches->series[i]);
                if (is_beyond(caches, i))
                        survey_estimate(survey, &caches->blocks[i]);
        }
        for (size_t i = 0; i < caches->known; i++) {
                const struct latency_point *point = &caches->points[i];
                if (!series_is_worthless(&caches->series[caches->sizes[i]]))
                        survey->largest = *point;
                json_array_append_new(curve, json_pack("{s:I, s:f, s:o}", "size_bytes",
                                                       (json_int_t)point->size_bytes,
                                                       "ns", point->ns, "error",
                                                       survey_number(point->error)));
        }
        return json_pack("{s:o, s:o}", "curve", curve, "levels",
                         levels_json(survey, caches));
}

const struct survey_part survey_caches = {
    .key = "caches",
    .state_bytes = sizeof(struct caches),
    .open = caches_open,
    .sweep = caches_sweep,
    .result = caches_result,
    .close = caches_close,
};

/* ---- memory ---- */

struct memory {
        int nodes; /* 0 if the data does not reach memory */
        struct series *series;
        int64_t *huge_bytes; /* of the data */
};

static int nodes_of_machine(void)
{
        char path[64];
        int nodes = 0;
        do
                snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", nodes);
        while (access(path, F_OK) == 0 && ++nodes < 1024);
        return nodes ? nodes : 1;
}

static void memory_close(void *state)
{
        struct memory *memory = state;
        free(memory->series);
        free(memory->huge_bytes);
}

static int memory_open(struct survey *survey, void *state, struct diag *diag)
{
        struct memory *memory = state;
        memory->nodes = survey->reaches_memory ? nodes_of_machine() : 0;
        memory->series = calloc((size_t)memory->nodes + 1, sizeof(struct series));
        memory->huge_bytes = calloc((size_t)memory->nodes + 1, sizeof(int64_t));
        return memory->series && memory->huge_bytes ? 0 : diag_no_memory(diag);
}

static int memory_sweep(struct survey *survey, void *state, struct diag *diag)
{
        struct memory *memory = state;
        for (int node = 0; node < memory->nodes; node++) {
                struct series *series = &memory->series[node];
                struct chase chase;
                if (!survey_wants(survey, series, true))
                        continue;
                survey_progress(survey, "latency of memory on node %d", node);
                int rc = chase_open(survey->data_bytes, KERNEL_LINE_BYTES, PAGES_HUGE,
                                    memory->nodes > 1 ? node : -1, &chase, diag);
                if (rc < 0)
                        return rc;
                for (size_t i = 0; i < VISITS_ALONE; i++)
                        survey_chases(survey, chase_time, &chase, 1, &series);
                memory->huge_bytes[node] = buffer_huge_bytes(&chase.share.buffer);
                chase_close(&chase);
        }
        return 0;
}

/* The latency of NODE's memory. Without trustworthy visits, uses the end of the caches'
 * curve: the same chase with as much data. NAN and a note if both are missing. */
static struct latency_point memory_point(struct survey *survey,
                                         const struct memory *memory, int node)
{
        const struct series *series = &memory->series[node];
        struct estimate estimate = survey_shortest(survey, series);
        struct latency_point point = {survey->data_bytes, estimate.value,
                                      estimate_error(&estimate)};
        char name[48];
        snprintf(name, sizeof(name), "the latency of memory on node %d", node);
        if (series_is_worthless(series) && memory->nodes == 1 &&
            survey->largest.size_bytes >= survey->data_bytes / 5 * 4)
                point = survey->largest;
        else if (!survey_trusts(survey, series, name))
                point.ns = NAN;
        if (!isnan(point.ns))
                survey_noise(survey, point.error, "%s", name);
        return point;
}

static json_t *memory_result(struct survey *survey, void *state)
{
        struct memory *memory = state;
        json_t *list = json_array();
        survey->idle_ns = NAN;
        for (int node = 0; node < memory->nodes; node++) {
                struct latency_point point = memory_point(survey, memory, node);
                survey->idle_ns = fmin(survey->idle_ns, point.ns);
                json_array_append_new(
                    list,
                    json_pack("{s:i, s:o, s:o, s:o, s:I, s:b}", "node", node,
                              "latency_ns", survey_number(point.ns), "latency_cycles",
                              survey_number(point.ns * survey->core_ghz), "error",
                              survey_number(point.error), "size_bytes",
                              (json_int_t)point.size_bytes, "huge_pages",
                              series_count(&memory->series[node]) == 0 ||
                                  memory->huge_bytes[node] >
                                      (int64_t)survey->data_bytes / 2));
        }
        return list;
}

const struct survey_part survey_memory = {
    .key = "memory",
    .state_bytes = sizeof(struct memory),
    .open = memory_open,
    .sweep = memory_sweep,
    .result = memory_result,
    .close = memory_close,
};
