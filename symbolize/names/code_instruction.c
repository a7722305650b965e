/* SPDX-License-Identifier: MIT */
/* Reads each address by itself: the starts of the instructions between do not matter.
 * Addresses are divided into parts. Texts belong to the thread that makes them, until
 * they are merged in the order of the places. */
#include "code_instruction.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disassembly.h"
#include "flow_instruction.h"
#include "parallel.h"

enum {
        PARTS = 16,
        /* Fewer are read before another thread has begun. */
        PART_PLACES_LEAST = 512,
};

struct reading {
        const struct elf_file *file;
        struct code_place **places;
        size_t count;
        size_t part_places;                          /* of each part but the last */
        struct string_pool *texts[PARALLEL_WORKERS]; /* of started workers */
        size_t workers[PARTS];                       /* that read the parts */
};

static void read_instruction(const struct elf_file *file, struct code_place *place,
                             struct string_pool *names)
{
        uint8_t bytes[DISASSEMBLY_CODE_BYTES];
        char text[DISASSEMBLY_TEXT_BYTES];
        struct instruction instruction;
        size_t length = elf_file_read_code(file, place->vaddr, bytes, sizeof(bytes));

        if (!length || !instruction_decode(&instruction, bytes, length, place->vaddr) ||
            !disassembly_text(bytes, length, place->vaddr, DISASSEMBLY_ATT, text))
                return;
        place->instruction = string_pool_put(names, text);
        place->access_bytes = instruction.access_bytes;
}

/* the worker of each part */
static const uint8_t return_of_signals[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

bool code_returns_from_signal(const struct elf_file *file, uint64_t vaddr)
{
        uint8_t bytes[sizeof(return_of_signals)];

        return elf_file_read_code(file, vaddr, bytes, sizeof(bytes)) == sizeof(bytes) &&
               memcmp(bytes, return_of_signals, sizeof(bytes)) == 0;
}

static size_t part_end(const struct reading *reading, size_t part)
{
        size_t end = (part + 1) * reading->part_places;

        return end < reading->count ? end : reading->count;
}

static int read_part(void *context, size_t worker, size_t part)
{
        struct reading *reading = context;
        struct string_pool **texts = &reading->texts[worker];

        if (!*texts)
                *texts = string_pool_new();
        if (!*texts)
                return -ENOMEM;
        reading->workers[part] = worker;
        for (size_t i = part * reading->part_places; i < part_end(reading, part); i++)
                if (reading->places[i]->sampled)
                        read_instruction(reading->file, reading->places[i], *texts);
        return string_pool_failed(*texts);
}

/* Makes the workers' texts some of NAMES. */
static int take_texts(const struct reading *reading, size_t parts,
                      struct string_pool *names)
{
        uint32_t *known[PARALLEL_WORKERS] = {0};
        int error = 0;

        for (size_t i = 0; i < PARALLEL_WORKERS; i++) {
                size_t count =
                    reading->texts[i] ? string_pool_count(reading->texts[i]) : 0;

                known[i] = calloc(count + 1, sizeof(*known[i]));
                error = known[i] ? error : -ENOMEM;
        }
        for (size_t part = 0; part < parts && !error; part++) {
                size_t worker = reading->workers[part];

                for (size_t i = part * reading->part_places; i < part_end(reading, part);
                     i++) {
                        uint32_t *text = &reading->places[i]->instruction;

                        *text = string_pool_take(names, reading->texts[worker],
                                                 known[worker], *text);
                }
        }
        for (size_t i = 0; i < PARALLEL_WORKERS; i++)
                free(known[i]);
        return error ? error : string_pool_failed(names);
}

int code_read_instructions(const struct elf_file *file, struct code_place **places,
                           size_t count, struct string_pool *names)
{
        struct reading reading = {.file = file, .places = places, .count = count};
        size_t most = count / PARTS + 1;

        reading.part_places = most > PART_PLACES_LEAST ? most : PART_PLACES_LEAST;
        size_t parts = (count + reading.part_places - 1) / reading.part_places;
        int error = parallel_run(read_part, &reading, parts);

        if (!error)
                error = take_texts(&reading, parts, names);
        for (size_t i = 0; i < PARALLEL_WORKERS; i++)
                string_pool_free(reading.texts[i]);
        return error;
}
