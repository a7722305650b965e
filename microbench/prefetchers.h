/* SPDX-License-Identifier: MIT */
/* Switches Intel's hardware prefetchers off and, whatever becomes of this process, back
 * (MSR 0x1a4, "Disclosure of Hardware Prefetcher Control on Some Intel Processors"). */
#ifndef MEMLAG_PREFETCHERS_H
#define MEMLAG_PREFETCHERS_H

#include <stddef.h>

#include "diag.h"

#define PREFETCHERS_DEVICES "/dev/cpu/%d/msr"

struct prefetchers;

/* Switches them off on CPUS. DEVICES is the format of the devices' paths. A process of
 * its own keeps what was set before, and sets it again when this one ends in any way. The
 * file STATE has it too, until then, for the case that both are killed; its directory is
 * there. -EACCES, -ENOENT and others when that may not be done: nothing is changed then.
 */
int prefetchers_off(const char *devices, const char *state, const int *cpus, size_t count,
                    struct prefetchers **prefetchers, struct diag *diag);

/* Sets them as they were, and frees PREFETCHERS. An error says which CPU is not. */
int prefetchers_restore(struct prefetchers *prefetchers, struct diag *diag);

/* Sets them as a STATE says that was left by processes that were killed since the machine
 * was started, and removes it. Returns for how many CPUs it did; -EBUSY when whoever made
 * STATE still runs, -EPERM when STATE is a link or another user's, -EIO and others with
 * what failed. */
int prefetchers_recover(const char *devices, const char *state, struct diag *diag);

#endif
