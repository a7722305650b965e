/* SPDX-License-Identifier: MIT */
/* Calls of the C library's memory functions from functions that take the same as these:
 * two pointers to bytes and a number, such as C++'s std::char_traits<char>::compare. */
#ifndef MEMLAG_SYMBOLIZE_BYTE_CALL_H
#define MEMLAG_SYMBOLIZE_BYTE_CALL_H

#include "die_type.h"

/* The type of the bytes, where the innermost function, inlined into FUNCTION or itself,
 * that the call at VADDR is in takes that; TYPE_NONE: it does not. Out of memory shows in
 * READER. */
uint32_t byte_call_type(struct type_reader *reader, const Dwarf_Die *function,
                        uint64_t vaddr);

#endif
