/* SPDX-License-Identifier: MIT */
/* Passes over all samples: each process has a timeline of its own, which goes forward to
 * each of its samples. A stack's nodes ask for their places when the first sample that
 * leads to them is met, or when the first block was allocated there. */
#include "sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parallel.h"
#include "place.h"
#include "stack_place.h"
#include "tally.h"

/* ---- rows by process ---- */

static int group(struct by_process *groups, size_t process_count, size_t row_count,
                 const char *rows, size_t row_bytes, size_t process_at)
{
        groups->order = malloc((row_count + 1) * sizeof(*groups->order));
        groups->first = calloc(process_count + 2, sizeof(*groups->first));
        if (!groups->order || !groups->first)
                return -ENOMEM;
        for (int fill = 0; fill < 2; fill++) {
                for (size_t i = 0; i < row_count; i++) {
                        uint32_t process;

                        memcpy(&process, rows + i * row_bytes + process_at,
                               sizeof(process));
                        if (process == RAW_NONE)
                                continue;
                        if (fill)
                                groups->order[groups->first[process]++] = (uint32_t)i;
                        else
                                groups->first[process + 1]++;
                }
                for (size_t p = 0; !fill && p < process_count; p++)
                        groups->first[p + 1] += groups->first[p];
        }
        /* Filling moved each start to the next process's. */
        memmove(groups->first + 1, groups->first, process_count * sizeof(*groups->first));
        groups->first[0] = 0;
        return 0;
}

static void free_group(struct by_process *groups)
{
        free(groups->order);
        free(groups->first);
}

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

/* Goes forward to TIME_NS; stacks that are dated by then ask on the way. */
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

static void restart(struct sweep *sweep)
{
        for (size_t i = 0; i < sweep->raw->process_count; i++) {
                timeline_free(&sweep->pasts[i].timeline);
                sweep->pasts[i] = (struct process_past){0};
        }
}

/* The stacks that no sample led to: those that blocks date at their time; those that
 * nothing dates (of blocks that no sample met) ask all mappings that ever were, the
 * latest first. */
static int ask_other_stacks(struct sweep *sweep)
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
                error = begin_past(sweep, process);
                if (!error && !ever[process])
                        error = timeline_ever(&sweep->pasts[process].timeline);
                ever[process] = true;
                if (!error)
                        error = stack_ask(sweep, &sweep->pasts[process].timeline, i);
        }
        free(ever);
        return error;
}

/* ---- one sample ---- */

/* The place of the frame DEPTH calls out from a sample at PLACE; RAW_NONE: not known. */
static uint32_t frame_place(const struct sweep *sweep, const struct raw_sample *sample,
                            uint32_t place)
{
        uint32_t stack = sample->stack;

        if (sample->stack_depth == 0)
                return place;
        for (uint32_t depth = sample->stack_depth; depth > 0 && stack != RAW_NONE;
             depth--)
                stack = sweep->raw->stacks[stack].parent;
        return stack == RAW_NONE ? RAW_NONE : sweep->stack_places[stack];
}

/* The place that called the function in which the sample is. */
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
        if (location->target.kind != TARGET_STACK || sample->stack_depth == RAW_NONE)
                return 0;
        uint32_t place = frame_place(sweep, sample, location->place);

        if (place == RAW_NONE || !sweep->places[place].in_image)
                return 0;
        return place_of_frame(sweep, place, sample->cfa_offset_bytes, &location->frame);
}

/* Samples of no known thread are in no process: nothing is known about them. */
static int locate(struct sweep *sweep, const struct raw_sample *sample,
                  struct sample_location *location)
{
        static const struct timeline nothing;
        const struct timeline *timeline = &nothing;
        int error;

        *location = (struct sample_location){.frame = RAW_NONE, .caller = RAW_NONE};
        if (sample->process != RAW_NONE) {
                timeline = &sweep->pasts[sample->process].timeline;
                error = advance(sweep, sample->process, sample->time_ns);
                if (!error)
                        error = stack_ask_callers(sweep, timeline, sample->process,
                                                  sample->stack);
                if (!error)
                        error =
                            place_of_ip(sweep, timeline, sample->process,
                                        sweep->pasts[sample->process].state, sample->ip,
                                        &location->place, &location->usual);
        } else {
                error = place_of_code(sweep, timeline, sample->ip, &location->place);
        }
        if (error || !sample->has_addr)
                return error;
        location->caller = caller_place(sweep, sample);
        sweep->places[location->place].accesses = true;
        error = place_of_data(sweep, timeline, sample, &location->target);
        return error ? error : find_frame(sweep, sample, location);
}

/* ---- passes ---- */

/* So many samples are read before the first of them is looked at: what is known of their
 * places is then already on its way from memory. */
enum { AHEAD = 16 };

