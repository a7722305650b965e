/* SPDX-License-Identifier: MIT */
/* C++'s operators new and delete. */
#include <unwind.h>

#include "real.h"

/* An exception (std::bad_alloc) that leaves an operator new skips its leave(). The
 * unwinder calls this function for each frame with this personality. A nested call has
 * no frame any more, as it ends with a jump to the real function. */
__attribute__((visibility("hidden"), used)) _Unwind_Reason_Code memlag_leave_by_exception(
    int version, _Unwind_Action actions, _Unwind_Exception_Class class,
    struct _Unwind_Exception *exception, struct _Unwind_Context *context);

_Unwind_Reason_Code memlag_leave_by_exception(int version, _Unwind_Action actions,
                                              _Unwind_Exception_Class class,
                                              struct _Unwind_Exception *exception,
                                              struct _Unwind_Context *context)
{
        (void)version;
        (void)class;
        (void)exception;
        (void)context;
        if (actions & _UA_CLEANUP_PHASE)
                leave();
        return _URC_CONTINUE_UNWIND;
}

/* 0x1b: the routine's address is relative to the field itself, in 4 bytes. */
#define LEAVE_BY_EXCEPTION() __asm__(".cfi_personality 0x1b, memlag_leave_by_exception")

#define DEFINE_NEW(mangled, function, parameters, arguments)                             \
        EXPORT void *mangled parameters                                                  \
        {                                                                                \
                LEAVE_BY_EXCEPTION();                                                    \
                start();                                                                 \
                if (!real.mangled)                                                       \
                        real_find_operator((void **)&real.mangled, #mangled,             \
                                           __builtin_return_address(0));                 \
                if (!enter())                                                            \
                        return real.mangled arguments;                                   \
                void *block = real.mangled arguments;                                    \
                if (block)                                                               \
                        tell_alloc(HEAP_##function, block, size);                        \
                leave();                                                                 \
                return block;                                                            \
        }
NEW_OPERATORS(DEFINE_NEW)

#define DEFINE_DELETE(mangled, parameters, arguments)                                    \
        EXPORT void mangled parameters                                                   \
        {                                                                                \
                start();                                                                 \
                if (!real.mangled)                                                       \
                        real_find_operator((void **)&real.mangled, #mangled,             \
                                           __builtin_return_address(0));                 \
                if (!block || !enter()) {                                                \
                        real.mangled arguments;                                          \
                        return;                                                          \
                }                                                                        \
                tell_free(block);                                                        \
                real.mangled arguments;                                                  \
                leave();                                                                 \
        }
DELETE_OPERATORS(DEFINE_DELETE)
