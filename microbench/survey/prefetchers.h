/* SPDX-License-Identifier: MIT */
/* Switches Intel's hardware prefetchers off, and on again even if this process dies (MSR
 * 0x1a4, "Disclosure of Hardware Prefetcher Control on Some Intel Processors"). */
#ifndef MEMLAG_PREFETCHERS_H
#define MEMLAG_PREFETCHERS_H

#include <stddef.h>

#include "diag.h"

#define PREFETCHERS_DEVICES "/dev/cpu/%d/msr"

struct prefetchers;

/* Switches the prefetchers off on CPUS. DEVICES: format of the devices' paths. A guardian
 * process stores the settings, and restores them when this process ends in any way. Until
 * then, the file STATE also has them, in case both are killed; its directory must exist.
 * Returns -EACCES, -ENOENT or another error if this is not allowed; nothing has changed
 * then. */
int prefetchers_off(const char *devices, const char *state, const int *cpus, size_t count,
                    struct prefetchers **prefetchers, struct diag *diag);

/* Restores the settings and frees PREFETCHERS. An error names a CPU that failed. */
int prefetchers_restore(struct prefetchers *prefetchers, struct diag *diag);

/* Restores the settings from a STATE of processes killed since boot, and removes it.
 * Returns the number of CPUs. -EBUSY: the owner of STATE still runs. -EPERM: STATE is a
 * link or another user's file. -EIO and others describe a failure. */
int prefetchers_recover(const char *devices, const char *state, struct diag *diag);

#endif