struct pass {
        struct sweep *sweep;
        sample_visit *visit;
        void *context;
        struct diag *diag;
        size_t count;
        struct raw_sample samples[AHEAD];
};

/* -ESTALE, which only the first pass can: the samples are to be begun with again, in
 * the order of time. */
static int visit_samples(struct pass *pass)
{
        const struct samples *samples = &pass->sweep->samples;
        struct sample_location location;
        int error = 0;

        if (samples->out_of_order && !samples->by_time)
                return -ESTALE;
        for (size_t i = 0; i < pass->count && !error; i++) {
                if (locate(pass->sweep, &pass->samples[i], &location) < 0)
                        return diag_no_memory(pass->diag);
                error = pass->visit(pass->context, &pass->samples[i], &location);
        }
        pass->count = 0;
        return error;
}

static void expect(const struct sweep *sweep, const struct raw_sample *sample)
{
        if (sample->process != RAW_NONE)
                place_expect(sweep, sweep->pasts[sample->process].state, sample->ip);
}

static int add_sample(void *context, const struct raw_sample *sample)
{
        struct pass *pass = context;
        const struct sweep *sweep = pass->sweep;

        expect(sweep, sample);
        pass->samples[pass->count++] = *sample;
        return pass->count < AHEAD ? 0 : visit_samples(pass);
}

/* What waits of a pass is looked at before the next range is read. */
static int pass_over(struct pass *pass, const struct sample_range *range)
{
        int error =
            samples_each(&pass->sweep->samples, range, add_sample, pass, pass->diag);

        return error ? error : visit_samples(pass);
}

static void begin_pass(struct sweep *sweep)
{
        sweep->samples.before_ns = INT64_MIN;
        restart(sweep);
}

int sweep_samples(struct sweep *sweep, sample_visit *visit, void *context,
                  struct diag *diag)
{
        static const struct sample_range all = {INT64_MIN, INT64_MAX};
        struct pass pass = {
            .sweep = sweep, .visit = visit, .context = context, .diag = diag};

        begin_pass(sweep);
        return pass_over(&pass, &all);
}

static int allocate(struct sweep *sweep)
{
        const struct raw *raw = sweep->raw;

        sweep->stack_samples = calloc(raw->stack_count + 1, sizeof(uint64_t));

        sweep->stack_places = malloc((raw->stack_count + 1) * sizeof(uint32_t));
        sweep->calls = calloc(raw->stack_count + 1, sizeof(*sweep->calls));
        sweep->thread_modules =
            calloc(raw->stack_count + 1, sizeof(*sweep->thread_modules));
        sweep->module_data = calloc(raw->module_count + 1, sizeof(*sweep->module_data));
        sweep->pasts = calloc(raw->process_count + 1, sizeof(*sweep->pasts));
        if (!sweep->stack_samples || !sweep->stack_places || !sweep->calls ||
            !sweep->thread_modules || !sweep->module_data || !sweep->pasts)
                return -ENOMEM;
        memset(sweep->stack_places, 0xff, raw->stack_count * sizeof(uint32_t));
        return 0;
}

static int prepare(struct sweep *sweep)
{
        const struct raw *raw = sweep->raw;
        int error = allocate(sweep);

        if (!error)
                error = group(&sweep->mappings, raw->process_count, raw->mapping_count,
                              (const char *)raw->mappings, sizeof(*raw->mappings),
                              offsetof(struct raw_mapping, process));
        if (!error)
                error =
                    group(&sweep->allocations, raw->process_count, raw->allocation_count,
                          (const char *)raw->allocations, sizeof(*raw->allocations),
                          offsetof(struct raw_allocation, process));
        return error ? error : stacks_date(sweep);
}

int sweep_open(struct sweep *sweep, const struct raw *raw,
               const struct debug_search *search, struct db *db, struct diag *diag)
{
        sweep->raw = raw;
        sweep->search = search;
        int error = samples_open(&sweep->samples, db, raw, diag);

        return !error && prepare(sweep) < 0 ? diag_no_memory(diag) : error;
}

/* Counts MANY samples that are where SAMPLE is. */
static void count_samples(struct sweep *sweep, const struct raw_sample *sample,
                          const struct sample_location *location, uint64_t many)
{
        sweep->sample_count += many;
        sweep->unusual_samples += location->usual ? 0 : many;
        sweep->place_samples[location->place] += many;
        if (sample->stack == RAW_NONE)
                sweep->stackless_samples += many;
        else
                sweep->stack_samples[sample->stack] += many;
}

static int count_sample(void *context, const struct raw_sample *sample,
                        const struct sample_location *location)
{
        count_samples(context, sample, location, 1);
        return 0;
}

