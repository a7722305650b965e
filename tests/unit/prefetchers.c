/* SPDX-License-Identifier: MIT */
/* The prefetchers are restored however the process that switched them ends. The devices
 * are files: a read or write at the MSR's number, as at /dev/cpu/N/msr. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST_SETUP    make_devices
#define TEST_TEARDOWN remove_devices
#include "prefetchers.h"
#include "unit_test.h"

enum { CPUS = 3, MSR = 0x1a4 };

static const int cpus[CPUS] = {0, 1, 5};
static const uint64_t before[CPUS] = {0, 2, 0x100};

struct rig {
        char directory[64];
        char format[96];
        char state[96]; /* the file */
};

static uint64_t value_of(const struct rig *rig, int cpu)
{
        char path[128];
        uint64_t value = ~UINT64_C(0);
        snprintf(path, sizeof(path), rig->format, cpu);
        int fd = open(path, O_RDONLY);
        assert_int_equal(pread(fd, &value, sizeof(value), MSR), sizeof(value));
        close(fd);
        return value;
}

static int make_devices(void **state)
{
        struct rig *rig = calloc(1, sizeof(*rig));
        strcpy(rig->directory, "/tmp/memlag-msr-XXXXXX");
        assert_non_null(mkdtemp(rig->directory));
        snprintf(rig->format, sizeof(rig->format), "%s/%%d", rig->directory);
        snprintf(rig->state, sizeof(rig->state), "%s/state", rig->directory);
        for (size_t i = 0; i < CPUS; i++) {
                char path[128];
                snprintf(path, sizeof(path), rig->format, cpus[i]);
                int fd = open(path, O_RDWR | O_CREAT, 0600);
                assert_int_equal(pwrite(fd, &before[i], sizeof(before[i]), MSR),
                                 sizeof(before[i]));
                close(fd);
        }
        *state = rig;
        return 0;
}

static int remove_devices(void **state)
{
        struct rig *rig = *state;
        for (size_t i = 0; i < CPUS; i++) {
                char path[128];
                snprintf(path, sizeof(path), rig->format, cpus[i]);
                unlink(path);
        }
        unlink(rig->state);
        assert_int_equal(rmdir(rig->directory), 0);
        free(rig);
        return 0;
}

static void assert_restored(const struct rig *rig)
{
        for (size_t i = 0; i < CPUS; i++)
                assert_int_equal(value_of(rig, cpus[i]), before[i]);
        assert_int_equal(access(rig->state, F_OK), -1);
}

static void assert_off(const struct rig *rig)
{
        for (size_t i = 0; i < CPUS; i++)
                assert_int_equal(value_of(rig, cpus[i]), before[i] | 15);
}

TEST(they_are_off_and_then_as_before)
{
        struct rig *rig = *state;
        struct prefetchers *prefetchers;
        struct diag diag;
        assert_int_equal(
            prefetchers_off(rig->format, rig->state, cpus, CPUS, &prefetchers, &diag), 0);
        assert_off(rig);
        assert_int_equal(prefetchers_recover(rig->format, rig->state, &diag), -EBUSY);
        assert_off(rig);
        assert_int_equal(prefetchers_restore(prefetchers, &diag), 0);
        assert_restored(rig);
}

/* The guardian is this test's grandchild: its end is seen by a pipe that only it and its
 * parent hold. */
TEST(a_killed_process_leaves_them_as_before)
{
        static const int signals[] = {SIGKILL, SIGINT, SIGTERM, SIGSEGV};
        struct rig *rig = *state;
        for (size_t i = 0; i < LENGTH(signals); i++) {
                int ends[2];
                char byte;
                assert_int_equal(pipe(ends), 0);
                pid_t pid = fork();
                if (pid == 0) {
                        struct prefetchers *prefetchers;
                        struct diag diag;
                        signal(signals[i], SIG_DFL);
                        close(ends[0]);
                        if (prefetchers_off(rig->format, rig->state, cpus, CPUS,
                                            &prefetchers, &diag) < 0 ||
                            value_of(rig, 1) != (before[1] | 15))
                                _exit(1);
                        raise(signals[i]);
                }
                close(ends[1]);
                int status;
                assert_int_equal(waitpid(pid, &status, 0), pid);
                assert_true(WIFSIGNALED(status));
                assert_int_equal(read(ends[0], &byte, 1), 0); /* the guardian has ended */
                close(ends[0]);
                assert_restored(rig);
        }
}

