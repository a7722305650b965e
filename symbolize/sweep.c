/* SPDX-License-Identifier: MIT */
/* One pass over time for each process: mappings and blocks come and go in maps of
 * what is in force, and samples and stacks ask those maps in the order of time. */
#include "sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "timeline.h"

/* A stack node asks at the time at which a sample or block first referred to it. */
struct stack_query {
        int64_t time_ns;
        uint32_t process;
        uint32_t stack;
};

/* ---- places in code ------------------------------------------------------------- */

static bool same_place(const void *context, const void *key, uint32_t position)
{
        const struct sweep *sweep = context;
        const struct place *wanted = key, *place = &sweep->places[position];

        return place->module == wanted->module && place->process == wanted->process &&
               place->code.vaddr == wanted->code.vaddr &&
               place->in_image == wanted->in_image && place->mapped == wanted->mapped;
}

static int put_place(struct sweep *sweep, const struct place *place, uint32_t *index)
{
        uint32_t hash = hash_number(place->module, place->code.vaddr);

        *index = hash_index_find(&sweep->place_index, hash, same_place, sweep, place);
        if (*index != HASH_INDEX_NONE)
                return 0;
        if (sweep->place_count >= RAW_NONE ||
            array_reserve(&sweep->places, &sweep->place_capacity, sweep->place_count,
                          sizeof(*sweep->places)) < 0)
                return -ENOMEM;
        *index = (uint32_t)sweep->place_count++;
        sweep->places[*index] = *place;
        return hash_index_add(&sweep->place_index, hash, *index);
}

static int find_place(struct sweep *sweep, const struct timeline *timeline, uint64_t addr,
                      uint32_t *index)
{
        uint32_t found = timeline_find(timeline, LAYER_MAPPING, addr);
        struct place place = {
            .code = {.vaddr = addr}, .module = RAW_NONE, .process = RAW_NONE};

        if (found != INTERVAL_NONE) {
                const struct raw_mapping *mapping = &sweep->raw->mappings[found];

                place.mapped = true;
                place.module = mapping->module;
                if (mapping->module == RAW_NONE) {
                        place.process = mapping->process;
                        place.vdso = mapping->kind == RAW_VDSO;
                }
                if (mapping->in_image) {
                        place.code.vaddr = addr - mapping->bias;
                        place.in_image = true;
                } else if (mapping->module != RAW_NONE) {
                        place.code.vaddr =
                            addr - mapping->start + mapping->file_offset_bytes;
                }
        }
        return put_place(sweep, &place, index);
}

/* ---- targets of data addresses --------------------------------------------------- */

static int put_variable(struct sweep *sweep, uint64_t vaddr, uint32_t module,
                        struct target *target)
{
        if (sweep->variable_count >= RAW_NONE ||
            array_reserve(&sweep->variables, &sweep->variable_capacity,
                          sweep->variable_count, sizeof(*sweep->variables)) < 0)
                return -ENOMEM;
        *target = (struct target){TARGET_VARIABLE, (uint32_t)sweep->variable_count, 0};
        sweep->variables[sweep->variable_count++] = (struct variable){
            .data = {.vaddr = vaddr, .type = TYPE_NONE}, .module = module};
        return 0;
}

/* The variable at ADDR, when it lies in a loaded file: in what MAPPING maps of it, or
 * in memory that its segments continue with (.bss). */
static int find_variable(struct sweep *sweep, const struct timeline *timeline,
                         const struct raw_mapping *mapping, uint64_t addr, bool *found,
                         struct target *target)
{
        const struct raw *raw = sweep->raw;
        uint32_t index = timeline_find(timeline, LAYER_IMAGE, addr);

        *found = false;
        if (index == INTERVAL_NONE)
                return 0;
        const struct raw_mapping *image = &raw->mappings[index];

        if ((mapping->module != RAW_NONE && mapping->module != image->module) ||
            !elf_file_segment(&raw->modules[image->module].file, addr - image->bias))
                return 0;
        *found = true;
        return put_variable(sweep, addr - image->bias, image->module, target);
}

/* What the C library keeps at the thread pointer (tcbhead_t of glibc). */
enum { CONTROL_BLOCK_BYTES = 704 };

/* The program's thread-local variables lie right below the thread pointer (ELF handling
 * for thread-local storage, variant II). */
