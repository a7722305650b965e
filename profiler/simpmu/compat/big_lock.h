/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * The lock that only the running thread holds: a thread at the gate lets others run. */
#ifndef SIMPMU_COMPAT_BIG_LOCK_H
#define SIMPMU_COMPAT_BIG_LOCK_H

#include "pub_tool_basics.h"

#define STATE_YIELDING 4 /* VgTs_Yielding of Valgrind's enum ThreadStatus */

/* WHO names the caller in Valgrind's traces. */
extern void VG_(release_BigLock)(ThreadId tid, Int sleep_state, const HChar *who);
extern void VG_(acquire_BigLock)(ThreadId tid, const HChar *who);
/* Whether the process is ending: TID may then not wait for other threads. */
extern Bool VG_(is_exiting)(ThreadId tid);

#endif
