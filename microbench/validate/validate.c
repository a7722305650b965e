/* SPDX-License-Identifier: MIT */
/* See validate.h. */
#include "validate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

/* All measurements. */
struct campaign {
        const struct runner *runner;
        struct trial trials[TRIAL_COUNT];
        bool ran[TRIAL_COUNT];
        double cycles[TRIAL_COUNT];         /* per pass */
        struct gained *gained[TRIAL_COUNT]; /* for each candidate */
        double plain_cycles;                /* per load of TRIAL_MEMORY */
};

static bool is_of_interest(const struct runner *runner, const struct trial *trial)
{
        for (size_t i = 0; i < runner->count; i++) {
                const struct candidate *candidate = &runner->candidates[i];
                if (candidate->wanted && (candidate->concept == CONCEPT_COUNT ||
                                          trial_tells(trial, candidate->concept)))
                        return true;
        }
        return false;
}

static int run_trials(struct campaign *campaign, struct runner *runner, bool progress,
                      struct diag *diag)
{
        int rc = 0;
        for (size_t t = 0; rc == 0 && t < TRIAL_COUNT; t++) {
                struct trial *trial = &campaign->trials[t];
                *trial = trial_of((enum trial_id)t, &runner->sizes);
                if (trial->parameters.size_bytes == 0 || !is_of_interest(runner, trial))
                        continue;
                campaign->gained[t] = calloc(runner->count, sizeof(struct gained));
                if (!campaign->gained[t])
                        return diag_no_memory(diag);
                if (progress)
                        fprintf(stderr, "\r\033[Kkernel '%s'", trial->name);
                rc = runner->ops->run(runner, trial, campaign->gained[t],
                                      &campaign->cycles[t], diag);
                campaign->ran[t] = rc == 0;
                if (t == TRIAL_MEMORY)
                        campaign->plain_cycles =
                            campaign->cycles[t] / (double)trial->counts.accesses;
        }
        if (progress)
                fputs("\r\033[K", stderr);
        return rc;
}

/* A candidate's trials for one concept, with its counts. */
struct evidence {
        struct observation observations[TRIAL_COUNT];
        enum trial_id trials[TRIAL_COUNT];
        size_t count;
};

static struct evidence evidence_of(const struct campaign *campaign, size_t candidate,
                                   enum concept concept)
{
        struct evidence evidence = {.count = 0};
        for (size_t t = 0; t < TRIAL_COUNT; t++) {
                const struct trial *trial = &campaign->trials[t];
                if (!campaign->ran[t] || campaign->gained[t][candidate].count == 0)
                        continue;
                struct gained gained = campaign->gained[t][candidate];
                struct expectation expected = trial_expects(
                    trial, concept, campaign->cycles[t], campaign->plain_cycles);
                if (isnan(expected.low))
                        continue;
                double median = judge_median(gained.rounds, gained.count);
                evidence.trials[evidence.count] = (enum trial_id)t;
                evidence.observations[evidence.count++] = (struct observation){
                    .expected = expected,
                    .prefetchable = trial->prefetchable,
                    .counted = median,
                    .spread = judge_spread(gained.rounds, gained.count, expected.scale),
                };
        }
        return evidence;
}

static json_t *number(double value)
{
        return isfinite(value) ? json_real(value) : json_null();
}

static json_t *trials_json(const struct campaign *campaign,
                           const struct evidence *evidence)
{
        json_t *list = json_array();
        for (size_t i = 0; i < evidence->count; i++) {
                const struct observation *observation = &evidence->observations[i];
                json_array_append_new(
                    list, json_pack("{s:s, s:o, s:o, s:o, s:o}", "kernel",
                                    campaign->trials[evidence->trials[i]].name, "least",
                                    number(observation->expected.low), "most",
                                    number(observation->expected.high), "counted",
                                    number(observation->counted), "spread",
                                    number(observation->spread)));
        }
        return list;
}

/* The name of the kernel for OBSERVATION in EVIDENCE; NULL: none. */
static const char *kernel_of(const struct campaign *campaign,
                             const struct evidence *evidence,
                             const struct observation *observation)
{
        if (!observation)
                return NULL;
        return campaign->trials[evidence->trials[observation - evidence->observations]]
            .name;
}