static int find_thread_memory(struct sweep *sweep, const struct raw_sample *sample,
                              struct target *target)
{
        const struct raw *raw = sweep->raw;
        uint64_t pointer =
            sample->thread == RAW_NONE ? 0 : raw->threads[sample->thread].thread_pointer;
        uint32_t module = pointer && sample->process != RAW_NONE && raw->executables
                              ? raw->executables[sample->process]
                              : RAW_NONE;

        if (pointer && sample->addr - pointer < CONTROL_BLOCK_BYTES)
                *target = (struct target){TARGET_THREAD, 0, sample->addr - pointer};
        if (module == RAW_NONE || raw->modules[module].state != MODULE_READY ||
            pointer - sample->addr - 1 >= raw->modules[module].file.thread_bytes)
                return 0;
        uint64_t offset =
            raw->modules[module].file.thread_bytes - (pointer - sample->addr);

        return put_variable(sweep, offset | ELF_THREAD_LOCAL, module, target);
}

static int find_target(struct sweep *sweep, const struct timeline *timeline,
                       const struct raw_sample *sample, struct target *target)
{
        const struct raw *raw = sweep->raw;
        uint64_t addr = sample->addr;
        uint32_t index;

        *target = (struct target){.kind = TARGET_UNMAPPED};
        if (find_thread_memory(sweep, sample, target) < 0)
                return -ENOMEM;
        if (target->kind != TARGET_UNMAPPED)
                return 0;
        if ((index = timeline_find(timeline, LAYER_STACK, addr)) != INTERVAL_NONE) {
                *target =
                    (struct target){TARGET_STACK, index, raw->mappings[index].end - addr};
                return 0;
        }
        if ((index = timeline_find(timeline, LAYER_BLOCK, addr)) != INTERVAL_NONE ||
            (index = timeline_find(timeline, LAYER_REGION, addr)) != INTERVAL_NONE) {
                *target = (struct target){TARGET_BLOCK, index,
                                          addr - raw->allocations[index].addr};
                return 0;
        }
        if ((index = timeline_find(timeline, LAYER_MAPPING, addr)) == INTERVAL_NONE)
                return 0;
        const struct raw_mapping *mapping = &raw->mappings[index];
        bool found = false;

        if (!mapping->executable &&
            find_variable(sweep, timeline, mapping, addr, &found, target) < 0)
                return -ENOMEM;
        if (!found)
                *target = (struct target){TARGET_MAPPING, index, addr - mapping->start};
        return 0;
}

/* ---- one process ------------------------------------------------------------------- */

/* Ranges of rows that belong to one process, by process. */
struct by_process {
        uint32_t *order; /* row indexes */
        size_t *first;   /* of each process in ORDER; one more at the end */
};

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

struct pass {
        struct sweep *sweep;
        struct by_process mappings;
        struct by_process allocations;
        struct stack_query *queries; /* by process and time */
        size_t query_count;
        size_t next_query;
        size_t next_sample;
        bool *calls; /* of raw's stacks: its ip is a return address */
};

static int ask_stack(struct pass *pass, const struct timeline *timeline, uint32_t stack)
{
        uint64_t ip = pass->sweep->raw->stacks[stack].ip;

        /* A return address may belong to the next line or even function. */
        if (pass->calls[stack])
                ip--;
        return find_place(pass->sweep, timeline, ip, &pass->sweep->stack_places[stack]);
}

static int ask_sample(struct pass *pass, const struct timeline *timeline, size_t index)
{
        const struct raw_sample *sample = &pass->sweep->raw->samples[index];
        int error = find_place(pass->sweep, timeline, sample->ip,
                               &pass->sweep->sample_places[index]);

        if (!error && sample->has_addr)
                error = find_target(pass->sweep, timeline, sample,
                                    &pass->sweep->targets[index]);
        return error;
}

static int collect_timeline(struct pass *pass, size_t process, struct timeline *timeline)
{
        const struct raw *raw = pass->sweep->raw;

        for (size_t i = pass->mappings.first[process];
             i < pass->mappings.first[process + 1]; i++)
                if (timeline_add_mapping(timeline, raw, pass->mappings.order[i]) < 0)
                        return -ENOMEM;
        for (size_t i = pass->allocations.first[process];
             i < pass->allocations.first[process + 1]; i++) {
                uint32_t index = pass->allocations.order[i];

                if (timeline_add_allocation(timeline, raw, index) < 0)
                        return -ENOMEM;
        }
        return timeline_sort(timeline);
}

