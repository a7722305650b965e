/* SPDX-License-Identifier: MIT */
/* One pass over time for each process: mappings and blocks come and go in maps of
 * what is in force, and samples and stacks ask those maps in the order of time. */
#include "sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "interval_map.h"

/* What comes and goes; each kind has a map of its own, because a block may lie in a
 * mapping, and both come back into force when what covered them is gone. */
enum layer {
        LAYER_MAPPING,
        LAYER_IMAGE, /* the whole extent of a program or library */
        LAYER_STACK,
        LAYER_BLOCK,  /* of the heap */
        LAYER_REGION, /* that the program mapped itself */
        LAYER_COUNT
};

struct item {
        uint64_t start;
        uint64_t end;
        struct raw_period period;
        uint32_t index; /* of a mapping or an allocation */
        enum layer layer;
};

struct items {
        struct item *starts; /* by start of the period */
        struct item *ends;   /* the same by its end */
        size_t count;
        size_t capacity;
        size_t started;
        size_t ended;
        struct interval_map layers[LAYER_COUNT];
};

/* A stack node asks at the time at which a sample or block first referred to it. */
struct stack_query {
        int64_t time_ns;
        uint32_t process;
        uint32_t stack;
};

/* ---- what is in force -------------------------------------------------------- */

static int add_item(struct items *items, enum layer layer, uint64_t start, uint64_t end,
                    struct raw_period period, size_t index)
{
        if (array_reserve(&items->starts, &items->capacity, items->count,
                          sizeof(*items->starts)) < 0)
                return -ENOMEM;
        items->starts[items->count++] = (struct item){.start = start,
                                                      .end = end,
                                                      .period = period,
                                                      .index = (uint32_t)index,
                                                      .layer = layer};
        return 0;
}

/* A file is loaded where its code is mapped; its image is all of its segments. */
static int add_image(struct items *items, const struct raw *raw,
                     const struct raw_mapping *mapping, size_t index)
{
        uint64_t low = UINT64_MAX, high = 0;

        if (!mapping->executable || !mapping->in_image)
                return 0;
        const struct elf_file *file = &raw->modules[mapping->module].file;

        for (size_t i = 0; i < file->segment_count; i++) {
                const struct elf_segment *segment = &file->segments[i];

                if (segment->vaddr < low)
                        low = segment->vaddr;
                if (segment->vaddr + segment->memory_bytes > high)
                        high = segment->vaddr + segment->memory_bytes;
        }
        return add_item(items, LAYER_IMAGE, low + mapping->bias, high + mapping->bias,
                        mapping->period, index);
}

static int add_mapping(struct items *items, const struct raw *raw, size_t index)
{
        const struct raw_mapping *mapping = &raw->mappings[index];
        enum layer layer = mapping->kind == RAW_STACK ? LAYER_STACK : LAYER_MAPPING;

        if (add_item(items, layer, mapping->start, mapping->end, mapping->period, index) <
            0)
                return -ENOMEM;
        return add_image(items, raw, mapping, index);
}

static int add_allocation(struct items *items, const struct raw_allocation *allocation,
                          size_t index)
{
        uint64_t bytes = allocation->size_bytes ? allocation->size_bytes : 1;
        uint64_t end = allocation->addr + bytes;

        return add_item(items, allocation->region ? LAYER_REGION : LAYER_BLOCK,
                        allocation->addr, end < allocation->addr ? UINT64_MAX : end,
                        allocation->period, index);
}

static int compare_starts(const void *left, const void *right)
{
        const struct item *a = left, *b = right;

        if (a->period.start_ns != b->period.start_ns)
                return a->period.start_ns < b->period.start_ns ? -1 : 1;
        return a->index < b->index ? -1 : a->index > b->index;
}

static int compare_ends(const void *left, const void *right)
{
        const struct item *a = left, *b = right;

        if (a->period.end_ns != b->period.end_ns)
                return a->period.end_ns < b->period.end_ns ? -1 : 1;
        return a->index < b->index ? -1 : a->index > b->index;
}

