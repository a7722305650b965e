/* SPDX-License-Identifier: MIT */
/* As POSIX has system(3): SIGINT and SIGQUIT are ignored and SIGCHLD is blocked until the
 * shell has ended. A call that a handler leaves by longjmp ends the shell, as the C
 * library's does. */
#include "shell.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>

const char shell_path[] = "/bin/sh";

/* The program may define functions with these names. */
static struct {
        int (*sigaction)(int, const struct sigaction *, struct sigaction *);
        int (*sigprocmask)(int, const sigset_t *, sigset_t *);
        pid_t (*waitpid)(pid_t, int *, int);
} real;

/* From 2.38 on the C library's shell gets "--" before the command, which ps(1) shows. */
static bool ends_options;

/* A handler may call system too: the outermost call retains the ignored signals'
 * actions. */
static unsigned under_way;
static struct sigaction on_interrupt, on_quit;

void shell_find_functions(void)
{
        *(void **)&real.sigaction = dlsym(RTLD_NEXT, "sigaction");
        *(void **)&real.sigprocmask = dlsym(RTLD_NEXT, "sigprocmask");
        *(void **)&real.waitpid = dlsym(RTLD_NEXT, "waitpid");
        char *minor;
        long major = strtol(gnu_get_libc_version(), &minor, 10);
        ends_options = major > 2 || (*minor == '.' && strtol(minor + 1, NULL, 10) >= 38);
}

/* Returns the signals that were blocked. */
static sigset_t ignore_signals(void)
{
        const struct sigaction ignored = {.sa_handler = SIG_IGN};
        if (under_way++ == 0) {
                real.sigaction(SIGINT, &ignored, &on_interrupt);
                real.sigaction(SIGQUIT, &ignored, &on_quit);
        }
        sigset_t child, blocked;
        sigemptyset(&child);
        sigaddset(&child, SIGCHLD);
        real.sigprocmask(SIG_BLOCK, &child, &blocked);
        return blocked;
}

static void heed_signals(void)
{
        if (--under_way == 0) {
                real.sigaction(SIGINT, &on_interrupt, NULL);
                real.sigaction(SIGQUIT, &on_quit, NULL);
        }
}

static pid_t wait_for(pid_t pid, int *status)
{
        pid_t ended;
        do
                ended = real.waitpid(pid, status, 0);
        while (ended < 0 && errno == EINTR);
        return ended;
}

static void abandon(void *pid)
{
        int saved_errno = errno;
        kill(*(pid_t *)pid, SIGKILL);
        wait_for(*(pid_t *)pid, NULL);
        heed_signals();
        errno = saved_errno;
}

/* The shell has the signals as they are without the call. Returns an errno value. */
static int start(pid_t *pid, const char *command, char *const variables[],
                 const sigset_t *blocked, shell_spawn *spawn)
{
        const char *plain[] = {"sh", "-c", command, NULL};
        const char *ended[] = {"sh", "-c", "--", command, NULL};
        const char *const *arguments = ends_options ? ended : plain;
        sigset_t heeded;
        sigemptyset(&heeded);
        if (on_interrupt.sa_handler != SIG_IGN)
                sigaddset(&heeded, SIGINT);
        if (on_quit.sa_handler != SIG_IGN)
                sigaddset(&heeded, SIGQUIT);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setsigmask(&attributes, blocked);
        posix_spawnattr_setsigdefault(&attributes, &heeded);
        posix_spawnattr_setflags(&attributes,
                                 POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        int error = spawn(pid, shell_path, NULL, &attributes, (char *const *)arguments,
                          variables);
        posix_spawnattr_destroy(&attributes);
        return error;
}

int shell_run(const char *command, char *const variables[], shell_spawn *spawn)
{
        sigset_t blocked = ignore_signals();
        pid_t pid;
        int status = W_EXITCODE(127, 0); /* as if the shell had not been executed */
        int error = start(&pid, command, variables, &blocked, spawn);
        if (error == 0) {
                struct _pthread_cleanup_buffer buffer;
                _pthread_cleanup_push(&buffer, abandon, &pid);
                if (wait_for(pid, &status) != pid)
                        status = -1;
                _pthread_cleanup_pop(&buffer, 0);
        }
        heed_signals();
        real.sigprocmask(SIG_SETMASK, &blocked, NULL);
        if (error != 0)
                errno = error;
        return status;
}
