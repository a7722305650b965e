/* SPDX-License-Identifier: MIT */
/* Plans for machines that are not here, from Haswell to Granite Rapids and of Zen: which
 * events, with which codes, in which groups. The codes are those of Intel's documents,
 * written here by hand. */
#define TEST_TEARDOWN free_plan
#include "plan_ibs.h"
#include "plan_pebs.h"
#include "unit_test.h"

/* ---- machines ---- */

#define LDLAT                                                                            \
        {                                                                                \
                true,                                                                    \
                {                                                                        \
                        .word = 1, .mask = 0xffff                                        \
                }                                                                        \
        }
#define ALIAS(...)                                                                       \
        {                                                                                \
                true,                                                                    \
                {                                                                        \
                        {                                                                \
                                __VA_ARGS__                                              \
                        }                                                                \
                }                                                                        \
        }

/* A server with one kind of core, whose kernel names the load latency event. */
static struct machine server(int model, int stepping)
{
        return (struct machine){
            .vendor = "GenuineIntel",
            .family = 6,
            .model = model,
            .stepping = stepping,
            .pmu_count = 1,
            .pmus = {{.name = "cpu",
                      .type = 4,
                      .max_precise = 3,
                      .mem_loads = ALIAS(0x1cd, 3),
                      .mem_stores = ALIAS(0x82d0),
                      .ldlat = LDLAT}},
        };
}

static struct machine sapphire_rapids(void)
{
        struct machine machine = server(143, 8);
        machine.pmus[0].mem_loads_aux = (struct machine_alias)ALIAS(0x8203);
        machine.pmus[0].mem_stores = (struct machine_alias)ALIAS(0x2cd);
        return machine;
}

static int p_cpus[] = {0, 1, 2, 3}, e_cpus[] = {4, 5, 6, 7};

static struct machine alder_lake(void)
{
        return (struct machine){
            .vendor = "GenuineIntel",
            .family = 6,
            .model = 151,
            .stepping = 2,
            .pmu_count = 2,
            .pmus = {{.name = "cpu_core",
                      .type = 4,
                      .max_precise = 3,
                      .mem_loads = ALIAS(0x1cd, 3),
                      .mem_loads_aux = ALIAS(0x8203),
                      .ldlat = LDLAT,
                      .cpus = p_cpus,
                      .cpu_count = 4},
                     {.name = "cpu_atom",
                      .type = 10,
                      .max_precise = 3,
                      .mem_loads = ALIAS(0x5d0, 3),
                      .ldlat = LDLAT,
                      .cpus = e_cpus,
                      .cpu_count = 4}},
        };
}

static const struct plan_options usual = {
    .period = 1000, .store_period = 50000, .ldlat_cycles = 30, .counters = true};
static const struct pebs_limits no_limits = {.precise_ip = 3, .weight_struct = true};

static struct plan plan;

static int free_plan(void **state)
{
        (void)state;
        plan_free(&plan);
        return 0;
}

static void make(const struct machine *machine, const struct plan_options *options,
                 const struct pebs_limits *limits)
{
        struct diag diag = {""};
        plan_free(&plan);
        int code = plan_pebs(machine, options, limits, &plan, &diag);
        if (code)
                fail_msg("%d: %s", code, diag.text);
}

static void check_refused(const struct machine *machine,
                          const struct plan_options *options, int code,
                          const char *reason)
{
        struct diag diag = {""};
        plan_free(&plan);
        assert_int_equal(plan_pebs(machine, options, &no_limits, &plan, &diag), code);
        if (!strstr(diag.text, reason))
                fail_msg("'%s' does not say '%s'", diag.text, reason);
}

/* GROUP holds exactly the events of the codes CONFIGS, which end with 0, in this order.
 */
static void check_group(const struct plan_group *group, const uint64_t *configs)
{
        size_t i;
        for (i = 0; i < group->count && configs[i]; i++)
                assert_int_equal(group->events[i].attr.config, configs[i]);
        assert_int_equal(i, group->count);
        assert_int_equal(configs[i], 0);
}

#define CHECK_GROUP(index, ...)                                                          \
        do {                                                                             \
                static const uint64_t configs[] = {__VA_ARGS__, 0};                      \
                assert_true((index) < plan.group_count);                                 \
                check_group(&plan.groups[index], configs);                               \
        } while (0)

