/* SPDX-License-Identifier: MIT */
/* Starts and follows the target: fork, exec, signals, exit status. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded_signals[] = {SIGINT,  SIGTERM, SIGHUP,   SIGQUIT, SIGUSR1,
                                        SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP};

/* By default SIGPIPE and SIGXFSZ end memlag when a reader goes away or a file grows too
 * large; memlag handles the error instead. An ignored SIGCHLD would lose the target's
 * status. */
static const struct {
        int number;
        void (*handler)(int);
} own_actions[] = {{SIGPIPE, SIG_IGN}, {SIGXFSZ, SIG_IGN}, {SIGCHLD, SIG_DFL}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct launch {
        sigset_t mask_before;
        struct sigaction actions_before[COUNT(own_actions)];
        int signal_fd;
        int end_fd;
        int go;     /* a byte lets the waiting process execute the program */
        int report; /* where the child reports its exec error */
        const char *program;
        pid_t pid; /* 0: none */
        int early_signal;
        bool ended;
};

int launch_open(struct launch **result, struct diag *diag)
{
        struct launch *launch = calloc(1, sizeof(*launch));
        if (!launch)
                return diag_no_memory(diag);
        launch->end_fd = launch->go = launch->report = -1;
        sigset_t watched;
        sigemptyset(&watched);
        sigaddset(&watched, SIGCHLD);
        for (size_t i = 0; i < COUNT(forwarded_signals); i++)
                sigaddset(&watched, forwarded_signals[i]);
        launch->signal_fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
        if (launch->signal_fd < 0) {
                int error = errno;
                free(launch);
                return diag_set(diag, -error, "cannot watch signals: %s",
                                strerror(error));
        }
        sigprocmask(SIG_BLOCK, &watched, &launch->mask_before);
        for (size_t i = 0; i < COUNT(own_actions); i++) {
                const struct sigaction action = {.sa_handler = own_actions[i].handler};
                sigaction(own_actions[i].number, &action, &launch->actions_before[i]);
        }
        *result = launch;
        return 0;
}

static void restore_signals(const struct launch *launch)
{
        for (size_t i = 0; i < COUNT(own_actions); i++)
                sigaction(own_actions[i].number, &launch->actions_before[i], NULL);
        sigprocmask(SIG_SETMASK, &launch->mask_before, NULL);
}

static void close_descriptor(int *fd)
{
        if (*fd >= 0)
                close(*fd);
        *fd = -1;
}

void launch_close(struct launch *launch)
{
        if (!launch)
                return;
        /* Late or early signals must not end memlag now. */
        struct signalfd_siginfo info;
        while (read(launch->signal_fd, &info, sizeof(info)) > 0)
                ;
        close_descriptor(&launch->signal_fd);
        close_descriptor(&launch->end_fd);
        close_descriptor(&launch->report);
        if (launch->go >= 0) { /* it has not been let go: it ends now */
                close_descriptor(&launch->go);
                waitpid(launch->pid, NULL, 0);
        }
        restore_signals(launch);
        free(launch);
}

/* ---- the start ---- */

/* In the child. Without the byte memlag has given up, or is gone. A failed exec sends
 * its error number through REPORT. */
static void become_target(const struct launch *launch, char *const argv[],
                          char *const envp[], int go, int report)
{
        char byte;
        if (read(go, &byte, 1) != 1)
                _exit(127);
        restore_signals(launch);
        execvpe(argv[0], argv, envp);
        int error = errno;
        (void)!write(report, &error, sizeof(error));
        _exit(127);
}

static int make_pipes(int go[2], int report[2], struct diag *diag)
{
        if (pipe2(go, O_CLOEXEC) != 0)
                return diag_set(diag, -errno, "cannot make a pipe: %s", strerror(errno));
        if (pipe2(report, O_CLOEXEC) == 0)
                return 0;
        int error = errno;
        close(go[0]);
        close(go[1]);
        return diag_set(diag, -error, "cannot make a pipe: %s", strerror(error));
}

int launch_prepare(struct launch *launch, char *const argv[], char *const envp[],
                   struct diag *diag)
{
        int go[2];
        int report[2];
        int rc = make_pipes(go, report, diag);
        if (rc < 0)
                return rc;
        pid_t pid = fork();
        if (pid == 0) {
                close(go[1]); /* for the child to see memlag's end */
                become_target(launch, argv, envp, go[0], report[1]);
        }
        int error = errno;
        close(go[0]);
        close(report[1]);
        if (pid < 0) {
                close(go[1]);
                close(report[0]);
                return diag_set(diag, -error, "cannot start %s: %s", argv[0],
                                strerror(error));
        }
        launch->program = argv[0];
        launch->pid = pid;
        launch->go = go[1];
        launch->report = report[0];
        launch->end_fd = pidfd_open(pid, 0);
        if (launch->end_fd < 0)
                return diag_set(diag, -errno, "cannot watch the target: %s",
                                strerror(errno));
        return 0;
}

static bool is_ignored(int signal_number)
{
        struct sigaction action;
        return sigaction(signal_number, NULL, &action) == 0 &&
               action.sa_handler == SIG_IGN;
}

bool launch_ends_program(int signal_number)
{
        return signal_number == SIGINT || signal_number == SIGTERM ||
               signal_number == SIGHUP || signal_number == SIGQUIT;
}

/* Returns a pending signal that would have ended the target; 0: none. */
static int early_signal(void)
{
        sigset_t pending;
        sigpending(&pending);
        for (size_t i = 0; i < COUNT(forwarded_signals); i++) {
                int number = forwarded_signals[i];
                if (launch_ends_program(number) && sigismember(&pending, number) &&
                    !is_ignored(number))
                        return number;
        }
        return 0;
}

int launch_start(struct launch *launch, struct diag *diag)
{
        launch->early_signal = early_signal();
        if (launch->early_signal)
                return diag_set(
                    diag, -EINTR,
                    "SIG%s came before the command began; nothing was recorded",
                    sigabbrev_np(launch->early_signal));
        (void)!write(launch->go, "",
                     1); /* SIGPIPE is ignored: it may be killed already */
        close_descriptor(&launch->go);
        int error = 0;
        ssize_t length = read(launch->report, &error, sizeof(error));
        close_descriptor(&launch->report);
        if (length != (ssize_t)sizeof(error))
                return 0;
        waitpid(launch->pid, NULL, 0);
        launch->ended = true;
        return diag_set(diag, -error, "cannot start %s: %s", launch->program,
                        strerror(error));
}

pid_t launch_pid(const struct launch *launch)
{
        return launch->pid;
}

int launch_signal_fd(const struct launch *launch)
{
        return launch->signal_fd;
}

int launch_end_fd(const struct launch *launch)
{
        return launch->end_fd;
}

/* ---- signals ---- */

static bool reached_target_already(const struct launch *launch,
                                   const struct signalfd_siginfo *info)
{
        return info->ssi_code == SI_KERNEL || (pid_t)info->ssi_pid == launch->pid;
}

int launch_early_signal(const struct launch *launch)
{
        return launch ? launch->early_signal : 0;
}

static bool target_has_stopped(const struct launch *launch)
{
        siginfo_t info = {0};
        return waitid(P_PID, (id_t)launch->pid, &info, WSTOPPED | WNOHANG) == 0 &&
               info.si_code == CLD_STOPPED;
}

/* The shell waits for memlag, so memlag stops as the target does. RECEIVED: the signals
 * that came. */
static void stop_with_target(const struct launch *launch, const sigset_t *received)
{
        bool stops;
        if (launch->pid == 0 || launch->ended)
                stops = sigismember(received, SIGTSTP) && !is_ignored(SIGTSTP);
        else
                stops = sigismember(received, SIGCHLD) && target_has_stopped(launch);
        /* After SIGCONT the target may be about to continue. */
        if (stops && !sigismember(received, SIGCONT))
                raise(SIGSTOP);
}

bool launch_forward(struct launch *launch)
{
        struct signalfd_siginfo info;
        sigset_t received;
        bool end = false;
        sigemptyset(&received);
        while (read(launch->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
                sigaddset(&received, (int)info.ssi_signo);
                if (launch->pid == 0 || launch->ended)
                        end |= launch_ends_program((int)info.ssi_signo);
                else if (info.ssi_signo != SIGCHLD &&
                         !reached_target_already(launch, &info))
                        kill(launch->pid, (int)info.ssi_signo);
        }
        stop_with_target(launch, &received);
        return end;
}

static int64_t in_ns(const struct timeval *time)
{
        const int64_t ns_a_second = 1000000000, ns_a_microsecond = 1000;
        return time->tv_sec * ns_a_second + time->tv_usec * ns_a_microsecond;
}

int launch_wait(struct launch *launch, struct launch_end *end, struct diag *diag)
{
        struct rusage usage;
        int status;
        pid_t pid;
        while ((pid = wait4(launch->pid, &status, 0, &usage)) < 0 && errno == EINTR)
                ;
        if (pid < 0)
                return diag_set(diag, -errno, "cannot learn how the target ended: %s",
                                strerror(errno));
        launch->ended = true;
        end->user_ns = in_ns(&usage.ru_utime);
        end->kernel_ns = in_ns(&usage.ru_stime);
        end->signalled = WIFSIGNALED(status);
        end->status = end->signalled ? WTERMSIG(status) : WEXITSTATUS(status);
        return 0;
}
