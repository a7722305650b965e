/* SPDX-License-Identifier: MIT */
/* The launcher, seen from the target: inherited state, signals and end. */
#include <poll.h>

#include "launch.h"
#include "unit_test.h"

extern char **environ;

static struct launch *opened(void)
{
        struct launch *launch;
        struct diag diag;
        assert_ok(launch_open(&launch, &diag));
        return launch;
}

/* Starts `sh -c SCRIPT`. */
static void start_shell(struct launch *launch, const char *script)
{
        char *argv[] = {"/bin/sh", "-c", (char *)script, NULL};
        struct diag diag = {""};
        if (launch_prepare(launch, argv, environ, &diag) < 0 ||
            launch_start(launch, &diag) < 0)
                fail_msg("%s", diag.text);
}

static struct launch_end wait_for_end(struct launch *launch)
{
        struct launch_end end;
        struct diag diag;
        struct pollfd poll_end = {.fd = launch_end_fd(launch), .events = POLLIN};
        assert_int_equal(poll(&poll_end, 1, 60000), 1);
        assert_ok(launch_wait(launch, &end, &diag));
        return end;
}

static struct launch_end run_shell(const char *script)
{
        struct launch *launch = opened();
        start_shell(launch, script);
        struct launch_end end = wait_for_end(launch);
        launch_close(launch);
        return end;
}

TEST(the_end_is_told_as_it_was)
{
        struct launch_end end = run_shell("exit 7");
        assert_false(end.signalled);
        assert_int_equal(end.status, 7);
        end = run_shell("kill -SEGV $$");
        assert_true(end.signalled);
        assert_int_equal(end.status, SIGSEGV);
}

/* Of the target and of a child. Each part has dozens of the kernel's ticks. */
TEST(cpu_time_is_told)
{
        const int64_t least_ns = 2000000;
        struct launch_end end =
            run_shell("sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'; "
                      "head -c 2000000000 /dev/zero >/dev/null");
        assert_int_equal(end.status, 0);
        assert_true(end.user_ns >= least_ns);
        assert_true(end.kernel_ns >= least_ns);
}

TEST(a_program_that_does_not_start_is_an_error)
{
        struct launch *launch = opened();
        struct diag diag = {""};
        char *argv[] = {"/nowhere/program", NULL};
        assert_ok(launch_prepare(launch, argv, environ, &diag));
        assert_true(launch_start(launch, &diag) < 0);
        assert_non_null(strstr(diag.text, "/nowhere/program: No such file"));
        launch_close(launch);
}

