/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engine's functions before and after a system call have of it, for those that
 * the linker puts others in the place of (CMakeLists.txt). None of this is in the
 * engine's public headers. */
#ifndef SIMPMU_CORE_CALL_H
#define SIMPMU_CORE_CALL_H

#include "pub_tool_basics.h"

struct core_call {
        Word number;
        UWord argument[8];
};

struct core_status {
        UInt what;
        SysRes result;
};

/* Declares the engine's function NAME and begins the one in its place. */
#define CORE_FUNCTION(name)                                                              \
        void __real_##name(ThreadId tid, void *layout, struct core_call *call,           \
                           struct core_status *status, UWord *flags);                    \
        void __wrap_##name(ThreadId tid, void *layout, struct core_call *call,           \
                           struct core_status *status, UWord *flags)

#endif
