/* SPDX-License-Identifier: MIT */
/* Each variable, allocation site, function's stack and mapped file is one object. Blocks
 * of equal sites are one object. */
#include "object.h"

#include <errno.h>
#include <inttypes.h>

#include <stdlib.h>
#include <string.h>

#include "file_path.h"

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

static int put_object(struct objects *objects, const struct object *object,
                      uint32_t *index)
{
        uint32_t hash = object_hash(object);

        return HASH_PUT(objects, hash, same_object, objects, object, index);
}

/* ---- blocks ---- */

static const struct site *stack_site(struct objects *objects, uint32_t stack)
{
        static const struct site unknown;

        if (stack == RAW_NONE)
                return &unknown;
        const struct site_search search = {
            objects->from.sweep,      objects->from.frames,         objects->from.names,
            objects->from.allocators, objects->from.allocators_met, objects->place_sites,
            objects->place_site_count};

        if (!objects->site_found[stack]) {
                objects->sites[stack] = site_find(&search, stack);
                objects->site_found[stack] = true;
        }
        return &objects->sites[stack];
}

static void use_site(struct objects *objects, bool *used, uint32_t stack)
{
        if (stack == RAW_NONE)
                return;
        used[stack] = true;
        stack_site(objects, stack);
}

/* The site alone distinguishes mapped regions: they have no type. */
int objects_tell_apart(struct objects *objects, const struct block_type *blocks)
{
        const struct raw *raw = objects->from.sweep->raw;
        const struct site_types from = {objects->from.types, blocks, objects->from.names};
        bool *used = calloc(raw->stack_count + 1, sizeof(*used));

        if (!used)
                return -ENOMEM;
        for (size_t i = 0; i < raw->allocation_count; i++)
                if (!raw->allocations[i].region)
                        use_site(objects, used, raw->allocations[i].stack);
        for (size_t i = 0; i < raw->total_count; i++)
                if (!raw->totals[i].region)
                        use_site(objects, used, raw->totals[i].stack);
        int error = site_types_name(&from, objects->sites, used, raw->stack_count);

        free(used);
        return error;
}

/* The object of blocks that FUNCTION allocated at STACK. */
static struct object block_object(struct objects *objects, uint32_t stack, bool region)
{
        struct object object = {.kind = region ? OBJECT_MMAP : OBJECT_HEAP,
                                .module = RAW_NONE,
                                .site = *stack_site(objects, stack)};

        object.name = object.site.name;
        if (!object.name)
                object.name =
                    string_pool_put(objects->from.names, region ? "[anon]" : "[heap]");
        return object;
}

struct object_path *objects_path(const struct objects *objects, uint32_t stack,
                                 bool region)
{
        return &objects->paths[2 * (size_t)stack + region];
}

static struct object_path *use_path(struct objects *objects, uint32_t stack, bool region,
                                    uint32_t object)
{
        struct object_path *path = objects_path(objects, stack, region);

        path->used = true;
        path->object = object;
        return path;
}

/* Counts all blocks of a site, also blocks without samples. */
void objects_count_blocks(struct objects *objects)
{
        const struct raw *raw = objects->from.sweep->raw;

        for (size_t i = 0; i < raw->total_count; i++) {
                const struct raw_total *total = &raw->totals[i];
                struct object key = block_object(objects, total->stack, total->region);
                uint32_t index = hash_index_find(&objects->index, object_hash(&key),
                                                 same_object, objects, &key);

                if (index == HASH_INDEX_NONE)
                        continue;
                struct object *object = &objects->items[index];

                object->allocations += total->allocations;
                object->total_bytes += total->total_bytes;
                object->size_bytes += total->peak_bytes;
                object->has_size = true;
                if (total->stack != RAW_NONE)
                        use_path(objects, total->stack, total->region, index);
        }
}

/* ---- everything else ---- */

/* The function that owns the frame on the stack: others are inlined into it. */
static const char *frame_function(const struct objects *objects, uint32_t place)
{
        if (place == RAW_NONE)
                return NULL;
        const struct code_place *code = &objects->from.sweep->places.items[place].code;
        uint32_t function = code->function;

        if (code->frame_count > 0)
                function =
                    objects->from.frames->items[code->first_frame + code->frame_count - 1]
                        .function;
        return string_pool_text(objects->from.names, function);
}

