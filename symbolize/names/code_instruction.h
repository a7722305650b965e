/* SPDX-License-Identifier: MIT */
/* What the instructions that were sampled read as, and how much memory they access: so
 * that it is known where the file is not. */
#ifndef MEMLAG_SYMBOLIZE_CODE_INSTRUCTION_H
#define MEMLAG_SYMBOLIZE_CODE_INSTRUCTION_H

#include "code.h"

/* Reads those of PLACES, COUNT addresses of FILE, that were sampled; texts go into NAMES.
 * What is no instruction, or not in the file, is left open. 0 or -ENOMEM. */
int code_read_instructions(const struct elf_file *file, struct code_place **places,
                           size_t count, struct string_pool *names);

/* Whether at FILE's VADDR begins what the handler of a signal returns to. */
bool code_returns_from_signal(const struct elf_file *file, uint64_t vaddr);

#endif