/* Stacks that nothing dates (of blocks that no sample met) ask all mappings that ever
 * were, the latest first. */
static int ask_undated(struct pass *pass, size_t process, struct timeline *timeline)
{
        int error = timeline_ever(timeline);

        while (!error && pass->next_query < pass->query_count &&
               pass->queries[pass->next_query].process == process)
                error =
                    ask_stack(pass, timeline, pass->queries[pass->next_query++].stack);
        return error;
}

static int sweep_process(struct pass *pass, size_t process)
{
        const struct raw *raw = pass->sweep->raw;
        struct timeline timeline = {0};
        int error = collect_timeline(pass, process, &timeline);

        while (!error) {
                const struct stack_query *query = &pass->queries[pass->next_query];
                const struct raw_sample *sample = &raw->samples[pass->next_sample];
                bool ask_query = pass->next_query < pass->query_count &&
                                 query->process == process && query->time_ns != INT64_MAX;
                bool has_sample =
                    pass->next_sample < raw->sample_count && sample->process == process;

                if (!ask_query && !has_sample)
                        break;
                if (ask_query && has_sample && sample->time_ns < query->time_ns)
                        ask_query = false;
                error = timeline_advance(&timeline,
                                         ask_query ? query->time_ns : sample->time_ns);
                if (!error)
                        error = ask_query
                                    ? ask_stack(pass, &timeline, query->stack)
                                    : ask_sample(pass, &timeline, pass->next_sample);
                if (ask_query)
                        pass->next_query++;
                else
                        pass->next_sample++;
        }
        if (!error)
                error = ask_undated(pass, process, &timeline);
        timeline_free(&timeline);
        return error;
}

/* ---- all processes --------------------------------------------------------------------
 */