/* ---- samples ---- */

#define SAMPLE_TYPE                                                                      \
        (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |        \
         PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_DATA_SRC)

TEST(loads_are_sampled_as_asked)
{
        struct machine machine = server(85, 4);
        struct plan_options options = usual;
        make(&machine, &options, &no_limits);
        const struct plan_event *loads = &plan.groups[0].events[0];
        assert_int_equal(loads->use, PLAN_LOADS);
        assert_int_equal(loads->attr.type, 4);
        assert_int_equal(loads->attr.config, 0x1cd);
        assert_int_equal(loads->attr.config1, 30); /* not 3 | 30 */
        assert_int_equal(loads->attr.precise_ip, 3);
        assert_int_equal(loads->attr.freq, 0);
        assert_int_equal(loads->attr.sample_period, 1000);
        assert_int_equal(loads->attr.sample_type,
                         SAMPLE_TYPE | PERF_SAMPLE_WEIGHT_STRUCT);
        assert_int_equal(loads->attr.exclude_kernel, 1);
        assert_int_equal(loads->attr.exclude_user, 0);
        assert_null(plan_large_pebs_obstacle(&loads->attr));

        struct pebs_limits old_kernel = {.precise_ip = 2};
        make(&machine, &options, &old_kernel);
        loads = &plan.groups[0].events[0];
        assert_int_equal(loads->attr.sample_type, SAMPLE_TYPE | PERF_SAMPLE_WEIGHT);
        assert_int_equal(loads->attr.precise_ip, 2);

        machine.pmus[0].max_precise = 1;
        make(&machine, &options, &no_limits);
        assert_int_equal(plan.groups[0].events[0].attr.precise_ip, 1);
        machine.pmus[0].max_precise = MACHINE_UNKNOWN;
        make(&machine, &options, &no_limits);
        assert_int_equal(plan.groups[0].events[0].attr.precise_ip, 3);
}

TEST(what_is_asked_for_is_in_the_samples)
{
        struct machine machine = server(85, 4);
        struct plan_options options = usual;
        options.phys_addr = options.data_page_size = true;
        options.stack = PLAN_STACK_FRAME_POINTERS;
        make(&machine, &options, &no_limits);
        const struct perf_event_attr *attr = &plan.groups[0].events[0].attr;
        assert_int_equal(attr->sample_type,
                         SAMPLE_TYPE | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_PHYS_ADDR |
                             PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CALLCHAIN);
        assert_non_null(strstr(plan_large_pebs_obstacle(attr), "call stack"));

        options = usual;
        options.stack = PLAN_STACK_COPY;
        options.stack_bytes = 8192;
        make(&machine, &options, &no_limits);
        attr = &plan.groups[0].events[0].attr;
        assert_int_equal(attr->sample_type, SAMPLE_TYPE | PERF_SAMPLE_WEIGHT_STRUCT |
                                                PERF_SAMPLE_REGS_USER |
                                                PERF_SAMPLE_STACK_USER);
        assert_int_equal(attr->sample_stack_user, 8192);
        assert_int_equal(attr->sample_regs_user, 0xff03ff);

        /* Never a stack of no bytes: the kernel misplaces the fields of such samples. */
        options.stack_bytes = 0;
        make(&machine, &options, &no_limits);
        assert_int_equal(plan.groups[0].events[0].attr.sample_type &
                             (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER),
                         0);

        options = usual;
        options.period = 0;
        options.frequency_hz = 4000;
        make(&machine, &options, &no_limits);
        attr = &plan.groups[0].events[0].attr;
        assert_int_equal(attr->freq, 1);
        assert_int_equal(attr->sample_freq, 4000);
        assert_non_null(strstr(plan_large_pebs_obstacle(attr), "frequency"));
}

/* Sapphire Rapids: the auxiliary event leads, and only counts. */
TEST(auxiliary_event_leads)
{
        struct machine machine = sapphire_rapids();
        make(&machine, &usual, &no_limits);
        CHECK_GROUP(0, 0x8203, 0x1cd);
        assert_int_equal(plan.groups[0].events[0].use, PLAN_AUXILIARY);
        assert_int_equal(plan.groups[0].events[0].attr.sample_period, 0);
        assert_int_equal(plan.groups[0].events[1].use, PLAN_LOADS);

        /* Without the kernel's names the rule is the table's ... */
        machine.pmus[0].mem_loads.known = machine.pmus[0].mem_loads_aux.known = false;
        make(&machine, &usual, &no_limits);
        CHECK_GROUP(0, 0x8203, 0x1cd);
        assert_int_equal(plan.groups[0].events[1].attr.config1, 30);
        /* ... and Granite Rapids has none. */
        machine.model = 173;
        make(&machine, &usual, &no_limits);
        CHECK_GROUP(0, 0x1cd);
}

