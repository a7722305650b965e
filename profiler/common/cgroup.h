/* SPDX-License-Identifier: MIT */
/* The limits that the kernel's control groups set to this process, of version 1 and 2 and
 * at any level. ROOT is "" or, for tests, a directory with another machine's files. */
#ifndef MEMLAG_CGROUP_H
#define MEMLAG_CGROUP_H

#include <stdint.h>

/* CPU limit of this process, in CPUs; NAN: no limit, or it is unreadable. */
double cgroup_cpus(const char *root);

/* How much more memory it may have, in bytes, cached files being given up for it;
 * UINT64_MAX: no limit. */
uint64_t cgroup_memory_bytes(const char *root);

#endif
