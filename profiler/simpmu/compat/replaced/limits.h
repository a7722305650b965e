/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * Limits that the target may not apply to its process. The rest of limits.c replaces
 * functions of Valgrind. */
#ifndef SIMPMU_LIMITS_H
#define SIMPMU_LIMITS_H

#include "pub_tool_basics.h"

/* Whether this system call asks for a sandbox (seccomp), which is refused. */
Bool limits_wants_sandbox(UInt number, const UWord *argument);

/* Before a program is executed, which has the limit on the stack that the target has set:
 * Valgrind keeps that from the kernel. */
void limits_before_exec(void);

#endif