/* The kernel's name first, then libpfm4, then the table. */
TEST(order_of_sources)
{
        struct machine machine = server(63, 2);
        machine.pmus[0].mem_loads = (struct machine_alias)ALIAS(0xa, 3);
        machine.pmus[0].pfm_loads = (struct machine_alias)ALIAS(0xb, 3);
        make(&machine, &usual, &no_limits);
        assert_int_equal(plan.groups[0].events[0].attr.config, 0xa);
        machine.pmus[0].mem_loads.known = false;
        make(&machine, &usual, &no_limits);
        assert_int_equal(plan.groups[0].events[0].attr.config, 0xb);
        assert_int_equal(plan.groups[0].events[0].attr.config1, 30);
        machine.pmus[0].pfm_loads.known = false;
        make(&machine, &usual, &no_limits);
        assert_int_equal(plan.groups[0].events[0].attr.config, 0x1cd);
        assert_int_equal(plan.groups[0].events[0].attr.config1, 30);
}

TEST(stores)
{
        struct machine machine = server(85, 4);
        struct plan_options options = usual;
        options.stores = true;
        options.counters = false;
        make(&machine, &options, &no_limits);
        assert_int_equal(plan.group_count, 2);
        CHECK_GROUP(0, 0x1cd);
        CHECK_GROUP(1, 0x82d0);
        assert_int_equal(plan.groups[1].events[0].use, PLAN_STORES);
        assert_int_equal(plan.groups[1].events[0].attr.config1, 0); /* no threshold */
        assert_int_equal(plan.groups[0].events[0].attr.sample_period, 1000);
        assert_int_equal(plan.groups[1].events[0].attr.sample_period, 50000);
        assert_int_equal(plan.groups[1].events[0].attr.precise_ip, 3);

        machine = sapphire_rapids();
        machine.pmus[0].mem_stores.known = false;
        make(&machine, &options, &no_limits);
        CHECK_GROUP(1, 0x2cd); /* not libpfm4's 0x3cd */

        machine = server(1, 0);
        machine.pmus[0].mem_stores.known = false;
        check_refused(&machine, &options, -ENODEV, "--stores");
}

/* ---- counters by generation ---- */

/* Four counters with hyper-threads on: load latency has one of them (3), LMRL the rest.
 */
TEST(haswell)
{
        struct machine machine = server(63, 2);
        make(&machine, &usual, &no_limits);
        assert_int_equal(plan.group_count, 4);
        CHECK_GROUP(0, 0x1cd);
        CHECK_GROUP(1, 0x148, 0x8d1, 0x40d1, 0x3c, 0xc0);
        CHECK_GROUP(2, 0x1000248, 0x1b2, 0x8a2, 0x3c, 0xc0);
        CHECK_GROUP(3, 0x40004a3, 0xc000ca3, 0x8a2, 0x3c, 0xc0);
        assert_true(plan.counters_rotate);
        assert_false(plan.samples_rotate);
        assert_int_equal(plan.groups[0].events[0].attr.pinned, 1);
        assert_int_equal(plan.groups[1].events[0].attr.pinned, 0);
        assert_string_equal(plan.groups[1].events[1].name,
                            "mem_load_uops_retired.l1_miss");
        assert_string_equal(plan.groups[1].events[0].unit, "cycles");
        assert_string_equal(plan.groups[1].events[1].unit, "events");
        assert_int_equal(plan.groups[1].events[0].attr.read_format,
                         PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                             PERF_FORMAT_TOTAL_TIME_RUNNING);
        /* Not worth taking turns, and no counter is left for them. */
        assert_int_equal(plan.left_out_count, 2);
        assert_string_equal(plan.left_out[0], "cycle_activity.stalls_l2_pending");
        assert_string_equal(plan.left_out[1], "mem_uops_retired.all_loads");
}

