/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * Signals by which a terminal stops its processes. Valgrind catches all signals, and does
 * nothing at these if the target has no handler. Here the kernel keeps its default action
 * for them. While target code runs Valgrind blocks all signals and asks for pending ones:
 * then the signal is sent again where it is not blocked.
 *
 * The linker replaces Valgrind's functions by these: see symbols.cmake. */
#include "pub_tool_basics.h"
#include "pub_tool_vki.h"

#include "syscalls.h"

#define SIGNALS    3
#define MASK_BYTES 8

static const Int numbers[SIGNALS] = {VKI_SIGTSTP, VKI_SIGTTIN, VKI_SIGTTOU};
/* Valgrind's actions, while the kernel has the default action. */
static vki_sigaction_toK_t valgrinds[SIGNALS];
static Bool kernel_stops[SIGNALS];

extern SysRes __real_vgPlain_do_sys_sigaction(Int number,
                                              const vki_sigaction_toK_t *action,
                                              vki_sigaction_fromK_t *old);
SysRes __wrap_vgPlain_do_sys_sigaction(Int number, const vki_sigaction_toK_t *action,
                                       vki_sigaction_fromK_t *old);
extern void __real_vgPlain_sigstartup_actions(void);
void __wrap_vgPlain_sigstartup_actions(void);
extern Int __real_vgPlain_sigtimedwait_zero(const vki_sigset_t *set, vki_siginfo_t *info);
Int __wrap_vgPlain_sigtimedwait_zero(const vki_sigset_t *set, vki_siginfo_t *info);

/* Its place in NUMBERS; SIGNALS: it is none of them. */
static UInt place_of(Int number)
{
        UInt place = 0;

        while (place < SIGNALS && numbers[place] != number)
                place++;
        return place;
}

static void let_valgrind_catch(UInt place)
{
        if (kernel_stops[place])
                (void)raw_syscall4(__NR_rt_sigaction, numbers[place],
                                   (long)&valgrinds[place], 0, MASK_BYTES);
        kernel_stops[place] = False;
}

static void let_kernel_stop(UInt place)
{
        const vki_sigaction_toK_t standard = {.ksa_handler = VKI_SIG_DFL};
        vki_sigaction_fromK_t targets;

        (void)__real_vgPlain_do_sys_sigaction(numbers[place], NULL, &targets);
        kernel_stops[place] = targets.ksa_handler == VKI_SIG_DFL;
        if (kernel_stops[place])
                (void)raw_syscall4(__NR_rt_sigaction, numbers[place], (long)&standard,
                                   (long)&valgrinds[place], MASK_BYTES);
}

void __wrap_vgPlain_sigstartup_actions(void)
{
        __real_vgPlain_sigstartup_actions();
        for (UInt i = 0; i < SIGNALS; i++)
                let_kernel_stop(i);
}

/* Valgrind insists on finding its own action. */
SysRes __wrap_vgPlain_do_sys_sigaction(Int number, const vki_sigaction_toK_t *action,
                                       vki_sigaction_fromK_t *old)
{
        UInt place = place_of(number);
        SysRes result;

        if (place == SIGNALS || action == NULL)
                return __real_vgPlain_do_sys_sigaction(number, action, old);
        let_valgrind_catch(place);
        result = __real_vgPlain_do_sys_sigaction(number, action, old);
        let_kernel_stop(place);
        return result;
}

/* Returns after SIGCONT. */
static void stop_by(Int number)
{
        const ULong mask = 1ull << (number - 1);

        (void)raw_syscall4(__NR_tgkill, raw_syscall4(__NR_getpid, 0, 0, 0, 0),
                           raw_syscall4(__NR_gettid, 0, 0, 0, 0), number, 0);
        (void)raw_syscall4(__NR_rt_sigprocmask, VKI_SIG_UNBLOCK, (long)&mask, 0,
                           MASK_BYTES);
        (void)raw_syscall4(__NR_rt_sigprocmask, VKI_SIG_BLOCK, (long)&mask, 0,
                           MASK_BYTES);
}

Int __wrap_vgPlain_sigtimedwait_zero(const vki_sigset_t *set, vki_siginfo_t *info)
{
        for (;;) {
                Int number = __real_vgPlain_sigtimedwait_zero(set, info);
                UInt place = place_of(number);

                if (place == SIGNALS || !kernel_stops[place])
                        return number;
                stop_by(number);
        }
}
