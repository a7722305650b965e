/* SPDX-License-Identifier: MIT */
/* Limits of a calibration on other machines: their kernels' files. */
#include "tree_test.h"

#include "cgroup.h"
#include "interference.h"

#define MOUNT_V1(controllers)                                                            \
        "32 31 0:29 / /sys/fs/cgroup/" controllers                                       \
        " rw,relatime - cgroup cgroup rw," controllers "\n"
#define MOUNT_V2 "41 31 0:38 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"

TEST(version_2_limits_are_the_least_of_all_levels)
{
        put_file("/proc/self/cgroup", "0::/user.slice/build.service\n");
        put_file("/proc/self/mountinfo", MOUNT_V2);
        put_file("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n");
        put_file("/sys/fs/cgroup/user.slice/build.service/cpu.max", "max 100000\n");
        put_file("/sys/fs/cgroup/user.slice/memory.max", "1000000\n");
        put_file("/sys/fs/cgroup/user.slice/memory.current", "900000\n");
        put_file("/sys/fs/cgroup/user.slice/build.service/memory.max", "600000\n");
        put_file("/sys/fs/cgroup/user.slice/build.service/memory.current", "400000\n");
        assert_true(cgroup_cpus(root) == 1.5);
        assert_int_equal(cgroup_memory_bytes(root), 100000);
}

TEST(version_1_has_a_hierarchy_for_each_controller)
{
        put_file("/proc/self/cgroup", "11:memory:/jobs/seven\n4:cpu,cpuacct:/slow\n"
                                      "1:name=systemd:/elsewhere\n0::/elsewhere\n");
        put_file("/proc/self/mountinfo",
                 MOUNT_V1("cpu,cpuacct") MOUNT_V1("memory") MOUNT_V2);
        put_file("/sys/fs/cgroup/cpu,cpuacct/slow/cpu.cfs_quota_us", "50000\n");
        put_file("/sys/fs/cgroup/cpu,cpuacct/slow/cpu.cfs_period_us", "200000\n");
        put_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
        put_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
        put_file("/sys/fs/cgroup/memory/jobs/seven/memory.limit_in_bytes",
                 "9223372036854771712\n");
        put_file("/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "5000\n");
        put_file("/sys/fs/cgroup/memory/jobs/memory.usage_in_bytes", "6000\n");
        assert_true(cgroup_cpus(root) == 0.25);
        assert_int_equal(cgroup_memory_bytes(root), 0);
}

/* Names as in the kernel's cgroup-v2.rst and cgroup-v1/memory.rst. Both count shared
 * memory as "file" or "cache", which cannot be given up. */
TEST(cached_files_are_no_limit)
{
        put_file("/proc/self/cgroup", "0::/\n");
        put_file("/proc/self/mountinfo", MOUNT_V2);
        put_file("/sys/fs/cgroup/memory.max", "1000000\n");
        put_file("/sys/fs/cgroup/memory.current", "990000\n");
        put_file("/sys/fs/cgroup/memory.stat",
                 "anon 100000\nfile 890000\nshmem 40000\n"
                 "inactive_anon 50000\nactive_anon 50000\n"
                 "inactive_file 800000\nactive_file 50000\n");
        assert_int_equal(cgroup_memory_bytes(root), 1000000 - 140000);
        put_file("/sys/fs/cgroup/memory.current",
                 "840000\n"); /* the two are read one after */
        assert_int_equal(cgroup_memory_bytes(root), 1000000);
}

TEST(cached_files_of_groups_below_are_no_limit)
{
        put_file("/proc/self/cgroup", "11:memory:/\n");
        put_file("/proc/self/mountinfo", MOUNT_V1("memory"));
        put_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n");
        put_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "990000\n");
        put_file("/sys/fs/cgroup/memory/memory.stat",
                 "cache 10000\ninactive_file 8000\nactive_file 2000\n"
                 "total_cache 890000\ntotal_inactive_file 800000\n"
                 "total_active_file 50000\ntotal_unevictable 0\n");
        assert_int_equal(cgroup_memory_bytes(root), 1000000 - 140000);
}

/* The container's group is the mounted one; its path on the host does not matter. */
TEST(a_container_sees_its_own_group)
{
        put_file("/proc/self/cgroup", "4:cpu:/docker/1a2b/inner\n");
        put_file("/proc/self/mountinfo",
                 "32 31 0:29 /docker/1a2b /sys/fs/cgroup/cpu ro - "
                 "cgroup cgroup rw,cpu\n");
        put_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
        put_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        assert_true(cgroup_cpus(root) == 3);
        assert_true(cgroup_memory_bytes(root) == UINT64_MAX);
}

TEST(without_groups_there_is_no_limit)
{
        assert_true(isnan(cgroup_cpus(root)));
        assert_true(cgroup_memory_bytes(root) == UINT64_MAX);
        put_file("/proc/self/cgroup", "0::/\n");
        put_file("/proc/self/mountinfo", MOUNT_V2);
        put_file("/sys/fs/cgroup/memory.max", "max\n");
        assert_true(isnan(cgroup_cpus(root)));
        assert_true(cgroup_memory_bytes(root) == UINT64_MAX);
}

/* ---- who uses the machine ---- */

static struct machine_time time_of(const char *stat, const int *ours, size_t count)
{
        struct machine_time time;
        FILE *file = fmemopen((void *)(uintptr_t)stat, strlen(stat), "r");
        assert_non_null(file);
        machine_time_parse(file, ours, count, &time);
        fclose(file);
        return time;
}

/* user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user. */
TEST(time_is_told_by_cpu)
{
        const char stat[] = "cpu  99 99 99 99 99 99 99 99 0 0\n"
                            "cpu0 1 2 4 1000 1000 8 16 32 1 0\n"
                            "cpu1 100 0 0 500 0 0 0 64 0 0\n"
                            "cpu12 1000 0 0 0 0 0 0 0 0 0\n"
                            "intr 1 2 3\n";
        const int ours[] = {0, 12};
        struct machine_time time = time_of(stat, ours, 2);
        assert_int_equal(time.cpus, 3);
        assert_int_equal(time.used, 31 + 100 + 1000);
        assert_int_equal(time.used_off, 100);
        assert_int_equal(time.stolen, 96);
        /* Before Linux 2.6.11 there was no stolen time. */
        assert_int_equal(time_of("cpu0 1 2 3 4 5 6 7\n", ours, 1).used, 19);
}

TEST(others_at_work_are_seen)
{
        struct machine_time before = {.used = 500, .used_off = 100, .cpus = 2};
        struct machine_time after = before;
        after.used += 100; /* ours */
        assert_false(machine_was_shared(&before, &after, 1));
        after.used_off += 9; /* ticks of the 200 that two CPUs have */
        assert_false(machine_was_shared(&before, &after, 1));
        after.used_off += 2;
        assert_true(machine_was_shared(&before, &after, 1));
        after = before;
        after.stolen++;
        assert_true(machine_was_shared(&before, &after, 1));
}
