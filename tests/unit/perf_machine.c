/* SPDX-License-Identifier: MIT */
/* The findings of memlag doctor on machines that are not here: trees of files such as
 * their kernels show them, made by each test. */
#include "tree_test.h"

#include "machine_findings.h"

#define PMUS "/sys/bus/event_source/devices/"

static void put_cpu(const char *vendor, int family, int model, const char *flags)
{
        char text[512];
        snprintf(text, sizeof(text),
                 "processor\t: 0\nvendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: %d\n"
                 "model name\t: A CPU\nstepping\t: 8\nflags\t\t: fpu %s sse\n\n"
                 "processor\t: 1\nvendor_id\t: Other\n",
                 vendor, family, model, flags);
        put_file("/proc/cpuinfo", text);
}

static void put_rights(const char *capabilities, const char *paranoid)
{
        char text[256];
        snprintf(text, sizeof(text), "Name:\tmemlag\nCapEff:\t%s\nSeccomp:\t0\n",
                 capabilities);
        put_file("/proc/self/status", text);
        put_file("/proc/sys/kernel/perf_event_paranoid", paranoid);
        put_file("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
        put_file("/proc/sys/kernel/kptr_restrict", "1\n");
}

static void put_core_pmu(const char *pmu, const char *max_precise, bool aux)
{
        char path[256];
        snprintf(path, sizeof(path), PMUS "%s/type", pmu);
        put_file(path, "4\n");
        snprintf(path, sizeof(path), PMUS "%s/caps/max_precise", pmu);
        put_file(path, max_precise);
        snprintf(path, sizeof(path), PMUS "%s/events/mem-loads", pmu);
        put_file(path, "event=0xcd,umask=0x1,ldlat=3\n");
        snprintf(path, sizeof(path), PMUS "%s/format/ldlat", pmu);
        put_file(path, "config1:0-15\n");
        snprintf(path, sizeof(path), PMUS "%s/format/event", pmu);
        put_file(path, "config:0-7\n");
        snprintf(path, sizeof(path), PMUS "%s/format/umask", pmu);
        put_file(path, "config:8-15\n");
        snprintf(path, sizeof(path), PMUS "%s/events/mem-loads-aux", pmu);
        if (aux)
                put_file(path, "event=0x03,umask=0x82\n");
}

#define UNPRIVILEGED "0000000000000000"
#define PERFMON      "0000004000000000"

static size_t examine(const struct machine_trial *trial,
                      struct finding findings[FINDINGS_MAX])
{
        struct machine machine;
        machine_read(root, &machine);
        size_t count = machine_findings(&machine, trial, findings);
        machine_free(&machine);
        assert_true(count < FINDINGS_MAX);
        return count;
}

/* The NUMBERth finding about TOPIC, from 0; NULL when there are not so many. */
static const struct finding *about(const struct finding *findings, size_t count,
                                   const char *topic, size_t number)
{
        for (size_t i = 0; i < count; i++)
                if (strcmp(findings[i].topic, topic) == 0 && number-- == 0)
                        return &findings[i];
        return NULL;
}

static void check(const struct finding *finding, enum finding_status status,
                  const char *text, const char *remedy)
{
        assert_non_null(finding);
        assert_int_equal(finding->status, status);
        if (!strstr(finding->text, text) || !strstr(finding->remedy, remedy))
                fail_msg("'%s; %s' is not about '%s; %s'", finding->text, finding->remedy,
                         text, remedy);
}

static const struct machine_trial all_well = {.memlock_bytes = 8 << 20};

TEST(sapphire_rapids_server)
{
        struct finding f[FINDINGS_MAX];
        put_cpu("GenuineIntel", 6, 143, "pebs");
        put_core_pmu("cpu", "3\n", true);
        put_file(PMUS "uncore_imc_0/type", "20\n");
        put_file(PMUS "uncore_imc_1/type", "21\n");
        put_rights(PERFMON, "4\n");
        size_t count = examine(&all_well, f);
        check(about(f, count, "cpu", 0), FINDING_NOTE, "family 6 model 143 stepping 8",
              "");
        check(about(f, count, "virtual", 0), FINDING_NOTE, "no virtual machine", "");
        check(about(f, count, "pmu", 0), FINDING_OK, "'cpu'", "");
        check(about(f, count, "pebs", 0), FINDING_OK, "ldlat", "");
        check(about(f, count, "aux", 0), FINDING_NOTE, "mem-loads-aux", "");
        check(about(f, count, "ibs", 0), FINDING_NOTE, "only AMD", "");
        check(about(f, count, "imc", 0), FINDING_OK, "2 memory controller", "");
        check(about(f, count, "paranoid", 0), FINDING_OK, "is 4", "");
        check(about(f, count, "sim", 0), FINDING_OK, "preset sapphire-rapids", "");
}

/* Counters of the memory controllers need more than one's own programs do. */
TEST(rights_of_an_ordinary_user)
{
        struct finding f[FINDINGS_MAX];
        put_cpu("GenuineIntel", 6, 85, "");
        put_core_pmu("cpu", "3\n", false);
        put_file(PMUS "uncore_imc_0/type", "20\n");
        put_rights(UNPRIVILEGED, "2\n");
        size_t count = examine(&all_well, f);
        check(about(f, count, "paranoid", 0), FINDING_OK, "own programs", "");
        check(about(f, count, "perfmon", 0), FINDING_NOTE, "no CAP_PERFMON", "setcap");
        check(about(f, count, "imc", 0), FINDING_MISSING, "no right",
              "perf_event_paranoid=0");
        check(about(f, count, "mlock", 0), FINDING_NOTE, "516 KiB", "mlock_kb");
        check(about(f, count, "mlock", 0), FINDING_NOTE, "8192 KiB", "");
        assert_null(about(f, count, "aux", 0));

        put_rights(UNPRIVILEGED, "3\n"); /* Debian's own level */
        struct machine_trial refused = {.perf_event_error = EACCES};
        count = examine(&refused, f);
        check(about(f, count, "paranoid", 0), FINDING_MISSING, "root only",
              "perf_event_paranoid=2");
        check(about(f, count, "perf-event", 0), FINDING_MISSING, "Permission denied",
              "perf_event_paranoid=2");

        put_rights(UNPRIVILEGED, "-1\n");
        count = examine(&all_well, f);
        check(about(f, count, "imc", 0), FINDING_OK, "1 memory controller", "");
}

TEST(guest_without_precise_events)
{
        struct finding f[FINDINGS_MAX];
        put_cpu("GenuineIntel", 6, 106, "hypervisor");
        put_core_pmu("cpu", "0\n", false);
        put_rights(PERFMON, "2\n");
        size_t count = examine(&all_well, f);
        check(about(f, count, "virtual", 0), FINDING_NOTE, "a virtual machine", "");
        check(about(f, count, "pebs", 0), FINDING_MISSING, "max_precise is 0",
              "passes on PEBS");
        check(about(f, count, "imc", 0), FINDING_MISSING, "no counters", "bare metal");
}

TEST(hybrid_has_a_finding_for_each_core)
{
        struct finding f[FINDINGS_MAX];
        put_cpu("GenuineIntel", 6, 151, "");
        put_core_pmu("cpu_core", "3\n", true);
        put_core_pmu("cpu_atom", "3\n", false);
        put_rights(PERFMON, "2\n");
        size_t count = examine(&all_well, f);
        check(about(f, count, "pebs", 0), FINDING_OK, "'cpu_core'", "");
        check(about(f, count, "pebs", 1), FINDING_OK, "'cpu_atom'", "");
        check(about(f, count, "aux", 0), FINDING_NOTE, "'cpu_core'", "");
        assert_null(about(f, count, "aux", 1));
}

TEST(amd_with_and_without_ibs)
{
        struct finding f[FINDINGS_MAX];
        put_cpu("AuthenticAMD", 26, 2, "ibs");
        put_core_pmu("cpu", "0\n", false);
        put_rights(PERFMON, "2\n");
        size_t count = examine(&all_well, f);
        check(about(f, count, "ibs", 0), FINDING_MISSING, "the kernel has no PMU",
              "dmesg");
        check(about(f, count, "pebs", 0), FINDING_NOTE, "only Intel", "");
        put_file(PMUS "ibs_op/type", "11\n");
        put_file(PMUS "ibs_op/format/ldlat", "config1:0-11\n");
        count = examine(&all_well, f);
        check(about(f, count, "ibs", 0), FINDING_OK, "ldlat", "");
}

/* A flag is a whole word. */
TEST(amd_guest)
{
        struct finding f[FINDINGS_MAX];
        put_cpu("AuthenticAMD", 25, 17, "ibsx xibs hypervisor");
        put_rights(UNPRIVILEGED, "2\n");
        size_t count = examine(&all_well, f);
        check(about(f, count, "virtual", 0), FINDING_NOTE, "a virtual machine", "");
        check(about(f, count, "ibs", 0), FINDING_MISSING, "shows no IBS", "bare metal");
}

TEST(container_that_forbids_perf_events)
{
        struct finding f[FINDINGS_MAX];
        put_cpu("GenuineIntel", 6, 85, "");
        put_rights(UNPRIVILEGED, "2\n");
        put_file("/.dockerenv", "");
        put_file("/proc/self/status", "CapEff:\t0\nSeccomp:\t2\n");
        struct machine_trial trial = {.perf_event_error = EPERM,
                                      .sim_problem = "a part is missing",
                                      .debuginfod_urls = "https://example.org"};
        size_t count = examine(&trial, f);
        check(about(f, count, "perf-event", 0), FINDING_MISSING,
              "Operation not permitted", "--cap-add PERFMON");
        check(about(f, count, "container", 0), FINDING_NOTE, "in a container; system",
              "");
        check(about(f, count, "sim", 0), FINDING_MISSING, "a part is missing", "install");
        check(about(f, count, "debuginfod", 0), FINDING_NOTE, "are set", "--debuginfod");
}

TEST(nothing_is_told)
{
        struct finding f[FINDINGS_MAX];
        size_t count = examine(&all_well, f);
        check(about(f, count, "cpu", 0), FINDING_NOTE, "does not tell", "");
        check(about(f, count, "pmu", 0), FINDING_MISSING, "no core PMU", "--source sim");
        check(about(f, count, "paranoid", 0), FINDING_MISSING, "no perf events",
              "CONFIG_PERF_EVENTS");
        check(about(f, count, "imc", 0), FINDING_MISSING, "no counters", "");
        assert_null(about(f, count, "kptr", 0));
        assert_null(about(f, count, "mlock", 0));
}
