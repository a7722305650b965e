/* SPDX-License-Identifier: MIT */
/* The simulated CPU for a machine without a calibration. */
#include "sim_nearest.h"
#include "perf/facts/cpu_preset.h"
#include "tree_test.h"

/* CPUs that people have, as /proc/cpuinfo names their family and model. */
TEST(cpus_have_the_preset_of_their_microarchitecture)
{
        static const struct {
                const char *vendor;
                int family, model;
                const char *preset;
                bool same;
        } cpus[] = {
            {"GenuineIntel", 6, 60, "haswell", true},
            {"GenuineIntel", 6, 79, "broadwell-ep", true},
            {"GenuineIntel", 6, 158, "skylake", true},
            {"GenuineIntel", 6, 85, "skylake-sp", true},
            {"GenuineIntel", 6, 106, "icelake-sp", true},
            {"GenuineIntel", 6, 143, "sapphire-rapids", true},
            {"GenuineIntel", 6, 207, "emerald-rapids", true},
            {"GenuineIntel", 6, 173, "granite-rapids", true},
            {"GenuineIntel", 6, 151, "alderlake", true},
            {"GenuineIntel", 6, 170, "meteorlake", true},
            {"GenuineIntel", 6, 58, "haswell", false},    /* Ivy Bridge */
            {"GenuineIntel", 6, 122, "haswell", false},   /* Gemini Lake */
            {"GenuineIntel", 6, 190, "alderlake", false}, /* Alder Lake-N */
            {"GenuineIntel", 6, 9999, "granite-rapids", false},
            {"AuthenticAMD", 23, 1, "zen2", false}, /* Zen */
            {"AuthenticAMD", 23, 49, "zen2", true},
            {"AuthenticAMD", 25, 1, "zen3", true},
            {"AuthenticAMD", 25, 33, "zen3", true},
            {"AuthenticAMD", 25, 17, "zen4", true},
            {"AuthenticAMD", 25, 97, "zen4", true},
            {"AuthenticAMD", 26, 2, "zen5", true},
            {"AuthenticAMD", 27, 0, "zen5", false},
            {"HygonGenuine", 24, 1, "sapphire-rapids", false},
        };
        for (size_t i = 0; i < LENGTH(cpus); i++) {
                const char *unlike;
                assert_string_equal(
                    cpu_preset(cpus[i].vendor, cpus[i].family, cpus[i].model, &unlike),
                    cpus[i].preset);
                assert_int_equal(!unlike, cpus[i].same);
        }
}

static void put_cache(int index, const char *level, const char *size, const char *ways)
{
        const struct {
                const char *file, *text;
        } files[] = {
            {"level", level},
            {"type", "Unified\n"},
            {"size", size},
            {"ways_of_associativity", ways},
        };
        for (size_t i = 0; i < LENGTH(files); i++) {
                char path[128];
                snprintf(path, sizeof(path),
                         "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index,
                         files[i].file);
                put_file(path, files[i].text);
        }
}

static struct sim_preset zen4(void)
{
        struct sim_preset preset;
        struct diag diag;
        assert_ok(sim_preset_build(PRESETS "/zen4.conf", NULL, &preset, &diag));
        return preset;
}

/* A core complex has no L3 of 256 MiB, but may have 96; Intel's sizes stay as
 * reported. */
TEST(an_l3_is_no_larger_than_a_core_complex_has)
{
        static const struct {
                const char *vendor, *size;
                double bytes;
        } machines[] = {
            {"AuthenticAMD", "262144K\n", 32 << 20},
            {"AuthenticAMD", "98304K\n", 96 << 20},
            {"AuthenticAMD", "16384K\n", 16 << 20},
            {"GenuineIntel", "262144K\n", 256 << 20},
        };
        for (size_t i = 0; i < LENGTH(machines); i++) {
                struct sim_preset preset = zen4();
                char cpuinfo[128];
                snprintf(cpuinfo, sizeof(cpuinfo),
                         "processor : 0\nvendor_id : %s\ncpu family : 25\nmodel : 17\n",
                         machines[i].vendor);
                put_file("/proc/cpuinfo", cpuinfo);
                put_cache(2, "3\n", machines[i].size, "16\n");
                put_cache(0, "1\n", "32K\n", "8\n");
                put_cache(1, "2\n", "1024K\n", "8\n");
                sim_nearest_fit(root, &preset);
                assert_true(preset.params.l3_bytes == machines[i].bytes);
        }
}