/* Eight counters with hyper-threads off. Two events know only counter 2. */
TEST(haswell_without_hyper_threads)
{
        struct machine machine = server(63, 2);
        machine.counters = 8;
        make(&machine, &usual, &no_limits);
        assert_int_equal(plan.group_count, 3);
        CHECK_GROUP(1, 0x148, 0x8d1, 0x40d1, 0x1000248, 0x1b2, 0x8a2, 0x3c, 0xc0);
        CHECK_GROUP(2, 0x40004a3, 0xc000ca3, 0x8a2, 0x50005a3, 0x3c, 0xc0);
        assert_int_equal(plan.left_out_count, 1);
}

TEST(skylake)
{
        struct machine machine = server(85, 4);
        make(&machine, &usual, &no_limits);
        assert_int_equal(plan.group_count, 4);
        CHECK_GROUP(1, 0x148, 0x8d1, 0x40d1, 0x3c, 0xc0);
        CHECK_GROUP(2, 0x248, 0x1b2, 0x8a2, 0x3c, 0xc0);
        CHECK_GROUP(3, 0x40004a3, 0xc000ca3, 0x8a2, 0x3c, 0xc0);
}

/* Eight counters; no SQ_FULL any more. Counters 0 to 3 are the narrow ones: load latency
 * can use another, and PENDING, L1_MISS, FB_HIT and FB_FULL have them. */
TEST(ice_lake)
{
        struct machine machine = server(106, 6);
        make(&machine, &usual, &no_limits);
        assert_int_equal(plan.group_count, 3);
        CHECK_GROUP(1, 0x148, 0x8d1, 0x40d1, 0x248, 0x8a2, 0x3c, 0xc0);
        CHECK_GROUP(2, 0x40004a3, 0xc000ca3, 0x8a2, 0x50005a3, 0x60006a3, 0x81d0, 0x3c,
                    0xc0);
}

/* The auxiliary event takes one of counters 0 to 3. */
TEST(sapphire_rapids_and_emerald_rapids)
{
        struct machine machine = sapphire_rapids();
        for (int i = 0; i < 2; i++) {
                make(&machine, &usual, &no_limits);
                assert_int_equal(plan.group_count, 3);
                CHECK_GROUP(1, 0x148, 0xfd43, 0x8d1, 0x3c, 0xc0);
                CHECK_GROUP(2, 0x248, 0x8a2, 0x40004a3, 0x3000347, 0x81d0, 0x3c, 0xc0);
                assert_string_equal(plan.groups[1].events[1].name,
                                    "mem_load_completed.l1_miss_any");
                machine.model = 207;
                machine.stepping = 2;
        }
}

/* Stores take counter 0 too: LMRL fits without its events for alpha / beta. */
TEST(sapphire_rapids_with_stores)
{
        struct machine machine = sapphire_rapids();
        struct plan_options options = usual;
        options.stores = true;
        make(&machine, &options, &no_limits);
        assert_int_equal(plan.group_count, 4);
        CHECK_GROUP(1, 0x2cd);
        CHECK_GROUP(2, 0x148, 0xfd43, 0x3c, 0xc0);
        CHECK_GROUP(3, 0x248, 0x8a2, 0x40004a3, 0x3000347, 0x3c, 0xc0);
        assert_false(plan.samples_rotate);
        assert_string_equal(plan.left_out[0], "mem_load_retired.l1_miss");
}

/* Stores need one of counters 0 to 3 on Intel's cores. Skylake's LMRL has all that loads
 * leave; Ice Lake has one more; on Sapphire Rapids a counter would be lost. */
TEST(stores_that_cost_no_counter)
{
        const struct {
                struct machine machine;
                bool are_free;
        } cases[] = {
            {server(85, 4), false}, {server(106, 6), true}, {sapphire_rapids(), false}};
        for (size_t i = 0; i < LENGTH(cases); i++) {
                struct plan_options options = usual;
                struct diag diag;
                struct plan with;
                make(&cases[i].machine, &options, &no_limits);
                options.stores = true;
                assert_int_equal(
                    plan_pebs(&cases[i].machine, &options, &no_limits, &with, &diag), 0);
                assert_int_equal(plan_pebs_stores_are_free(&with, &plan),
                                 cases[i].are_free);
                plan_free(&with);
        }
}

