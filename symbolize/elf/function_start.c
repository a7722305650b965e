/* SPDX-License-Identifier: MIT */
/* One pass over the table's entries: there are few questions and many functions. */
#include "function_start.h"

#include "append.h"
#include "frame_entry.h"

struct walk {
        const uint8_t *start;
        const uint8_t *end;
        uint64_t vaddr;            /* of START */
        uint64_t budget;           /* bytes of common parts, and answers */
        uint64_t common_at;        /* of the last entry's common part */
        bool has_common;           /* it can be read */
        struct frame_entry common; /* its contents */
        struct function_start *starts;
        size_t count;
};

static bool spend(struct walk *walk, uint64_t cost)
{
        bool enough = cost <= walk->budget;

        walk->budget -= enough ? cost : walk->budget;
        return enough;
}

/* Of overlapping functions, the function that begins last counts. */
static void answer(struct walk *walk, uint64_t low, uint64_t bytes)
{
        for (size_t i = NUMBER_FROM(walk->starts, walk->count, low);
             i < walk->count && walk->starts[i].vaddr - low < bytes && spend(walk, 1);
             i++) {
                struct function_start *start = &walk->starts[i];

                if (!start->found || low > start->start)
                        *start = (struct function_start){start->vaddr, low, true};
        }
}

/* Neighbouring entries mostly have one common part. */
static bool find_common(struct walk *walk, uint64_t address)
{
        if (address == walk->common_at)
                return walk->has_common;
        struct frame_bytes bytes = frame_entry_at(address, walk->start, walk->end);

        walk->common_at = address;
        walk->common = (struct frame_entry){0};
        walk->has_common = !bytes.overrun &&
                           spend(walk, (uint64_t)(bytes.end - bytes.at)) &&
                           frame_common(&walk->common, bytes);
        return walk->has_common;
}

/* Reads the table's entry BYTES. */
static void read_function(struct walk *walk, struct frame_bytes bytes)
{
        uint64_t here = (uintptr_t)bytes.at;
        uint64_t distance = frame_fixed(&bytes, 4);

        if (bytes.overrun || distance == 0 || !find_common(walk, here - distance))
                return;
        struct frame_entry entry = walk->common;

        frame_own(&entry, bytes);
        /* Addresses of bytes in memory stand for addresses in the file. */
        if ((entry.pointer_encoding & FRAME_POINTER_RELATION) == FRAME_POINTER_TO_PC)
                entry.function += walk->vaddr - (uintptr_t)walk->start;
        if (!entry.own.overrun)
                answer(walk, entry.function, entry.length_bytes);
}

void function_starts_in(const uint8_t *table, size_t bytes, uint64_t vaddr,
                        struct function_start *starts, size_t count)
{
        struct walk walk = {.start = table,
                            .end = table + bytes,
                            .vaddr = vaddr,
                            .budget = 4 * ((uint64_t)bytes + count),
                            .starts = starts,
                            .count = count};
        const uint8_t *at = table;

        /* An entry has its length first; one of 0 ends the table (LSB). */
        while (walk.budget > 0 && walk.end - at > 4) {
                struct frame_bytes entry =
                    frame_entry_at((uintptr_t)at, walk.start, walk.end);

                if (entry.overrun || entry.at == entry.end)
                        return;
                at = entry.end;
                read_function(&walk, entry);
        }
}

void function_starts_find(const struct elf_file *file, struct function_start *starts,
                          size_t count)
{
        Elf_Scn *section = elf_section_named(file->elf, ".eh_frame");
        GElf_Shdr header;
        const struct elf_bytes table = elf_section_bytes(file->elf, ".eh_frame");

        if (!table.data || !section || !gelf_getshdr(section, &header))
                return;
        function_starts_in((const uint8_t *)table.data, table.size, header.sh_addr,
                           starts, count);
        for (size_t i = 0; i < count; i++)
                starts[i].found &= elf_file_has_code(file, starts[i].start);
}
