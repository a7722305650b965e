/* SPDX-License-Identifier: MIT */
/* Reads each address by itself: the starts of the instructions between do not matter.
 * Processors share the reading of a batch; its texts are stored in the order of the
 * places. */
#include "code_instruction.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disassembly.h"
#include "flow_instruction.h"
#include "parallel.h"

enum {
        PARTS = 16,
        PART_PLACES = 128,
        BATCH_PLACES = PARTS * PART_PLACES,
};

struct batch {
        const struct elf_file *file;
        struct code_place **places;
        size_t count;
        char texts[BATCH_PLACES][DISASSEMBLY_TEXT_BYTES]; /* of places; "": none */
};

static void read_instruction(const struct elf_file *file, struct code_place *place,
                             char text[DISASSEMBLY_TEXT_BYTES])
{
        uint8_t bytes[DISASSEMBLY_CODE_BYTES];
        struct instruction instruction;

        *text = '\0';
        if (!place->sampled)
                return;
        size_t length = elf_file_read_code(file, place->vaddr, bytes, sizeof(bytes));

        if (length && instruction_decode(&instruction, bytes, length, place->vaddr) &&
            disassembly_text(bytes, length, place->vaddr, DISASSEMBLY_ATT, text))
                place->access_bytes = instruction.access_bytes;
        else
                *text = '\0';
}

static int read_part(void *context, size_t worker, size_t part)
{
        struct batch *batch = context;

        (void)worker;
        for (size_t i = part * PART_PLACES;
             i < (part + 1) * PART_PLACES && i < batch->count; i++)
                read_instruction(batch->file, batch->places[i], batch->texts[i]);
        return 0;
}

int code_read_instructions(const struct elf_file *file, struct code_place **places,
                           size_t count, struct string_pool *names)
{
        struct batch *batch = count > 0 ? malloc(sizeof(*batch)) : NULL;
        int error = count > 0 && !batch ? -ENOMEM : 0;

        for (size_t first = 0; first < count && !error; first += BATCH_PLACES) {
                batch->file = file;
                batch->places = places + first;
                batch->count =
                    count - first < BATCH_PLACES ? count - first : BATCH_PLACES;
                error = parallel_run(read_part, batch,
                                     (batch->count + PART_PLACES - 1) / PART_PLACES);
                for (size_t i = 0; i < batch->count && !error; i++)
                        if (*batch->texts[i])
                                batch->places[i]->instruction =
                                    string_pool_put(names, batch->texts[i]);
        }
        free(batch);
        return error ? error : string_pool_failed(names);
}

static const uint8_t return_of_signals[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

bool code_returns_from_signal(const struct elf_file *file, uint64_t vaddr)
{
        uint8_t bytes[sizeof(return_of_signals)];

        return elf_file_read_code(file, vaddr, bytes, sizeof(bytes)) == sizeof(bytes) &&
               memcmp(bytes, return_of_signals, sizeof(bytes)) == 0;
}
