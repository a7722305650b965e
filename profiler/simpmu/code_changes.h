/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code of mapped files that changes while it may run. Valgrind checks code outside
 * files before each run, and assumes that code of files is constant. This file adds
 * checks of a file's code where the file or the mapping may change. If code changes
 * that was assumed constant, all translations are discarded. */
#ifndef SIMPMU_CODE_CHANGES_H
#define SIMPMU_CODE_CHANGES_H

#include "pub_tool_basics.h"

/* Whether the code in [START, START + LENGTH), about to be translated, must be checked
 * before each run. */
Bool code_may_change(Addr start, SizeT length);

/* The target has mapped the file FD with these FLAGS of mmap. */
void code_file_mapped(UWord flags, Int fd);

/* Before and after a system call of the target; after a call that succeeded with
 * RESULT. */
void code_before_call(UInt number, const UWord *argument);
void code_after_call(UInt number, const UWord *argument, UWord result);

/* Whether FD is open on /proc/PID/mem. */
Bool code_is_process_memory(Int fd);

/* After each system call: discards code that another process has changed. */
void code_look_for_changes(void);

#endif
