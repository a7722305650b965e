/* SPDX-License-Identifier: MIT */
/* One object for each variable, allocation site, function's stack and mapped file;
 * blocks of equal sites are one object. */
#include "object.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "path.h"

struct maker {
        struct objects *objects;
        const struct sweep *sweep;
        const struct raw *raw;
        const struct code_frames *frames;
        const struct types *types;
        struct string_pool *names;
        const char *const *allocators;
        struct site *sites; /* of raw's stacks, once found */
        bool *site_found;
};

static bool same_object(const void *context, const void *key, uint32_t position)
{
        const struct objects *objects = context;
        const struct object *a = key, *b = &objects->items[position];

        return a->kind == b->kind && a->name == b->name && a->module == b->module &&
               a->start == b->start && a->site.function == b->site.function &&
               a->site.file == b->site.file && a->site.line == b->site.line;
}

static uint32_t object_hash(const struct object *object)
{
        uint32_t hash = hash_number((uint32_t)object->kind, object->name);

        hash = hash_number(hash, object->module);
        hash = hash_number(hash, object->start);
        return hash_number(hash, (uint64_t)object->site.file << 32 | object->site.line);
}

static uint32_t find_object(const struct objects *objects, const struct object *object)
{
        return hash_index_find(&objects->index, object_hash(object), same_object, objects,
                               object);
}

static int put_object(struct objects *objects, const struct object *object,
                      uint32_t *index)
{
        *index = find_object(objects, object);
        if (*index != HASH_INDEX_NONE)
                return 0;
        if (objects->count >= RAW_NONE ||
            array_reserve(&objects->items, &objects->capacity, objects->count,
                          sizeof(*objects->items)) < 0)
                return -ENOMEM;
        *index = (uint32_t)objects->count++;
        objects->items[*index] = *object;
        return hash_index_add(&objects->index, object_hash(object), *index);
}

static uint32_t put_formatted(struct string_pool *names, const char *format,
                              const char *text) __attribute__((format(printf, 2, 0)));

static uint32_t put_formatted(struct string_pool *names, const char *format,
                              const char *text)
{
        char *name = NULL;

        if (asprintf(&name, format, text) < 0)
                return 0;
        uint32_t id = string_pool_put(names, name);

        free(name);
        return id;
}

/* ---- blocks --------------------------------------------------------------------- */

static const struct site *stack_site(struct maker *maker, uint32_t stack)
{
        static const struct site unknown;

        if (stack == RAW_NONE)
                return &unknown;
        const struct site_search search = {maker->sweep, maker->frames, maker->names,
                                           maker->allocators};

        if (!maker->site_found[stack]) {
                maker->sites[stack] = site_find(&search, stack);
                maker->site_found[stack] = true;
        }
        return &maker->sites[stack];
}

/* The object of what FUNCTION allocated at STACK. */
static struct object block_object(struct maker *maker, uint32_t stack, bool region)
{
        struct object object = {.kind = region ? OBJECT_MMAP : OBJECT_HEAP,
                                .module = RAW_NONE,
                                .site = *stack_site(maker, stack)};

        object.name = object.site.name;
        if (!object.name)
                object.name = string_pool_put(maker->names, region ? "[anon]" : "[heap]");
        return object;
}

/* All blocks of a site count, also those that no sample met. */
static void count_blocks(struct maker *maker)
{
        const struct raw *raw = maker->raw;

        for (size_t i = 0; i < raw->total_count; i++) {
                const struct raw_total *total = &raw->totals[i];
                struct object key = block_object(maker, total->stack, total->region);
                uint32_t index = find_object(maker->objects, &key);

                if (index == HASH_INDEX_NONE)
                        continue;
                struct object *object = &maker->objects->items[index];

                object->allocations += total->allocations;
                object->total_bytes += total->total_bytes;
                object->size_bytes += total->peak_bytes;
                object->has_size = true;
        }
}

/* ---- everything else -------------------------------------------------------------- */

/* The function whose frame is on the stack: the one that others were inlined into. */
static const char *frame_function(const struct maker *maker, uint32_t place)
{
        if (place == RAW_NONE)
                return NULL;
        const struct code_place *code = &maker->sweep->places[place].code;
        uint32_t function = code->function;

        if (code->frame_count > 0)
                function = maker->frames->items[code->first_frame + code->frame_count - 1]
                               .function;
        return string_pool_text(maker->names, function);
}

/* A variable of FUNCTION's frame. */
static struct object frame_object(struct maker *maker, const char *function,
                                  const struct frame_variable *variable)
{
        struct object object = {.kind = OBJECT_STACK, .module = RAW_NONE};
        const char *name = string_pool_text(maker->names, variable->name);
        char *scoped;

        if (asprintf(&scoped, "%s::%s", function, name ? name : "(unnamed)") < 0)
                return object;
        object.name = string_pool_put(maker->names, scoped);
        object.size_bytes = maker->types->items[variable->type].size_bytes;
        object.has_size = true;
        free(scoped);
        return object;
}

