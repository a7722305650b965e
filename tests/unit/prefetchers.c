/* SPDX-License-Identifier: MIT */
/* The prefetchers are restored however the switching process ends; devices are files. */
#include <sys/resource.h>

#define TEST_SETUP make_devices
#include "directory.h"
#include "prefetchers.h"

enum { CPUS = 3, MSR = 0x1a4 };

static const int cpus[CPUS] = {0, 1, 5};
static const uint64_t before[CPUS] = {0, 2, 0x100};

static char format[96], state_file[96];
static struct prefetchers *prefetchers;
static struct diag diag;

static uint64_t value_of(int cpu)
{
        uint64_t value = ~UINT64_C(0);
        int fd = open(text_of("%d", cpu), O_RDONLY);
        assert_int_equal(pread(fd, &value, sizeof(value), MSR), sizeof(value));
        close(fd);
        return value;
}

static int make_devices(void **state)
{
        if (enter_directory(state) != 0)
                return -1;
        snprintf(format, sizeof(format), "%s/%%d", test_directory);
        snprintf(state_file, sizeof(state_file), "%s/state", test_directory);
        for (size_t i = 0; i < CPUS; i++) {
                int fd = open(text_of("%d", cpus[i]), O_RDWR | O_CREAT, 0600);
                assert_int_equal(pwrite(fd, &before[i], sizeof(before[i]), MSR),
                                 sizeof(before[i]));
                close(fd);
        }
        return 0;
}

static int switch_off(void)
{
        return prefetchers_off(format, state_file, cpus, CPUS, &prefetchers, &diag);
}

static int restore(void)
{
        return prefetchers_restore(prefetchers, &diag);
}

static int recover(void)
{
        return prefetchers_recover(format, state_file, &diag);
}

static void assert_restored(void)
{
        for (size_t i = 0; i < CPUS; i++)
                assert_int_equal(value_of(cpus[i]), before[i]);
        assert_int_equal(access(state_file, F_OK), -1);
}

static void assert_off(void)
{
        for (size_t i = 0; i < CPUS; i++)
                assert_int_equal(value_of(cpus[i]), before[i] | 15);
}

TEST(they_are_off_and_then_as_before)
{
        assert_ok(switch_off());
        assert_off();
        assert_int_equal(recover(), -EBUSY);
        assert_off();
        assert_ok(restore());
        assert_restored();
}

/* The guardian is a grandchild: only it and its parent hold a pipe, which shows its
 * end. */