/* A variable of FUNCTION's frame, or of a function that was inlined into it. */
static struct object frame_object(struct objects *objects, const char *function,
                                  const struct frame_variable *variable)
{
        struct object object = {.kind = OBJECT_STACK, .module = RAW_NONE};
        const char *inlined = string_pool_text(objects->from.names, variable->inlined);

        object.name = string_pool_format(
            objects->from.names, "%s::%s", inlined ? inlined : function,
            string_pool_text(objects->from.names, variable->name));
        object.has_size = variable->type != TYPE_NONE;
        if (object.has_size)
                object.size_bytes = objects->from.types->items[variable->type].size_bytes;
        return object;
}

/* struct pthread of glibc 2.31 to 2.36 has 2304 bytes. Below it glibc leaves 1664 free by
 * default, for libraries loaded later. */
enum { DESCRIPTOR_BYTES = 3072 };

/* Whether the C library may keep thread-local variables at OFFSET_BYTES from the end of
 * the stack MAPPING. The thread's descriptor is at the end. The variables are right below
 * it (glibc: nptl/allocatestack.c). All files of the recording together limit their
 * size. */
static bool in_thread_memory(const struct objects *objects, uint32_t mapping,
                             uint64_t offset_bytes)
{
        const struct raw *raw = objects->from.sweep->raw;
        const struct raw_mapping *stack = &raw->mappings[mapping];

        /* The kernel makes the first thread's stack, without such memory. */
        if (stack->thread == RAW_NONE || stack->process == RAW_NONE ||
            raw->threads[stack->thread].tid == raw->processes[stack->process].pid)
                return false;
        uint64_t pointer = raw->threads[stack->thread].thread_pointer;
        uint64_t bytes = pointer > stack->start ? stack->end - pointer : DESCRIPTOR_BYTES;

        /* A source that knows the pointer may also know the stack's end. */
        if (pointer >= stack->end)
                return false;
        return offset_bytes <= bytes + objects->thread_bytes;
}

static struct object stack_object(struct objects *objects,
                                  const struct raw_sample *sample,
                                  const struct sample_location *location,
                                  uint64_t *offset_bytes)
{
        const struct raw *raw = objects->from.sweep->raw;
        uint32_t owner = raw->mappings[location->target.index].thread;
        struct object object = {.kind = OBJECT_STACK, .module = RAW_NONE};
        /* In another thread's stack, only the source can identify the frame. */
        bool own = owner == RAW_NONE || owner == sample->thread ||
                   sample->other_stack != RAW_NONE;
        uint32_t place;
        const struct flow_answer *answer =
            sweep_frame_answer(objects->from.sweep, location, &place);
        const char *variable_of = own && answer && answer->variable.name
                                      ? frame_function(objects, place)
                                      : NULL;
        const char *function =
            own ? frame_function(objects,
                                 sweep_frame_place(objects->from.sweep, location))
                : NULL;

        object.whole_stack = !variable_of && !function;
        if (variable_of) {
                *offset_bytes = (uint64_t)answer->variable_offset;
                object = frame_object(objects, variable_of, &answer->variable);
        } else if (function) {
                object.name =
                    string_pool_format(objects->from.names, "%s's stack", function);
        } else if (in_thread_memory(objects, location->target.index, *offset_bytes)) {
                object.kind = OBJECT_UNKNOWN;
                object.whole_stack = false;
                object.thread_memory = true;
                object.name = string_pool_format(
                    objects->from.names,
                    "[stack or thread-local memory of thread %" PRId64 "]",
                    raw->threads[owner].tid);
        } else if (owner != RAW_NONE) {
                object.name =
                    string_pool_format(objects->from.names, "stack of thread %" PRId64,
                                       raw->threads[owner].tid);
        } else {
                object.name = string_pool_put(objects->from.names, "[stack]");
        }
        return object;
}

static struct object variable_object(const struct variable *variable)
{
        return (struct object){
            .kind = elf_thread_local(variable->data.vaddr) ? OBJECT_TLS : OBJECT_GLOBAL,
            .name = variable->data.name,
            .module = variable->module,
            .start = variable->data.start,
            .has_size = true,
            .size_bytes = variable->data.size_bytes};
}

static struct object thread_object(const struct objects *objects, uint32_t place,
                                   const struct flow_answer *answer)
{
        const struct types *types = objects->from.types;

        return (struct object){.kind = OBJECT_TLS,
                               .name = answer->variable.name,
                               .module = objects->from.sweep->places.items[place].module,
                               .start = (uint64_t)answer->variable.offset,
                               .has_size = true,
                               .size_bytes =
                                   types->items[answer->variable.type].size_bytes};
}

