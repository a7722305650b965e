/* SPDX-License-Identifier: MIT */
/* Call frame instructions (DWARF 5, section 6.4.2) out of hostile files, made harmless
 * for an interpreter that trusts them. A pure function over bytes. */
#ifndef MEMLAG_FRAME_PROGRAM_H
#define MEMLAG_FRAME_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies the instructions at [START, END) to COPY, which has the same size, and their
 * length to *COPIED. Leaves out instructions for registers other than the x86-64 general
 * registers. False: an instruction is truncated, unknown, or refused (jumps and
 * divisions in expressions, absolute addresses, registers out of range). */
bool frame_program_copy(const uint8_t *start, const uint8_t *end, uint8_t *copy,
                        size_t *copied);

#endif
