/* SPDX-License-Identifier: MIT */
/* Survey of the TLB: the extra latency of a step to another page, by number of pages. */
#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "elapsed.h"
#include "reported.h"
#include "survey.h"

/* Sizes within this ratio of the reported ones are the reported ones. */
static const double NEAR = 2;

/* Steps that cost less cost nothing. */
static const double FREE_CYCLES = 0.1;

enum {
        SMALL_PAGE_BYTES = 4096,
        TLB_FIRST = 16,
        /* Two points per octave, and four where second levels usually end. */
        TLB_COARSE_OCTAVES = 6,
        TLB_FINE_OCTAVES = 3,
        TLB_COARSE_POINTS = 2 * TLB_COARSE_OCTAVES,
        TLB_POINTS = TLB_COARSE_POINTS + 4 * TLB_FINE_OCTAVES + 1,
        WALKERS_MAX = 16,
        MAPPINGS = 8, /* of the pages that give the walk's cost, per sweep */
        PAIRS_MAX = TLB_POINTS + MAPPINGS - 1
};

struct tlb {
        size_t count;                         /* number of points that fit the memory */
        struct series series[2 * TLB_POINTS]; /* across pages, and adjacent */
        struct series apart_ns;               /* per independent load that walks */
        struct series first_ns, second_ns;    /* by either level */
};

/* Opens two chases for PAGES: one steps from page to page, the other one through as many
 * adjacent lines. */
static int open_pages(uint64_t pages, struct chase *chases, struct diag *diag)
{
        int rc = chase_open(pages * (SMALL_PAGE_BYTES + KERNEL_LINE_BYTES),
                            SMALL_PAGE_BYTES + KERNEL_LINE_BYTES, PAGES_SMALL, -1,
                            &chases[0], diag);
        if (rc < 0)
                return rc;
        rc = chase_open(pages * KERNEL_LINE_BYTES, KERNEL_LINE_BYTES, PAGES_HUGE, -1,
                        &chases[1], diag);
        if (rc < 0)
                chase_close(&chases[0]);
        return rc;
}

static uint64_t pages_of_point(size_t index)
{
        double octaves =
            index < TLB_COARSE_POINTS
                ? (double)index / 2
                : TLB_COARSE_OCTAVES + (double)(index - TLB_COARSE_POINTS) / 4;
        return (uint64_t)(TLB_FIRST * exp2(octaves) + 0.5);
}

static uint64_t bytes_of_point(size_t index)
{
        uint64_t pages = pages_of_point(index);
        return buffer_footprint(pages * KERNEL_LINE_BYTES, PAGES_HUGE) +
               pages * (SMALL_PAGE_BYTES + KERNEL_LINE_BYTES);
}

static uint64_t bytes_for_all(const struct survey *survey)
{
        return survey->memory_bytes / 2;
}

static int tlb_open(struct survey *survey, void *state, struct diag *diag)
{
        struct tlb *tlb = state;
        (void)diag;
        while (tlb->count < TLB_POINTS &&
               bytes_of_point(tlb->count) <= bytes_for_all(survey))
                tlb->count++;
        return 0;
}

static bool wants_point(const struct survey *survey, const struct tlb *tlb, size_t index)
{
        bool walks = index + 1 == TLB_POINTS; /* the other points only serve comparison */
        return survey_wants(survey, &tlb->series[2 * index], walks) ||
               survey_wants(survey, &tlb->series[2 * index + 1], walks);
}

/* The number of chases' pairs in a sweep. The cost of a walk differs between mappings
 * more than between visits: the last point has several, at once so that no other has its
 * memory. */
static size_t pairs_of(const struct survey *survey, const struct tlb *tlb)
{
        bool more = tlb->count == TLB_POINTS && !survey->quick && !survey_is_late(survey);
        return tlb->count + (more ? MAPPINGS - 1 : 0);
}

/* Visits the wanted points from pair FIRST, as many as fit the memory at once; NEXT gets
 * the next pair. */
static int visit_group(struct survey *survey, struct tlb *tlb, size_t first, size_t *next,
                       struct diag *diag)
{
        struct chase chases[2 * PAIRS_MAX];
        struct series *series[2 * PAIRS_MAX];
        uint64_t bytes = 0;
        size_t opened = 0, i = first, end = pairs_of(survey, tlb);
        int rc = 0;
        for (; rc == 0 && i < end; i++) {
                size_t point = i < tlb->count ? i : tlb->count - 1;
                if (!wants_point(survey, tlb, point))
                        continue;
                bytes += bytes_of_point(point);
                if (opened > 0 && bytes > bytes_for_all(survey))
                        break;
                series[opened] = &tlb->series[2 * point];
                series[opened + 1] = &tlb->series[2 * point + 1];
                rc = open_pages(pages_of_point(point), &chases[opened], diag);
                opened += rc == 0 ? 2 : 0;
        }
        *next = i;
        if (rc == 0)
                survey_chases(survey, chase_time, chases, opened, series);
        for (size_t k = 0; k < opened; k++)
                chase_close(&chases[k]);
        return rc;
}

