/* SPDX-License-Identifier: MIT */
/* Steps back one instruction, once for each place in a file. What is in no file is read
 * from the process each time, as a JIT compiler may have put other code there. */
#include "step_back.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "array.h"
#include "code/module_code.h"
#include "intern.h"

enum { DECODED_BYTES_MAX = 65536 }; /* from a boundary; further ones are too far */

struct place {
        bool known;
        struct instruction instruction;
};

struct step_back {
        const struct sink *sink;
        struct context_intern *module_index; /* (0, the sink's id) → index + 1 */
        struct module_code **modules;        /* NULL: it cannot be read */
        size_t module_count, module_capacity;
        struct context_intern *place_index; /* (module index, file offset) → index + 1 */
        struct place *places;
        size_t place_count, place_capacity;
        uint8_t *bytes;          /* DECODED_BYTES_MAX */
        struct instruction made; /* the last that was found in memory */
};

struct step_back *step_back_new(const struct sink *sink)
{
        struct step_back *step_back = calloc(1, sizeof(*step_back));
        if (!step_back)
                return NULL;
        step_back->sink = sink;
        step_back->module_index = context_intern_new();
        step_back->place_index = context_intern_new();
        step_back->bytes = malloc(DECODED_BYTES_MAX);
        if (!step_back->module_index || !step_back->place_index || !step_back->bytes) {
                step_back_free(step_back);
                return NULL;
        }
        return step_back;
}

void step_back_free(struct step_back *step_back)
{
        if (!step_back)
                return;
        for (size_t i = 0; i < step_back->module_count; i++)
                module_code_close(step_back->modules[i]);
        context_intern_free(step_back->module_index);
        context_intern_free(step_back->place_index);
        free(step_back->modules);
        free(step_back->places);
        free(step_back->bytes);
        free(step_back);
}

/* The index of the module that the sink knows as ID; SIZE_MAX: no memory. */
static size_t find_module(struct step_back *step_back, int64_t id)
{
        struct context_node *node =
            context_intern_place(step_back->module_index, 0, (uint64_t)id);
        if (!node)
                return SIZE_MAX;
        if (node->id)
                return (size_t)node->id - 1;
        if (array_reserve(&step_back->modules, &step_back->module_capacity,
                          step_back->module_count, sizeof(*step_back->modules)) < 0)
                return SIZE_MAX;
        const char *path = sink_module_path(step_back->sink, id);
        step_back->modules[step_back->module_count++] =
            path ? module_code_open(path) : NULL;
        node->id = (int64_t)step_back->module_count;
        return step_back->module_count - 1;
}

static bool decode(struct step_back *step_back, struct module_code *code,
                   uint64_t file_offset, struct instruction *instruction)
{
        uint64_t address;
        uint64_t boundary;
        if (!code || !module_code_address(code, file_offset, &address) || address == 0 ||
            module_code_is_entry(code, address) ||
            !module_code_boundary(code, address - 1, &boundary))
                return false;
        uint64_t length = address - boundary;
        return length <= DECODED_BYTES_MAX &&
               module_code_read(code, boundary, step_back->bytes, length) &&
               instruction_last(step_back->bytes, length, instruction) &&
               instruction->continues;
}

static struct place *find_place(struct step_back *step_back, size_t module,
                                uint64_t file_offset)
{
        struct context_node *node =
            context_intern_place(step_back->place_index, module, file_offset);
        if (!node)
                return NULL;
        if (node->id)
                return &step_back->places[node->id - 1];
        if (array_reserve(&step_back->places, &step_back->place_capacity,
                          step_back->place_count, sizeof(*step_back->places)) < 0)
                return NULL;
        struct place *place = &step_back->places[step_back->place_count++];
        node->id = (int64_t)step_back->place_count;
        place->known = decode(step_back, step_back->modules[module], file_offset,
                              &place->instruction);
        return place;
}

/* The bytes of process PID in front of END, SIZE or as many as are on its page. */
static size_t read_before(uint32_t pid, uint64_t end, uint8_t *bytes, size_t size)
{
        const uint64_t page_bytes = 4096;
        size_t on_page = (size_t)((end - 1) % page_bytes + 1);
        for (int try = 0; try < 2; try++) {
                struct iovec local = {bytes, size};
                struct iovec remote = {(void *)(uintptr_t)(end - size), size};
                if (process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0) ==
                    (ssize_t)size)
                        return size;
                if (on_page >= size)
                        break;
                size = on_page;
        }
        return 0;
}

static const struct instruction *find_in_memory(struct step_back *step_back, uint32_t pid,
                                                uint64_t ip)
{
        size_t length =
            ip > INSTRUCTION_BEFORE_BYTES
                ? read_before(pid, ip, step_back->bytes, INSTRUCTION_BEFORE_BYTES)
                : 0;
        return instruction_before(step_back->bytes, length, &step_back->made) &&
                       step_back->made.continues
                   ? &step_back->made
                   : NULL;
}

static const struct instruction *find_in_file(struct step_back *step_back,
                                              const struct event_place *where)
{
        size_t module = find_module(step_back, where->module_id);
        const struct place *place =
            module == SIZE_MAX ? NULL
                               : find_place(step_back, module, where->file_offset_bytes);
        return place && place->known ? &place->instruction : NULL;
}

const struct instruction *step_back_from(struct step_back *step_back, image_key image,
                                         uint32_t pid, uint64_t ip, uint64_t *waited_ip)
{
        struct event_place where;
        const struct instruction *found = sink_place(step_back->sink, image, ip, &where)
                                              ? find_in_file(step_back, &where)
                                              : find_in_memory(step_back, pid, ip);
        if (found)
                *waited_ip = ip - found->length;
        return found;
}
