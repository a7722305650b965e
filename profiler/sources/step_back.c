/* SPDX-License-Identifier: MIT */
/* Finds the previous instruction, once for each file location. Code outside files is
 * read from the process each time, as a JIT compiler may have replaced it. Its pages are
 * retained for samples that come after the process's end. */
#include "step_back.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "array.h"
#include "code/module_code.h"
#include "intern.h"

enum { DECODED_BYTES_MAX = 65536 }; /* from a boundary; more distant ones are useless */
static const uint64_t PAGE_BYTES = 4096;
/* Of all processes. A JIT compiler's hot code is in far fewer. */
enum { PAGES_MOST = 2048 };

struct place {
        bool known;
        size_t back_bytes; /* from the sample to the instruction */
        struct instruction instruction;
};

struct step_back {
        const struct sink *sink;
        struct context_intern *module_index; /* (0, the sink's id) → index + 1 */
        struct module_code **modules;        /* NULL: it cannot be read */
        size_t module_count, module_capacity;
        struct context_intern *place_index; /* (the sink's id, file offset) → index + 1 */
        struct place *places;
        size_t place_count, place_capacity;
        uint8_t *bytes;                    /* DECODED_BYTES_MAX */
        struct context_intern *page_index; /* (image, page) → index + 1 */
        uint8_t **pages;                   /* owned */
        size_t page_count, page_capacity;
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
        step_back->page_index = context_intern_new();
        step_back->bytes = malloc(DECODED_BYTES_MAX);
        if (!step_back->module_index || !step_back->place_index ||
            !step_back->page_index || !step_back->bytes) {
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
        for (size_t i = 0; i < step_back->page_count; i++)
                free(step_back->pages[i]);
        context_intern_free(step_back->page_index);
        free(step_back->pages);
        context_intern_free(step_back->module_index);
        context_intern_free(step_back->place_index);
        free(step_back->modules);
        free(step_back->places);
        free(step_back->bytes);
        free(step_back);
}

/* The module that the sink knows as ID; NULL: it cannot be read. */
static struct module_code *find_module(struct step_back *step_back, int64_t id)
{
        struct context_node *node =
            context_intern_place(step_back->module_index, 0, (uint64_t)id);
        if (!node)
                return NULL;
        if (node->id)
                return step_back->modules[node->id - 1];
        if (array_reserve(&step_back->modules, &step_back->module_capacity,
                          step_back->module_count, sizeof(*step_back->modules)) < 0)
                return NULL;
        const char *path = sink_module_path(step_back->sink, id);
        struct module_code *code = path ? module_code_open(path) : NULL;
        step_back->modules[step_back->module_count++] = code;
        node->id = (int64_t)step_back->module_count;
        return code;
}

static bool decode_before(struct step_back *step_back, struct module_code *code,
                          uint64_t address, struct instruction *instruction)
{
        uint64_t boundary;
        if (module_code_is_entry(code, address) ||
            !module_code_boundary(code, address - 1, &boundary))
                return false;
        uint64_t length = address - boundary;
        return length <= DECODED_BYTES_MAX &&
               module_code_read(code, boundary, step_back->bytes, length) &&
               instruction_last(step_back->bytes, length, instruction) &&
               instruction->continues;
}

static void decode(struct step_back *step_back, struct module_code *code,
                   uint64_t file_offset, struct place *place)
{
        uint64_t address;
        if (!code || !module_code_address(code, file_offset, &address) || address == 0)
                return;
        if (module_code_read(code, address, step_back->bytes,
                             INSTRUCTION_REPEATED_BYTES) &&
            instruction_repeated(step_back->bytes, INSTRUCTION_REPEATED_BYTES,
                                 &place->instruction)) {
                place->known = true;
                return;
        }
        place->known = decode_before(step_back, code, address, &place->instruction);
        place->back_bytes = place->instruction.length;
}

static struct place *find_place(struct step_back *step_back,
                                const struct event_place *where)
{
        struct context_node *node = context_intern_place(
            step_back->place_index, (uint64_t)where->module_id, where->file_offset_bytes);
        if (!node)
                return NULL;
        if (node->id)
                return &step_back->places[node->id - 1];
        if (array_reserve(&step_back->places, &step_back->place_capacity,
                          step_back->place_count, sizeof(*step_back->places)) < 0)
                return NULL;
        struct place *place = &step_back->places[step_back->place_count++];
        node->id = (int64_t)step_back->place_count;
        *place = (struct place){0};
        decode(step_back, find_module(step_back, where->module_id),
               where->file_offset_bytes, place);
        return place;
}

/* They are read again, where their processes still run. */
static void forget_pages(struct step_back *step_back)
{
        struct context_intern *index = context_intern_new();
        if (!index)
                return;
        context_intern_free(step_back->page_index);
        step_back->page_index = index;
        while (step_back->page_count > 0)
                free(step_back->pages[--step_back->page_count]);
}

/* Returns the page at ADDRESS of IMAGE, process PID: its present content, or its last
 * known content if the process has ended or is unreadable. NULL: it was never
 * readable. */
static const uint8_t *read_page(struct step_back *step_back, image_key image,
                                uint32_t pid, uint64_t address)
{
        if (step_back->page_count == PAGES_MOST)
                forget_pages(step_back);
        struct context_node *node =
            context_intern_place(step_back->page_index, image, address / PAGE_BYTES);
        if (!node)
                return NULL;
        struct iovec local = {step_back->bytes, PAGE_BYTES};
        struct iovec remote = {(void *)(uintptr_t)(address & -PAGE_BYTES), PAGE_BYTES};
        bool now =
            process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0) == (ssize_t)PAGE_BYTES;
        if (!node->id) {
                uint8_t *page = now ? malloc(PAGE_BYTES) : NULL;
                if (!page ||
                    array_reserve(&step_back->pages, &step_back->page_capacity,
                                  step_back->page_count, sizeof(*step_back->pages)) < 0) {
                        free(page);
                        return NULL;
                }
                step_back->pages[step_back->page_count++] = page;
                node->id = (int64_t)step_back->page_count;
        }
        uint8_t *page = step_back->pages[node->id - 1];
        return now ? memcpy(page, step_back->bytes, PAGE_BYTES) : page;
}