enum order { IN_ORDER, SCATTERED };

/* Loads the lines of the CHASE, each on a separate page, without dependences. Nothing
 * predicts the SCATTERED order. Returns their sum: an instruction that uses a load issues
 * again when the translation comes late, which takes more time than the loads. */
static uint64_t load_apart(const struct chase *chase, uint64_t pages, enum order order)
{
        const uint64_t prime = 2654435761, apart = SMALL_PAGE_BYTES + KERNEL_LINE_BYTES;
        const char *base = chase->share.buffer.addr;
        uint64_t sum = 0;
        if (order == IN_ORDER)
                for (uint64_t i = 0; i < pages; i++)
                        sum += *(const volatile uint64_t *)(base + i * apart);
        else
                for (uint64_t i = 0; i < pages; i++)
                        sum += *(const volatile uint64_t *)(base +
                                                            i * prime % pages * apart);
        return sum;
}

/* The time of such a load of PAGES. */
static int visit_apart(uint64_t pages, enum order order, struct series *series,
                       struct diag *diag)
{
        enum { ROUNDS = 32, ROUND_LOADS = 8192 };
        const uint64_t sweeps = pages < ROUND_LOADS ? ROUND_LOADS / pages : 1;
        struct series rounds = {0};
        struct chase chase;
        int rc = chase_open(pages * (SMALL_PAGE_BYTES + KERNEL_LINE_BYTES),
                            SMALL_PAGE_BYTES + KERNEL_LINE_BYTES, PAGES_SMALL, -1, &chase,
                            diag);
        if (rc < 0)
                return rc;
        for (size_t i = 0; i < ROUNDS; i++) {
                double seconds = clock_seconds();
                for (uint64_t k = 0; k < sweeps; k++)
                        __asm__ volatile("" : : "r"(load_apart(&chase, pages, order)));
                series_add(&rounds,
                           (clock_seconds() - seconds) * 1e9 / (double)(sweeps * pages),
                           UNDISTURBED);
        }
        chase_close(&chase);
        series_add(series, series_estimate(&rounds).value, UNDISTURBED);
        return 0;
}

/* Independent loads by where their translations are: each walks, or hits L1 with a
 * translation of the first level or of the second. */
static int visit_loads(struct tlb *tlb, struct diag *diag)
{
        enum { FIRST_PAGES = 32, SECOND_PAGES = 256 };
        int rc =
            visit_apart(pages_of_point(TLB_POINTS - 1), SCATTERED, &tlb->apart_ns, diag);
        if (rc == 0)
                rc = visit_apart(FIRST_PAGES, IN_ORDER, &tlb->first_ns, diag);
        return rc < 0 ? rc : visit_apart(SECOND_PAGES, IN_ORDER, &tlb->second_ns, diag);
}

static int tlb_sweep(struct survey *survey, void *state, struct diag *diag)
{
        struct tlb *tlb = state;
        survey_progress(survey, "TLB");
        size_t next;
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < pairs_of(survey, tlb); i = next)
                rc = visit_group(survey, tlb, i, &next, diag);
        if (rc == 0 && tlb->count == TLB_POINTS &&
            survey_wants(survey, &tlb->apart_ns, false))
                for (size_t i = 0; rc == 0 && i < survey->sweep_visits; i++)
                        rc = visit_loads(tlb, diag);
        return rc;
}

/* The number of points, from the smallest, that cost less than LIMIT_NS; at least one. */
static size_t points_below(const struct page_point *points, size_t count, double limit_ns)
{
        size_t i = 0;
        while (i < count && points[i].ns <= limit_ns)
                i++;
        return i > 0 ? i : 1;
}

/* The pages that both levels hold. */
struct reach {
        double first, second;
};

/* The reach by PART of the visits: up to the first point that costs a cycle, and where
 * walks begin. */
static struct reach reach_of(const struct survey *survey, const struct estimate *costs,
                             enum part part)
{
        struct page_point points[TLB_POINTS];
        for (size_t i = 0; i < TLB_POINTS; i++)
                points[i] = (struct page_point){pages_of_point(i),
                                                estimate_part(&costs[i], part)};
        curve_settle_costs(points, TLB_POINTS);
        if (isnan(points[TLB_POINTS - 1].ns)) /* not all were visited */
                return (struct reach){NAN, NAN};
        size_t beyond = points_below(points, TLB_POINTS, 1 / survey->core_ghz);
        double first = (double)points[beyond - 1].pages;
        return (struct reach){first, beyond < TLB_POINTS
                                         ? curve_second_reach(points, TLB_POINTS, beyond)
                                         : first};
}

/* The entries of LEVEL: as reported if the measured REACH is near, because a hypervisor
 * may report any number. */
static double entries_of(struct survey *survey, unsigned level, struct estimate reach)
{
        double reported = reported_tlb_pages(level), ratio = reach.value / reported;
        return ratio > 1 / NEAR && ratio < NEAR
                   ? reported
                   : survey_known(survey, &reach, "the reach of level %u of the TLB",
                                  level);
}

