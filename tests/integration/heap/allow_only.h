/* SPDX-License-Identifier: MIT */
/* A seccomp filter that allows some system calls; all others end the process. */
#ifndef HEAP_TEST_ALLOW_ONLY_H
#define HEAP_TEST_ALLOW_ONLY_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#define ALLOW_ONLY_STEPS(count) (2 * (count) + 2)

/* For the COUNT numbers at ALLOWED; its steps go to CODE, which has ALLOW_ONLY_STEPS. */
static inline struct sock_fprog allow_only(const unsigned *allowed, int count,
                                           struct sock_filter *code)
{
        struct sock_filter *step = code;
        *step++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                               offsetof(struct seccomp_data, nr));
        for (int i = 0; i < count; i++) {
                *step++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                       allowed[i], 0, 1);
                *step++ =
                    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        }
        *step++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
        return (struct sock_fprog){(unsigned short)(step - code), code};
}

#endif
