/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * A system call as Valgrind's functions before and after it receive it. Functions begun
 * with SYSTEM_CALL_BEFORE take the place of Valgrind's (symbols.cmake). */
#ifndef SIMPMU_COMPAT_SYSTEM_CALL_H
#define SIMPMU_COMPAT_SYSTEM_CALL_H

#include "pub_tool_basics.h"

/* SyscallArgs of Valgrind's m_syswrap. */
struct system_call {
        Word number;
        UWord argument[8];
};

/* SyscallStatus. */
struct system_call_status {
        UInt what;
        SysRes result; /* if WHAT is CALL_IS_COMPLETE */
};

#define CALL_IS_COMPLETE 1 /* SsComplete: the kernel does not get the call */

extern SysRes VG_(mk_SysRes_Error)(UWord error);
extern SysRes VG_(mk_SysRes_Success)(UWord result);

/* Declares Valgrind's function NAME and begins its replacement. */
#define SYSTEM_CALL_BEFORE(name)                                                         \
        void __real_##name(ThreadId tid, void *layout, struct system_call *call,         \
                           struct system_call_status *status, UWord *flags);             \
        void __wrap_##name(ThreadId tid, void *layout, struct system_call *call,         \
                           struct system_call_status *status, UWord *flags)

#endif
