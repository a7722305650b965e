/* SPDX-License-Identifier: MIT */
/* The words that the dynamic linker fills in when it loads a file. */
#ifndef MEMLAG_SYMBOLIZE_RELOCATIONS_H
#define MEMLAG_SYMBOLIZE_RELOCATIONS_H

#include "elf_file.h"

struct relocation {
        uint64_t vaddr; /* of the word */
        uint64_t type;  /* R_X86_64_… */
        uint64_t addend;
        bool has_symbol; /* else the addend alone is the target */
        bool known;      /* the symbol could be read, where there is one */
        GElf_Sym symbol;
        const char *name; /* of the symbol, owned by the Elf handle; NULL: none */
};

/* Takes a relocation; a result other than 0 ends the iteration and is its result. */
typedef int relocation_taker(void *context, const struct relocation *relocation);

/* Calls TAKE for each relocation of FILE. 0 or TAKE's result. */
int relocations_each(const struct elf_file *file, relocation_taker *take, void *context);

#endif
