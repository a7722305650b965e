/* SPDX-License-Identifier: MIT */
/* The words that the dynamic linker fills in when it loads a file, by symbols or for
 * thread-local memory. */
#ifndef MEMLAG_SYMBOLIZE_RELOCATIONS_H
#define MEMLAG_SYMBOLIZE_RELOCATIONS_H

#include "append.h"
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

struct relocations {
        LIST(struct relocation); /* by vaddr */
};

/* Whether it is one for thread-local memory. */
bool relocation_thread_local(const struct relocation *relocation);

/* Reads FILE's relocations. 0 or -ENOMEM; freed in any case. */
int relocations_read(struct relocations *relocations, const struct elf_file *file);
void relocations_free(struct relocations *relocations);

/* The relocation of the word at VADDR, or NULL. */
const struct relocation *relocation_at(const struct relocations *relocations,
                                       uint64_t vaddr);

#endif