static int sort_items(struct items *items)
{
        items->ends = malloc((items->count + 1) * sizeof(*items->ends));
        if (!items->ends)
                return -ENOMEM;
        if (items->count == 0)
                return 0;
        qsort(items->starts, items->count, sizeof(*items->starts), compare_starts);
        memcpy(items->ends, items->starts, items->count * sizeof(*items->ends));
        qsort(items->ends, items->count, sizeof(*items->ends), compare_ends);
        return 0;
}

/* Brings the maps to TIME_NS. What ends at the very time of a question is still in
 * force, unless something else has begun there. */
static int advance(struct items *items, int64_t time_ns)
{
        for (;;) {
                const struct item *start = &items->starts[items->started];
                const struct item *end = &items->ends[items->ended];
                bool starts =
                    items->started < items->count && start->period.start_ns <= time_ns;
                bool ends = items->ended < items->count && end->period.end_ns < time_ns;
                int error;

                if (starts && (!ends || start->period.start_ns <= end->period.end_ns)) {
                        error = interval_map_put(&items->layers[start->layer],
                                                 start->start, start->end, start->index);
                        items->started++;
                } else if (ends) {
                        error = interval_map_drop(&items->layers[end->layer], end->start,
                                                  end->end, end->index);
                        items->ended++;
                } else {
                        return 0;
                }
                if (error)
                        return error;
        }
}

static uint32_t in_force(const struct items *items, enum layer layer, uint64_t addr)
{
        return interval_map_find(&items->layers[layer], addr);
}

static void clear_items(struct items *items)
{
        free(items->starts);
        free(items->ends);
        for (size_t i = 0; i < LAYER_COUNT; i++)
                interval_map_free(&items->layers[i]);
        *items = (struct items){0};
}

/* ---- places in code ------------------------------------------------------------- */