static int compare_queries(const void *left, const void *right)
{
        const struct stack_query *a = left, *b = right;

        if (a->process != b->process)
                return a->process < b->process ? -1 : 1;
        if (a->time_ns != b->time_ns)
                return a->time_ns < b->time_ns ? -1 : 1;
        return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static void date_stack(struct stack_query *queries, uint32_t stack, int64_t time_ns)
{
        if (stack != RAW_NONE && time_ns < queries[stack].time_ns)
                queries[stack].time_ns = time_ns;
}

/* Dates each stack node by its first use, and marks the calls: those with children. */
static int date_stacks(struct pass *pass)
{
        const struct raw *raw = pass->sweep->raw;

        pass->queries = malloc((raw->stack_count + 1) * sizeof(*pass->queries));
        pass->calls = calloc(raw->stack_count + 1, sizeof(*pass->calls));
        if (!pass->queries || !pass->calls)
                return -ENOMEM;
        for (size_t i = 0; i < raw->stack_count; i++)
                pass->queries[i] =
                    (struct stack_query){INT64_MAX, raw->stacks[i].process, (uint32_t)i};
        for (size_t i = 0; i < raw->sample_count; i++)
                date_stack(pass->queries, raw->samples[i].stack, raw->samples[i].time_ns);
        for (size_t i = 0; i < raw->allocation_count; i++)
                date_stack(pass->queries, raw->allocations[i].stack,
                           raw->allocations[i].period.start_ns);
        for (size_t i = raw->stack_count; i-- > 0;) {
                if (raw->stacks[i].parent == RAW_NONE)
                        continue;
                date_stack(pass->queries, raw->stacks[i].parent,
                           pass->queries[i].time_ns);
                pass->calls[raw->stacks[i].parent] = true;
        }
        pass->query_count = raw->stack_count;
        if (pass->query_count > 1)
                qsort(pass->queries, pass->query_count, sizeof(*pass->queries),
                      compare_queries);
        return 0;
}

/* The place of the frame DEPTH calls out from SAMPLE; RAW_NONE: not known. */
static uint32_t frame_place(const struct sweep *sweep, size_t sample, uint32_t depth)
{
        uint32_t stack = sweep->raw->samples[sample].stack;

        if (depth == 0)
                return sweep->sample_places[sample];
        while (depth > 0 && stack != RAW_NONE) {
                stack = sweep->raw->stacks[stack].parent;
                depth--;
        }
        return stack == RAW_NONE ? RAW_NONE : sweep->stack_places[stack];
}

static int find_frames(struct sweep *sweep)
{
        size_t capacity = 0;

        for (size_t i = 0; i < sweep->raw->sample_count; i++) {
                const struct raw_sample *sample = &sweep->raw->samples[i];

                if (sweep->targets[i].kind != TARGET_STACK ||
                    sample->stack_depth == RAW_NONE)
                        continue;
                uint32_t place = frame_place(sweep, i, sample->stack_depth);

                if (place == RAW_NONE || !sweep->places[place].in_image)
                        continue;
                if (array_reserve(&sweep->frames, &capacity, sweep->frame_count,
                                  sizeof(*sweep->frames)) < 0)
                        return -ENOMEM;
                sweep->sample_frames[i] = (uint32_t)sweep->frame_count;
                sweep->frames[sweep->frame_count++] = (struct frame){
                    .access = {.question = FLOW_FRAME,
                               .cfa_offset_bytes = sample->cfa_offset_bytes},
                    .place = place};
        }
        return 0;
}

static int allocate_results(struct sweep *sweep)
{
        const struct raw *raw = sweep->raw;

        sweep->sample_places = malloc((raw->sample_count + 1) * sizeof(uint32_t));
        sweep->targets = calloc(raw->sample_count + 1, sizeof(*sweep->targets));
        sweep->stack_places = malloc((raw->stack_count + 1) * sizeof(uint32_t));
        sweep->sample_frames = malloc((raw->sample_count + 1) * sizeof(uint32_t));
        if (!sweep->sample_places || !sweep->targets || !sweep->stack_places ||
            !sweep->sample_frames)
                return -ENOMEM;
        memset(sweep->sample_frames, 0xff, raw->sample_count * sizeof(uint32_t));
        memset(sweep->sample_places, 0xff, raw->sample_count * sizeof(uint32_t));
        memset(sweep->stack_places, 0xff, raw->stack_count * sizeof(uint32_t));
        return 0;
}

static int prepare(struct pass *pass)
{
        const struct raw *raw = pass->sweep->raw;
        int error = allocate_results(pass->sweep);

        if (!error)
                error = group(&pass->mappings, raw->process_count, raw->mapping_count,
                              (const char *)raw->mappings, sizeof(*raw->mappings),
                              offsetof(struct raw_mapping, process));
        if (!error)
                error =
                    group(&pass->allocations, raw->process_count, raw->allocation_count,
                          (const char *)raw->allocations, sizeof(*raw->allocations),
                          offsetof(struct raw_allocation, process));
        return error ? error : date_stacks(pass);
}

/* Samples of no known thread are in no process: nothing is known about them. */
static int answer_orphans(struct pass *pass)
{
        const struct raw *raw = pass->sweep->raw;
        struct timeline none = {0};
        int error = 0;

        for (; pass->next_sample < raw->sample_count && !error; pass->next_sample++)
                error = ask_sample(pass, &none, pass->next_sample);
        return error;
}

int sweep_run(struct sweep *sweep, const struct raw *raw)
{
        struct pass pass = {.sweep = sweep};
        int error;

        sweep->raw = raw;
        error = prepare(&pass);
        for (size_t i = 0; i < raw->process_count && !error; i++)
                error = sweep_process(&pass, i);
        if (!error)
                error = answer_orphans(&pass);
        if (!error)
                error = find_frames(sweep);
        free_group(&pass.mappings);
        free_group(&pass.allocations);
        free(pass.queries);
        free(pass.calls);
        return error;
}

const struct flow_answer *sweep_frame_answer(const struct sweep *sweep, size_t sample,
                                             uint32_t *place)
{
        uint32_t frame = sweep->sample_frames[sample];
        const struct access *access;

        *place = sweep->sample_places[sample];
        if (frame != RAW_NONE) {
                *place = sweep->frames[frame].place;
                access = &sweep->frames[frame].access;
        } else {
                access = &sweep->places[*place].access;
        }
        return access->asked && access->flow.outcome == FLOW_FOUND &&
                       access->flow.variable.type != TYPE_NONE &&
                       !access->flow.place.indexed
                   ? &access->flow
                   : NULL;
}

void sweep_free(struct sweep *sweep)
{
        free(sweep->places);
        hash_index_free(&sweep->place_index);
        free(sweep->variables);
        free(sweep->sample_places);
        free(sweep->targets);
        free(sweep->stack_places);
        free(sweep->frames);
        free(sweep->sample_frames);
        *sweep = (struct sweep){0};
}