/* Until it is let go, the process exists and has executed nothing. */
TEST(the_program_waits_to_be_let_go)
{
        char *argv[] = {"/bin/sh", "-c", "exit 9", NULL};
        char path[64];
        char program[4096] = "", own[4096] = "";
        struct diag diag = {""};
        struct launch *launch = opened();
        assert_int_equal(launch_pid(launch), 0);
        assert_ok(launch_prepare(launch, argv, environ, &diag));
        pid_t pid = launch_pid(launch);
        snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
        assert_true(readlink(path, program, sizeof(program) - 1) > 0);
        assert_true(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
        assert_string_equal(program, own);
        assert_ok(launch_start(launch, &diag));
        assert_int_equal(wait_for_end(launch).status, 9);
        launch_close(launch);

        launch = opened();
        assert_ok(launch_prepare(launch, argv, environ, &diag));
        pid = launch_pid(launch);
        launch_close(launch);
        assert_int_equal(kill(pid, 0), -1); /* it is not there any more */
}

TEST(a_signal_before_the_start_keeps_the_target_from_starting)
{
        struct launch *launch = opened();
        char *argv[] = {"/bin/sh", "-c", ">started", NULL};
        struct diag diag = {""};
        raise(SIGTERM);
        assert_ok(launch_prepare(launch, argv, environ, &diag));
        assert_int_equal(launch_start(launch, &diag), -EINTR);
        assert_int_equal(launch_early_signal(launch), SIGTERM);
        assert_non_null(strstr(diag.text, "SIGTERM"));
        launch_close(launch); /* which does not end this program by that signal */
        assert_int_equal(access("started", F_OK), -1);
}

/* The output of SCRIPT, run as a plain child or as a target. */
static const char *output_of(const char *script, bool as_target)
{
        static char text[2][512];
        char command[512];
        snprintf(command, sizeof(command), "{ %s; } >output", script);
        if (as_target) {
                assert_int_equal(run_shell(command).status, 0);
        } else {
                pid_t pid = fork();
                if (pid == 0) {
                        execl("/bin/sh", "/bin/sh", "-c", command, (char *)NULL);
                        _exit(127);
                }
                int status;
                assert_int_equal(waitpid(pid, &status, 0), pid);
                assert_int_equal(status, 0);
        }
        FILE *file = fopen("output", "r");
        assert_non_null(file);
        text[as_target][fread(text[as_target], 1, sizeof(text[0]) - 1, file)] = '\0';
        fclose(file);
        unlink("output");
        return text[as_target];
}

TEST(mask_and_dispositions_are_those_that_memlag_had)
{
        static const char script[] = "grep -E '^Sig(Blk|Ign)' /proc/self/status";
        sigset_t mask;
        sigemptyset(&mask);
        sigaddset(&mask, SIGUSR2);
        sigprocmask(SIG_BLOCK, &mask, NULL);
        signal(SIGHUP, SIG_IGN);
        const char *alone = output_of(script, false);
        const char *launched = output_of(script, true);
        signal(SIGHUP, SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &mask, NULL);
        assert_non_null(strstr(alone, "SigIgn:\t0000000000000001"));
        assert_string_equal(launched, alone);
}

TEST(memlag_has_its_signals_back_at_the_end)
{
        struct sigaction action;
        sigset_t mask;
        run_shell("exit 0");
        sigprocmask(SIG_BLOCK, NULL, &mask);
        assert_false(sigismember(&mask, SIGINT));
        sigaction(SIGPIPE, NULL, &action);
        assert_true(action.sa_handler == SIG_DFL);
}

/* Some programs ignore SIGCHLD: the kernel then keeps no status of their children. */
TEST(an_ignored_sigchld_is_the_targets_alone)
{
        char *argv[] = {"grep", "-q", "^SigIgn:.*[13579bdf]....$", "/proc/self/status",
                        NULL};
        struct diag diag;
        struct sigaction action;
        signal(SIGCHLD, SIG_IGN);
        struct launch *launch = opened();
        assert_ok(launch_prepare(launch, argv, environ, &diag));
        assert_ok(launch_start(launch, &diag));
        struct launch_end end = wait_for_end(launch);
        launch_close(launch);
        sigaction(SIGCHLD, NULL, &action);
        signal(SIGCHLD, SIG_DFL);
        assert_int_equal(end.status, 0);
        assert_true(action.sa_handler == SIG_IGN);
}

TEST(only_the_callers_descriptors_are_inherited)
{
        static const char script[] = "cd /proc/self/fd && echo *";
        int kept = fcntl(STDOUT_FILENO, F_DUPFD, 50);
        assert_int_equal(kept, 50);
        const char *alone = output_of(script, false);
        const char *launched = output_of(script, true);
        close(kept);
        assert_non_null(strstr(alone, " 50"));
        assert_string_equal(launched, alone);
}

/* Sends SIGNAL to this process from another one, as kill(1) does. */
static void signal_from_outside(int number)
{
        pid_t sender = fork();
        if (sender == 0)
                _exit(kill(getppid(), number) != 0);
        int status;
        assert_int_equal(waitpid(sender, &status, 0), sender);
        assert_int_equal(status, 0);
}

TEST(a_signal_to_memlag_reaches_the_target_once)
{
        int ready[2];
        assert_ok(pipe(ready));
        assert_int_equal(dup2(ready[1], 60), 60);
        close(ready[1]);
        struct launch *launch = opened();
        /* Counts SIGUSR1 until SIGTERM. */
        start_shell(launch, "n=0; trap 'n=$((n+1))' USR1; trap 'exit $n' TERM\n"
                            "echo >/proc/self/fd/60; while :; do sleep 0.05; done");
        close(60);
        char byte;
        assert_int_equal(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        signal_from_outside(SIGUSR1);
        struct pollfd signals = {.fd = launch_signal_fd(launch), .events = POLLIN};
        assert_int_equal(poll(&signals, 1, 60000), 1);
        launch_forward(launch);
        signal_from_outside(SIGTERM);
        assert_int_equal(poll(&signals, 1, 60000), 1);
        launch_forward(launch);
        struct launch_end end = wait_for_end(launch);
        launch_close(launch);
        assert_false(end.signalled);
        assert_int_equal(end.status, 1);
}

TEST(a_signal_of_the_target_to_its_group_is_not_sent_back)
{
        struct launch *launch = opened();
        /* The target signals its parent; one that came back would end it. */
        start_shell(launch, "kill -USR1 $PPID; sleep 0.2; exit 3");
        struct pollfd signals = {.fd = launch_signal_fd(launch), .events = POLLIN};
        assert_int_equal(poll(&signals, 1, 60000), 1);
        launch_forward(launch);
        struct launch_end end = wait_for_end(launch);
        launch_close(launch);
        assert_false(end.signalled);
        assert_int_equal(end.status, 3);
}
