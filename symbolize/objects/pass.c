/* SPDX-License-Identifier: MIT */
/* Each process has a separate timeline, which advances to each of its samples. The
 * first sample that leads to a stack's nodes looks up their places. Without a sample,
 * the first block allocated there does. */
#include "pass.h"

#include <errno.h>
#include <stdlib.h>

#include "place.h"
#include "stack_place.h"

/* ---- one process ---- */

static int begin_past(struct sweep *sweep, uint32_t process)
{
        const struct raw *raw = sweep->raw;
        struct process_past *past = &sweep->pasts[process];

        if (past->begun)
                return 0;
        past->begun = true;
        past->next_date = sweep->first_date[process];
        for (size_t i = sweep->mappings.first[process];
             i < sweep->mappings.first[process + 1]; i++)
                if (timeline_add_mapping(&past->timeline, raw, sweep->mappings.order[i]) <
                    0)
                        return -ENOMEM;
        for (size_t i = sweep->allocations.first[process];
             i < sweep->allocations.first[process + 1]; i++)
                if (timeline_add_allocation(&past->timeline, raw,
                                            sweep->allocations.order[i]) < 0)
                        return -ENOMEM;
        return timeline_sort(&past->timeline);
}

/* Advances to TIME_NS; stacks dated by then look up their places on the way. */
static int advance(struct sweep *sweep, uint32_t process, int64_t time_ns)
{
        struct process_past *past = &sweep->pasts[process];
        int error = begin_past(sweep, process);

        while (!error && past->next_date < sweep->first_date[process + 1] &&
               sweep->dates[past->next_date].time_ns <= time_ns) {
                const struct stack_date *date = &sweep->dates[past->next_date++];

                if (sweep->stack_places[date->stack] != RAW_NONE)
                        continue;
                error = timeline_advance(&past->timeline, date->time_ns);
                if (!error)
                        error = stack_ask(sweep, &past->timeline, date->stack);
        }
        if (!error)
                error = timeline_advance(&past->timeline, time_ns);
        if (past->state == 0 || past->changes != past->timeline.mapping_changes) {
                past->state = ++sweep->states;
                past->changes = past->timeline.mapping_changes;
        }
        return error;
}

void pass_forget(struct sweep *sweep)
{
        for (size_t i = 0; i < sweep->raw->process_count; i++) {
                timeline_free(&sweep->pasts[i].timeline);
                sweep->pasts[i] = (struct process_past){0};
        }
}

/* The whole past of PROCESS: everything that ever was at an address. EVER: it is that
   already. */
static int whole_past(struct sweep *sweep, uint32_t process, bool *ever)
{
        int error = begin_past(sweep, process);

        if (!error && !*ever)
                error = timeline_ever(&sweep->pasts[process].timeline);
        *ever = true;
        return error;
}

int pass_ask_other_stacks(struct sweep *sweep)
{
        const struct raw *raw = sweep->raw;
        bool *ever = calloc(raw->process_count + 1, sizeof(*ever));
        int error = ever ? 0 : -ENOMEM;

        for (uint32_t i = 0; i < raw->process_count && !error; i++)
                if (sweep->first_date[i] < sweep->first_date[i + 1])
                        error = advance(sweep, i, INT64_MAX);
        for (uint32_t i = 0; i < raw->stack_count && !error; i++) {
                uint32_t process = raw->stacks[i].process;

                if (process == RAW_NONE || sweep->stack_places[i] != RAW_NONE)
                        continue;
                error = whole_past(sweep, process, &ever[process]);
                if (!error)
                        error = stack_ask(sweep, &sweep->pasts[process].timeline, i);
        }
        for (size_t i = 0; i < raw->code_count && !error; i++) {
                uint32_t process = raw->codes[i].process;

                error = whole_past(sweep, process, &ever[process]);
                if (!error)
                        error =
                            place_of_code(sweep, &sweep->pasts[process].timeline,
                                          raw->codes[i].address, &sweep->code_places[i]);
        }
        free(ever);
        return error;
}

