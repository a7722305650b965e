/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of hidden.h that look into memory: addresses that are Valgrind's, and
 * descriptors that system calls take from memory. */
#ifndef SIMPMU_HIDDEN_MEMORY_H
#define SIMPMU_HIDDEN_MEMORY_H

#include "pub_tool_basics.h"

#define NO_DESCRIPTOR 0x7fffffff /* an unused number */

Bool hidden_descriptor(UWord argument); /* whether it belongs to Valgrind */

/* An address of Valgrind's becomes one where nothing is. */
void hidden_pointer(UWord *address);
void hidden_range(UWord *start, UWord *length);

/* Descriptors in structures; as hidden_before_call. */
UWord hidden_in_memory(UInt number, UWord *argument);

#endif
