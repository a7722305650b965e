/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * After an internal error Valgrind exits with status 1, which would look like the
 * target's status. Here the process dies by SIGABRT instead.
 *
 * The linker replaces Valgrind's functions by these: see symbols.cmake. */
#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "syscalls.h"

static Bool failed;

extern void __real_vgPlain_core_panic(const HChar *what) __attribute__((noreturn));
void __wrap_vgPlain_core_panic(const HChar *what) __attribute__((noreturn));
extern void __real_vgPlain_core_panic_at(const HChar *what, void *registers)
    __attribute__((noreturn));
void __wrap_vgPlain_core_panic_at(const HChar *what, void *registers)
    __attribute__((noreturn));
extern void __real_vgPlain_assert_fail(Bool core, const HChar *text, const HChar *file,
                                       Int line, const HChar *function,
                                       const HChar *format, ...)
    __attribute__((noreturn));
void __wrap_vgPlain_assert_fail(Bool core, const HChar *text, const HChar *file, Int line,
                                const HChar *function, const HChar *format, ...)
    __attribute__((noreturn));
extern SysRes __real_vgPlain_do_syscall(UWord number, RegWord a, RegWord b, RegWord c,
                                        RegWord d, RegWord e, RegWord f, RegWord g,
                                        RegWord h);
SysRes __wrap_vgPlain_do_syscall(UWord number, RegWord a, RegWord b, RegWord c, RegWord d,
                                 RegWord e, RegWord f, RegWord g, RegWord h);

void __wrap_vgPlain_core_panic(const HChar *what)
{
        failed = True;
        __real_vgPlain_core_panic(what);
}

void __wrap_vgPlain_core_panic_at(const HChar *what, void *registers)
{
        failed = True;
        __real_vgPlain_core_panic_at(what, registers);
}

/* FORMAT and its arguments add to the message in few places only. */
void __wrap_vgPlain_assert_fail(Bool core, const HChar *text, const HChar *file, Int line,
                                const HChar *function, const HChar *format, ...)
{
        (void)format;
        failed = True;
        __real_vgPlain_assert_fail(core, text, file, line, function, "");
}

static void die(void)
{
        const struct {
                void *handler;
                UWord flags, restorer, mask;
        } standard = {0};
        const ULong abort_only = 1ull << (VKI_SIGABRT - 1);
        const long pid = raw_syscall4(__NR_getpid, 0, 0, 0, 0);

        (void)raw_syscall4(__NR_rt_sigaction, VKI_SIGABRT, (long)&standard, 0, 8);
        (void)raw_syscall4(__NR_rt_sigprocmask, VKI_SIG_UNBLOCK, (long)&abort_only, 0, 8);
        (void)raw_syscall4(__NR_kill, pid, VKI_SIGABRT, 0, 0);
}

SysRes __wrap_vgPlain_do_syscall(UWord number, RegWord a, RegWord b, RegWord c, RegWord d,
                                 RegWord e, RegWord f, RegWord g, RegWord h)
{
        if (failed && number == __NR_exit_group)
                die();
        return __real_vgPlain_do_syscall(number, a, b, c, d, e, f, g, h);
}
