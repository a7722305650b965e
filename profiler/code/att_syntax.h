/* SPDX-License-Identifier: MIT */
/* Names and operands in AT&T's syntax where Zydis has others than binutils. Pure. */
#ifndef MEMLAG_CODE_ATT_SYNTAX_H
#define MEMLAG_CODE_ATT_SYNTAX_H

#include <Zydis/Zydis.h>
#include <stddef.h>

/* Gets the AT&T name of INSTRUCTION, without prefixes, if it differs from Zydis's name;
 * "": it does not. */
void att_name(const ZydisDecodedInstruction *instruction,
              const ZydisDecodedOperand *operands, char name[16]);

/* Writes the operands of a string instruction to TEXT of BYTES (at least 32): Zydis does
 * not print them. "" for other instructions. */
void att_string_operands(const ZydisDecodedInstruction *instruction,
                         const ZydisDecodedOperand *operands, char *text, size_t bytes);

#endif
