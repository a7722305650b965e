/* SPDX-License-Identifier: MIT */
/* Each address by itself: where the instructions between begin is of no interest. */
#include "code_instruction.h"

#include <unistd.h>

#include "disassembly.h"
#include "instruction.h"

/* The file's bytes at VADDR, which may be near the end of its segment; 0: there is no
 * code. */
static size_t read_code(const struct elf_file *file, uint64_t vaddr,
                        uint8_t bytes[DISASSEMBLY_CODE_BYTES])
{
        const struct elf_segment *segment = elf_file_segment(file, vaddr);

        if (!elf_file_has_code(file, vaddr) ||
            vaddr - segment->vaddr >= segment->file_bytes)
                return 0;
        uint64_t at = vaddr - segment->vaddr, left = segment->file_bytes - at;
        ssize_t length =
            pread(file->fd, bytes,
                  left < DISASSEMBLY_CODE_BYTES ? left : DISASSEMBLY_CODE_BYTES,
                  (off_t)(segment->offset_bytes + at));

        return length > 0 ? (size_t)length : 0;
}

static void read_instruction(const struct elf_file *file, struct code_place *place,
                             struct string_pool *names)
{
        uint8_t bytes[DISASSEMBLY_CODE_BYTES];
        char text[DISASSEMBLY_TEXT_BYTES];
        struct instruction instruction;
        size_t length = read_code(file, place->vaddr, bytes);

        if (!length || !instruction_decode(&instruction, bytes, length, place->vaddr) ||
            !disassembly_text(bytes, length, place->vaddr, DISASSEMBLY_ATT, text))
                return;
        place->instruction = string_pool_put(names, text);
        place->access_bytes = instruction.access_bytes;
}

int code_read_instructions(const struct elf_file *file, struct code_place **places,
                           size_t count, struct string_pool *names)
{
        for (size_t i = 0; i < count; i++)
                if (places[i]->sampled)
                        read_instruction(file, places[i], names);
        return string_pool_failed(names);
}