/* The only child of PID, which must be a child of this process. */
static pid_t guardian_of(pid_t pid)
{
        char path[64];
        int guardian = 0;
        snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
        FILE *children = fopen(path, "r");
        if (children) {
                if (fscanf(children, "%d", &guardian) != 1)
                        guardian = 0;
                fclose(children);
        }
        return guardian;
}

/* A process that has switched them off and waits for its end; its guardian. */
static pid_t switched_off_in_child(const struct rig *rig, pid_t *guardian)
{
        int ends[2];
        char byte;
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        if (pid == 0) {
                struct prefetchers *prefetchers;
                struct diag diag;
                if (prefetchers_off(rig->format, rig->state, cpus, CPUS, &prefetchers,
                                    &diag) < 0 ||
                    write(ends[1], "x", 1) != 1)
                        _exit(1);
                for (;;)
                        pause();
        }
        close(ends[1]);
        assert_int_equal(read(ends[0], &byte, 1), 1);
        close(ends[0]);
        *guardian = guardian_of(pid);
        return pid;
}

TEST(killed_with_its_guardian_it_leaves_a_state)
{
        struct rig *rig = *state;
        struct diag diag;
        pid_t guardian, pid = switched_off_in_child(rig, &guardian);
        if (guardian == 0) {
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
                print_message("SKIPPED: the kernel does not tell a process's children\n");
                skip();
        }
        kill(guardian, SIGKILL);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_off(rig);
        int restored;
        /* The guardian is another's child, and may be about to end. */
        do
                restored = prefetchers_recover(rig->format, rig->state, &diag);
        while (restored == -EBUSY);
        assert_int_equal(restored, CPUS);
        assert_restored(rig);
        assert_int_equal(prefetchers_recover(rig->format, rig->state, &diag), 0);
}

TEST(a_killed_guardian_is_replaced)
{
        struct rig *rig = *state;
        struct prefetchers *prefetchers;
        struct diag diag;
        assert_int_equal(
            prefetchers_off(rig->format, rig->state, cpus, CPUS, &prefetchers, &diag), 0);
        pid_t guardian = guardian_of(getpid());
        if (guardian > 0)
                kill(guardian, SIGKILL);
        assert_int_equal(prefetchers_restore(prefetchers, &diag), 0);
        assert_restored(rig);
        if (guardian == 0) {
                print_message("SKIPPED: the kernel does not tell a process's children\n");
                skip();
        }
}

/* The registers are new then. */
TEST(a_state_of_another_boot_is_not_used)
{
        struct rig *rig = *state;
        struct diag diag;
        FILE *file = fopen(rig->state, "w");
        fputs("00000000-0000-0000-0000-000000000000\n0 7\n1 7\n", file);
        fclose(file);
        assert_int_equal(prefetchers_recover(rig->format, rig->state, &diag), 0);
        assert_restored(rig);
}

/* A state as this boot would have left it, with VALUES. */
static void put_state(const char *path, const char *values)
{
        char id[64];
        FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "r");
        assert_non_null(boot);
        assert_non_null(fgets(id, sizeof(id), boot));
        fclose(boot);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%s%s", id, values);
        fclose(file);
}

TEST(a_state_sets_prefetchers_only)
{
        struct rig *rig = *state;
        struct diag diag;
        put_state(rig->state, "1 18446744073709551608\n5 18446744073709551615\n");
        assert_int_equal(prefetchers_recover(rig->format, rig->state, &diag), 2);
        assert_int_equal(value_of(rig, 1), 8);
        assert_int_equal(value_of(rig, 5), 0x10f);
}

