/* SPDX-License-Identifier: MIT */
/* Call frame instructions (DWARF 5, section 6.4.2) out of hostile files, made harmless
 * for an interpreter that trusts them. A pure function over bytes. */
#ifndef MEMLAG_FRAME_PROGRAM_H
#define MEMLAG_FRAME_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies the instructions at [START, END) to COPY, which has room for as many bytes, and
 * their length to *COPIED. Instructions about registers that x86-64 has no general
 * register for are left out. False: there is an instruction that is cut off, not known,
 * or refused: jumps and divisions in expressions, absolute addresses, registers out of
 * range. */
bool frame_program_copy(const uint8_t *start, const uint8_t *end, uint8_t *copy,
                        size_t *copied);

#endif