/* ---- one sample ---- */

/* The place whose frame a sample at PLACE accessed; RAW_NONE: not known. */
static uint32_t frame_place(const struct sweep *sweep, const struct raw_sample *sample,
                            uint32_t place)
{
        uint32_t stack = sample->stack;

        if (sample->other_stack != RAW_NONE)
                return sweep->stack_places[sample->other_stack];
        if (sample->stack_depth == 0)
                return place;
        for (uint32_t depth = sample->stack_depth; depth > 0 && stack != RAW_NONE;
             depth--)
                stack = sweep->raw->stacks[stack].parent;
        return stack == RAW_NONE ? RAW_NONE : sweep->stack_places[stack];
}

/* The call site of the sample's function. */
static uint32_t caller_place(const struct sweep *sweep, const struct raw_sample *sample)
{
        uint32_t stack = sample->stack == RAW_NONE
                             ? RAW_NONE
                             : sweep->raw->stacks[sample->stack].parent;

        return stack == RAW_NONE ? RAW_NONE : sweep->stack_places[stack];
}

static int find_frame(struct sweep *sweep, const struct raw_sample *sample,
                      struct sample_location *location)
{
        if (location->target.kind != TARGET_STACK ||
            (sample->stack_depth == RAW_NONE && sample->other_stack == RAW_NONE))
                return 0;
        uint32_t place = frame_place(sweep, sample, location->place);

        location->frame_place = place;
        if (place == RAW_NONE || !sweep->places[place].in_image)
                return 0;
        return place_of_frame(sweep, place, sample->cfa_offset_bytes, &location->frame);
}

/* The location of SAMPLE, which is no earlier than the previous sample. Stacks on the way
 * to it look up their places. Samples of no known thread are in no process: nothing is
 * known about them. */
static int locate(struct sweep *sweep, const struct raw_sample *sample,
                  struct sample_location *location)
{
        static const struct timeline nothing;
        const struct timeline *timeline = &nothing;
        int error;

        *location = (struct sample_location){
            .frame = RAW_NONE, .frame_place = RAW_NONE, .caller = RAW_NONE};
        if (sample->process != RAW_NONE) {
                timeline = &sweep->pasts[sample->process].timeline;
                error = advance(sweep, sample->process, sample->time_ns);
                if (!error)
                        error = stack_ask_callers(sweep, timeline, sample->process,
                                                  sample->stack);
                if (!error)
                        error = stack_ask_callers(sweep, timeline, sample->process,
                                                  sample->other_stack);
                if (!error)
                        error =
                            place_of_ip(sweep, timeline, sample->process,
                                        sweep->pasts[sample->process].state, sample->ip,
                                        &location->place, &location->usual);
        } else {
                error = place_of_code(sweep, timeline, sample->ip, &location->place);
        }
        if (!error && !sample->has_addr && sample->has_source)
                sweep->places[location->place].accesses_unaddressed = true;
        if (error || !sample->has_addr)
                return error;
        location->caller = caller_place(sweep, sample);
        sweep->places[location->place].accesses = true;
        error = place_of_data(sweep, timeline, sample, &location->target);
        return error ? error : find_frame(sweep, sample, location);
}

/* ---- all samples ---- */

struct pass {
        struct sweep *sweep;
        sample_visit *visit;
        void *context; /* of VISIT */
        struct diag *diag;
};

static int visit_sample(void *context, const struct raw_sample *sample)
{
        const struct pass *pass = context;
        const struct samples *samples = &pass->sweep->samples;
        struct sample_location location;

        if (samples->out_of_order && !samples->by_time)
                return -ESTALE;
        if (locate(pass->sweep, sample, &location) < 0)
                return diag_no_memory(pass->diag);
        return pass->visit(pass->context, sample, &location);
}

int sweep_samples(struct sweep *sweep, sample_visit *visit, void *context,
                  struct diag *diag)
{
        struct pass pass = {sweep, visit, context, diag};

        pass_forget(sweep);
        return samples_each(&sweep->samples, visit_sample, &pass, diag);
}
