/* SPDX-License-Identifier: MIT */
/* The text of one x86-64 instruction. Pure: bytes in. The AT&T syntax follows objdump
 * (binutils 2.40). Exceptions: prefixes without an effect, nops of two bytes (there
 * xchg), an explicit count of 1, fwait as a separate instruction, and comparison
 * predicates as an operand (vpcmpb $0x0 for vpcmpeqb). In Intel's syntax size names are
 * lower case, addresses of branches and data have no name, and string instructions show
 * no operands. */
#ifndef MEMLAG_CODE_DISASSEMBLY_H
#define MEMLAG_CODE_DISASSEMBLY_H

#include <stddef.h>
#include <stdint.h>

enum disassembly_style { DISASSEMBLY_ATT, DISASSEMBLY_INTEL };

enum { DISASSEMBLY_TEXT_BYTES = 256, DISASSEMBLY_CODE_BYTES = 15 };

/* Writes the instruction at the start of CODE, which is at ADDRESS, to TEXT. Returns its
 * length in bytes; 0: no instruction. */
size_t disassembly_text(const uint8_t *code, size_t length, uint64_t address,
                        enum disassembly_style style, char text[DISASSEMBLY_TEXT_BYTES]);

/* Writes the mnemonic of the instruction at the beginning of CODE, in small letters, and
 * returns the extension of the instruction set that has it ("SHA"), which stays valid;
 * NULL when CODE begins with no instruction. */
const char *disassembly_extension(const uint8_t *code, size_t length,
                                  char mnemonic[DISASSEMBLY_TEXT_BYTES]);

#endif
