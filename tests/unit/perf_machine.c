/* SPDX-License-Identifier: MIT */
/* The findings of memlag doctor on machines that are not here: trees of their files. */
#include "tree_test.h"

#include "machine_findings.h"

#define PMUS "/sys/bus/event_source/devices/"

static void put_cpu(const char *vendor, int family, int model, const char *flags)
{
        put_file(
            "/proc/cpuinfo",
            text_of("processor\t: 0\nvendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: %d\n"
                    "model name\t: A CPU\nstepping\t: 8\nflags\t\t: fpu %s sse\n\n"
                    "processor\t: 1\nvendor_id\t: Other\n",
                    vendor, family, model, flags));
}

static void put_rights(const char *capabilities, const char *paranoid)
{
        put_file("/proc/self/status",
                 text_of("Name:\tmemlag\nCapEff:\t%s\nSeccomp:\t0\n", capabilities));
        put_file("/proc/sys/kernel/perf_event_paranoid", paranoid);
        put_file("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
        put_file("/proc/sys/kernel/kptr_restrict", "1\n");
}

static void put_core_pmu(const char *pmu, const char *max_precise, bool aux)
{
        put_file(text_of(PMUS "%s/type", pmu), "4\n");
        put_file(text_of(PMUS "%s/caps/max_precise", pmu), max_precise);
        put_file(text_of(PMUS "%s/events/mem-loads", pmu),
                 "event=0xcd,umask=0x1,ldlat=3\n");
        put_file(text_of(PMUS "%s/format/ldlat", pmu), "config1:0-15\n");
        put_file(text_of(PMUS "%s/format/event", pmu), "config:0-7\n");
        put_file(text_of(PMUS "%s/format/umask", pmu), "config:8-15\n");
        if (aux)
                put_file(text_of(PMUS "%s/events/mem-loads-aux", pmu),
                         "event=0x03,umask=0x82\n");
}

#define UNPRIVILEGED "0000000000000000"
#define PERFMON      "0000004000000000"

static struct finding findings[FINDINGS_MAX];
static size_t count;

static void examine(const struct machine_trial *trial)
{
        struct machine machine;
        machine_read(root, &machine);
        count = machine_findings(&machine, trial, findings);
        machine_free(&machine);
        assert_true(count < FINDINGS_MAX);
}

/* The NUMBERth finding about TOPIC, from 0; NULL when there are not so many. */
static const struct finding *about(const char *topic, size_t number)
{
        for (size_t i = 0; i < count; i++)
                if (strcmp(findings[i].topic, topic) == 0 && number-- == 0)
                        return &findings[i];
        return NULL;
}

static void check_next(const char *topic, size_t number, enum finding_status status,
                       const char *text, const char *remedy)
{
        const struct finding *finding = about(topic, number);
        assert_non_null(finding);
        assert_int_equal(finding->status, status);
        if (!strstr(finding->text, text) || !strstr(finding->remedy, remedy))
                fail_msg("'%s; %s' is not about '%s; %s'", finding->text, finding->remedy,
                         text, remedy);
}

static void check(const char *topic, enum finding_status status, const char *text,
                  const char *remedy)
{
        check_next(topic, 0, status, text, remedy);
}

static const struct machine_trial all_well = {.memlock_bytes = 8 << 20};

TEST(sapphire_rapids_server)
{
        put_cpu("GenuineIntel", 6, 143, "pebs");
        put_core_pmu("cpu", "3\n", true);
        put_file(PMUS "uncore_imc_0/type", "20\n");
        put_file(PMUS "uncore_imc_1/type", "21\n");
        put_rights(PERFMON, "4\n");
        examine(&all_well);
        check("cpu", FINDING_NOTE, "family 6 model 143 stepping 8", "");
        check("virtual", FINDING_NOTE, "no virtual machine", "");
        check("pmu", FINDING_OK, "'cpu'", "");
        check("pebs", FINDING_OK, "ldlat", "");
        check("aux", FINDING_NOTE, "mem-loads-aux", "");
        check("ibs", FINDING_NOTE, "only AMD", "");
        check("imc", FINDING_OK, "2 memory controller", "");
        check("paranoid", FINDING_OK, "is 4", "");
        check("sim", FINDING_OK, "preset sapphire-rapids", "");
}

/* Counters of the memory controllers need more rights than one's own programs. */
TEST(rights_of_an_ordinary_user)
{
        put_cpu("GenuineIntel", 6, 85, "");
        put_core_pmu("cpu", "3\n", false);
        put_file(PMUS "uncore_imc_0/type", "20\n");
        put_rights(UNPRIVILEGED, "2\n");
        examine(&all_well);
        check("paranoid", FINDING_OK, "own programs", "");
        check("perfmon", FINDING_NOTE, "no CAP_PERFMON", "setcap");
        check("imc", FINDING_MISSING, "no right", "perf_event_paranoid=0");
        check("mlock", FINDING_NOTE, "516 KiB", "mlock_kb");
        check("mlock", FINDING_NOTE, "8192 KiB", "");
        assert_null(about("aux", 0));

        put_rights(UNPRIVILEGED, "3\n"); /* Debian's own level */
        struct machine_trial refused = {.perf_event_error = EACCES};
        examine(&refused);
        check("paranoid", FINDING_MISSING, "root only", "perf_event_paranoid=2");
        check("perf-event", FINDING_MISSING, "Permission denied",
              "perf_event_paranoid=2");

        put_rights(UNPRIVILEGED, "-1\n");
        examine(&all_well);
        check("imc", FINDING_OK, "1 memory controller", "");
}

TEST(guest_without_precise_events)
{
        put_cpu("GenuineIntel", 6, 106, "hypervisor");
        put_core_pmu("cpu", "0\n", false);
        put_rights(PERFMON, "2\n");
        examine(&all_well);
        check("virtual", FINDING_NOTE, "a virtual machine", "");
        check("pebs", FINDING_MISSING, "max_precise is 0", "passes on PEBS");
        check("imc", FINDING_MISSING, "no counters", "bare metal");
}

TEST(hybrid_has_a_finding_for_each_core)
{
        put_cpu("GenuineIntel", 6, 151, "");
        put_core_pmu("cpu_core", "3\n", true);
        put_core_pmu("cpu_atom", "3\n", false);
        put_rights(PERFMON, "2\n");
        examine(&all_well);
        check("pebs", FINDING_OK, "'cpu_core'", "");
        check_next("pebs", 1, FINDING_OK, "'cpu_atom'", "");
        check("aux", FINDING_NOTE, "'cpu_core'", "");
        assert_null(about("aux", 1));
}

TEST(amd_with_and_without_ibs)
{
        put_cpu("AuthenticAMD", 26, 2, "ibs");
        put_core_pmu("cpu", "0\n", false);
        put_rights(PERFMON, "2\n");
        examine(&all_well);
        check("ibs", FINDING_MISSING, "the kernel has no PMU", "dmesg");
        check("pebs", FINDING_NOTE, "only Intel", "");
        put_file(PMUS "ibs_op/type", "11\n");
        put_file(PMUS "ibs_op/format/ldlat", "config1:0-11\n");
        examine(&all_well);
        check("ibs", FINDING_OK, "ldlat", "");
}

/* A flag is a whole word. */
TEST(amd_guest)
{
        put_cpu("AuthenticAMD", 25, 17, "ibsx xibs hypervisor");
        put_rights(UNPRIVILEGED, "2\n");
        examine(&all_well);
        check("virtual", FINDING_NOTE, "a virtual machine", "");
        check("ibs", FINDING_MISSING, "shows no IBS", "bare metal");
}

TEST(container_that_forbids_perf_events)
{
        put_cpu("GenuineIntel", 6, 85, "");
        put_rights(UNPRIVILEGED, "2\n");
        put_file("/.dockerenv", "");
        put_file("/proc/self/status", "CapEff:\t0\nSeccomp:\t2\n");
        struct machine_trial trial = {.perf_event_error = EPERM,
                                      .sim_problem = "a part is missing",
                                      .debuginfod_urls = "https://example.org"};
        examine(&trial);
        check("perf-event", FINDING_MISSING, "Operation not permitted",
              "--cap-add PERFMON");
        check("container", FINDING_NOTE, "in a container; system", "");
        check("sim", FINDING_MISSING, "a part is missing", "install");
        check("debuginfod", FINDING_NOTE, "are set", "--debuginfod");
}

TEST(nothing_is_told)
{
        examine(&all_well);
        check("cpu", FINDING_NOTE, "does not tell", "");
        check("pmu", FINDING_MISSING, "no core PMU", "--source sim");
        check("paranoid", FINDING_MISSING, "no perf events", "CONFIG_PERF_EVENTS");
        check("imc", FINDING_MISSING, "no counters", "");
        assert_null(about("kptr", 0));
        assert_null(about("mlock", 0));
}
