/* SPDX-License-Identifier: MIT */
/* hold_process fork|exec hold|kill NUMBER COMMAND [ARGUMENT...]: runs COMMAND, a memlag
 * that records under the simulated PMU. Catches a simulated process before its first
 * instruction, where no clock would: the child of the NUMBER-th fork, or the program of
 * the NUMBER-th exec. Holds it until COMMAND has ended, or kills it; then the file
 * "caught" exists. Ends with COMMAND's status, or with 77 where processes cannot be
 * traced. */
#include "target.h"

enum { NO_TRACING = 77 };

/* Whether PID runs the program NAME of memlag's. */
static bool runs(pid_t pid, const char *name)
{
        char link[64];
        char path[4096];
        snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
        ssize_t length = readlink(link, path, sizeof(path) - 1);
        path[length < 0 ? 0 : length] = '\0';
        const char *base = strrchr(path, '/');
        return base && strcmp(base + 1, name) == 0;
}

static pid_t start(char **command)
{
        pid_t pid = fork();
        if (pid == 0) {
                raise(SIGSTOP);
                execvp(command[0], command);
                _exit(127);
        }
        int status;
        if (pid < 0 || waitpid(pid, &status, WUNTRACED) != pid ||
            ptrace(PTRACE_SEIZE, pid, 0,
                   PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                       PTRACE_O_TRACEEXEC) != 0) {
                kill(pid, SIGKILL);
                exit(NO_TRACING);
        }
        kill(pid, SIGCONT);
        return pid;
}

/* A new process stops before its first instruction, its parent behind the fork, in any
 * order. The process continues after both stops. */
enum { PID_LIMIT = 1 << 22 };
static struct {
        bool stopped;
        bool told_of;
} seen[PID_LIMIT];

/* The child that PID has just made; 0: its event is something else. */
static pid_t child_of(pid_t pid, int event)
{
        unsigned long child = 0;
        if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
            event == PTRACE_EVENT_CLONE)
                ptrace(PTRACE_GETEVENTMSG, pid, 0, &child);
        return (pid_t)child;
}

static void go_on(pid_t pid, int status)
{
        int event = status >> 16;
        int number = WSTOPSIG(status);
        if (event == PTRACE_EVENT_STOP && number != SIGTRAP)
                ptrace(PTRACE_LISTEN, pid, 0, 0); /* stopped with its group */
        else
                ptrace(PTRACE_CONT, pid, 0, event ? 0 : number);
}

int main(int argc, char **argv)
{
        if (argc < 5)
                return 2;
        bool at_fork = strcmp(argv[1], "fork") == 0;
        bool kills = strcmp(argv[2], "kill") == 0;
        int number = atoi(argv[3]);
        pid_t first = start(argv + 4);
        pid_t caught = 0;
        int status;
        pid_t pid;
        seen[first].told_of = true;
        while ((pid = waitpid(-1, &status, __WALL)) > 0) {
                if (pid == first && !WIFSTOPPED(status))
                        break;
                if (!WIFSTOPPED(status))
                        continue;
                int event = status >> 16;
                pid_t child = child_of(pid, event);
                pid_t found = 0;
                if (at_fork && child && runs(pid, "memlag-amd64-linux"))
                        found = child;
                if (!at_fork && event == PTRACE_EVENT_EXEC && runs(pid, "simpmu-launch"))
                        found = pid;
                if (found && --number == 0) {
                        caught = found;
                        close(creat("caught", 0600));
                        if (kills)
                                kill(caught, SIGKILL);
                }
                if (child) {
                        seen[child].told_of = true;
                        if (seen[child].stopped && child != caught)
                                ptrace(PTRACE_CONT, child, 0, 0);
                }
                seen[pid].stopped = true;
                if (pid != caught && seen[pid].told_of)
                        go_on(pid, status);
        }
        if (!caught) {
                fprintf(stderr, "hold_process: it never came to that\n");
                return 2;
        }
        if (!kills)
                ptrace(PTRACE_DETACH, caught, 0, 0);
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
