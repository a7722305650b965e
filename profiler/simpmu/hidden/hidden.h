/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors, files and memory in the target's process that belong to Valgrind or the
 * recording. System calls that name them fail as if they did not exist. */
#ifndef SIMPMU_HIDDEN_H
#define SIMPMU_HIDDEN_H

#include "pub_tool_basics.h"

/* The file FD is hidden under all its names from now on. */
void hidden_add_file(Int fd);

/* Before a system call: replaces arguments that name hidden objects by arguments that
 * name nothing. Returns the error that the call must end with, 0: none. */
UWord hidden_before_call(UInt number, UWord *argument);

/* After a system call, also a failed poll or ppoll: restores the arguments in the
 * target's memory. */
void hidden_after_any_call(UInt number, const UWord *argument);

/* After a system call that succeeded with RESULT; returns its result for the target. */
UWord hidden_after_call(UInt number, const UWord *argument, UWord result);

#endif