/* Puts the bytes in front of IP into CODE, as many as can be read. */
static size_t read_before(struct step_back *step_back, image_key image, uint32_t pid,
                          uint64_t ip, uint8_t code[INSTRUCTION_BEFORE_BYTES])
{
        size_t length = 0;
        for (uint64_t end = ip; length < INSTRUCTION_BEFORE_BYTES && end > 0;) {
                const uint8_t *page = read_page(step_back, image, pid, end - 1);
                size_t on_page = (size_t)((end - 1) % PAGE_BYTES + 1);
                size_t left = INSTRUCTION_BEFORE_BYTES - length;
                size_t part = on_page < left ? on_page : left;
                if (!page)
                        break;
                length += part;
                memcpy(code + INSTRUCTION_BEFORE_BYTES - length, page + on_page - part,
                       part);
                end -= part;
        }
        return length;
}

static const struct instruction *
find_in_memory(struct step_back *step_back, image_key image, uint32_t pid, uint64_t ip)
{
        uint8_t code[INSTRUCTION_BEFORE_BYTES];
        size_t length = read_before(step_back, image, pid, ip, code);
        return instruction_before(code + sizeof(code) - length, length,
                                  &step_back->made) &&
                       step_back->made.continues
                   ? &step_back->made
                   : NULL;
}

const struct instruction *step_back_from(struct step_back *step_back, image_key image,
                                         uint32_t pid, uint64_t ip, uint64_t *waited_ip)
{
        struct event_place where;
        if (sink_place(step_back->sink, image, ip, &where)) {
                const struct place *place = find_place(step_back, &where);
                if (!place || !place->known)
                        return NULL;
                *waited_ip = ip - place->back_bytes;
                return &place->instruction;
        }
        const struct instruction *found = find_in_memory(step_back, image, pid, ip);
        if (found)
                *waited_ip = ip - found->length;
        return found;
}