static bool same_place(const void *context, const void *key, uint32_t position)
{
        const struct sweep *sweep = context;
        const struct place *wanted = key, *place = &sweep->places[position];

        return place->module == wanted->module &&
               place->code.vaddr == wanted->code.vaddr &&
               place->in_image == wanted->in_image;
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

static int find_place(struct sweep *sweep, const struct items *items, uint64_t addr,
                      uint32_t *index)
{
        uint32_t found = in_force(items, LAYER_MAPPING, addr);
        struct place place = {.code = {.vaddr = addr}, .module = RAW_NONE};

        if (found != INTERVAL_NONE) {
                const struct raw_mapping *mapping = &sweep->raw->mappings[found];

                place.mapped = true;
                place.module = mapping->module;
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

/* The variable at ADDR, when it lies in a loaded file: in what MAPPING maps of it, or
 * in memory that its segments continue with (.bss). */
static int find_variable(struct sweep *sweep, const struct items *items,
                         const struct raw_mapping *mapping, uint64_t addr, bool *found,
                         struct target *target)
{
        const struct raw *raw = sweep->raw;
        uint32_t index = in_force(items, LAYER_IMAGE, addr);

        *found = false;
        if (index == INTERVAL_NONE)
                return 0;
        const struct raw_mapping *image = &raw->mappings[index];

        if ((mapping->module != RAW_NONE && mapping->module != image->module) ||
            !elf_file_segment(&raw->modules[image->module].file, addr - image->bias))
                return 0;
        if (sweep->variable_count >= RAW_NONE ||
            array_reserve(&sweep->variables, &sweep->variable_capacity,
                          sweep->variable_count, sizeof(*sweep->variables)) < 0)
                return -ENOMEM;
        *found = true;
        *target = (struct target){TARGET_VARIABLE, (uint32_t)sweep->variable_count, 0};
        sweep->variables[sweep->variable_count++] = (struct variable){
            .data = {.vaddr = addr - image->bias}, .module = image->module};
        return 0;
}

static int find_target(struct sweep *sweep, const struct items *items,
                       const struct raw_sample *sample, struct target *target)
{
        const struct raw *raw = sweep->raw;
        uint64_t addr = sample->addr;
        uint32_t index;

        *target = (struct target){.kind = TARGET_UNMAPPED};
        if ((index = in_force(items, LAYER_STACK, addr)) != INTERVAL_NONE) {
                *target =
                    (struct target){TARGET_STACK, index, raw->mappings[index].end - addr};
                return 0;
        }
        if ((index = in_force(items, LAYER_BLOCK, addr)) != INTERVAL_NONE ||
            (index = in_force(items, LAYER_REGION, addr)) != INTERVAL_NONE) {
                *target = (struct target){TARGET_BLOCK, index,
                                          addr - raw->allocations[index].addr};
                return 0;
        }
        if ((index = in_force(items, LAYER_MAPPING, addr)) == INTERVAL_NONE)
                return 0;
        const struct raw_mapping *mapping = &raw->mappings[index];
        bool found = false;

        if (!mapping->executable &&
            find_variable(sweep, items, mapping, addr, &found, target) < 0)
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

static int ask_stack(struct pass *pass, const struct items *items, uint32_t stack)
{
        uint64_t ip = pass->sweep->raw->stacks[stack].ip;

        /* A return address may belong to the next line or even function. */
        if (pass->calls[stack])
                ip--;
        return find_place(pass->sweep, items, ip, &pass->sweep->stack_places[stack]);
}

static int ask_sample(struct pass *pass, const struct items *items, size_t index)
{
        const struct raw_sample *sample = &pass->sweep->raw->samples[index];
        int error = find_place(pass->sweep, items, sample->ip,
                               &pass->sweep->sample_places[index]);

        if (!error && sample->has_addr)
                error =
                    find_target(pass->sweep, items, sample, &pass->sweep->targets[index]);
        return error;
}

static int collect_items(struct pass *pass, size_t process, struct items *items)
{
        const struct raw *raw = pass->sweep->raw;

        for (size_t i = pass->mappings.first[process];
             i < pass->mappings.first[process + 1]; i++)
                if (add_mapping(items, raw, pass->mappings.order[i]) < 0)
                        return -ENOMEM;
        for (size_t i = pass->allocations.first[process];
             i < pass->allocations.first[process + 1]; i++) {
                uint32_t index = pass->allocations.order[i];

                if (add_allocation(items, &raw->allocations[index], index) < 0)
                        return -ENOMEM;
        }
        return sort_items(items);
}

/* Stacks that nothing dates (of blocks that no sample met) ask all mappings that ever
 * were, the latest first. */
static int ask_undated(struct pass *pass, size_t process, struct items *items)
{
        int error = 0;

        for (size_t i = 0; i < LAYER_COUNT; i++)
                interval_map_free(&items->layers[i]);
        for (size_t i = 0; i < items->count && !error; i++)
                if (items->starts[i].layer == LAYER_MAPPING)
                        error = interval_map_put(
                            &items->layers[LAYER_MAPPING], items->starts[i].start,
                            items->starts[i].end, items->starts[i].index);
        while (!error && pass->next_query < pass->query_count &&
               pass->queries[pass->next_query].process == process)
                error = ask_stack(pass, items, pass->queries[pass->next_query++].stack);
        return error;
}

static int sweep_process(struct pass *pass, size_t process)
{
        const struct raw *raw = pass->sweep->raw;
        struct items items = {0};
        int error = collect_items(pass, process, &items);

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
                error = advance(&items, ask_query ? query->time_ns : sample->time_ns);
                if (!error)
                        error = ask_query ? ask_stack(pass, &items, query->stack)
                                          : ask_sample(pass, &items, pass->next_sample);
                if (ask_query)
                        pass->next_query++;
                else
                        pass->next_sample++;
        }
        if (!error)
                error = ask_undated(pass, process, &items);
        clear_items(&items);
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

static int allocate_results(struct sweep *sweep)
{
        const struct raw *raw = sweep->raw;

        sweep->sample_places = malloc((raw->sample_count + 1) * sizeof(uint32_t));
        sweep->targets = calloc(raw->sample_count + 1, sizeof(*sweep->targets));
        sweep->stack_places = malloc((raw->stack_count + 1) * sizeof(uint32_t));
        if (!sweep->sample_places || !sweep->targets || !sweep->stack_places)
                return -ENOMEM;
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
        struct items none = {0};
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
        free_group(&pass.mappings);
        free_group(&pass.allocations);
        free(pass.queries);
        free(pass.calls);
        return error;
}

void sweep_free(struct sweep *sweep)
{
        free(sweep->places);
        hash_index_free(&sweep->place_index);
        free(sweep->variables);
        free(sweep->sample_places);
        free(sweep->targets);
        free(sweep->stack_places);
        *sweep = (struct sweep){0};
}