TEST(granite_rapids)
{
        struct machine machine = server(173, 1);
        make(&machine, &usual, &no_limits);
        assert_int_equal(plan.group_count, 3);
        CHECK_GROUP(0, 0x1cd);
        CHECK_GROUP(1, 0x148, 0xfd43, 0x8d1, 0x248, 0x8a2, 0x3c, 0xc0);
        CHECK_GROUP(2, 0x40004a3, 0x3000347, 0x8a2, 0x5000547, 0x9000947, 0x81d0, 0x3c,
                    0xc0);
}

/* A validation found the usual event dead and another right: that is counted, and says in
 * whose place; where it found no other, none. */
TEST(validated_counters)
{
        static const char *const unusable[] = {"cycle_activity.cycles_no_execute",
                                               "resource_stalls.sb", NULL};
        static const char *const preferred[] = {"uops_executed.stall_cycles",
                                                "longest_lat_cache.miss", NULL};
        struct machine machine = server(63, 2);
        struct plan_options options = usual;
        options.validated = (struct validated_counters){unusable, preferred};
        make(&machine, &options, &no_limits);
        CHECK_GROUP(2, 0x1000248, 0x1b2, 0x81d0, 0x3c, 0xc0);
        CHECK_GROUP(3, 0x18001b1, 0xc000ca3, 0x50005a3, 0x3c, 0xc0);
        assert_string_equal(plan.groups[3].events[0].name, "uops_executed.stall_cycles");
        assert_string_equal(plan.groups[3].events[0].stands_for,
                            "cycle_activity.cycles_no_execute");
        assert_null(plan.groups[3].events[1].stands_for);
        /* Not preferred because it is there: only a validation may say so. */
        options.validated = (struct validated_counters){unusable, NULL};
        make(&machine, &options, &no_limits);
        for (size_t g = 0; g < plan.group_count; g++)
                for (size_t i = 0; i < plan.groups[g].count; i++)
                        assert_int_not_equal(plan.groups[g].events[i].attr.config,
                                             0x18001b1);
}

/* Each kind of core has its own events, on its own CPUs. */
TEST(alder_lake_has_two_kinds_of_core)
{
        struct machine machine = alder_lake();
        make(&machine, &usual, &no_limits);
        assert_int_equal(plan.group_count, 5);
        CHECK_GROUP(0, 0x8203, 0x1cd);
        CHECK_GROUP(1, 0x5d0);
        CHECK_GROUP(2, 0x148, 0xfd43, 0x8d1, 0x3c, 0xc0);
        CHECK_GROUP(3, 0x248, 0x8a2, 0x40004a3, 0x3000347, 0x81d0, 0x3c, 0xc0);
        CHECK_GROUP(4, 0x734, 0x81d0, 0x3c, 0xc0);
        assert_int_equal(plan.groups[0].events[1].attr.type, 4);
        assert_int_equal(plan.groups[1].events[0].attr.type, 10);
        assert_int_equal(plan.groups[0].cpu_count, 4);
        assert_int_equal(plan.groups[0].cpus[3], 3);
        assert_int_equal(plan.groups[4].cpus[0], 4);

        /* An E-core without PEBS does not forbid the P-cores', but has no samples. */
        machine.pmus[1].max_precise = 0;
        make(&machine, &usual, &no_limits);
        CHECK_GROUP(0, 0x8203, 0x1cd);
        assert_int_equal(plan.groups[plan.group_count - 1].cpus[0], 0);
        machine.pmus[0].max_precise = 0;
        check_refused(&machine, &usual, -ENODEV, "max_precise is 0");
}

/* ---- less than usual ---- */

/* The watchdog holds the cycles' own counter: they need a general one, and LMRL has them
 * all. */
TEST(nmi_watchdog)
{
        struct machine machine = server(85, 4);
        machine.nmi_watchdog = true;
        make(&machine, &usual, &no_limits);
        CHECK_GROUP(1, 0x148, 0x8d1, 0x40d1, 0xc0);
        CHECK_GROUP(plan.group_count - 1, 0x3c, 0xc0);
        assert_true(plan.counters_rotate);
}

