/* SPDX-License-Identifier: MIT */
/* Forbids system calls. `threads`: to threads that allocate, in CHILDREN processes one
 * after the other; the status is the number of killed ones. `refused`: the kernel refuses
 * the filter. `vfork`: to a child only. Both then allocate 70000 bytes. */
#include "../target.h"

#include <linux/seccomp.h>

#include "allow_only.h"

enum { CHILDREN = 15, THREADS = 3, BLOCKS = 2000000, ALLOWED = 9 };

static const unsigned allowed[ALLOWED] = {SYS_write,    SYS_brk,     SYS_mmap,
                                          SYS_munmap,   SYS_madvise, SYS_futex,
                                          SYS_mprotect, SYS_exit,    SYS_exit_group};

static void allocate(void)
{
        free(malloc(16));
}

static int running; /* atomic: threads that need nothing more for their start */

static void *run(void *unused)
{
        allocate();
        __atomic_fetch_add(&running, 1, __ATOMIC_RELAXED);
        for (;;)
                allocate();
        return unused;
}

static void confine_threads(void)
{
        struct sock_filter code[ALLOW_ONLY_STEPS(ALLOWED)];
        struct sock_fprog program = allow_only(allowed, ALLOWED, code);
        pthread_t thread;
        for (int i = 0; i < THREADS; i++)
                if (pthread_create(&thread, NULL, run, NULL) != 0)
                        _exit(2);
        while (__atomic_load_n(&running, __ATOMIC_RELAXED) < THREADS)
                ;
        usleep(60000); /* by now the ring is full */
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                    &program) != 0)
                _exit(3);
        for (int i = 0; i < BLOCKS; i++)
                allocate();
        _exit(0);
}

static int killed_children(void)
{
        int killed = 0;
        for (int i = 0; i < CHILDREN; i++) {
                int status;
                pid_t child = fork();
                if (child == 0) {
                        execl("/proc/self/exe", "confines", "once", NULL);
                        _exit(4);
                }
                if (child < 0 || waitpid(child, &status, 0) != child)
                        return 99;
                killed += status != 0;
        }
        return killed;
}

static int confine_child(void)
{
        struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        struct sock_fprog program = {1, code};
        int status = -1;
        pid_t child = vfork();
        if (child == 0) {
                if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
                        execl("/bin/true", "true", NULL);
                _exit(1);
        }
        return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

static int is_refused(void)
{
        struct sock_fprog empty = {0, NULL};
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &empty) != -1 ||
               syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &empty) != -1;
}

int main(int argc, char **argv)
{
        const char *way = argc > 1 ? argv[1] : "";
        if (strcmp(way, "once") == 0)
                confine_threads();
        if (strcmp(way, "threads") == 0)
                return killed_children();
        if ((strcmp(way, "vfork") == 0 ? confine_child() : is_refused()) != 0)
                return 1;
        free(malloc(70000));
        return 0;
}
