/* SPDX-License-Identifier: MIT */
/* The text of sampled instructions, and the size of their memory accesses: they remain
 * known where the file is missing. */
#ifndef MEMLAG_SYMBOLIZE_CODE_INSTRUCTION_H
#define MEMLAG_SYMBOLIZE_CODE_INSTRUCTION_H

#include "code_names.h"

/* Reads the sampled instructions of PLACES, COUNT addresses of FILE. Texts go into
 * NAMES. Invalid instructions, and addresses outside the file, stay unresolved. 0 or
 * -ENOMEM. */
int code_read_instructions(const struct elf_file *file, struct code_place **places,
                           size_t count, struct string_pool *names);

/* Whether a signal trampoline begins at FILE's VADDR. */
bool code_returns_from_signal(const struct elf_file *file, uint64_t vaddr);

#endif