/* LMRL's three events find no room beside the samples: they take turns with them. */
TEST(too_few_counters_beside_samples)
{
        struct machine machine = server(85, 4);
        struct pebs_limits limits = no_limits;
        limits.counters = 3;
        make(&machine, &usual, &limits);
        CHECK_GROUP(1, 0x148, 0x8d1, 0x40d1, 0x3c, 0xc0);
        assert_true(plan.samples_rotate);
        assert_int_equal(plan.groups[0].events[0].attr.pinned, 0);

        /* With two they are not measured at all, rather than one by one. */
        limits.counters = 2;
        make(&machine, &usual, &limits);
        bool pending = false;
        for (size_t i = 0; i < plan.left_out_count; i++)
                pending |= strcmp(plan.left_out[i], "l1d_pend_miss.pending") == 0;
        assert_true(pending);
        for (size_t g = 0; g < plan.group_count; g++)
                for (size_t i = 0; i < plan.groups[g].count; i++)
                        assert_int_not_equal(plan.groups[g].events[i].attr.config, 0x148);
}

/* A CPU that nobody knows, whose kernel has a name for its load latency event: samples,
 * and the counters that every Intel CPU has. */
TEST(unknown_model)
{
        struct machine machine = server(254, 1);
        make(&machine, &usual, &no_limits);
        assert_int_equal(plan.group_count, 2);
        CHECK_GROUP(0, 0x1cd);
        CHECK_GROUP(1, 0x3c, 0xc0);
        machine.pmus[0].mem_loads.known = false;
        check_refused(&machine, &usual, -ENODEV, "family 6 model 254");
}

TEST(refusals_have_reasons)
{
        struct machine machine = server(85, 4);
        struct plan_options options = usual;
        machine.pmus[0].max_precise = 0;
        check_refused(&machine, &usual, -ENODEV, "max_precise is 0");
        machine = server(85, 4);
        machine.pmu_count = 0;
        check_refused(&machine, &usual, -ENODEV, "no core PMU");
        strcpy(machine.vendor, "AuthenticAMD");
        check_refused(&machine, &usual, -ENODEV, "--source ibs");
        machine = server(85, 4);
        options.ldlat_cycles = 65536;
        check_refused(&machine, &options, -EINVAL, "65535");
        options.ldlat_cycles = 1; /* the same loads as 3, the least that there is */
        make(&machine, &options, &no_limits);
        assert_int_equal(plan.groups[0].events[0].attr.config1, 3);
}

/* ---- memory controllers ---- */

static int packages[] = {0, 24};

TEST(memory_controllers)
{
        struct machine machine = server(85, 4);
        struct machine_imc imcs[] = {
            {.name = "uncore_imc_0",
             .type = 20,
             .cpus = packages,
             .cpu_count = 2,
             .reads = {ALIAS(0x304)},
             .writes = {ALIAS(0xc04)},
             .read_bytes = 64,
             .write_bytes = 64},
            {.name = "uncore_imc_free_running_0",
             .type = 21,
             .cpus = packages,
             .cpu_count = 2},
        };
        machine.imcs = imcs;
        machine.imc_count = 2;
        make(&machine, &usual, &no_limits);
        const struct plan_group *last = &plan.groups[plan.group_count - 1];
        check_group(last, (const uint64_t[]){0x304, 0xc04, 0});
        assert_true(last->system_wide);
        assert_int_equal(last->cpu_count, 2);
        assert_int_equal(last->cpus[1], 24);
        assert_int_equal(last->events[0].attr.type, 20);
        assert_int_equal(last->events[0].attr.exclude_kernel, 0);
        assert_string_equal(last->events[0].name, "dram.read_bytes");
        assert_string_equal(last->events[1].name, "dram.write_bytes");
        assert_int_equal(last->events[0].scale, 64);

        /* Without the kernel's names: the table's, of two sub-channels. */
        machine.model = 173;
        machine.stepping = 1;
        imcs[0].reads[0].known = imcs[0].writes[0].known = false;
        make(&machine, &usual, &no_limits);
        last = &plan.groups[plan.group_count - 1];
        check_group(last, (const uint64_t[]){0xcf05, 0xcf06, 0xf005, 0xf006, 0});
        assert_string_equal(last->events[1].name, "dram.read_bytes");
        assert_string_equal(last->events[3].name, "dram.write_bytes");
}

/* ---- AMD ---- */

static struct machine zen(void)
{
        return (struct machine){
            .vendor = "AuthenticAMD",
            .family = 25,
            .model = 17,
            .ibs_flag = true,
            .ibs_op = true,
            .ibs = {.type = 11, .cnt_ctl = {true, {.word = 0, .mask = 1 << 19}}},
            .pmu_count = 1,
            .pmus = {{.name = "cpu", .type = 4}},
        };
}

