/* SPDX-License-Identifier: MIT */
/* The registers that a callee changes. Compilers that see both functions let the caller
 * keep values in any register that the callee does not use (gcc: -fipa-ra), against the
 * calling convention. */
#ifndef MEMLAG_SYMBOLIZE_CALLEE_H
#define MEMLAG_SYMBOLIZE_CALLEE_H

#include "elf_file.h"
#include "globals.h"

/* Registers that a call need not preserve (System V ABI, AMD64 supplement, 3.2.1). */
enum { CALL_CLOBBERED = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 0xf << 8 };

/* The registers that a call of VADDR in FILE may change, as a mask of CALL_CLOBBERED. It
 * covers the function there and the functions of GLOBALS' unit that it calls. A call or
 * jump elsewhere changes all of them. */
uint32_t callee_written(struct globals *globals, const struct elf_file *file,
                        uint64_t vaddr);

#endif
