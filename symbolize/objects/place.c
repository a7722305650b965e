/* SPDX-License-Identifier: MIT */
/* Each distinct place is stored once, for any number of samples. */
#include "place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file_path.h"

/* ---- places in code ---- */

enum { PLACES_MOST = INT32_MAX };

static bool same_place(const void *context, const void *key, uint32_t position)
{
        const struct sweep *sweep = context;
        const struct place *wanted = key, *there = &sweep->places.items[position];

        return there->code.vaddr == wanted->code.vaddr &&
               there->module == wanted->module && there->process == wanted->process &&
               there->in_image == wanted->in_image && there->mapped == wanted->mapped;
}

static int put_place(struct sweep *sweep, const struct place *place, uint32_t *index)
{
        uint32_t hash = hash_number(place->module, place->code.vaddr);

        size_t counts = sweep->places.count;

        if (HASH_PUT(&sweep->places, hash, same_place, sweep, place, index) < 0 ||
            sweep->places.count > PLACES_MOST)
                return -ENOMEM;
        return counts < sweep->places.count
                   ? APPEND(sweep->place_samples, counts, sweep->count_capacity, 0)
                   : 0;
}

int place_of_code(struct sweep *sweep, const struct timeline *timeline, uint64_t addr,
                  uint32_t *index)
{
        uint32_t found = timeline_find(timeline, LAYER_MAPPING, addr);
        struct place place = {
            .code = {.vaddr = addr}, .module = RAW_NONE, .process = RAW_NONE};

        if (found != INTERVAL_NONE) {
                const struct raw_mapping *mapping = &sweep->raw->mappings[found];

                place.mapped = true;
                place.module = mapping->module;
                place.vdso = mapping->kind == RAW_VDSO;
                place.in_image = mapping->in_image;
                if (mapping->module == RAW_NONE)
                        place.process = mapping->process;
                if (mapping->in_image)
                        place.code.vaddr = addr - mapping->bias;
                else if (mapping->module != RAW_NONE)
                        place.code.vaddr =
                            addr - mapping->start + mapping->file_offset_bytes;
        }
        return put_place(sweep, &place, index);
}

/* The code segment of FILE that contains the byte at OFFSET_BYTES; NULL: none. */
static const struct elf_segment *code_segment(const struct elf_file *file,
                                              uint64_t offset_bytes)
{
        for (size_t i = 0; i < file->segment_count; i++) {
                const struct elf_segment *segment = &file->segments[i];

                if ((segment->flags & PF_X) &&
                    offset_bytes - segment->offset_bytes < segment->file_bytes)
                        return segment;
        }
        return NULL;
}

int place_of_file(struct sweep *sweep, uint32_t module, uint64_t file_offset_bytes,
                  uint32_t *index)
{
        struct place place = {.code = {.vaddr = file_offset_bytes},
                              .module = module,
                              .process = RAW_NONE,
                              .mapped = true};
        const struct module *there =
            module != RAW_NONE ? &sweep->raw->modules[module] : NULL;
        const struct elf_segment *segment =
            there && there->state == MODULE_READY
                ? code_segment(&there->file, file_offset_bytes)
                : NULL;

        if (segment) {
                place.code.vaddr =
                    file_offset_bytes - segment->offset_bytes + segment->vaddr;
                place.in_image = true;
        }
        return put_place(sweep, &place, index);
}

/* A group fills one line of the processor's cache. */
enum { KNOWN_GROUPS = 1 << 15, KNOWN_IN_GROUP = 4 };

struct known_place {
        uint64_t ip;
        uint32_t state; /* 0: none */
        uint32_t place : 31;
        uint32_t usual : 1;
};

static struct known_place *known_new(void)
{
        const size_t bytes = KNOWN_GROUPS * KNOWN_IN_GROUP * sizeof(struct known_place);
        struct known_place *known =
            aligned_alloc(KNOWN_IN_GROUP * sizeof(struct known_place), bytes);

        if (known)
                memset(known, 0, bytes);
        return known;
}

static struct known_place *known_group(const struct sweep *sweep, uint32_t state,
                                       uint64_t ip)
{
        return &sweep->known[hash_number(state, ip) % KNOWN_GROUPS * KNOWN_IN_GROUP];
}

void place_expect(const struct sweep *sweep, uint32_t state, uint64_t ip)
{
        if (sweep->known)
                __builtin_prefetch(known_group(sweep, state, ip), 1);
}

static bool same_ip(const void *context, const void *key, uint32_t position)
{
        const struct sweep *sweep = context;
        const struct ip_place *wanted = key, *there = &sweep->ips.items[position];

        return there->ip == wanted->ip && there->process == wanted->process;
}