static int count_kinds(struct sweep *sweep, const struct tally *tally)
{
        int error = 0;

        for (size_t i = 0; i < tally->count && !error; i++) {
                const struct tally_kind *kind = tally->kinds[i];
                struct sample_location location;

                if (i + AHEAD < tally->count)
                        expect(sweep, &tally->kinds[i + AHEAD]->first);
                error = locate(sweep, &kind->first, &location);
                if (!error)
                        count_samples(sweep, &kind->first, &location, kind->many);
        }
        return error;
}

/* So many are looked at one by one first: they tell whose debug information is needed,
 * and mostly whether there are data addresses. */
enum { HEAD = 1 << 12 };

/* Whether the samples of REST, behind those that were looked at, may be tallied. */
static bool may_tally(const struct sweep *sweep, const struct sample_range *rest)
{
        return !sweep->samples.addressed && !sweep->samples.by_time &&
               !sweep->samples.in_frames && parallel_processors() > 1 &&
               (uint64_t)rest->last - (uint64_t)rest->first >= HEAD;
}

static bool others_idle(void *context)
{
        const struct sweep *sweep = context;

        return !sweep->processors_idle || sweep->processors_idle(sweep->context);
}

static int find_locations(struct sweep *sweep, struct diag *diag)
{
        struct pass pass = {
            .sweep = sweep, .visit = count_sample, .context = sweep, .diag = diag};
        struct sample_range rest, head;
        struct tally tally;
        int error = samples_all(&sweep->samples, &rest, diag);

        if (error || rest.first > rest.last)
                return error;
        begin_pass(sweep);
        if (may_tally(sweep, &rest)) {
                head = (struct sample_range){rest.first, rest.first + HEAD - 1};
                rest.first += HEAD;
                error = pass_over(&pass, &head);
        }
        if (error || !may_tally(sweep, &rest) ||
            tally_samples(&tally, &sweep->samples, &rest, others_idle, sweep) < 0)
                return error ? error : pass_over(&pass, &rest);
        error = count_kinds(sweep, &tally);
        tally_free(&tally);
        return error ? diag_no_memory(diag) : 0;
}

/* Forgets what was found in another order than that of time. */
static int begin_by_time(struct sweep *sweep, struct diag *diag)
{
        const struct sweep before = {.raw = sweep->raw,
                                     .search = sweep->search,
                                     .module_met = sweep->module_met,
                                     .processors_idle = sweep->processors_idle,
                                     .context = sweep->context};
        struct db *db = sweep->samples.db;

        sweep_free(sweep);
        *sweep = before;
        int error = sweep_open(sweep, before.raw, before.search, db, diag);

        sweep->samples.by_time = true;
        return error;
}

int sweep_run(struct sweep *sweep, struct diag *diag)
{
        int error = find_locations(sweep, diag);

        if (error == -ESTALE) {
                error = begin_by_time(sweep, diag);
                if (!error)
                        error = find_locations(sweep, diag);
        }
        if (!error && ask_other_stacks(sweep) < 0)
                error = diag_no_memory(diag);
        return error;
}

const struct flow_answer *sweep_frame_answer(const struct sweep *sweep,
                                             const struct sample_location *location,
                                             uint32_t *place)
{
        const struct access *access;

        *place = location->place;
        if (location->frame != RAW_NONE) {
                *place = sweep->frames[location->frame].place;
                access = &sweep->frames[location->frame].access;
        } else {
                access = &place_asks(&sweep->places[*place])->access;
        }
        return access->asked && access->flow.outcome == FLOW_FOUND &&
                       access->flow.variable.type != TYPE_NONE &&
                       !access->flow.place.indexed &&
                       !place_in_thread(&access->flow.place)
                   ? &access->flow
                   : NULL;
}

const struct flow_answer *sweep_thread_answer(const struct sweep *sweep,
                                              const struct sample_location *location)
{
        const struct access *access =
            &place_asks(&sweep->places[location->place])->access;

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
                restart(sweep);
        free_modules(sweep);
        free_group(&sweep->mappings);
        free_group(&sweep->allocations);
        free(sweep->dates);
        free(sweep->first_date);
        free(sweep->pasts);
        for (size_t i = 0; i < sweep->place_count; i++)
                free(sweep->places[i].asks);
        free(sweep->places);
        free(sweep->place_keys);
        free(sweep->place_samples);
        free(sweep->known);
        hash_index_free(&sweep->place_index);
        free(sweep->ips);
        hash_index_free(&sweep->ip_index);
        free(sweep->variables);
        hash_index_free(&sweep->variable_index);
        free(sweep->frames);
        hash_index_free(&sweep->frame_index);
        free(sweep->stack_samples);
        free(sweep->stack_places);
        free(sweep->calls);
        free(sweep->thread_modules);
        *sweep = (struct sweep){0};
}
