/* SPDX-License-Identifier: MIT */
/* Starts and follows the target: fork, exec, signals, exit status. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded_signals[] = {SIGINT,  SIGTERM, SIGHUP,   SIGQUIT, SIGUSR1,
                                        SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP};

/* These would end memlag when a reader goes away or a file grows too large; it
 * wants the error instead. */
static const int ignored_signals[] = {SIGPIPE, SIGXFSZ};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct launch {
        sigset_t mask_before;
        struct sigaction actions_before[COUNT(ignored_signals)];
        int signal_fd;
        int end_fd;
        pid_t pid;
        bool ended;
};

int launch_open(struct launch **result, struct diag *diag)
{
        struct launch *launch = calloc(1, sizeof(*launch));
        if (!launch)
                return diag_set(diag, -ENOMEM, "out of memory");
        launch->end_fd = -1;
        sigset_t forwarded;
        sigemptyset(&forwarded);
        for (size_t i = 0; i < COUNT(forwarded_signals); i++)
                sigaddset(&forwarded, forwarded_signals[i]);
        launch->signal_fd = signalfd(-1, &forwarded, SFD_CLOEXEC | SFD_NONBLOCK);
        if (launch->signal_fd < 0) {
                int error = errno;
                free(launch);
                return diag_set(diag, -error, "cannot watch signals: %s",
                                strerror(error));
        }
        sigprocmask(SIG_BLOCK, &forwarded, &launch->mask_before);
        const struct sigaction ignore = {.sa_handler = SIG_IGN};
        for (size_t i = 0; i < COUNT(ignored_signals); i++)
                sigaction(ignored_signals[i], &ignore, &launch->actions_before[i]);
        *result = launch;
        return 0;
}

static void restore_signals(const struct launch *launch)
{
        for (size_t i = 0; i < COUNT(ignored_signals); i++)
                sigaction(ignored_signals[i], &launch->actions_before[i], NULL);
        sigprocmask(SIG_SETMASK, &launch->mask_before, NULL);
}

void launch_close(struct launch *launch)
{
        if (!launch)
                return;
        close(launch->signal_fd);
        if (launch->end_fd >= 0)
                close(launch->end_fd);
        restore_signals(launch);
        free(launch);
}

/* ---- the start ----------------------------------------------------------------- */

/* In the child. A failed exec sends its error number through REPORT. */
static void become_target(const struct launch *launch, char *const argv[],
                          char *const envp[], int report)
{
        restore_signals(launch);
        execve(argv[0], argv, envp);
        int error = errno;
        (void)!write(report, &error, sizeof(error));
        _exit(127);
}

int launch_start(struct launch *launch, char *const argv[], char *const envp[],
                 struct diag *diag)
{
        int report[2];
        if (pipe2(report, O_CLOEXEC) != 0)
                return diag_set(diag, -errno, "cannot make a pipe: %s", strerror(errno));
        launch->pid = fork();
        if (launch->pid == 0)
                become_target(launch, argv, envp, report[1]);
        int error = launch->pid < 0 ? errno : 0;
        close(report[1]);
        if (!error && read(report[0], &error, sizeof(error)) == (ssize_t)sizeof(error))
                waitpid(launch->pid, NULL, 0);
        close(report[0]);
        if (error)
                return diag_set(diag, -error, "cannot start %s: %s", argv[0],
                                strerror(error));
        launch->end_fd = pidfd_open(launch->pid, 0);
        if (launch->end_fd < 0)
                return diag_set(diag, -errno, "cannot watch the target: %s",
                                strerror(errno));
        return 0;
}

int launch_signal_fd(const struct launch *launch)
{
        return launch->signal_fd;
}

int launch_end_fd(const struct launch *launch)
{
        return launch->end_fd;
}

/* ---- signals --------------------------------------------------------------------- */

static bool reached_target_already(const struct launch *launch,
                                   const struct signalfd_siginfo *info)
{
        return info->ssi_code == SI_KERNEL || (pid_t)info->ssi_pid == launch->pid;
}

static bool is_ignored(int signal_number)
{
        struct sigaction action;
        return sigaction(signal_number, NULL, &action) == 0 &&
               action.sa_handler == SIG_IGN;
}

void launch_forward(struct launch *launch)
{
        struct signalfd_siginfo info;
        while (read(launch->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
                if (launch->pid > 0 && !launch->ended &&
                    !reached_target_already(launch, &info))
                        kill(launch->pid, (int)info.ssi_signo);
                /* The shell waits for us, so we stop as the target does. */
                if (info.ssi_signo == SIGTSTP && !is_ignored(SIGTSTP))
                        raise(SIGSTOP);
        }
}

int launch_wait(struct launch *launch, struct launch_end *end, struct diag *diag)
{
        int status;
        pid_t pid;
        while ((pid = waitpid(launch->pid, &status, 0)) < 0 && errno == EINTR)
                ;
        if (pid < 0)
                return diag_set(diag, -errno, "cannot learn how the target ended: %s",
                                strerror(errno));
        launch->ended = true;
        end->signalled = WIFSIGNALED(status);
        end->status = end->signalled ? WTERMSIG(status) : WEXITSTATUS(status);
        return 0;
}
