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
/* A measured size within this ratio of the reported one is the reported one. */
static const double SIZE_NEAR = 2;
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
        struct series *series;              /* for each size, in core cycles */
        struct series blocks[PLATEAUS_MAX]; /* for sizes just beyond each level */
        bool *figures;                      /* whether SERIES determines a level */
        bool small_pages;                   /* large sizes use pages of 4 KiB */
};

/* The levels by all visits, or by half of them. */
struct view {
        struct latency_point *points;              /* points of the visited sizes */
        size_t known;                              /* their number */
        struct latency_point beyond[PLATEAUS_MAX]; /* just beyond each reported level;
                                                    * NAN: no visit */
        struct plateau levels[PLATEAUS_MAX];
        size_t found;   /* levels with a plateau */
        size_t all;     /* and reported levels without one */
        size_t certain; /* levels that are surely not memory */
        double memory_ns;
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
        caches->figures = calloc(caches->count, sizeof(*caches->figures));
        return caches->series && caches->figures ? 0 : diag_no_memory(diag);
}

/* The blocks that the size is visited in: just beyond a level. NULL: none. */
static struct series *blocks_of(struct caches *caches, size_t index)
{
        for (size_t i = 0; i + 1 < caches->reports.count; i++)
                if (curve_is_beyond(size_of_point(index), caches->reports.bytes[i]))
                        return &caches->blocks[i];
        return NULL;
}

/* If time is short, and beyond the last cache: a size per octave, and the sizes that
 * determine a level. */
static bool is_essential(struct caches *caches, size_t index)
{
        return index % POINTS_PER_OCTAVE == 0 || blocks_of(caches, index);
}

static bool wants_size(const struct survey *survey, struct caches *caches, size_t index)
{
        const struct series *blocks = blocks_of(caches, index);
        bool wanted =
            survey_wants(survey, &caches->series[index], caches->figures[index]) ||
            (blocks && survey_wants(survey, blocks, true));
        size_t reports = caches->reports.count;
        uint64_t last = reports > 0 ? caches->reports.bytes[reports - 1] : UINT64_MAX;
        bool all = !survey_is_late(survey) && size_of_point(index) <= last;
        return wanted && (all || is_essential(caches, index));
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
                struct series *blocks = blocks_of(caches, sizes[k]);
                if (rc == 0 && blocks)
                        survey_chases(survey, chase_block_cycles, &chases[k], 1, &blocks);
                chase_close(&chases[k]);
        }
        return rc;
}

/* CYCLE_NS: the core's cycle time. */
static struct latency_point point_of(uint64_t size_bytes, const struct series *series,
                                     double cycle_ns, enum part part)
{
        struct estimate estimate = series_estimate(series);
        return (struct latency_point){size_bytes,
                                      estimate_part(&estimate, part) * cycle_ns,
                                      estimate_error(&estimate)};
}

/* The largest size just beyond a level of BEFORE_BYTES. */
static uint64_t largest_beyond(const struct caches *caches, uint64_t before_bytes)
{
        uint64_t largest = 0;
        for (size_t i = 0; i < caches->count; i++)
                if (curve_is_beyond(size_of_point(i), before_bytes))
                        largest = size_of_point(i);
        return largest;
}

/* Reads the current points with the core's CYCLE_NS. If it is not known yet, 1 works too,
 * because levels are distinguished by ratios. */
static int read_curve(const struct caches *caches, double cycle_ns, enum part part,
                      struct view *view)
{
        *view = (struct view){.points = calloc(caches->count, sizeof(*view->points))};
        if (!view->points)
                return -ENOMEM;
        for (size_t k = 0; k < caches->reports.count; k++)
                view->beyond[k] =
                    point_of(largest_beyond(caches, caches->reports.bytes[k]),
                             &caches->blocks[k], cycle_ns, part);
        for (size_t i = 0; i < caches->count; i++) {
                struct latency_point point =
                    point_of(size_of_point(i), &caches->series[i], cycle_ns, part);
                if (!isnan(point.ns))
                        view->points[view->known++] = point;
        }
        return 0;
}

/* Whether the curve includes memory. */
static bool curve_reaches(const struct view *view)
{
        return view->known > 0 &&
               survey_reaches_memory(view->points[view->known - 1].size_bytes);
}

/* Finds the levels with a plateau. */
static void find_levels(const struct reports *reports, struct view *view)
{
        struct plateau *plateaus = view->levels;
        size_t found = curve_plateaus(view->points, view->known, plateaus, PLATEAUS_MAX);
        found = curve_merge_plateaus(plateaus, found, reports->bytes, reports->count);
        view->memory_ns = found > 0 ? plateaus[found - 1].ns : NAN;
        view->found =
            curve_cache_levels(plateaus, found, reports->count, curve_reaches(view));
        size_t steady = view->found <= reports->count ? view->found : reports->count + 1;
        curve_steady_latencies(view->beyond, plateaus, steady);
}

