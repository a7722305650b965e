/* SPDX-License-Identifier: MIT */
/* Each process has a separate timeline, which advances to each of its samples. The first
 * sample on a stack looks up the places of the stack's nodes. Without a sample, the first
 * block allocated there does. */
#include "sweep.h"

#include <errno.h>
#include <stdlib.h>

#include "place.h"

/* ---- the nodes of stacks ---- */

/* Finds the place of STACK, a node, by the present state of TIMELINE. A node with
 * children is a call, and its address the return address. */
static int stack_ask(struct sweep *sweep, const struct timeline *timeline, uint32_t stack)
{
        uint64_t ip = sweep->raw->stacks[stack].ip;

        /* A return address may belong to the next line or even function. */
        if (sweep->calls[stack])
                ip--;
        return place_of_code(sweep, timeline, ip, &sweep->stack_places[stack]);
}

/* The same for STACK and its callers that belong to PROCESS and have no place yet. */
static int stack_ask_callers(struct sweep *sweep, const struct timeline *timeline,
                             uint32_t process, uint32_t stack)
{
        const struct raw *raw = sweep->raw;
        int error = 0;

        while (!error && stack != RAW_NONE && sweep->stack_places[stack] == RAW_NONE &&
               raw->stacks[stack].process == process) {
                error = stack_ask(sweep, timeline, stack);
                stack = raw->stacks[stack].parent;
        }
        return error;
}

static int compare_dates(const void *left, const void *right)
{
        const struct stack_date *a = left, *b = right;

        COMPARE(a->process, b->process);
        COMPARE(a->time_ns, b->time_ns);
        COMPARE(a->stack, b->stack);
        return 0;
}

/* The start of each process's dates; dates without a process come last. */
static int index_dates(struct sweep *sweep)
{
        size_t at = 0;

        sweep->first_date =
            malloc((sweep->raw->process_count + 1) * sizeof(*sweep->first_date));
        if (!sweep->first_date)
                return -ENOMEM;
        for (size_t process = 0; process <= sweep->raw->process_count; process++) {
                while (at < sweep->date_count && sweep->dates[at].process < process)
                        at++;
                sweep->first_date[process] = at;
        }
        return 0;
}

static void list_dates(struct sweep *sweep, const int64_t *first_ns)
{
        const struct raw *raw = sweep->raw;

        for (size_t i = 0; i < raw->stack_count; i++)
                if (first_ns[i] != INT64_MAX)
                        sweep->dates[sweep->date_count++] = (struct stack_date){
                            first_ns[i], raw->stacks[i].process, (uint32_t)i};
        SORT(sweep->dates, sweep->date_count, compare_dates);
}

int pass_date_stacks(struct sweep *sweep)
{
        const struct raw *raw = sweep->raw;
        int64_t *first_ns = malloc((raw->stack_count + 1) * sizeof(*first_ns));
        size_t dated = 0;

        for (size_t i = 0; first_ns && i < raw->stack_count; i++)
                first_ns[i] = INT64_MAX;
        for (size_t i = 0; first_ns && i < raw->allocation_count; i++) {
                uint32_t stack = raw->allocations[i].stack;

                if (stack != RAW_NONE &&
                    raw->allocations[i].period.start_ns < first_ns[stack])
                        first_ns[stack] = raw->allocations[i].period.start_ns;
        }
        for (size_t i = raw->stack_count; first_ns && i-- > 0;) {
                uint32_t parent = raw->stacks[i].parent;

                dated += first_ns[i] != INT64_MAX;
                if (parent == RAW_NONE)
                        continue;
                if (first_ns[i] < first_ns[parent])
                        first_ns[parent] = first_ns[i];
                sweep->calls[parent] = true;
        }
        sweep->dates = malloc((dated + 1) * sizeof(*sweep->dates));
        if (first_ns && sweep->dates)
                list_dates(sweep, first_ns);
        free(first_ns);
        return first_ns && sweep->dates ? index_dates(sweep) : -ENOMEM;
}

/* ---- one process ---- */

/* Begins the timelines of all processes. */
static int begin_pasts(struct sweep *sweep)
{
        const struct raw *raw = sweep->raw;
        struct process_past *pasts = sweep->pasts;
        int error = 0;

        pass_forget(sweep);
        for (size_t i = 0; i < raw->mapping_count && !error; i++)
                if (raw->mappings[i].process != RAW_NONE)
                        error = timeline_add_mapping(
                            &pasts[raw->mappings[i].process].timeline, raw, i);
        for (size_t i = 0; i < raw->allocation_count && !error; i++)
                if (raw->allocations[i].process != RAW_NONE)
                        error = timeline_add_allocation(
                            &pasts[raw->allocations[i].process].timeline, raw, i);
        for (size_t i = 0; i < raw->process_count && !error; i++) {
                pasts[i].next_date = sweep->first_date[i];
                error = timeline_sort(&pasts[i].timeline);
        }
        return error;
}

/* Advances to TIME_NS, and looks up the places of stacks dated before. */
static int advance(struct sweep *sweep, uint32_t process, int64_t time_ns)
{
        struct process_past *past = &sweep->pasts[process];
        int error = 0;

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

/* Makes all mappings that PROCESS ever had valid. EVER: this is already done. */
static int whole_past(struct sweep *sweep, uint32_t process, bool *ever)
{
        int error = *ever ? 0 : timeline_ever(&sweep->pasts[process].timeline);

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
        if (place == RAW_NONE || !sweep->places.items[place].in_image)
                return 0;
        return place_of_frame(sweep, place, sample->cfa_offset_bytes, &location->frame);
}

/* The location of SAMPLE, which is no earlier than the previous sample. Looks up stacks
 * dated before it. A sample without a known thread has no process, so nothing is known
 * about it. */
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
                sweep->places.items[location->place].accesses_unaddressed = true;
        if (error || !sample->has_addr)
                return error;
        location->caller = caller_place(sweep, sample);
        sweep->places.items[location->place].accesses = true;
        error = place_of_data(sweep, timeline, sample, &location->target);
        return error ? error : find_frame(sweep, sample, location);
}

/* ---- all samples ---- */

struct pass {
        struct sweep *sweep;
        sample_visit *visit;
        void *context; /* of VISIT */
        struct diag *diag;
        struct raw_sample next; /* waits until its place is prefetched */
        bool any;
};

static int take_sample(const struct pass *pass, const struct raw_sample *sample)
{
        const struct samples *samples = &pass->sweep->samples;
        struct sample_location location;

        if (samples->out_of_order && !samples->by_time)
                return -ESTALE;
        if (locate(pass->sweep, sample, &location) < 0)
                return diag_no_memory(pass->diag);
        return pass->visit(pass->context, sample, &location);
}

static int visit_sample(void *context, const struct raw_sample *sample)
{
        struct pass *pass = context;
        int error = pass->any ? take_sample(pass, &pass->next) : 0;

        if (sample->process != RAW_NONE)
                place_expect(pass->sweep, pass->sweep->pasts[sample->process].state,
                             sample->ip);
        pass->next = *sample;
        pass->any = true;
        return error;
}

int sweep_samples(struct sweep *sweep, sample_visit *visit, void *context,
                  struct diag *diag)
{
        struct pass pass = {
            .sweep = sweep, .visit = visit, .context = context, .diag = diag};
        int error = begin_pasts(sweep) < 0
                        ? diag_no_memory(diag)
                        : samples_each(&sweep->samples, visit_sample, &pass, diag);

        return error || !pass.any ? error : take_sample(&pass, &pass.next);
}
