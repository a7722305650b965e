/* SPDX-License-Identifier: MIT */
/* Finds the slots by the relocations of the file. */
#include "thread_slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"

static int add(struct thread_slots *slots, uint64_t vaddr, uint64_t offset,
               enum thread_slot_kind kind)
{
        if (offset >= ELF_THREAD_LIMIT)
                return 0;
        return PUSH(slots, (struct thread_slot){vaddr, offset, kind});
}

/* Whether RELOCATION belongs to a variable of this file, and the variable's offset. */
static bool own_variable(const struct relocation *relocation, uint64_t *offset)
{
        *offset = relocation->addend;
        if (!relocation->has_symbol)
                return true;
        if (!relocation->known || relocation->symbol.st_shndx == SHN_UNDEF)
                return false;
        *offset += relocation->symbol.st_value;
        return true;
}

/* The word that the file has at VADDR; 0 if it has none. */
static uint64_t word_at(const struct elf_file *file, uint64_t vaddr)
{
        const struct elf_segment *segment = elf_file_segment(file, vaddr);
        uint64_t word = 0;

        if (!segment || vaddr - segment->vaddr + sizeof(word) > segment->file_bytes)
                return 0;
        Elf_Data *data = elf_getdata_rawchunk(
            file->elf, (int64_t)(segment->offset_bytes + vaddr - segment->vaddr),
            sizeof(word), ELF_T_BYTE);

        if (data && data->d_buf)
                memcpy(&word, data->d_buf, sizeof(word));
        return word;
}

/* A pair is a module number and an offset. The linker has filled in the offset if it knew
 * it; else a relocation gives it. */
static int take(struct thread_slots *slots, const struct elf_file *file,
                const struct relocation *relocation)
{
        uint64_t offset;

        if (!relocation_thread_local(relocation))
                return 0;
        if (!own_variable(relocation, &offset)) {
                slots->of_others = true;
                return 0;
        }
        switch (relocation->type) {
        case R_X86_64_TLSDESC:
                slots->asked_for = true;
                return add(slots, relocation->vaddr, offset, THREAD_SLOT_DESCRIPTOR);
        case R_X86_64_DTPMOD64:
                slots->asked_for = true;
                if (!relocation->has_symbol)
                        offset = word_at(file, relocation->vaddr + 8);
                return add(slots, relocation->vaddr, offset, THREAD_SLOT_PAIR);
        default:
                return add(slots, relocation->vaddr, offset, THREAD_SLOT_OFFSET);
        }
}

int thread_slots_read(struct thread_slots *slots, const struct elf_file *file,
                      const struct relocations *relocations)
{
        int error = 0;

        for (size_t i = 0; i < relocations->count && !error && file->thread_bytes > 0;
             i++)
                error = take(slots, file, &relocations->items[i]);
        return error;
}

void thread_slots_free(struct thread_slots *slots)
{
        free(slots->items);
        *slots = (struct thread_slots){0};
}

const struct thread_slot *thread_slots_find(const struct thread_slots *slots,
                                            uint64_t vaddr, enum thread_slot_kind kind)
{
        const struct thread_slot *found = NUMBER_FIND(slots->items, slots->count, vaddr);

        return found && found->kind == kind ? found : NULL;
}
