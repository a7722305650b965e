/* SPDX-License-Identifier: MIT */
/* The processor's trap flag: a SIGTRAP behind each instruction. */
static void set_trap_flag(int on)
{
        if (on)
                __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
        else
                __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::
                                     : "memory", "cc");
}
