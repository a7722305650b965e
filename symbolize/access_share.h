/* SPDX-License-Identifier: MIT */
/* Function by function, and the functions shared out to the processors. */
#ifndef MEMLAG_SYMBOLIZE_ACCESS_SHARE_H
#define MEMLAG_SYMBOLIZE_ACCESS_SHARE_H

#include "access.h"

/* Both answer ACCESSES, COUNT places ordered by function, as access_find(), but for the
 * names of thread-local variables; SLOTS are FILE's. 0 or -ENOMEM. */

int access_find_in_functions(struct type_reader *reader, const struct elf_file *file,
                             const struct thread_slots *slots,
                             const struct symbol_table *symbols, struct access **accesses,
                             size_t count);
int access_share(struct type_reader *reader, const struct elf_file *file,
                 const struct thread_slots *slots, const struct symbol_table *symbols,
                 struct access **accesses, size_t count);

#endif
