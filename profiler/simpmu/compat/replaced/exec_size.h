/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * The room for arguments and environment of executed programs. */
#ifndef SIMPMU_EXEC_SIZE_H
#define SIMPMU_EXEC_SIZE_H

#include "pub_tool_basics.h"

/* Whether the kernel accepts an executed program's arguments and environment (addresses
 * of NULL-terminated arrays of the target's, or 0), and what Valgrind adds. Bad addresses
 * fault. */
Bool exec_size_fits(UWord arguments, UWord environment);

#endif
