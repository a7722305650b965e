/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * Runs before and after Valgrind's functions for each system call, by the table
 * calls.inc. If a call's arguments make Valgrind's function fault, the kernel gets the
 * call and returns the right error. */
#include "compat/system_call.h"
#include "hidden/hidden.h"

#include "pub_tool_libcsetjmp.h"
#include "pub_tool_signals.h"
#include "pub_tool_vki.h"

#include "calls.h"
#include "code_changes.h"
#include "compat/descriptors.h"
#include "syscalls.h"

#define MAY_BLOCK     (1u << 1) /* SfMayBlock */
#define AFTER_FAILURE (1u << 2) /* SfPostOnFail */
#define POLL_AFTER    (1u << 3) /* SfPollAfter */

/* SyscallTableEntry of Valgrind's m_syswrap. */
struct table_entry {
        void (*before)(ThreadId tid, void *layout, struct system_call *call,
                       struct system_call_status *status, UWord *flags);
        void (*after)(ThreadId tid, struct system_call *call,
                      struct system_call_status *status);
};

extern Bool VG_(am_addr_is_in_extensible_client_stack)(Addr address);
extern struct table_entry *__real_vgModuleLocal_get_linux_syscall_entry(UInt number);
struct table_entry *__wrap_vgModuleLocal_get_linux_syscall_entry(UInt number);

static void complete(struct system_call_status *status, SysRes result)
{
        status->what = CALL_IS_COMPLETE;
        status->result = result;
}

/* ---- faults ---- */

static VG_MINIMAL_JMP_BUF(fault_return);

/* Below the stack Valgrind makes the page that is missing, and goes on. */
static void on_fault(Int signal, Addr address)
{
        (void)signal;
        if (!VG_(am_addr_is_in_extensible_client_stack)(address))
                VG_MINIMAL_LONGJMP(fault_return);
}

static void unblock_faults(void)
{
        const ULong faults = 1ull << (VKI_SIGSEGV - 1) | 1ull << (VKI_SIGBUS - 1) |
                             1ull << (VKI_SIGFPE - 1) | 1ull << (VKI_SIGILL - 1) |
                             1ull << (VKI_SIGTRAP - 1);

        (void)raw_syscall4(__NR_rt_sigprocmask, VKI_SIG_UNBLOCK, (long)&faults, 0,
                           sizeof(faults));
}

/* Each calls Valgrind's function. False: that met a fault. */
static Bool run_before(const struct table_entry *entry, ThreadId tid, void *layout,
                       struct system_call *call, struct system_call_status *status,
                       UWord *flags)
{
        if (VG_MINIMAL_SETJMP(fault_return) != 0) {
                VG_(set_fault_catcher)(NULL);
                unblock_faults();
                return False;
        }
        VG_(set_fault_catcher)(on_fault);
        entry->before(tid, layout, call, status, flags);
        VG_(set_fault_catcher)(NULL);
        return True;
}

static void run_after(const struct table_entry *entry, ThreadId tid,
                      struct system_call *call, struct system_call_status *status)
{
        if (VG_MINIMAL_SETJMP(fault_return) != 0) {
                VG_(set_fault_catcher)(NULL);
                unblock_faults();
                return;
        }
        VG_(set_fault_catcher)(on_fault);
        entry->after(tid, call, status);
        VG_(set_fault_catcher)(NULL);
}

/* ---- calls ---- */

/* The kernel gets the call, as STATUS says at the start. */
static void forward(const struct call_info *info, struct system_call_status *status,
                    UWord *flags)
{
        if ((info->flags & FORWARD) == 0)
                complete(status, VG_(mk_SysRes_Error)(VKI_ENOSYS));
        else if ((info->flags & WAITS) != 0)
                *flags |= MAY_BLOCK;
}

/* Valgrind checks descriptors before other arguments, and does not know all requests
 * of fcntl. Descriptors of Valgrind are hidden already. */
static Bool kernel_knows_better(const struct call_info *info,
                                const struct system_call *call,
                                const struct system_call_status *status)
{
        return (info->flags & ENGINE) == 0 && status->what == CALL_IS_COMPLETE &&
               sr_isError(status->result) &&
               (sr_Err(status->result) == VKI_EBADF || call->number == __NR_fcntl);
}

