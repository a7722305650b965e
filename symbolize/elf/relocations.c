/* SPDX-License-Identifier: MIT */
/* Reads only relocations with addends, the only kind on x86-64. */
#include "relocations.h"

#include "append.h"

struct section {
        Elf *elf;
        Elf_Data *entries;
        Elf_Data *symbols;
        uint32_t names; /* the section of the symbols' names */
};

static bool open_section(Elf *elf, Elf_Scn *scn, struct section *section)
{
        GElf_Shdr shdr, linked_shdr;

        if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_RELA ||
            !(shdr.sh_flags & SHF_ALLOC))
                return false;
        Elf_Scn *linked = elf_getscn(elf, shdr.sh_link);
        bool has_symbols = linked && gelf_getshdr(linked, &linked_shdr);

        *section = (struct section){.elf = elf, .entries = elf_getdata(scn, NULL)};
        if (has_symbols) {
                section->symbols = elf_getdata(linked, NULL);
                section->names = linked_shdr.sh_link;
        }
        return section->entries != NULL;
}

static bool read_entry(const struct section *section, int i, struct relocation *read)
{
        GElf_Rela entry;

        if (!gelf_getrela(section->entries, i, &entry))
                return false;
        uint64_t number = GELF_R_SYM(entry.r_info);

        *read = (struct relocation){.vaddr = entry.r_offset,
                                    .type = GELF_R_TYPE(entry.r_info),
                                    .addend = (uint64_t)entry.r_addend,
                                    .has_symbol = number != 0};
        read->known = !read->has_symbol ||
                      (section->symbols && number <= INT32_MAX &&
                       gelf_getsym(section->symbols, (int)number, &read->symbol));
        if (read->has_symbol && read->known)
                read->name =
                    elf_strptr(section->elf, section->names, read->symbol.st_name);
        return true;
}

bool relocation_thread_local(const struct relocation *relocation)
{
        return relocation->type == R_X86_64_TPOFF64 ||
               relocation->type == R_X86_64_TLSDESC ||
               relocation->type == R_X86_64_DTPMOD64;
}

int relocations_read(struct relocations *relocations, const struct elf_file *file)
{
        int error = 0;

        for (Elf_Scn *scn = NULL;
             !error && (scn = elf_nextscn(file->elf, scn)) != NULL;) {
                struct section section;
                struct relocation relocation;

                if (!open_section(file->elf, scn, &section))
                        continue;
                for (int i = 0; !error && read_entry(&section, i, &relocation); i++)
                        if (relocation.has_symbol || relocation_thread_local(&relocation))
                                error = PUSH(relocations, relocation);
        }
        SORT(relocations->items, relocations->count, number_order);
        return error;
}

void relocations_free(struct relocations *relocations)
{
        free(relocations->items);
        *relocations = (struct relocations){0};
}

const struct relocation *relocation_at(const struct relocations *relocations,
                                       uint64_t vaddr)
{
        return NUMBER_FIND(relocations->items, relocations->count, vaddr);
}