/* A guest with 2 of 8 cores has a quarter of their L3, or less if the system says so. */
TEST(an_l3_is_shared_with_other_virtual_machines)
{
        static const struct {
                const char *flags, *cores, *size;
                double mib;
        } machines[] = {
            {"flags : hypervisor\n", "0-1\n", "32768K\n", 8},
            {"flags : hypervisor\n", "0-1\n", "4096K\n", 4},
            {"flags : hypervisor\n", "0-7\n", "32768K\n", 32},
            {"flags : fpu\n", "0-1\n", "32768K\n", 32},
            /* An eighth is 4 MiB, and L2 has 1. */
            {"flags : hypervisor\n", "0\n", "32768K\n", 4},
        };
        for (size_t i = 0; i < LENGTH(machines); i++) {
                struct sim_preset preset = zen4();
                put_file("/proc/cpuinfo", machines[i].flags);
                put_file("/sys/devices/system/cpu/online", machines[i].cores);
                put_cache(0, "1\n", "32K\n", "8\n");
                put_cache(1, "2\n", "1024K\n", "8\n");
                put_cache(2, "3\n", machines[i].size, "16\n");
                sim_nearest_fit(root, &preset);
                assert_true(preset.params.l3_bytes == machines[i].mib * (1 << 20));
        }
}

/* The walks of a guest go through the host's tables too. */
TEST(walks_take_longer_in_a_virtual_machine)
{
        struct sim_preset native = zen4(), guest = zen4();
        sim_nearest_fit_walks(&(struct machine){.hypervisor = false}, &native);
        assert_true(native.params.page_walk_cycles == zen4().params.page_walk_cycles);
        sim_nearest_fit_walks(&(struct machine){.hypervisor = true}, &guest);
        assert_true(guest.params.page_walk_cycles > 2 * native.params.page_walk_cycles);
        assert_true(guest.params.huge_walk_cycles < guest.params.page_walk_cycles);
}

TEST(the_system_tells_caches_cores_and_clock)
{
        struct sim_preset preset = zen4();
        put_cache(0, "1\n", "48K\n", "12\n");
        put_cache(1, "2\n", "2048K\n", "16\n");
        put_cache(2, "3\n", "65536K\n", "16\n");
        put_file("/sys/devices/system/cpu/online", "0-15\n");
        put_file("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,8\n");
        put_file("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "3000000\n");
        put_file("/sys/devices/system/node/online", "0-1\n");
        sim_nearest_fit(root, &preset);
        assert_true(preset.fitted);
        assert_true(preset.params.l1d_bytes == 48 << 10);
        assert_true(preset.params.l1d_ways == 12);
        assert_true(preset.params.l2_bytes == 2 << 20);
        assert_true(preset.params.l2_ways == 16);
        assert_true(preset.params.l3_bytes == 64 << 20);
        assert_true(preset.params.nodes == 2);
        assert_true(preset.params.cores == 4); /* of each node */
        assert_true(preset.params.clock_mhz == 3000);
}

/* A hypervisor may report an L3 that is smaller than L2, or nothing at all. */
TEST(what_does_not_fit_stays_as_the_preset_has_it)
{
        const struct sim_preset before = zen4();
        struct sim_preset preset = before;
        sim_nearest_fit(root, &preset);
        assert_memory_equal(&preset.params, &before.params, sizeof(before.params));
        put_cache(0, "1\n", "48K\n", "12\n");
        put_cache(1, "2\n", "2048K\n", "16\n");
        put_cache(2, "3\n", "1024K\n", "16\n");
        sim_nearest_fit(root, &preset);
        assert_memory_equal(&preset.params, &before.params, sizeof(before.params));
}
