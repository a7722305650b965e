/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * Mappings that Valgrind's tool interface does not offer: memory of the target that
 * the simulated PMU fills, and the file that it shares with memlag. */
#ifndef SIMPMU_COMPAT_MEMORY_H
#define SIMPMU_COMPAT_MEMORY_H

#include "pub_tool_basics.h"

/* LENGTH bytes of the target's, at any address. */
extern SysRes VG_(am_mmap_anon_float_client)(SizeT length, Int protection);
/* LENGTH bytes of the file at FD from OFFSET, of Valgrind's. */
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt protection,
                                                      Int fd, Off64T offset);

#endif
