/* SPDX-License-Identifier: MIT */
/* Only relocations with addends: x86-64 has no others. */
#include "relocations.h"

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

int relocations_each(const struct elf_file *file, relocation_taker *take, void *context)
{
        int result = 0;

        for (Elf_Scn *scn = NULL;
             result == 0 && (scn = elf_nextscn(file->elf, scn)) != NULL;) {
                struct section section;
                struct relocation relocation;

                if (!open_section(file->elf, scn, &section))
                        continue;
                for (int i = 0; result == 0 && read_entry(&section, i, &relocation); i++)
                        result = take(context, &relocation);
        }
        return result;
}