static struct perf_event_attr ibs_attr(const struct machine *machine,
                                       const struct plan_options *options)
{
        struct diag diag = {""};
        plan_free(&plan);
        assert_int_equal(plan_ibs(machine, options, true, &plan, &diag), 0);
        assert_int_equal(plan.groups[0].count, 1);
        return plan.groups[0].events[0].attr;
}

/* Zen 3: it can neither leave the kernel out nor choose by latency. */
TEST(ibs_of_zen_3)
{
        struct machine machine = zen();
        struct plan_options options = usual;
        options.ldlat_cycles = 0;
        struct perf_event_attr attr = ibs_attr(&machine, &options);
        assert_int_equal(attr.type, 11);
        assert_int_equal(attr.config, 1 << 19); /* count operations */
        assert_int_equal(attr.config1, 0);
        assert_int_equal(attr.config2, 0);
        assert_int_equal(attr.precise_ip, 0); /* ibs_op knows no other */
        assert_int_equal(attr.exclude_kernel | attr.exclude_user | attr.exclude_hv, 0);
        assert_int_equal(attr.sample_type, SAMPLE_TYPE | PERF_SAMPLE_WEIGHT_STRUCT);
        assert_int_equal(plan.group_count, 2);
        assert_int_equal(plan.groups[1].count, 2);
        assert_string_equal(plan.groups[1].events[0].name, "ls_not_halted_cyc");
}

TEST(ibs_of_zen_5)
{
        struct machine machine = zen();
        struct plan_options options = usual;
        machine.ibs.swfilt = (struct machine_field){true, {.word = 2, .mask = 1}};
        machine.ibs.ldlat = (struct machine_field){true, {.word = 1, .mask = 0xfff}};
        options.ldlat_cycles = 300;
        struct perf_event_attr attr = ibs_attr(&machine, &options);
        assert_int_equal(attr.config1, 256); /* a multiple of 128 */
        assert_int_equal(attr.config2, 1);
        assert_int_equal(attr.exclude_kernel, 1);
        assert_int_equal(attr.exclude_hv, 0);
        options.ldlat_cycles = 0;
        assert_int_equal(ibs_attr(&machine, &options).config1, 0);
        options.ldlat_cycles = 65535;
        assert_int_equal(ibs_attr(&machine, &options).config1, 2048);
}

TEST(ibs_periods)
{
        static const uint64_t periods[][2] = {
            {1, 144}, {144, 144}, {1000, 992}, {250000, 250000}, {9999999, 1048560}};
        struct machine machine = zen();
        struct plan_options options = usual;
        options.ldlat_cycles = 0;
        for (size_t i = 0; i < LENGTH(periods); i++) {
                options.period = periods[i][0];
                assert_int_equal(ibs_attr(&machine, &options).sample_period,
                                 periods[i][1]);
        }
        options.period = 0;
        options.frequency_hz = 4000;
        struct perf_event_attr attr = ibs_attr(&machine, &options);
        assert_int_equal(attr.freq, 1);
        assert_int_equal(attr.sample_freq, 4000);
}

TEST(ibs_refusals)
{
        struct machine machine = zen();
        struct diag diag = {""};
        struct plan_options options = usual;
        options.ldlat_cycles = 300;
        assert_int_equal(plan_ibs(&machine, &options, true, &plan, &diag), -EINVAL);
        assert_non_null(strstr(diag.text, "record without --ldlat"));
        machine.ibs.ldlat = (struct machine_field){true, {.word = 1, .mask = 0xfff}};
        options.ldlat_cycles = 127;
        assert_int_equal(plan_ibs(&machine, &options, true, &plan, &diag), -EINVAL);
        assert_non_null(strstr(diag.text, "--ldlat=128"));
        machine.ibs_op = false;
        machine.hypervisor = true;
        assert_int_equal(plan_ibs(&machine, &usual, true, &plan, &diag), -ENODEV);
        assert_non_null(strstr(diag.text, "bare metal"));
        strcpy(machine.vendor, "GenuineIntel");
        assert_int_equal(plan_ibs(&machine, &usual, true, &plan, &diag), -ENODEV);
        assert_non_null(strstr(diag.text, "--source pebs"));
}