static void find_figures(struct caches *caches)
{
        struct view view;
        if (read_curve(caches, 1, WHOLE, &view) == 0)
                find_levels(&caches->reports, &view);
        for (size_t i = 0; i < caches->count; i++) {
                double ns = series_estimate(&caches->series[i]).value;
                caches->figures[i] = false;
                for (size_t k = 0; k < view.found; k++)
                        caches->figures[i] |= ns <= view.levels[k].ns * NEAR &&
                                              ns >= view.levels[k].ns / NEAR;
        }
        free(view.points);
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

/* How a level's latency and size were found. */
static const char OF_PLATEAU[] = "plateau", OF_SIZES_BEYOND[] = "sizes-just-beyond";

/* Appends reported levels without a plateau, up to the first unidentified one. Without
 * memory for comparison, the last level cannot be identified. */
static void find_hidden_levels(const struct reports *reports, struct view *view)
{
        size_t *all = &view->all;
        *all = view->found;
        while (curve_reaches(view) && *all > 0 && *all < reports->count &&
               curve_hidden_level(&view->beyond[*all - 1], view->memory_ns,
                                  &view->levels[*all]))
                (*all)++;
}

/* The latency after the COUNT levels: of memory, or of an unidentified reported level. */
static double next_ns(const struct reports *reports, const struct view *view,
                      size_t count)
{
        if (count == 0 || count >= reports->count)
                return view->memory_ns;
        return fmin(view->beyond[count - 1].ns, NEXT_LIKE * view->levels[count - 1].ns);
}

/* Sets the number of levels that are certainly not memory. */
static void find_certain_levels(const struct caches *caches, struct view *view)
{
        const struct reports *reports = &caches->reports;
        size_t i = 0;
        while (i < view->all &&
               !curve_may_be_memory(&view->levels[i],
                                    i < reports->count ? reports->bytes[i] : 0,
                                    view->memory_ns, caches->small_pages))
                i++;
        view->certain = i;
}

static void set_capacities(const struct reports *reports, struct view *view, size_t count)
{
        curve_capacities(view->points, view->known, next_ns(reports, view, count),
                         view->levels, count);
}

/* The levels by PART of the visits. The caller frees the points. */
static int view_levels(const struct survey *survey, const struct caches *caches,
                       enum part part, struct view *view)
{
        const struct reports *reports = &caches->reports;
        int rc = read_curve(caches, 1 / survey->core_ghz, part, view);
        if (rc < 0)
                return rc;
        find_levels(reports, view);
        find_hidden_levels(reports, view);
        set_capacities(reports, view, view->all);
        find_certain_levels(caches, view);
        if (view->certain < view->all)
                set_capacities(reports, view, view->certain);
        return 0;
}

/* NAN: PART of the visits do not tell the level. */
static double level_ns(const struct view *view, size_t level)
{
        return level < view->certain ? view->levels[level].ns : NAN;
}

static double level_bytes(const struct view *view, size_t level)
{
        return level < view->certain ? (double)view->levels[level].capacity_bytes : NAN;
}

static struct estimate
level_estimate(const struct caches *caches, const struct view *views, size_t level,
               double (*figure)(const struct view *view, size_t level))
{
        double values[PARTS];
        for (enum part part = 0; part < PARTS; part++)
                values[part] = figure(&views[part], level);
        struct estimate estimate = estimate_of_parts(values);
        if (level > 0)
                estimate.disturbance =
                    series_estimate(&caches->blocks[level - 1]).disturbance;
        return estimate;
}

/* The size of LEVEL, from 0. A private cache has its reported size if the curve is near;
 * others use the last cache too. 0: not known. */
static double size_of_level(struct survey *survey, const struct caches *caches,
                            const struct view *views, size_t level)
{
        const struct reports *reports = &caches->reports;
        struct estimate bytes = level_estimate(caches, views, level, level_bytes);
        bool private = level + 1 < reports->count;
        double ratio = private ? bytes.value / (double)reports->bytes[level] : NAN;
        if (ratio < SIZE_NEAR && ratio > 1 / SIZE_NEAR)
                return (double)reports->bytes[level];
        return survey_known(survey, &bytes, "the size of L%zu", level + 1);
}

static json_t *level_json(struct survey *survey, const struct caches *caches,
                          const struct view *views, size_t index)
{
        unsigned level = (unsigned)index + 1;
        double ns = NAN, bytes = NAN, error = NAN;
        if (index < views[WHOLE].certain) {
                struct estimate latency = level_estimate(caches, views, index, level_ns);
                ns = survey_known(survey, &latency, "the latency of L%u", level);
                bytes = size_of_level(survey, caches, views, index);
                error = views[WHOLE].levels[index].error;
        }
        const char *basis = isnan(ns)                    ? NULL
                            : index < views[WHOLE].found ? OF_PLATEAU
                                                         : OF_SIZES_BEYOND;
        return json_pack(
            "{s:i, s:o, s:I, s:i, s:o, s:o, s:o, s:o}", "level", (int)level, "size_bytes",
            isnan(bytes) ? json_null() : json_integer((json_int_t)bytes),
            "reported_bytes", (json_int_t)reported_cache_bytes(level), "reported_ways",
            (int)reported_cache_ways(level), "latency_ns", survey_number(ns),
            "latency_cycles", survey_number(ns * survey->core_ghz), "error",
            survey_number(isnan(ns) ? NAN : error), "basis",
            basis ? json_string(basis) : json_null());
}

/* DOUBTFUL: a plateau that may be memory. */
static void leave_out_level(struct survey *survey, const struct plateau *doubtful,
                            size_t level)
{
        if (doubtful)
                survey_leave_out(survey,
                                 "L%zu (sizes up to %llu KiB take %.0f ns, which may be "
                                 "memory's latency with fewer misses of the TLB)",
                                 level,
                                 (unsigned long long)doubtful->capacity_bytes >> 10,
                                 doubtful->ns);
        else
                survey_leave_out(
                    survey,
                    "L%zu (the system reports it, and sizes just beyond L%zu "
                    "have the latency of memory: others use all of it)",
                    level, level - 1);
}

static json_t *levels_json(struct survey *survey, const struct caches *caches,
                           const struct view *views)
{
        const struct view *whole = &views[WHOLE];
        json_t *levels = json_array();
        size_t most = whole->certain;
        if (curve_reaches(whole) && most < caches->reports.count)
                most = caches->reports.count;
        for (size_t i = 0; i < most; i++) {
                if (i >= whole->certain)
                        leave_out_level(survey, i < whole->all ? &whole->levels[i] : NULL,
                                        i + 1);
                json_array_append_new(levels, level_json(survey, caches, views, i));
        }
        return levels;
}

/* The points that both halves of the visits agree on. */
static json_t *curve_json(struct survey *survey, const struct caches *caches)
{
        json_t *curve = json_array();
        for (size_t i = 0; i < caches->count; i++) {
                if (caches->series[i].count == 0)
                        continue;
                struct estimate cycles = survey_estimate(survey, &caches->series[i]);
                if (survey_repeats(survey, &cycles))
                        json_array_append_new(
                            curve, json_pack("{s:I, s:f, s:o}", "size_bytes",
                                             (json_int_t)size_of_point(i), "ns",
                                             cycles.value / survey->core_ghz, "error",
                                             survey_number(estimate_error(&cycles))));
        }
        return curve;
}

/* Whether any CPUs are apart that should share a cache. */
static bool stay_far(const struct places *places, const struct view *view)
{
        double cache_ns =
            places_cache_ns(level_ns(view, 2), view->levels[2].error, level_ns(view, 1));
        bool far = false;
        for (size_t i = 0; places && i < places_pairs(places); i++) {
                struct places_pair pair = places_pair(places, i);
                far |= places_stay_far(&pair, cache_ns);
        }
        return far;
}

static json_t *caches_result(struct survey *survey, void *state)
{
        const struct caches *caches = state;
        struct view views[PARTS] = {0};
        json_t *levels = NULL;
        int rc = 0;
        for (enum part part = 0; rc == 0 && part < PARTS; part++)
                rc = view_levels(survey, caches, part, &views[part]);
        if (rc == 0)
                levels = levels_json(survey, caches, views);
        survey->far = stay_far(survey->places, &views[WHOLE]);
        for (enum part part = 0; part < PARTS; part++)
                free(views[part].points);
        return json_pack("{s:o, s:o}", "curve", curve_json(survey, caches), "levels",
                         levels);
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

static json_t *memory_result(struct survey *survey, void *state)
{
        struct memory *memory = state;
        json_t *list = json_array();
        for (int node = 0; node < memory->nodes; node++) {
                struct estimate latency = survey_estimate(survey, &memory->series[node]);
                double ns = survey_known(survey, &latency,
                                         "the latency of memory on node %d", node);
                if (!isnan(ns) && !(survey->idle.value <= ns))
                        survey->idle = latency;
                json_array_append_new(
                    list,
                    json_pack("{s:i, s:o, s:o, s:o, s:I, s:b}", "node", node,
                              "latency_ns", survey_number(ns), "latency_cycles",
                              survey_number(ns * survey->core_ghz), "error",
                              survey_number(isnan(ns) ? NAN : estimate_error(&latency)),
                              "size_bytes", (json_int_t)survey->data_bytes, "huge_pages",
                              memory->series[node].count == 0 ||
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
