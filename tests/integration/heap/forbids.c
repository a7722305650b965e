/* SPDX-License-Identifier: MIT */
/* Forbids itself system calls that the tracker needs, by the way in its argument. Then it
 * allocates more than one process could note, and prints a line. */
#include "../target.h"

#include <linux/seccomp.h>

#include "allow_only.h"

enum { BLOCKS = 300000, ALLOWED = 6 };

/* The calls of the C library's heap and of the output; all others end the process. */
static const unsigned allowed[ALLOWED] = {SYS_write,      SYS_brk,  SYS_mmap,
                                          SYS_exit_group, SYS_exit, SYS_munmap};

static int filter(int by_syscall)
{
        struct sock_filter code[ALLOW_ONLY_STEPS(ALLOWED)];
        struct sock_fprog program = allow_only(allowed, ALLOWED, code);
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
