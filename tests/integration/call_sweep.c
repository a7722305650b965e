/* SPDX-License-Identifier: MIT */
/* call_sweep SECONDS PART PARTS: does each system call in part number PART of the table,
 * with good arguments and with bad ones in turn. Prints "CALL VARIANT RESULT". RESULT is
 * ok, the number of the error, waits (for longer than SECONDS) or the signal that ended
 * it. A child does the variants of a call one after the other. Works in an empty
 * directory as a user without rights, in namespaces. */

#include "calls.h"
#include "target.h"

enum { NUMBERS = 512, ARGUMENTS = 6, VARIANTS = 64, BUFFER_BYTES = 1 << 16, PAGE = 4096 };

/* Left out: calls that end the process or the system, reach beyond the namespaces, or
 * have another result each time. */
static const char left_out[] =
    " exit exit_group vfork fork clone rt_sigreturn restart_syscall "
    "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo ptrace "
    "setrlimit prlimit64 reboot kexec_load kexec_file_load swapon "
    "swapoff mount umount2 move_mount pivot_root acct sync syncfs "
    "init_module finit_module delete_module syslog iopl ioperm "
    "personality ";

enum { UNKNOWN = -1, RUNNING = -2 };

/* Shared with the child. */
static struct {
        int at;               /* the variant that runs */
        int result[VARIANTS]; /* errno, or of the enum above */
        char name[VARIANTS][24];
} * state;

static char *buffer; /* zeroed */
static char *page;   /* mapped, of an address range */
static int file;
static int limit; /* on open files: Valgrind's descriptors begin there */

static int is_left_out(const char *name)
{
        char word[64];
        snprintf(word, sizeof(word), " %s ", name);
        return strstr(left_out, word) != NULL;
}

static long good_value(char kind)
{
        switch (kind) {
        case 'f':
        case 'w':
                return file;
        case 'd':
                return AT_FDCWD;
        case 'p':
        case 't':
                return (long)"file";
        case 'm':
                return (long)buffer;
        case 'a':
                return (long)page;
        default:
                return 0;
        }
}

/* Bad value NUMBER, from 0 on, for an argument of KIND; 0: there are no more. */
static int bad_value(char kind, int number, long *value)
{
        static char path[4][64];
        const long descriptors[] = {-1, INT_MAX, limit, limit + 1, limit + 2, limit + 8};
        const long addresses[] = {0, 1, -4096, -1, LONG_MIN};
        const long numbers[] = {-1, INT_MIN, LONG_MAX, 12345678};
        if (strchr("fwd", kind) && number < 6)
                return *value = descriptors[number], 1;
        if (strchr("pt", kind) && number >= 5 && number < 9) {
                static const char *const forms[] = {"/proc/self/fd/%d",
                                                    "/proc/thread-self/fd/%d",
                                                    "/dev/fd/%d", "/proc/self/fdinfo/%d"};
                snprintf(path[number - 5], sizeof(path[0]), forms[number - 5], limit + 1);
                return *value = (long)path[number - 5], 1;
        }
        if (strchr("ptma", kind) && number < 5)
                return *value = addresses[number], 1;
        if (kind == '-' && number < 4)
                return *value = numbers[number], 1;
        return 0;
}

static void do_variant(int number, const char *name, const long *argument, int from)
{
        if (state->at >= VARIANTS)
                return;
        int here = state->at;
        if (here >= from) {
                snprintf(state->name[here], sizeof(state->name[0]), "%s", name);
                state->result[here] = RUNNING;
                long result = syscall(number, argument[0], argument[1], argument[2],
                                      argument[3], argument[4], argument[5]);
                state->result[here] = result == -1 ? errno : 0;
        }
        state->at = here + 1;
}

/* Does all variants from FROM on. */
static void do_variants(int number, const char *kinds, int from)
{
        long good[ARGUMENTS] = {0}, all[ARGUMENTS];
        int count = (int)strlen(kinds);
        state->at = 0;
        for (int i = 0; i < count; i++)
                good[i] = good_value(kinds[i]);
        do_variant(number, "good", good, from);
        for (int i = 0; i < ARGUMENTS; i++)
                all[i] = -1;
        do_variant(number, "all-1", all, from);
        do_variant(number, "all0", (long[ARGUMENTS]){0}, from);
        for (int i = 0; i < count; i++) {
                long bad[ARGUMENTS];
                memcpy(bad, good, sizeof(bad));
                for (int j = 0; bad_value(kinds[i], j, &bad[i]); j++) {
                        char name[24];
                        snprintf(name, sizeof(name), "%d%c%d", i + 1, kinds[i], j);
                        do_variant(number, name, bad, from);
                }
        }
}

/* Memory with nothing mapped behind it. */
static char *between_holes(size_t bytes)
{
        char *start = mmap(NULL, bytes + 2 * PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(start, PAGE);
        munmap(start + PAGE + bytes, PAGE);
        return start + PAGE;
}

static void prepare(void)
{
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        unlink("file");
        file = open("file", O_RDWR | O_CREAT, 0600);
        buffer = between_holes(BUFFER_BYTES);
        page = between_holes(PAGE);
        int nowhere = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
                dup2(nowhere, fd);
}

/* Waits for the child; ends it when no variant ends for SECONDS. Returns its status. */
static int wait_for(pid_t child, int seconds)
{
        const struct timespec patience = {.tv_sec = seconds};
        sigset_t child_ends;
        sigemptyset(&child_ends);
        sigaddset(&child_ends, SIGCHLD);
        int status, seen = -1;
        while (waitpid(child, &status, WNOHANG) == 0) {
                int at = __atomic_load_n(&state->at, __ATOMIC_SEQ_CST);
                if (sigtimedwait(&child_ends, NULL, &patience) < 0 && errno == EAGAIN &&
                    at == seen)
                        kill(child, SIGKILL);
                seen = at;
        }
        return status;
}

static void print(const char *name, int variant, unsigned flags, int status)
{
        int result = state->result[variant];
        printf("%s%s %s ", flags & REFUSED ? "refused:" : "", name, state->name[variant]);
        if (result > 0)
                printf("%s\n", strerrorname_np(result));
        else if (result == 0)
                printf("ok\n");
        else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
                printf("waits\n");
        else
                printf("ends %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void sweep(int number, const struct call_info *call, int seconds)
{
        int from = 0, to, last;
        do {
                for (int i = from; i < VARIANTS; i++)
                        state->result[i] = UNKNOWN;
                pid_t child = fork();
                if (child == 0) {
                        prepare();
                        do_variants(number, call->arguments, from);
                        _exit(0);
                }
                int status = wait_for(child, seconds);
                for (to = from; to < VARIANTS && state->result[to] != UNKNOWN; to++)
                        print(call->name, to, call->flags, status);
                last = to > from && state->result[to - 1] == RUNNING;
                from = to;
        } while (last && from < VARIANTS);
        fflush(stdout);
}

int main(int argc, char **argv)
{
        struct rlimit files;
        sigset_t child_ends;
        if (argc != 4 || getrlimit(RLIMIT_NOFILE, &files) != 0)
                return 2;
        limit = (int)files.rlim_cur;
        sigemptyset(&child_ends);
        sigaddset(&child_ends, SIGCHLD);
        sigprocmask(SIG_BLOCK, &child_ends, NULL);
        state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        for (int number = 0; number < NUMBERS; number++) {
                const struct call_info *call = call_info((unsigned long)number);
                if (call && !is_left_out(call->name) &&
                    number % atoi(argv[3]) == atoi(argv[2]))
                        sweep(number, call, atoi(argv[1]));
        }
        return 0;
}
