/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the target may not do to itself: the rest of limits.c takes the place of functions
 * of the engine. */
#ifndef SIMPMU_LIMITS_H
#define SIMPMU_LIMITS_H

#include "pub_tool_basics.h"

/* Whether this system call asks for a sandbox (seccomp), which is refused. */
Bool limits_wants_sandbox(UInt number, const UWord *argument);

/* Before a program is executed, which has the limit on the stack that the target has set:
 * the engine keeps that from the kernel. */
void limits_before_exec(void);

#endif