/* Stores the place if it is the address's first place in the process. */
static int put_ip(struct sweep *sweep, const struct ip_place *ip, bool *usual)
{
        uint32_t hash = hash_number(ip->process, ip->ip);
        uint32_t index;
        int error = HASH_PUT(&sweep->ips, hash, same_ip, sweep, ip, &index);

        *usual = !error && sweep->ips.items[index].place == ip->place;
        return error;
}

int place_of_ip(struct sweep *sweep, const struct timeline *timeline, uint32_t process,
                uint32_t state, uint64_t ip, uint32_t *index, bool *usual)
{
        if (!sweep->known && !(sweep->known = known_new()))
                return -ENOMEM;
        struct known_place *group = known_group(sweep, state, ip);

        for (int i = 0; i < KNOWN_IN_GROUP; i++)
                if (group[i].ip == ip && group[i].state == state) {
                        *index = group[i].place;
                        *usual = group[i].usual;
                        return 0;
                }
        int error = place_of_code(sweep, timeline, ip, index);

        if (!error)
                error = put_ip(sweep, &(struct ip_place){ip, process, *index}, usual);
        if (error)
                return error;
        memmove(group + 1, group, (KNOWN_IN_GROUP - 1) * sizeof(*group));
        group[0] = (struct known_place){ip, state, *index, *usual};
        return 0;
}

/* ---- targets of data addresses ---- */

/* The number of addresses in a module's data that are looked up separately. Beyond it,
 * symbols and sections group the addresses with the same answer. */
enum { SINGLE_VARIABLES = 4096 };

/* *KEY becomes the start of the part of MODULE's data that contains VADDR, or VADDR if
 * the part is not known. */
static int find_part(struct sweep *sweep, uint64_t vaddr, uint32_t module, uint64_t *key)
{
        struct module_data *data = &sweep->module_data[module];

        *key = vaddr;
        if (!data->read && module_data_parts(&sweep->raw->modules[module], sweep->search,
                                             &data->parts) < 0)
                return -ENOMEM;
        data->read = true;
        const struct range *part = range_map_find(&data->parts, vaddr);

        if (part)
                *key = part->low;
        return 0;
}

static bool same_variable(const void *context, const void *key, uint32_t position)
{
        const struct sweep *sweep = context;
        const struct variable *wanted = key,
                              *variable = &sweep->variables.items[position];

        return variable->key == wanted->key && variable->module == wanted->module;
}

static int put_variable(struct sweep *sweep, uint64_t vaddr, uint32_t module,
                        struct target *target)
{
        struct variable variable = {
            .data = {.vaddr = vaddr, .type = TYPE_NONE}, .module = module, .key = vaddr};
        size_t known = sweep->variables.count;
        uint32_t index, *asked = &sweep->module_data[module].asked;

        if (*asked >= SINGLE_VARIABLES &&
            hash_index_find(&sweep->variables.index, hash_number(module, vaddr),
                            same_variable, sweep, &variable) == HASH_INDEX_NONE &&
            find_part(sweep, vaddr, module, &variable.key) < 0)
                return -ENOMEM;
        int error = HASH_PUT(&sweep->variables, hash_number(module, variable.key),
                             same_variable, sweep, &variable, &index);

        *asked += sweep->variables.count > known;

        *target = (struct target){TARGET_VARIABLE, index, vaddr};
        return error;
}

/* The mapping that gives the load address of the file whose memory may contain ADDR. One
 * mapping covers all of the kernel, code and data. */
static uint32_t find_image(const struct raw *raw, const struct timeline *timeline,
                           uint32_t mapping, uint64_t addr)
{
        const struct raw_mapping *found = &raw->mappings[mapping];

        if (!found->kernel)
                return timeline_find(timeline, LAYER_IMAGE, addr);
        return found->in_image && raw->modules[found->module].state == MODULE_READY
                   ? mapping
                   : INTERVAL_NONE;
}

/* The variable at ADDR in a loaded file: in mapping number MAPPING, or in memory that
 * extends a segment (.bss). */
static int find_variable(struct sweep *sweep, const struct timeline *timeline,
                         uint32_t mapping, uint64_t addr, bool *found,
                         struct target *target)
{
        const struct raw *raw = sweep->raw;
        uint32_t index = find_image(raw, timeline, mapping, addr);

        *found = false;
        if (index == INTERVAL_NONE)
                return 0;
        const struct raw_mapping *image = &raw->mappings[index];
        uint32_t module = raw->mappings[mapping].module;
        const struct elf_segment *segment =
            elf_file_segment(&raw->modules[image->module].file, addr - image->bias);

