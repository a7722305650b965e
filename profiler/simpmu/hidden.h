/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors, files and memory that are in the target's process and not the target's:
 * Valgrind's and those of the recording. System calls that name them fail as if they were
 * not there. */
#ifndef SIMPMU_HIDDEN_H
#define SIMPMU_HIDDEN_H

#include "pub_tool_basics.h"

/* The file FD is hidden under all its names from now on. */
void hidden_add_file(Int fd);

/* Before a system call: replaces arguments that name what is hidden by others that name
 * nothing. Returns the error that the call must end with, 0: none. */
UWord hidden_before_call(UInt number, UWord *argument);

/* After a system call, also one of poll or ppoll that failed: makes the target's memory
 * what it was but for the call. */
void hidden_after_any_call(UInt number, const UWord *argument);

/* After a system call that succeeded with RESULT; returns its result for the target. */
UWord hidden_after_call(UInt number, const UWord *argument, UWord result);

#endif
