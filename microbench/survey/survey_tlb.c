/* SPDX-License-Identifier: MIT */
/* Survey of the TLB: the extra latency of a step to another page, by number of pages. */
#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "elapsed.h"
#include "survey.h"

enum {
        SMALL_PAGE_BYTES = 4096,
        TLB_FIRST = 16,
        /* Two points per octave, and four where second levels usually end. */
        TLB_COARSE_OCTAVES = 6,
        TLB_FINE_OCTAVES = 3,
        TLB_COARSE_POINTS = 2 * TLB_COARSE_OCTAVES,
        TLB_POINTS = TLB_COARSE_POINTS + 4 * TLB_FINE_OCTAVES + 1,
        WALKERS_MAX = 16,
        MAPPINGS = 4 /* of the pages that give the walk's cost, per sweep */
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

/* Visits the wanted points from FIRST, as many as fit the memory at once; NEXT gets the
 * next point. */
static int visit_group(struct survey *survey, struct tlb *tlb, size_t first, size_t *next,
                       struct diag *diag)
{
        struct chase chases[2 * TLB_POINTS];
        struct series *series[2 * TLB_POINTS];
        uint64_t bytes = 0;
        size_t opened = 0, i = first;
        int rc = 0;
        for (; rc == 0 && i < tlb->count; i++) {
                if (!wants_point(survey, tlb, i))
                        continue;
                bytes += bytes_of_point(i);
                if (opened > 0 && bytes > bytes_for_all(survey))
                        break;
                series[opened] = &tlb->series[2 * i];
                series[opened + 1] = &tlb->series[2 * i + 1];
                rc = open_pages(pages_of_point(i), &chases[opened], diag);
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
        for (size_t i = 0; rc == 0 && i < tlb->count; i = next)
                rc = visit_group(survey, tlb, i, &next, diag);
        /* The cost of a walk differs between mappings more than between visits. */
        for (size_t i = 1; rc == 0 && i < MAPPINGS && tlb->count == TLB_POINTS &&
                           !survey->quick && !survey_is_late(survey);
             i++)
                rc = visit_group(survey, tlb, TLB_POINTS - 1, &next, diag);
        if (rc == 0 && tlb->count == TLB_POINTS &&
            survey_wants(survey, &tlb->apart_ns, false))
                rc = visit_loads(tlb, diag);
        return rc;
}

/* The cost of the second level: at the middle, in octaves, between both reaches. */
static double second_ns(const struct page_point *points, size_t count, double first,
                        double second)
{
        double middle = sqrt(first * second);
        size_t i = 0;
        while (i + 1 < count && (double)points[i].pages < middle)
                i++;
        return fmax(0, points[i].ns);
}

/* The number of points, from the smallest, that cost less than LIMIT_NS; at least one. */
static size_t points_below(const struct page_point *points, size_t count, double limit_ns)
{
        size_t i = 0;
        while (i < count && points[i].ns <= limit_ns)
                i++;
        return i > 0 ? i : 1;
}

/* Adds figures that need the whole curve, from the first level's reach to steps that
 * always walk. A hit in the first level is free, a hit in the second costs a few cycles.
 */
static void add_levels(const struct survey *survey, const struct tlb *tlb,
                       const struct page_point *points, double walk_ns, json_t *json)
{
        size_t beyond = points_below(points, tlb->count, 1 / survey->core_ghz);
        json_int_t first = (json_int_t)points[beyond - 1].pages, second = first;
        if (beyond < tlb->count)
                second = (json_int_t)curve_second_reach(points, tlb->count, beyond);
        double hit_ns = second_ns(points, tlb->count, (double)first, (double)second);
        double walkers = round(walk_ns / series_estimate(&tlb->apart_ns).value);
        json_object_set_new(json, "first_pages", json_integer(first));
        json_object_set_new(json, "second_pages", json_integer(second));
        json_object_set_new(json, "second_cycles", json_real(hit_ns * survey->core_ghz));
        json_object_set_new(
            json, "first_load_cycles",
            json_real(series_estimate(&tlb->first_ns).least * survey->core_ghz));
        json_object_set_new(
            json, "second_load_cycles",
            json_real(series_estimate(&tlb->second_ns).least * survey->core_ghz));
        json_object_set_new(json, "walk_ns", json_real(walk_ns));
        json_object_set_new(json, "walk_cycles", json_real(walk_ns * survey->core_ghz));
        json_object_set_new(json, "walkers",
                            json_real(fmin(WALKERS_MAX, fmax(1, walkers))));
}

/* Whether all its points have visits. */
static bool is_complete(const struct tlb *tlb)
{
        for (size_t i = 0; i < 2 * tlb->count; i++)
                if (series_count(&tlb->series[i]) == 0)
                        return false;
        return tlb->count == TLB_POINTS && series_count(&tlb->apart_ns) > 0;
}

static bool trusts_walk(struct survey *survey, const struct tlb *tlb, double walk_ns)
{
        static const char name[] = "the TLB";
        if (!is_complete(tlb)) {
                survey_leave_unvisited(survey, name);
                return false;
        }
        if (!survey_trusts(survey, &tlb->series[2 * TLB_POINTS - 2], name) ||
            !survey_trusts(survey, &tlb->series[2 * TLB_POINTS - 1], name))
                return false;
        if (curve_walk_can(walk_ns, survey->idle_ns))
                return true;
        survey_leave_out(survey,
                         "%s (a walk would take %.0f ns, over half of a load of memory, "
                         "which takes %.0f)",
                         name, walk_ns, survey->idle_ns);
        return false;
}

struct page_point survey_page_cost(uint64_t pages, const struct estimate *apart,
                                   const struct estimate *dense)
{
        return (struct page_point){.pages = pages, .ns = apart->least - dense->least};
}

static json_t *tlb_result(struct survey *survey, void *state)
{
        struct tlb *tlb = state;
        struct page_point points[TLB_POINTS];
        double walk_ns = NAN, error_ns = NAN; /* from the last point's cost */
        json_t *curve = json_array();
        for (size_t i = 0; i < tlb->count; i++) {
                struct estimate apart = survey_shortest(survey, &tlb->series[2 * i]);
                struct estimate dense = survey_shortest(survey, &tlb->series[2 * i + 1]);
                points[i] = survey_page_cost(pages_of_point(i), &apart, &dense);
                walk_ns = apart.value - dense.value;
                error_ns = estimate_error(&apart) * apart.value +
                           estimate_error(&dense) * dense.value;
                if (!isnan(points[i].ns))
                        json_array_append_new(curve,
                                              json_pack("{s:I, s:f}", "pages",
                                                        (json_int_t)pages_of_point(i),
                                                        "added_ns", points[i].ns));
        }
        json_t *json = json_pack("{s:o}", "curve", curve);
        if (json && tlb->count == TLB_POINTS && trusts_walk(survey, tlb, walk_ns)) {
                double error = error_ns / walk_ns;
                curve_settle_costs(points, tlb->count);
                add_levels(survey, tlb, points, walk_ns, json);
                json_object_set_new(json, "error", survey_number(error));
                survey_noise(survey, error, "a page walk");
        }
        return json;
}

const struct survey_part survey_tlb = {
    .key = "tlb",
    .state_bytes = sizeof(struct tlb),
    .open = tlb_open,
    .sweep = tlb_sweep,
    .result = tlb_result,
};
