/* SPDX-License-Identifier: MIT */
/* If the samples are not in time order, the first pass begins again. */
#include "sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"

/* ---- opening ---- */

static int allocate(struct sweep *sweep)
{
        const struct raw *raw = sweep->raw;

        sweep->stack_samples = calloc(raw->stack_count + 1, sizeof(uint64_t));
        sweep->stack_places = malloc((raw->stack_count + 1) * sizeof(uint32_t));
        sweep->calls = calloc(raw->stack_count + 1, sizeof(*sweep->calls));
        sweep->code_places = malloc((raw->code_count + 1) * sizeof(uint32_t));
        sweep->clock_places = malloc((raw->clock_count + 1) * sizeof(uint32_t));
        sweep->thread_modules =
            calloc(raw->stack_count + 1, sizeof(*sweep->thread_modules));
        sweep->module_data = calloc(raw->module_count + 1, sizeof(*sweep->module_data));
        sweep->pasts = calloc(raw->process_count + 1, sizeof(*sweep->pasts));
        if (!sweep->stack_samples || !sweep->stack_places || !sweep->calls ||
            !sweep->code_places || !sweep->clock_places || !sweep->thread_modules ||
            !sweep->module_data || !sweep->pasts)
                return -ENOMEM;
        memset(sweep->stack_places, 0xff, raw->stack_count * sizeof(uint32_t));
        memset(sweep->code_places, 0xff, raw->code_count * sizeof(uint32_t));
        return 0;
}

int sweep_open(struct sweep *sweep, const struct raw *raw,
               const struct debug_search *search, struct db *db, struct diag *diag)
{
        sweep->raw = raw;
        sweep->search = search;
        int error = samples_open(&sweep->samples, db, raw, diag);

        return !error && (allocate(sweep) < 0 || pass_date_stacks(sweep) < 0)
                   ? diag_no_memory(diag)
                   : error;
}

/* ---- the first time over the samples ---- */

static int count_sample(void *context, const struct raw_sample *sample,
                        const struct sample_location *location)
{
        struct sweep *sweep = context;

        sweep->sample_count++;
        sweep->unusual_samples += !location->usual;
        sweep->place_samples[location->place]++;
        if (sample->stack == RAW_NONE)
                sweep->stackless_samples++;
        else
                sweep->stack_samples[sample->stack]++;
        return 0;
}

/* Discards the results of a pass that was not in time order. */
static int begin_by_time(struct sweep *sweep, struct diag *diag)
{
        const struct raw *raw = sweep->raw;
        const struct debug_search *search = sweep->search;
        struct db *db = sweep->samples.db;

        sweep_free(sweep);
        int error = sweep_open(sweep, raw, search, db, diag);

        sweep->samples.by_time = true;
        return error;
}

static int find_clock_places(struct sweep *sweep)
{
        const struct raw *raw = sweep->raw;
        int error = 0;

        for (size_t i = 0; i < raw->clock_count && !error; i++)
                error = place_of_file(sweep, raw->clocks[i].module,
                                      raw->clocks[i].file_offset_bytes,
                                      &sweep->clock_places[i]);
        return error;
}

int sweep_run(struct sweep *sweep, struct diag *diag)
{
        int error = sweep_samples(sweep, count_sample, sweep, diag);

        if (error == -ESTALE) {
                error = begin_by_time(sweep, diag);
                if (!error)
                        error = sweep_samples(sweep, count_sample, sweep, diag);
        }
        if (!error && (pass_ask_other_stacks(sweep) < 0 || find_clock_places(sweep) < 0))
                error = diag_no_memory(diag);
        return error;
}

/* ---- results ---- */

const struct flow_answer *sweep_frame_answer(const struct sweep *sweep,
                                             const struct sample_location *location,
                                             uint32_t *place)
{
        const struct access *access;

        *place = location->place;
        if (location->frame != RAW_NONE) {
                *place = sweep->frames.items[location->frame].place;
                access = &sweep->frames.items[location->frame].access;
        } else {
                access = &place_asks(&sweep->places.items[*place])->access;
        }
        return access->asked && access->flow.outcome == FLOW_FOUND &&
                       (access->flow.variable.type != TYPE_NONE ||
                        access->flow.variable.name) &&
                       !access->flow.place.indexed &&
                       !place_in_thread(&access->flow.place)
                   ? &access->flow
                   : NULL;
}

uint32_t sweep_frame_place(const struct sweep *sweep,
                           const struct sample_location *location)
{
        const struct access *access =
            &place_asks(&sweep->places.items[location->place])->access;
        const struct place_value *place = &access->flow.place;

        if (location->frame_place != RAW_NONE)
                return location->frame_place;
        /* Arguments that the caller pushed lie above the CFA, in the caller's frame. */
        return access->asked && access->flow.outcome == FLOW_FOUND &&
                       place_in_frame(place) && place->offset < 0
                   ? location->place
                   : RAW_NONE;
}

const struct flow_answer *sweep_thread_answer(const struct sweep *sweep,
                                              const struct sample_location *location)
{
        const struct access *access =
            &place_asks(&sweep->places.items[location->place])->access;

        return location->target.kind != TARGET_VARIABLE && access->asked &&
                       access->flow.outcome == FLOW_FOUND &&
                       access->flow.variable.type != TYPE_NONE &&
                       place_in_thread(&access->flow.place)
                   ? &access->flow
                   : NULL;
}

static void free_modules(struct sweep *sweep)
{
        for (size_t i = 0; sweep->module_data && i < sweep->raw->module_count; i++)
                range_map_free(&sweep->module_data[i].parts);
        free(sweep->module_data);
}

void sweep_free(struct sweep *sweep)
{
        if (sweep->pasts)
                pass_forget(sweep);
        free_modules(sweep);
        free(sweep->dates);
        free(sweep->first_date);
        free(sweep->pasts);
        for (size_t i = 0; i < sweep->places.count; i++)
                free(sweep->places.items[i].asks);
        free(sweep->place_samples);
        free(sweep->known);
        HASH_FREE(&sweep->places);
        HASH_FREE(&sweep->ips);
        HASH_FREE(&sweep->variables);
        HASH_FREE(&sweep->frames);
        free(sweep->stack_samples);
        free(sweep->stack_places);
        free(sweep->calls);
        free(sweep->code_places);
        free(sweep->clock_places);
        free(sweep->thread_modules);
        *sweep = (struct sweep){0};
}