/* Nobody reads or writes it, in either direction. */
static void assert_refused(const struct rig *rig, int error)
{
        struct prefetchers *prefetchers;
        struct stat first, then;
        struct diag diag;
        assert_int_equal(stat(rig->state, &first), 0);
        assert_int_equal(prefetchers_recover(rig->format, rig->state, &diag), error);
        assert_non_null(strstr(diag.text, rig->state));
        assert_int_equal(
            prefetchers_off(rig->format, rig->state, cpus, CPUS, &prefetchers, &diag),
            error);
        for (size_t i = 0; i < CPUS; i++)
                assert_int_equal(value_of(rig, cpus[i]), before[i]);
        assert_int_equal(stat(rig->state, &then), 0);
        assert_int_equal(then.st_size, first.st_size);
}

TEST(a_state_that_is_a_link_is_refused)
{
        struct rig *rig = *state;
        struct diag diag;
        char other[128];
        snprintf(other, sizeof(other), "%s/other", rig->directory);
        put_state(other, "0 7\n");
        assert_int_equal(symlink(other, rig->state), 0);
        assert_refused(rig, -EPERM);
        unlink(rig->state);
        assert_int_equal(link(other, rig->state), 0);
        assert_refused(rig, -EPERM);
        unlink(other); /* it was made by this user, and has one name now */
        assert_int_equal(prefetchers_recover(rig->format, rig->state, &diag), 1);
        assert_int_equal(value_of(rig, 0), 7);
}

TEST(a_state_of_another_user_is_refused)
{
        struct rig *rig = *state;
        if (geteuid() != 0) {
                print_message("SKIPPED: only root can make another user's file\n");
                skip();
        }
        put_state(rig->state, "0 7\n");
        assert_int_equal(chown(rig->state, 65534, (gid_t)-1), 0);
        assert_refused(rig, -EPERM);
}

/* The least number that is no open file's. */
static rlim_t free_descriptor(void)
{
        int fd = open("/", O_RDONLY);
        assert_true(fd >= 0);
        close(fd);
        return (rlim_t)fd;
}

/* The files that may be open end before that with the boot's id. */
TEST(without_the_boots_id_nothing_is_set)
{
        struct rig *rig = *state;
        struct prefetchers *prefetchers;
        struct rlimit whole, limit;
        struct diag diag;
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &whole), 0);
        limit = whole;
        limit.rlim_cur = free_descriptor() + 1 + CPUS;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        int off =
            prefetchers_off(rig->format, rig->state, cpus, CPUS, &prefetchers, &diag);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &whole), 0);
        assert_int_equal(off, -ENOENT);
        assert_non_null(strstr(diag.text, "boot"));
        assert_restored(rig);

        put_state(rig->state, "0 7\n");
        limit.rlim_cur = free_descriptor() + 1;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        int recovered = prefetchers_recover(rig->format, rig->state, &diag);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &whole), 0);
        assert_int_equal(recovered, -ENOENT);
        assert_non_null(strstr(diag.text, rig->state));
        assert_int_equal(value_of(rig, 0), before[0]);
        assert_int_equal(access(rig->state, F_OK), 0);
}

/* Switches them off and back TIMES times, as soon as others let it. */
static int take_turns(const struct rig *rig, int times)
{
        for (int done = 0; done < times;) {
                struct prefetchers *prefetchers;
                struct diag diag;
                int rc = prefetchers_off(rig->format, rig->state, cpus, CPUS,
                                         &prefetchers, &diag);
                if (rc == -EBUSY)
                        continue;
                if (rc < 0 || access(rig->state, F_OK) != 0 ||
                    prefetchers_restore(prefetchers, &diag) < 0)
                        return 1;
                done++;
        }
        return 0;
}

/* Neither takes the other's "off" for what was before. */
TEST(two_at_once_leave_them_as_before)
{
        struct rig *rig = *state;
        int status;
        pid_t pid = fork();
        if (pid == 0)
                _exit(take_turns(rig, 100));
        int failed = take_turns(rig, 100);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        assert_int_equal(failed, 0);
        assert_restored(rig);
}

TEST(what_is_missing_changes_nothing)
{
        struct rig *rig = *state;
        struct prefetchers *prefetchers;
        struct diag diag;
        const int more[] = {0, 1, 77};
        assert_int_equal(
            prefetchers_off(rig->format, rig->state, more, 3, &prefetchers, &diag),
            -ENOENT);
        assert_non_null(strstr(diag.text, "/77"));
        assert_restored(rig);
}