static void prepare(const struct call_info *info, ThreadId tid, void *layout,
                    struct system_call *call, struct system_call_status *status,
                    UWord *flags)
{
        const struct table_entry *engines =
            __real_vgModuleLocal_get_linux_syscall_entry((UInt)call->number);
        const struct system_call_status status_before = *status;
        const struct system_call call_before = *call;

        if ((info->flags & REFUSED) != 0) {
                complete(status, VG_(mk_SysRes_Error)(VKI_ENOSYS));
        } else if (engines == NULL || engines->before == NULL) {
                forward(info, status, flags);
        } else if (!run_before(engines, tid, layout, call, status, flags)) {
                *status = status_before;
                *call = call_before;
                *flags = MAY_BLOCK;
                if ((info->flags & ENGINE) != 0)
                        complete(status, VG_(mk_SysRes_Error)(VKI_EFAULT));
        } else if (kernel_knows_better(info, call, status)) {
                *status = status_before;
                *call = call_before;
                *flags = MAY_BLOCK;
        }
}

static void before(ThreadId tid, void *layout, struct system_call *call,
                   struct system_call_status *status, UWord *flags)
{
        const struct call_info *info = call_info((UWord)call->number);
        const struct system_call asked = *call;
        UWord error = hidden_before_call((UInt)call->number, call->argument);

        code_before_call((UInt)call->number, call->argument);
        if (error != 0)
                complete(status, VG_(mk_SysRes_Error)(error));
        else
                prepare(info, tid, layout, call, status, flags);
        if (call->number == __NR_poll)
                *flags |= AFTER_FAILURE;
        /* A signal to the caller comes before the call returns; Valgrind knows only kill
         * and tgkill. */
        if (call->number == __NR_rt_sigqueueinfo ||
            call->number == __NR_rt_tgsigqueueinfo ||
            call->number == __NR_pidfd_send_signal)
                *flags |= POLL_AFTER;
        /* Valgrind insists on both, also where its own function completes the call. */
        if (status->what == CALL_IS_COMPLETE) {
                *call = asked;
                if (sr_isError(status->result))
                        *flags &= MAY_BLOCK | AFTER_FAILURE | POLL_AFTER;
        }
}

/* The target's descriptors are below its limit, which the kernel does not know. */
static void check_opened(struct system_call_status *status)
{
        Int fd = (Int)sr_Res(status->result);

        if (fd < VG_(fd_soft_limit))
                return;
        (void)raw_syscall4(__NR_close, fd, 0, 0, 0);
        status->result = VG_(mk_SysRes_Error)(VKI_EMFILE);
}

static void after(ThreadId tid, struct system_call *call,
                  struct system_call_status *status)
{
        const struct call_info *info = call_info((UWord)call->number);
        const struct table_entry *engines =
            __real_vgModuleLocal_get_linux_syscall_entry((UInt)call->number);
        UWord result;

        hidden_after_any_call((UInt)call->number, call->argument);
        if (call->number == __NR_poll && sr_isError(status->result))
                return; /* Valgrind's function does not expect it */
        if (engines != NULL && engines->after != NULL)
                run_after(engines, tid, call, status);
        else if (!sr_isError(status->result) && (info->flags & OPENS) != 0)
                check_opened(status);
        if (sr_isError(status->result))
                return;
        result =
            hidden_after_call((UInt)call->number, call->argument, sr_Res(status->result));
        if (result != sr_Res(status->result))
                status->result = VG_(mk_SysRes_Success)(result);
        code_after_call((UInt)call->number, call->argument, result);
}

struct table_entry *__wrap_vgModuleLocal_get_linux_syscall_entry(UInt number)
{
        static struct table_entry ours = {before, after};
        struct table_entry *engines =
            __real_vgModuleLocal_get_linux_syscall_entry(number);
        const struct call_info *info = call_info(number);

        if (info == NULL || (engines == NULL && (info->flags & (FORWARD | REFUSED)) == 0))
                return engines;
        return &ours;
}
