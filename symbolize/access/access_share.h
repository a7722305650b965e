/* SPDX-License-Identifier: MIT */
/* Function by function, and the functions shared out to the processors. */
#ifndef MEMLAG_SYMBOLIZE_ACCESS_SHARE_H
#define MEMLAG_SYMBOLIZE_ACCESS_SHARE_H

#include "accesses.h"

/* Tells which function or variable an address or a word of a file belongs to. */
struct linkage {
        const struct symbol_table *symbols;
        bool may_fold; /* functions, by its linker */
        struct thread_slots threads;
        struct memory_slots memory;
};

/* Both answer ACCESSES, COUNT places ordered by function, as access_find(), but for the
 * names of thread-local variables; LINKAGE is FILE's. 0 or -ENOMEM. */

int access_find_in_functions(struct type_reader *reader, const struct elf_file *file,
                             const struct linkage *linkage, struct access **accesses,
                             size_t count);
int access_share(struct type_reader *reader, const struct elf_file *file,
                 const struct linkage *linkage, struct access **accesses, size_t count);

#endif