static json_t *event_json(const struct campaign *campaign, size_t candidate,
                          enum concept concept, bool fits)
{
        const struct candidate *event = &campaign->runner->candidates[candidate];
        struct evidence evidence = evidence_of(campaign, candidate, concept);
        struct judgement judgement =
            judge(concept, evidence.observations, evidence.count);
        /* An event of unknown meaning may count zero in every kernel. */
        if (!fits && judgement.verdict == EVENT_DEAD)
                judgement.verdict = EVENT_UNKNOWN;
        bool usable = fits && judge_usable(concept, judgement.verdict);
        bool of_prefetch = judgement.verdict == EVENT_COUNTS_PREFETCH ||
                           judgement.verdict == EVENT_MISSES_PREFETCH;
        return json_pack(
            "{s:s, s:o, s:b, s:s, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:s?, s:o}", "event",
            event->name, "concept",
            fits ? json_string(concept_name(concept)) : json_null(), "concept_guessed",
            event->concept == CONCEPT_COUNT, "verdict",
            event_verdict_name(judgement.verdict), "usable", usable,
            "usable_without_prefetch", usable || (fits && of_prefetch), "recorded",
            event->recorded, "ratio", number(judgement.ratio), "prefetched_ratio",
            number(judgement.prefetched_ratio), "spread", number(judgement.spread),
            "correlation", number(judgement.correlation), "worst_kernel",
            fits ? kernel_of(campaign, &evidence, judgement.worst) : NULL, "trials",
            trials_json(campaign, &evidence));
}

/* Finds the best concept for an event of unknown meaning. The concept of the queue beyond
 * L2 is too broad for a guess. */
static enum concept best_concept(const struct campaign *campaign, size_t candidate,
                                 bool *fits)
{
        enum concept best = 0;
        struct judgement best_judgement;
        for (int c = 0; c < CONCEPT_COUNT; c++) {
                if (c == CONCEPT_SQ_FULL)
                        continue;
                struct evidence evidence =
                    evidence_of(campaign, candidate, (enum concept)c);
                struct judgement judgement =
                    judge((enum concept)c, evidence.observations, evidence.count);
                if (c > 0 &&
                    judge_compare((enum concept)c, &judgement, &best_judgement) <= 0)
                        continue;
                best = (enum concept)c;
                best_judgement = judgement;
        }
        *fits = best_judgement.verdict != EVENT_SOMETHING_ELSE &&
                best_judgement.verdict != EVENT_DEAD;
        return best;
}

static json_t *judge_all(const struct campaign *campaign)
{
        json_t *events = json_array();
        for (size_t i = 0; i < campaign->runner->count; i++) {
                const struct candidate *candidate = &campaign->runner->candidates[i];
                bool fits = true;
                enum concept concept = candidate->concept;
                if (!candidate->wanted)
                        continue;
                if (concept == CONCEPT_COUNT) {
                        concept = best_concept(campaign, i, &fits);
                }
                json_array_append_new(events, event_json(campaign, i, concept, fits));
        }
        return events;
}

json_t *validate_events(struct runner *runner, bool progress, struct diag *diag)
{
        struct campaign campaign = {.runner = runner, .plain_cycles = NAN};
        int rc = run_trials(&campaign, runner, progress, diag);
        json_t *events = rc == 0 ? judge_all(&campaign) : NULL;
        for (size_t t = 0; t < TRIAL_COUNT; t++)
                free(campaign.gained[t]);
        return events;
}

/* ---- the best ---- */

static const char *text_of(const json_t *event, const char *key)
{
        const char *text = json_string_value(json_object_get(event, key));
        return text ? text : "";
}

static bool has_verdict(const json_t *event, enum event_verdict verdict)
{
        return strcmp(text_of(event, "verdict"), event_verdict_name(verdict)) == 0;
}

/* Smaller is better: events that were always right, then events that record uses, then
 * the ratio's distance from 1. */
static double badness(const json_t *event)
{
        const json_t *ratio = json_object_get(event, "ratio");
        bool right =
            has_verdict(event, EVENT_EXACT) || has_verdict(event, EVENT_WITHIN_BOUNDS);
        bool recorded = json_is_true(json_object_get(event, "recorded"));
        return (!right      ? 1000
                : !recorded ? 100
                            : 0) +
               (json_is_number(ratio) ? fabs(json_number_value(ratio) - 1) : 1);
}

json_t *validate_best(const json_t *events)
{
        json_t *best = json_object();
        for (int c = 0; c < CONCEPT_COUNT; c++) {
                const char *concept = concept_name((enum concept)c);
                const json_t *found = NULL;
                bool any = false;
                size_t index;
                json_t *event;
                json_array_foreach(events, index, event)
                {
                        /* An event with a guessed concept does not replace a known one.
                         */
                        if (strcmp(text_of(event, "concept"), concept) != 0 ||
                            json_is_true(json_object_get(event, "concept_guessed")))
                                continue;
                        any = true;
                        if (json_is_true(json_object_get(event, "usable")) &&
                            !has_verdict(event, EVENT_UNKNOWN) &&
                            (!found || badness(event) < badness(found)))
                                found = event;
                }
                if (any)
                        json_object_set_new(best, concept,
                                            found ? json_string(text_of(found, "event"))
                                                  : json_null());
        }
        return best;
}
