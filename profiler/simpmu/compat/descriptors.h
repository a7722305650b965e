/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * The target's file descriptors are below a hard limit, Valgrind's own above it. */
#ifndef SIMPMU_COMPAT_DESCRIPTORS_H
#define SIMPMU_COMPAT_DESCRIPTORS_H

#include "pub_tool_basics.h"

extern Int VG_(fd_soft_limit); /* the target's RLIMIT_NOFILE */
extern Int VG_(fd_hard_limit); /* the first descriptor of Valgrind's */
/* Moves FD above the target's descriptors, closed at an exec. Returns its new number,
 * negative if there is none. */
extern Int VG_(safe_fd)(Int fd);

#endif