TEST(a_killed_process_leaves_them_as_before)
{
        static const int signals[] = {SIGKILL, SIGINT, SIGTERM, SIGSEGV};
        for (size_t i = 0; i < LENGTH(signals); i++) {
                int ends[2];
                char byte;
                assert_ok(pipe(ends));
                pid_t pid = fork();
                if (pid == 0) {
                        signal(signals[i], SIG_DFL);
                        close(ends[0]);
                        if (switch_off() < 0 || value_of(1) != (before[1] | 15))
                                _exit(1);
                        raise(signals[i]);
                }
                close(ends[1]);
                int status;
                assert_int_equal(waitpid(pid, &status, 0), pid);
                assert_true(WIFSIGNALED(status));
                assert_int_equal(read(ends[0], &byte, 1), 0); /* the guardian has ended */
                close(ends[0]);
                assert_restored();
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
static pid_t switched_off_in_child(pid_t *guardian)
{
        int ends[2];
        char byte;
        assert_ok(pipe(ends));
        pid_t pid = fork();
        if (pid == 0) {
                if (switch_off() < 0 || write(ends[1], "x", 1) != 1)
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
        pid_t guardian, pid = switched_off_in_child(&guardian);
        if (guardian == 0) {
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
                skip_test("the kernel does not tell a process's children");
        }
        kill(guardian, SIGKILL);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_off();
        int restored;
        /* The guardian is another process's child, and may be about to end. */
        do
                restored = recover();
        while (restored == -EBUSY);
        assert_int_equal(restored, CPUS);
        assert_restored();
        assert_ok(recover());
}

TEST(a_killed_guardian_is_replaced)
{
        assert_ok(switch_off());
        pid_t guardian = guardian_of(getpid());
        if (guardian > 0)
                kill(guardian, SIGKILL);
        assert_ok(restore());
        assert_restored();
        if (guardian == 0)
                skip_test("the kernel does not tell a process's children");
}

/* The registers are new then. */
TEST(a_state_of_another_boot_is_not_used)
{
        write_text(state_file, "00000000-0000-0000-0000-000000000000\n0 7\n1 7\n");
        assert_ok(recover());
        assert_restored();
}

/* A state as this boot would have left it, with VALUES. */
static void put_state(const char *path, const char *values)
{
        char id[64];
        FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "r");
        assert_non_null(boot);
        assert_non_null(fgets(id, sizeof(id), boot));
        fclose(boot);
        write_text(path, text_of("%s%s", id, values));
}

TEST(a_state_sets_prefetchers_only)
{
        put_state(state_file, "1 18446744073709551608\n5 18446744073709551615\n");
        assert_int_equal(recover(), 2);
        assert_int_equal(value_of(1), 8);
        assert_int_equal(value_of(5), 0x10f);
}

/* Nobody reads or writes it, in either direction. */
static void assert_refused(int error)
{
        struct stat first, then;
        assert_ok(stat(state_file, &first));
        assert_int_equal(recover(), error);
        assert_non_null(strstr(diag.text, state_file));
        assert_int_equal(switch_off(), error);
        for (size_t i = 0; i < CPUS; i++)
                assert_int_equal(value_of(cpus[i]), before[i]);
        assert_ok(stat(state_file, &then));
        assert_int_equal(then.st_size, first.st_size);
}

TEST(a_state_that_is_a_link_is_refused)
{
        put_state("other", "0 7\n");
        assert_ok(symlink("other", state_file));
        assert_refused(-EPERM);
        unlink(state_file);
        assert_ok(link("other", state_file));
        assert_refused(-EPERM);
        unlink("other"); /* it was made by this user, and has one name now */
        assert_int_equal(recover(), 1);
        assert_int_equal(value_of(0), 7);
}

TEST(a_state_of_another_user_is_refused)
{
        if (geteuid() != 0)
                skip_test("only root can make another user's file");
        put_state(state_file, "0 7\n");
        assert_ok(chown(state_file, 65534, (gid_t)-1));
        assert_refused(-EPERM);
}

/* The lowest free file descriptor. */
static rlim_t free_descriptor(void)
{
        int fd = open("/", O_RDONLY);
        assert_true(fd >= 0);
        close(fd);
        return (rlim_t)fd;
}

/* The limit on open files is reached before the file with the boot's id. */
TEST(without_the_boots_id_nothing_is_set)
{
        struct rlimit whole, limit;
        assert_ok(getrlimit(RLIMIT_NOFILE, &whole));
        limit = whole;
        limit.rlim_cur = free_descriptor() + 1 + CPUS;
        assert_ok(setrlimit(RLIMIT_NOFILE, &limit));
        int off = switch_off();
        assert_ok(setrlimit(RLIMIT_NOFILE, &whole));
        assert_int_equal(off, -ENOENT);
        assert_non_null(strstr(diag.text, "boot"));
        assert_restored();

        put_state(state_file, "0 7\n");
        limit.rlim_cur = free_descriptor() + 1;
        assert_ok(setrlimit(RLIMIT_NOFILE, &limit));
        int recovered = recover();
        assert_ok(setrlimit(RLIMIT_NOFILE, &whole));
        assert_int_equal(recovered, -ENOENT);
        assert_non_null(strstr(diag.text, state_file));
        assert_int_equal(value_of(0), before[0]);
        assert_ok(access(state_file, F_OK));
}

/* Switches them off and back TIMES times, as soon as others let it. */
static int take_turns(int times)
{
        for (int done = 0; done < times;) {
                int rc = switch_off();
                if (rc == -EBUSY)
                        continue;
                if (rc < 0 || access(state_file, F_OK) != 0 || restore() < 0)
                        return 1;
                done++;
        }
        return 0;
}

/* Neither process takes the other's "off" for the original state. */
TEST(two_at_once_leave_them_as_before)
{
        int status;
        pid_t pid = fork();
        if (pid == 0)
                _exit(take_turns(100));
        int failed = take_turns(100);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        assert_int_equal(failed, 0);
        assert_restored();
}

TEST(what_is_missing_changes_nothing)
{
        const int more[] = {0, 1, 77};
        assert_int_equal(
            prefetchers_off(format, state_file, more, 3, &prefetchers, &diag), -ENOENT);
        assert_non_null(strstr(diag.text, "/77"));
        assert_restored();
}
