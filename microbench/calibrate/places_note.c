/* SPDX-License-Identifier: MIT */
/* Reports where a hypervisor placed the CPUs. */
#include "places_note.h"

#include <math.h>

#include "calibration.h"
#include "conditions.h"
#include "reported.h"
#include "survey.h"

/* The worst pair of each kind; without a pair, both CPUs are equal. */
struct worst {
        struct places_pair apart;    /* the pair that was apart longest */
        struct places_pair one_core; /* the pair that was on one core longest */
        struct places_pair far;      /* never as close as the system reports */
        struct places_pair threads;  /* on one core; the system reports two */
};

static void add_apart(const struct worst *worst, json_t *conditions)
{
        const struct places_pair *apart = &worst->apart, *far = &worst->far;
        if (apart->next != apart->cpu)
                conditions_add(conditions, "cpus-moved",
                               "the hypervisor had CPUs %d and %d apart for %.0f %% of "
                               "the time (a cache line took %.0f ns there and back, %.0f "
                               "at their nearest): what several CPUs did then does not "
                               "count; a program has other bandwidth and latency then",
                               apart->cpu, apart->next, 100 * apart->apart_share,
                               apart->apart_ns, apart->nearest_ns);
        if (far->next != far->cpu)
                conditions_add(
                    conditions, "cpus-apart",
                    "the system tells that CPUs %d and %d share a cache, but a "
                    "line never took less than %.0f ns there and back: the "
                    "hypervisor has them on cores that do not, and the figures "
                    "of several CPUs are those of such cores; they change when "
                    "it moves the CPUs together",
                    far->cpu, far->next, far->nearest_ns);
}

static void add_one_core(const struct worst *worst, json_t *conditions)
{
        const struct places_pair *one = &worst->one_core, *threads = &worst->threads;
        if (one->next != one->cpu)
                conditions_add(conditions, "cpus-moved",
                               "the hypervisor had CPUs %d and %d on one core for %.0f "
                               "%% of the time (a cache line took %.0f ns there and "
                               "back, %.0f between two cores): what several CPUs did "
                               "then does not count; a program has other bandwidth and "
                               "latency then",
                               one->cpu, one->next, 100 * one->one_core_share,
                               one->one_core_ns, one->nearest_ns);
        if (threads->next != threads->cpu)
                conditions_add(
                    conditions, "cpus-on-one-core",
                    "the system tells that CPUs %d and %d are two cores, but each "
                    "hindered the other's additions all the time: the hypervisor has "
                    "them on one core, and the figures of several CPUs are those of its "
                    "threads; they change when it moves one of them",
                    threads->cpu, threads->next);
}

static void judge(const struct places_pair *pair, double cache_ns, struct worst *worst)
{
        if (!isnan(pair->apart_ns) && pair->apart_share >= worst->apart.apart_share)
                worst->apart = *pair;
        if (!isnan(pair->one_core_ns) &&
            pair->one_core_share >= worst->one_core.one_core_share)
                worst->one_core = *pair;
        if (places_stay_far(pair, cache_ns))
                worst->far = *pair;
        if (pair->always_one_core && !reported_one_core(pair->cpu, pair->next))
                worst->threads = *pair;
}

static json_t *pair_json(const struct places_pair *pair)
{
        return json_pack("{s:i, s:i, s:o, s:o, s:f, s:o, s:f}", "cpu", pair->cpu, "next",
                         pair->next, "nearest_ns", survey_number(pair->nearest_ns),
                         "apart_ns", survey_number(pair->apart_ns), "apart_share",
                         pair->apart_share, "one_core_ns",
                         survey_number(pair->one_core_ns), "one_core_share",
                         pair->one_core_share);
}

void places_note(const struct places *places, json_t *document)
{
        double cache_ns =
            places_cache_ns(calibration_number(document, "caches.levels.2.latency_ns"),
                            calibration_number(document, "caches.levels.2.error"),
                            calibration_number(document, "caches.levels.1.latency_ns"));
        json_t *pairs = json_array(),
               *conditions = json_object_get(document, "conditions");
        struct worst worst = {0};
        for (size_t i = 0; places && i < places_pairs(places); i++) {
                struct places_pair pair = places_pair(places, i);
                json_array_append_new(pairs, pair_json(&pair));
                judge(&pair, cache_ns, &worst);
        }
        json_object_set_new(document, "places", pairs);
        add_apart(&worst, conditions);
        add_one_core(&worst, conditions);
}
