/* SPDX-License-Identifier: MIT */
/* Reads each address by itself: the starts of the instructions between do not matter. */
#include "code_instruction.h"

#include <string.h>

#include "disassembly.h"
#include "flow_instruction.h"

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
        place->access_bytes = instruction.access_bytes;
        place->instruction = string_pool_put(names, text);
}

int code_read_instructions(const struct elf_file *file, struct code_place **places,
                           size_t count, struct string_pool *names)
{
        for (size_t i = 0; i < count; i++)
                if (places[i]->sampled)
                        read_instruction(file, places[i], names);
        return string_pool_failed(names);
}

static const uint8_t return_of_signals[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

bool code_returns_from_signal(const struct elf_file *file, uint64_t vaddr)
{
        uint8_t bytes[sizeof(return_of_signals)];

        return elf_file_read_code(file, vaddr, bytes, sizeof(bytes)) == sizeof(bytes) &&
               memcmp(bytes, return_of_signals, sizeof(bytes)) == 0;
}