static struct object mapping_object(struct objects *objects, const struct target *target)
{
        const struct raw_mapping *mapping =
            &objects->from.sweep->raw->mappings[target->index];
        bool heap = mapping->kind == RAW_HEAP ||
                    (mapping->kind == RAW_ANON &&
                     arenas_hold(&objects->arenas, mapping->process,
                                 mapping->start + target->offset_bytes));
        const char *path =
            mapping->module != RAW_NONE
                ? objects->from.sweep->raw->modules[mapping->module].wanted.path
                : NULL;
        struct object object = {.kind = OBJECT_MMAP, .module = mapping->module};

        if (mapping->executable) {
                object.kind = OBJECT_CODE;
                object.name = string_pool_format(objects->from.names, "[code of %s]",
                                                 path ? path_base(path) : "[anon]");
        } else if (path) {
                object.name = string_pool_put(objects->from.names, path);
        } else if (heap) {
                object.kind = OBJECT_HEAP;
                object.name = string_pool_put(objects->from.names, "[heap]");
        } else {
                object.name = string_pool_put(
                    objects->from.names, mapping->kind == RAW_VDSO ? "[vdso]" : "[anon]");
        }
        return object;
}

static void count_in_path(struct objects *objects, const struct raw_sample *sample,
                          const struct raw_allocation *block, uint32_t object)
{
        if (block->stack != RAW_NONE)
                use_path(objects, block->stack, block->region, object)->samples +=
                    samples_is_access(&objects->from.sweep->samples, sample);
}

int objects_of_sample(struct objects *objects, const struct raw_sample *sample,
                      const struct sample_location *location,
                      struct sample_object *result)
{
        const struct sweep *sweep = objects->from.sweep;
        const struct target *target = &location->target;
        const struct flow_answer *named = sweep_thread_answer(sweep, location);
        struct object object = {.kind = OBJECT_UNKNOWN, .module = RAW_NONE};

        *result = (struct sample_object){.object = RAW_NONE,
                                         .offset_bytes = target->offset_bytes};
        if (named) {
                object = thread_object(objects, location->place, named);
                result->offset_bytes = (uint64_t)named->variable_offset;
                result->offset_unknown = named->place.indexed;
                return put_object(objects, &object, &result->object);
        }
        switch (target->kind) {
        case TARGET_NONE:
                return 0;
        case TARGET_UNMAPPED:
                object.name = string_pool_put(objects->from.names, "[unmapped]");
                break;
        case TARGET_BLOCK:
                object =
                    block_object(objects, sweep->raw->allocations[target->index].stack,
                                 sweep->raw->allocations[target->index].region);
                break;
        case TARGET_STACK:
                object = stack_object(objects, sample, location, &result->offset_bytes);
                break;
        case TARGET_VARIABLE:
                object = variable_object(&sweep->variables.items[target->index]);
                result->offset_bytes -= object.start;
                break;
        case TARGET_THREAD:
                object.kind = OBJECT_TLS;
                object.name =
                    string_pool_put(objects->from.names, "[thread control block]");
                break;
        case TARGET_MAPPING:
                object = mapping_object(objects, target);
                break;
        }
        int error = put_object(objects, &object, &result->object);

        if (!error && target->kind == TARGET_BLOCK)
                count_in_path(objects, sample, &sweep->raw->allocations[target->index],
                              result->object);
        return error;
}

int objects_open(struct objects *objects, const struct object_sources *from)
{
        const struct raw *raw = from->sweep->raw;
        size_t stacks = raw->stack_count;

        objects->from = *from;
        for (size_t i = 0; i < raw->module_count; i++)
                if (raw->modules[i].state == MODULE_READY)
                        objects->thread_bytes += raw->modules[i].file.thread_bytes;
        objects->sites = calloc(stacks + 1, sizeof(*objects->sites));
        objects->site_found = calloc(stacks + 1, sizeof(*objects->site_found));
        objects->place_site_count = from->sweep->places.count;
        objects->place_sites =
            calloc(objects->place_site_count + 1, sizeof(*objects->place_sites));
        objects->paths = calloc(2 * (stacks + 1), sizeof(*objects->paths));
        return objects->sites && objects->site_found && objects->place_sites &&
                       objects->paths
                   ? arenas_find(&objects->arenas, raw)
                   : -ENOMEM;
}

void objects_free(struct objects *objects)
{
        HASH_FREE(objects);
        free(objects->paths);
        free(objects->sites);
        free(objects->site_found);
        free(objects->place_sites);
        arenas_free(&objects->arenas);
        *objects = (struct objects){0};
}
