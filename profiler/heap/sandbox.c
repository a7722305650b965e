/* SPDX-License-Identifier: MIT */
/* Handles programs that forbid themselves system calls (seccomp), or reading the time
 * stamp counter. The tracker's next forbidden call would kill the program. A thread's
 * restriction may hold for all threads, and holds for the threads that it starts.
 * Therefore the whole process stops recording. */
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tracker.h"

#define EXPORT __attribute__((visibility("default")))

/* A NULL filter only probes the kernel, which refuses it. */
static bool forbids(long option, long mode, long filter)
{
        return (option == PR_SET_SECCOMP &&
                (mode == SECCOMP_MODE_STRICT ||
                 (mode == SECCOMP_MODE_FILTER && filter != 0))) ||
               (option == PR_SET_TSC && mode == PR_TSC_SIGSEGV);
}

EXPORT int prctl(int option, ...)
{
        static int (*real)(int, ...);
        va_list arguments;
        va_start(arguments, option);
        long a = va_arg(arguments, long);
        long b = va_arg(arguments, long);
        long c = va_arg(arguments, long);
        long d = va_arg(arguments, long);
        va_end(arguments);
        if (!real)
                *(void **)&real = dlsym(RTLD_NEXT, "prctl");
        if (!forbids(option, a, b))
                return real(option, a, b, c, d);
        struct tracker_hold hold = tracker_hold(__builtin_frame_address(0));
        int result = real(option, a, b, c, d);
        tracker_settle(hold, result != -1);
        return result;
}

/* ---- syscall has a variable argument count and may be a vfork: forwarded with a jump
 * ---- */

__attribute__((visibility("hidden"))) long (*memlag_real_syscall)(long, ...);

/* Called by the code below, the first with any system call. */
__attribute__((visibility("hidden"), used)) void memlag_find_syscall(void);
__attribute__((visibility("hidden"), used)) long
memlag_sandbox_syscall(long number, long a, long b, long c, long d, long e);

void memlag_find_syscall(void)
{
        *(void **)&memlag_real_syscall = dlsym(RTLD_NEXT, "syscall");
}

/* seccomp or prctl, which have no more arguments. */
long memlag_sandbox_syscall(long number, long a, long b, long c, long d, long e)
{
        bool forbidding = number == SYS_prctl
                              ? forbids(a, b, c)
                              : a == SECCOMP_SET_MODE_STRICT ||
                                    (a == SECCOMP_SET_MODE_FILTER && c != 0);
        if (!forbidding)
                return memlag_real_syscall(number, a, b, c, d, e);
        struct tracker_hold hold = tracker_hold(__builtin_frame_address(0));
        long result = memlag_real_syscall(number, a, b, c, d, e);
        tracker_settle(hold, result != -1);
        return result;
}

/* Six registers have the arguments; with 8 bytes more the stack is aligned for a call. */
__asm__(".pushsection .text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "\t.cfi_startproc\n"
        "\tcmpq $0, memlag_real_syscall(%rip)\n"
        "\tje 2f\n"
        "1:\n"
        "\tcmpq $317, %rdi\n" /* SYS_seccomp */
        "\tje memlag_sandbox_syscall\n"
        "\tcmpq $157, %rdi\n" /* SYS_prctl */
        "\tje memlag_sandbox_syscall\n"
        "\tjmp *memlag_real_syscall(%rip)\n"
        "2:\n"
        "\tpushq %rdi\n"
        "\tpushq %rsi\n"
        "\tpushq %rdx\n"
        "\tpushq %rcx\n"
        "\tpushq %r8\n"
        "\tpushq %r9\n"
        "\tsubq $8, %rsp\n"
        "\t.cfi_adjust_cfa_offset 56\n"
        "\tcall memlag_find_syscall\n"
        "\taddq $8, %rsp\n"
        "\tpopq %r9\n"
        "\tpopq %r8\n"
        "\tpopq %rcx\n"
        "\tpopq %rdx\n"
        "\tpopq %rsi\n"
        "\tpopq %rdi\n"
        "\t.cfi_adjust_cfa_offset -56\n"
        "\tjmp 1b\n"
        "\t.cfi_endproc\n"
        ".size syscall, . - syscall\n"
        ".popsection");
_Static_assert(SYS_seccomp == 317 && SYS_prctl == 157, "numbers in the code above");