/* The cost of the second level is at the middle, in octaves, between both reaches. */
static size_t point_in_second(double first, double second)
{
        size_t i = 0;
        while (i + 1 < TLB_POINTS && (double)pages_of_point(i) < sqrt(first * second))
                i++;
        return i;
}

/* Adds figures that need the whole curve, from the first level's reach to steps that
 * always walk. A hit in the first level is free, a hit in the second costs a few cycles.
 */
static void add_reaches(struct survey *survey, const struct estimate *costs, json_t *json)
{
        double firsts[PARTS], seconds[PARTS];
        for (enum part part = 0; part < PARTS; part++) {
                struct reach reach = reach_of(survey, costs, part);
                firsts[part] = reach.first;
                seconds[part] = reach.second;
        }
        double first = entries_of(survey, 1, estimate_of_parts(firsts));
        double second = entries_of(survey, 2, estimate_of_parts(seconds));
        if (!isnan(first))
                json_object_set_new(json, "first_pages", json_integer((json_int_t)first));
        if (!isnan(second))
                json_object_set_new(json, "second_pages",
                                    json_integer((json_int_t)second));
        if (isnan(seconds[WHOLE]))
                return;
        size_t middle = point_in_second(firsts[WHOLE], seconds[WHOLE]);
        survey_add(survey, json, "second_cycles", "a hit in the TLB's second level",
                   estimate_times(survey->core_ghz, &costs[middle]));
}

static void add_loads(struct survey *survey, const struct tlb *tlb,
                      const struct estimate *walk_ns, json_t *json)
{
        struct estimate apart = survey_estimate(survey, &tlb->apart_ns);
        struct estimate first = survey_estimate(survey, &tlb->first_ns);
        struct estimate second = survey_estimate(survey, &tlb->second_ns);
        struct estimate walks = estimate_quotient(walk_ns, &apart);
        double walkers = estimate_whole(survey_known(survey, &walks, "the page walkers"));
        survey_add(survey, json, "first_load_cycles", "loads by the TLB's first level",
                   estimate_times(survey->core_ghz, &first));
        survey_add(survey, json, "second_load_cycles", "loads by the TLB's second level",
                   estimate_times(survey->core_ghz, &second));
        if (!isnan(walkers))
                json_object_set_new(json, "walkers",
                                    json_real(fmin(WALKERS_MAX, fmax(1, walkers))));
}

static void add_walk(struct survey *survey, const struct estimate *walk, json_t *json)
{
        double ns = survey_known(survey, walk, "a page walk");
        if (isnan(ns))
                return;
        if (!curve_walk_can(ns, survey->idle.value)) {
                survey_leave_out(
                    survey,
                    "a page walk (it would take %.0f ns, over half of a load "
                    "of memory, which takes %.0f)",
                    ns, survey->idle.value);
                return;
        }
        json_object_set_new(json, "walk_ns", json_real(ns));
        json_object_set_new(json, "walk_cycles", json_real(ns * survey->core_ghz));
        json_object_set_new(json, "error", survey_number(estimate_error(walk)));
}

/* The costs of steps that do not walk. Walks depend on where the pages lie in memory,
 * which is the same in both halves and different in another calibration. */
static json_t *curve_json(const struct survey *survey, const struct estimate *costs,
                          size_t count, double second_pages)
{
        const double partly = 1.5; /* a chase begins to miss before the level's end */
        json_t *curve = json_array();
        for (size_t i = 0; i < count; i++) {
                bool is_free = fabs(costs[i].value) * survey->core_ghz < FREE_CYCLES;
                if (partly * (double)pages_of_point(i) <= second_pages &&
                    (is_free || survey_repeats(survey, &costs[i])))
                        json_array_append_new(
                            curve, json_pack("{s:I, s:f}", "pages",
                                             (json_int_t)pages_of_point(i), "added_ns",
                                             is_free ? 0 : costs[i].value));
        }
        return curve;
}

static json_t *tlb_result(struct survey *survey, void *state)
{
        struct tlb *tlb = state;
        struct estimate costs[TLB_POINTS];
        json_t *json = json_object();
        for (size_t i = 0; i < tlb->count; i++) {
                struct estimate apart = survey_estimate(survey, &tlb->series[2 * i]);
                struct estimate dense = survey_estimate(survey, &tlb->series[2 * i + 1]);
                costs[i] = estimate_sum(&apart, -1, &dense);
        }
        if (tlb->count == TLB_POINTS) {
                const struct estimate *walk = &costs[TLB_POINTS - 1];
                add_reaches(survey, costs, json);
                add_loads(survey, tlb, walk, json);
                add_walk(survey, walk, json);
        }
        double second = json_number_value(json_object_get(json, "second_pages"));
        json_object_set_new(json, "curve", curve_json(survey, costs, tlb->count, second));
        return json;
}

const struct survey_part survey_tlb = {
    .key = "tlb",
    .state_bytes = sizeof(struct tlb),
    .open = tlb_open,
    .sweep = tlb_sweep,
    .result = tlb_result,
};