        if ((module != RAW_NONE && module != image->module) || !segment ||
            (image->kernel && (segment->flags & PF_X)))
                return 0;
        *found = true;
        return put_variable(sweep, addr - image->bias, image->module, target);
}

/* The C library's data at the thread pointer (tcbhead_t of glibc). */
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

/* The file whose thread-local memory the dynamic linker may have allocated at STACK. It
 * allocates when a file's code first uses its thread-local memory in a thread. It also
 * allocates for a caller of dlopen(); only the size of the block distinguishes the two.
 * RAW_NONE: it is another stack. */
static uint32_t find_thread_module(const struct sweep *sweep, uint32_t stack)
{
        static const char linker[] = "ld-linux";
        const struct raw *raw = sweep->raw;
        bool in_linker = false;

        for (; stack != RAW_NONE; stack = raw->stacks[stack].parent) {
                uint32_t place = sweep->stack_places[stack];
                uint32_t module =
                    place == RAW_NONE ? RAW_NONE : sweep->places.items[place].module;

                if (module == RAW_NONE || raw->modules[module].state != MODULE_READY)
                        return RAW_NONE;
                if (strncmp(path_base(raw->modules[module].wanted.path), linker,
                            strlen(linker)) != 0)
                        return in_linker && raw->modules[module].thread_memory_late
                                   ? module
                                   : RAW_NONE;
                in_linker = true;
        }
        return RAW_NONE;
}

/* The file whose thread-local memory is BLOCK; RAW_NONE: no file's. */
static uint32_t thread_module(struct sweep *sweep, const struct raw_allocation *block)
{
        /* malloc()'s. With a larger one, the block begins before the memory. */
        const uint64_t alignment = 16;

        if (block->stack == RAW_NONE)
                return RAW_NONE;
        struct thread_module *known = &sweep->thread_modules[block->stack];

        if (!known->asked)
                *known =
                    (struct thread_module){true, find_thread_module(sweep, block->stack)};
        return known->module != RAW_NONE &&
                       sweep->raw->modules[known->module].file.thread_bytes -
                               block->size_bytes <
                           alignment
                   ? known->module
                   : RAW_NONE;
}

static int put_block(struct sweep *sweep, uint32_t index, uint64_t addr,
                     struct target *target)
{
        const struct raw_allocation *block = &sweep->raw->allocations[index];
        uint64_t offset = addr - block->addr;
        uint32_t module = thread_module(sweep, block);

        *target = (struct target){TARGET_BLOCK, index, offset};
        return module == RAW_NONE
                   ? 0
                   : put_variable(sweep, offset | ELF_THREAD_LOCAL, module, target);
}

int place_of_data(struct sweep *sweep, const struct timeline *timeline,
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
        /* A heap block takes precedence over other uses of its memory. */
        if ((index = timeline_find(timeline, LAYER_BLOCK, addr)) != INTERVAL_NONE)
                return put_block(sweep, index, addr, target);
        if ((index = timeline_find(timeline, LAYER_STACK, addr)) != INTERVAL_NONE) {
                *target =
                    (struct target){TARGET_STACK, index, raw->mappings[index].end - addr};
                return 0;
        }
        if ((index = timeline_find(timeline, LAYER_REGION, addr)) != INTERVAL_NONE)
                return put_block(sweep, index, addr, target);
        if ((index = timeline_find(timeline, LAYER_MAPPING, addr)) == INTERVAL_NONE)
                return 0;
        const struct raw_mapping *mapping = &raw->mappings[index];
        bool found = false;

        if ((!mapping->executable || mapping->kernel) &&
            find_variable(sweep, timeline, index, addr, &found, target) < 0)
                return -ENOMEM;
        if (!found)
                *target = (struct target){TARGET_MAPPING, index, addr - mapping->start};
        return 0;
}

/* ---- places in frames ---- */

static bool same_frame(const void *context, const void *key, uint32_t position)
{
        const struct sweep *sweep = context;
        const struct frame *wanted = key, *frame = &sweep->frames.items[position];

        return frame->place == wanted->place &&
               frame->access.cfa_offset_bytes == wanted->access.cfa_offset_bytes;
}

int place_of_frame(struct sweep *sweep, uint32_t place, int64_t cfa_offset_bytes,
                   uint32_t *index)
{
        const struct frame frame = {
            .access = {.question = FLOW_FRAME, .cfa_offset_bytes = cfa_offset_bytes},
            .place = place};
        return HASH_PUT(&sweep->frames, hash_number(place, (uint64_t)cfa_offset_bytes),
                        same_frame, sweep, &frame, index);
}
