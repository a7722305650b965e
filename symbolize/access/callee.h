/* SPDX-License-Identifier: MIT */
/* What a function that is called does to the registers of its caller. Compilers that have
 * both before them let the caller keep values in any register that the other does not
 * use, whatever the convention for calls says (gcc: -fipa-ra). */
#ifndef MEMLAG_SYMBOLIZE_CALLEE_H
#define MEMLAG_SYMBOLIZE_CALLEE_H

#include "elf_file.h"
#include "globals.h"

/* Registers that a call need not preserve (System V ABI, AMD64 supplement, 3.2.1). */
enum { CALL_CLOBBERED = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 0xf << 8 };

/* The registers that a call of VADDR in FILE may change, as a mask: those of
 * CALL_CLOBBERED that are written by the function of GLOBALS' unit that begins there, and
 * by those of the unit that it calls; all of them when it calls or jumps elsewhere. */
uint32_t callee_written(struct globals *globals, const struct elf_file *file,
                        uint64_t vaddr);

#endif