static struct object stack_object(struct maker *maker, size_t sample, uint32_t mapping)
{
        const struct raw *raw = maker->raw;
        uint32_t owner = raw->mappings[mapping].thread;
        struct object object = {.kind = OBJECT_STACK, .module = RAW_NONE};
        uint32_t place;
        const struct flow_answer *answer =
            sweep_frame_answer(maker->sweep, sample, &place);
        const char *function = frame_function(maker, place);
        char tid[32];

        if (owner != RAW_NONE && owner != raw->samples[sample].thread) {
                snprintf(tid, sizeof(tid), "%" PRId64, raw->threads[owner].tid);
                object.name = put_formatted(maker->names, "stack of thread %s", tid);
        } else if (function && answer) {
                maker->objects->sample_offsets[sample] =
                    (uint64_t)answer->variable_offset;
                object = frame_object(maker, function, &answer->variable);
        } else if (function) {
                object.name = put_formatted(maker->names, "%s's stack", function);
        } else {
                object.name = string_pool_put(maker->names, "[stack]");
        }
        return object;
}

static struct object variable_object(const struct variable *variable)
{
        return (struct object){
            .kind = variable->data.vaddr & ELF_THREAD_LOCAL ? OBJECT_TLS : OBJECT_GLOBAL,
            .name = variable->data.name,
            .module = variable->module,
            .start = variable->data.start,
            .has_size = true,
            .size_bytes = variable->data.size_bytes};
}

static struct object mapping_object(struct maker *maker, uint32_t index)
{
        const struct raw_mapping *mapping = &maker->raw->mappings[index];
        const char *path = mapping->module != RAW_NONE
                               ? maker->raw->modules[mapping->module].path
                               : NULL;
        struct object object = {.kind = OBJECT_MMAP, .module = mapping->module};

        if (mapping->executable) {
                object.kind = OBJECT_CODE;
                object.name = put_formatted(maker->names, "[code of %s]",
                                            path ? path_base(path) : "[anon]");
        } else if (path) {
                object.name = string_pool_put(maker->names, path);
        } else if (mapping->kind == RAW_HEAP) {
                object.kind = OBJECT_HEAP;
                object.name = string_pool_put(maker->names, "[heap]");
        } else {
                object.name = string_pool_put(
                    maker->names, mapping->kind == RAW_VDSO ? "[vdso]" : "[anon]");
        }
        return object;
}

static int make_sample(struct maker *maker, size_t sample)
{
        const struct target *target = &maker->sweep->targets[sample];
        struct objects *objects = maker->objects;
        struct object object = {.kind = OBJECT_UNKNOWN, .module = RAW_NONE};

        objects->sample_offsets[sample] = target->offset_bytes;
        switch (target->kind) {
        case TARGET_NONE:
                objects->sample_objects[sample] = RAW_NONE;
                return 0;
        case TARGET_UNMAPPED:
                object.name = string_pool_put(maker->names, "[unmapped]");
                break;
        case TARGET_BLOCK:
                object = block_object(maker, maker->raw->allocations[target->index].stack,
                                      maker->raw->allocations[target->index].region);
                break;
        case TARGET_STACK:
                object = stack_object(maker, sample, target->index);
                break;
        case TARGET_VARIABLE:
                object = variable_object(&maker->sweep->variables[target->index]);
                objects->sample_offsets[sample] =
                    maker->sweep->variables[target->index].data.vaddr - object.start;
                break;
        case TARGET_THREAD:
                object.kind = OBJECT_TLS;
                object.name = string_pool_put(maker->names, "[thread control block]");
                break;
        case TARGET_MAPPING:
                object = mapping_object(maker, target->index);
                break;
        }
        return put_object(objects, &object, &objects->sample_objects[sample]);
}

int objects_make(struct objects *objects, const struct sweep *sweep,
                 const struct code_frames *frames, const struct types *types,
                 const char *const *allocators, struct string_pool *names)
{
        const struct raw *raw = sweep->raw;
        struct maker maker = {.objects = objects,
                              .sweep = sweep,
                              .raw = raw,
                              .frames = frames,
                              .types = types,
                              .allocators = allocators,
                              .names = names,
                              .sites = calloc(raw->stack_count + 1, sizeof(struct site)),
                              .site_found = calloc(raw->stack_count + 1, sizeof(bool))};
        int error = 0;

        objects->sample_objects = malloc((raw->sample_count + 1) * sizeof(uint32_t));
        objects->sample_offsets = malloc((raw->sample_count + 1) * sizeof(uint64_t));
        if (!maker.sites || !maker.site_found || !objects->sample_objects ||
            !objects->sample_offsets)
                error = -ENOMEM;
        for (size_t i = 0; i < raw->sample_count && !error; i++)
                error = make_sample(&maker, i);
        if (!error)
                count_blocks(&maker);
        free(maker.sites);
        free(maker.site_found);
        return error ? error : string_pool_failed(names);
}

void objects_free(struct objects *objects)
{
        free(objects->items);
        hash_index_free(&objects->index);
        free(objects->sample_objects);
        free(objects->sample_offsets);
        *objects = (struct objects){0};
}
