/* SPDX-License-Identifier: MIT */
/* Forbids itself what the tracker needs, in the way of its argument, allocates more than
 * anybody can keep to himself, and says so. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BLOCKS = 300000, ALLOWED = 6 };

/* What the C library's heap needs, and saying so; whatever else ends the process. */
static const unsigned allowed[ALLOWED] = {SYS_write,      SYS_brk,  SYS_mmap,
                                          SYS_exit_group, SYS_exit, SYS_munmap};

static int filter(int by_syscall)
{
        struct sock_filter code[2 * ALLOWED + 2] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
        struct sock_fprog program = {2 * ALLOWED + 2, code};

        for (int i = 0; i < ALLOWED; i++) {
                code[2 * i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                               allowed[i], 0, 1);
                code[2 * i + 2] =
                    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        }
        code[2 * ALLOWED + 1] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
                return -1;
        return by_syscall
                   ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
                   : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
        const char *way = argc > 1 ? argv[1] : "";
        int failed;

        if (syscall(SYS_getpid) != getpid() || syscall(-1) != -1)
                return 2;
        free(malloc(70000));
        if (strcmp(way, "strict") == 0)
                failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        else if (strcmp(way, "clock") == 0)
                failed = prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
        else
                failed = filter(strcmp(way, "syscall") == 0);
        for (int i = 0; i < BLOCKS; i++)
                free(malloc(16));
        if (write(1, "allocated\n", 10) != 10)
                failed = 1;
        syscall(SYS_exit, failed ? 3 : 0); /* strict: nothing else */
}
