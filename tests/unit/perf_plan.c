/* SPDX-License-Identifier: MIT */
/* Plans for machines that are not here, from Haswell to Granite Rapids and of Zen: their
 * events, codes and groups. The codes are copied by hand from Intel's documents. */
#define TEST_TEARDOWN free_plan
#include "plan_ibs.h"
#include "plan_pebs.h"
#include "unit_test.h"

/* ---- machines ---- */

static const struct machine_field ldlat = {true, {.word = 1, .mask = 0xffff}};

static struct machine_alias alias(uint64_t config, uint64_t config1)
{
        return (struct machine_alias){true, {{config, config1}}};
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
                      .mem_loads = alias(0x1cd, 3),
                      .mem_stores = alias(0x82d0, 0),
                      .ldlat = ldlat}},
        };
}

static struct machine sapphire_rapids(void)
{
        struct machine machine = server(143, 8);
        machine.pmus[0].mem_loads_aux = alias(0x8203, 0);
        machine.pmus[0].mem_stores = alias(0x2cd, 0);
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
                      .mem_loads = alias(0x1cd, 3),
                      .mem_loads_aux = alias(0x8203, 0),
                      .ldlat = ldlat,
                      .cpus = p_cpus,
                      .cpu_count = 4},
                     {.name = "cpu_atom",
                      .type = 10,
                      .max_precise = 3,
                      .mem_loads = alias(0x5d0, 3),
                      .ldlat = ldlat,
                      .cpus = e_cpus,
                      .cpu_count = 4}},
        };
}

static const struct plan_options usual = {
    .period = 1000, .store_period = 50000, .ldlat_cycles = 30, .counters = true};
static const struct plan_options loads_only = {
    .period = 1000, .store_period = 50000, .ldlat_cycles = 30};
static const struct pebs_limits no_limits = {.precise_ip = 3, .weight_struct = true};

static struct plan plan;

static int free_plan(void **state)
{
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

/* The codes of the events of all groups: "a b | c". */
static const char *plan_text(void)
{
        static char text[1024];
        size_t length = 0;
        for (size_t g = 0; g < plan.group_count; g++)
                for (size_t i = 0; i < plan.groups[g].count; i++)
                        length += (size_t)snprintf(
                            text + length, sizeof(text) - length, "%s%llx",
                            i ? " " : (g ? " | " : ""),
                            (unsigned long long)plan.groups[g].events[i].attr.config);
        return text;
}

static const struct plan_event *event(size_t group, size_t index)
{
        assert_true(group < plan.group_count && index < plan.groups[group].count);
        return &plan.groups[group].events[index];
}

/* The attributes of the loads that are planned. */
static const struct perf_event_attr *make_loads(const struct machine *machine,
                                                const struct plan_options *options,
                                                const struct pebs_limits *limits)
{
        make(machine, options, limits);
        return &event(0, 0)->attr;
}

static void check_plan(const struct machine *machine, const struct plan_options *options,
                       const char *groups)
{
        make(machine, options, &no_limits);
        assert_string_equal(plan_text(), groups);
}

/* ---- samples ---- */

#define SAMPLE_TYPE                                                                      \
        (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |        \
         PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_DATA_SRC)

TEST(loads_are_sampled_as_asked)
{
        struct machine machine = server(85, 4);
        const struct pebs_limits old_kernel = {.precise_ip = 2};
        const struct perf_event_attr *loads = make_loads(&machine, &usual, &no_limits);
        assert_int_equal(event(0, 0)->use, PLAN_LOADS);
        assert_int_equal(loads->type, 4);
        assert_int_equal(loads->config, 0x1cd);
        assert_int_equal(loads->config1, 30); /* not 3 | 30 */
        assert_int_equal(loads->precise_ip, 3);
        assert_int_equal(loads->freq, 0);
        assert_int_equal(loads->sample_period, 1000);
        assert_int_equal(loads->sample_type, SAMPLE_TYPE | PERF_SAMPLE_WEIGHT_STRUCT);
        assert_int_equal(loads->exclude_kernel, 1);
        assert_int_equal(loads->exclude_user, 0);
        assert_null(plan_large_pebs_obstacle(loads));

        loads = make_loads(&machine, &usual, &old_kernel);
        assert_int_equal(loads->sample_type, SAMPLE_TYPE | PERF_SAMPLE_WEIGHT);
        assert_int_equal(loads->precise_ip, 2);

        machine.pmus[0].max_precise = 1;
        assert_int_equal(make_loads(&machine, &usual, &no_limits)->precise_ip, 1);
        machine.pmus[0].max_precise = MACHINE_UNKNOWN;
        assert_int_equal(make_loads(&machine, &usual, &no_limits)->precise_ip, 3);
}

TEST(what_is_asked_for_is_in_the_samples)
{
        const struct machine machine = server(85, 4);
        const uint64_t weighted = SAMPLE_TYPE | PERF_SAMPLE_WEIGHT_STRUCT;
        const uint64_t copy = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        struct plan_options options = usual;
        options.phys_addr = options.data_page_size = true;
        options.stack = PLAN_STACK_FRAME_POINTERS;
        const struct perf_event_attr *attr = make_loads(&machine, &options, &no_limits);
        assert_int_equal(attr->sample_type, weighted | PERF_SAMPLE_PHYS_ADDR |
                                                PERF_SAMPLE_DATA_PAGE_SIZE |
                                                PERF_SAMPLE_CALLCHAIN);
        assert_non_null(strstr(plan_large_pebs_obstacle(attr), "call stack"));

        options = usual;
        options.stack = PLAN_STACK_COPY;
        options.stack_bytes = 8192;
        attr = make_loads(&machine, &options, &no_limits);
        assert_int_equal(attr->sample_type, weighted | copy);
        assert_int_equal(attr->sample_stack_user, 8192);
        assert_int_equal(attr->sample_regs_user, 0xff03ff);

        /* Never a stack of no bytes: the kernel misplaces the fields of such samples. */
        options.stack_bytes = 0;
        attr = make_loads(&machine, &options, &no_limits);
        assert_int_equal(attr->sample_type & copy, 0);

        options = usual;
        options.period = 0;
        options.frequency_hz = 4000;
        attr = make_loads(&machine, &options, &no_limits);
        assert_int_equal(attr->freq, 1);
        assert_int_equal(attr->sample_freq, 4000);
        assert_non_null(strstr(plan_large_pebs_obstacle(attr), "frequency"));
}

/* Sapphire Rapids: the auxiliary event leads, and only counts. */
TEST(auxiliary_event_leads)
{
        struct machine machine = sapphire_rapids();
        check_plan(&machine, &loads_only, "8203 1cd");
        assert_int_equal(event(0, 0)->use, PLAN_AUXILIARY);
        assert_int_equal(event(0, 0)->attr.sample_period, 0);
        assert_int_equal(event(0, 1)->use, PLAN_LOADS);
        /* Without the kernel's names the rule is the table's ... */
        machine.pmus[0].mem_loads.known = machine.pmus[0].mem_loads_aux.known = false;
        check_plan(&machine, &loads_only, "8203 1cd");
        assert_int_equal(event(0, 1)->attr.config1, 30);
        /* ... and Granite Rapids has none. */
        machine.model = 173;
        check_plan(&machine, &loads_only, "1cd");
}

/* The kernel's name first, then libpfm4, then the table. */
TEST(order_of_sources)
{
        struct machine machine = server(63, 2);
        machine.pmus[0].mem_loads = alias(0xa, 3);
        machine.pmus[0].pfm_loads = alias(0xb, 3);
        check_plan(&machine, &loads_only, "a");
        machine.pmus[0].mem_loads.known = false;
        check_plan(&machine, &loads_only, "b");
        assert_int_equal(event(0, 0)->attr.config1, 30);
        machine.pmus[0].pfm_loads.known = false;
        check_plan(&machine, &loads_only, "1cd");
        assert_int_equal(event(0, 0)->attr.config1, 30);
}

TEST(stores)
{
        struct plan_options options = loads_only;
        options.stores = true;
        struct machine machine = server(85, 4);
        check_plan(&machine, &options, "1cd | 82d0");
        const struct plan_event *stores = event(1, 0);
        assert_int_equal(stores->use, PLAN_STORES);
        assert_int_equal(stores->attr.config1, 0); /* no threshold */
        assert_int_equal(event(0, 0)->attr.sample_period, 1000);
        assert_int_equal(stores->attr.sample_period, 50000);
        assert_int_equal(stores->attr.precise_ip, 3);

        machine = sapphire_rapids();
        machine.pmus[0].mem_stores.known = false;
        check_plan(&machine, &options, "8203 1cd | 2cd"); /* not libpfm4's 0x3cd */

        machine = server(1, 0);
        machine.pmus[0].mem_stores.known = false;
        check_refused(&machine, &options, -ENODEV, "--stores");
}

/* ---- counters by generation ---- */

TEST(counters_are_those_of_the_generation)
{
        struct machine whole_haswell = server(63, 2), emerald_rapids = sapphire_rapids();
        struct machine watched = server(85, 4);
        struct plan_options with_stores = usual;
        whole_haswell.counters = 8;
        emerald_rapids.model = 207;
        emerald_rapids.stepping = 2;
        watched.nmi_watchdog = true;
        with_stores.stores = true;
        const struct {
                const char *name;
                struct machine machine;
                const struct plan_options *options;
                const char *groups;
        } cases[] = {
            /* Four counters with hyper-threads: load latency has counter 3, LMRL the
             * others. */
            {"Haswell", server(63, 2), &usual,
             "1cd | 148 8d1 40d1 3c c0 | 1000248 1b2 8a2 3c c0 | "
             "40004a3 c000ca3 8a2 3c c0"},
            /* Eight with hyper-threads off. Two events know only counter 2. */
            {"Haswell without hyper-threads", whole_haswell, &usual,
             "1cd | 148 8d1 40d1 1000248 1b2 8a2 3c c0 | "
             "40004a3 c000ca3 8a2 50005a3 3c c0"},
            {"Skylake", server(85, 4), &usual,
             "1cd | 148 8d1 40d1 3c c0 | 248 1b2 8a2 3c c0 | 40004a3 c000ca3 8a2 3c c0"},
            /* The watchdog holds the cycles' own counter: they need a general one, and
             * LMRL has them all. */
            {"Skylake with watchdog", watched, &usual,
             "1cd | 148 8d1 40d1 c0 | 248 1b2 8a2 c0 | 40004a3 c000ca3 8a2 c0 | 3c c0"},
            /* Eight counters; no SQ_FULL any more. Counters 0 to 3 are the narrow ones:
             * load latency can use another, PENDING, L1_MISS, FB_HIT and FB_FULL not. */
            {"Ice Lake", server(106, 6), &usual,
             "1cd | 148 8d1 40d1 248 8a2 3c c0 | "
             "40004a3 c000ca3 8a2 50005a3 60006a3 81d0 3c c0"},
            /* The auxiliary event takes one of counters 0 to 3. */
            {"Sapphire Rapids", sapphire_rapids(), &usual,
             "8203 1cd | 148 fd43 8d1 3c c0 | 248 8a2 40004a3 3000347 81d0 3c c0"},
            {"Emerald Rapids", emerald_rapids, &usual,
             "8203 1cd | 148 fd43 8d1 3c c0 | 248 8a2 40004a3 3000347 81d0 3c c0"},
            /* Stores take counter 0 too: LMRL fits without the events for alpha /
             * beta. */
            {"Sapphire Rapids with stores", sapphire_rapids(), &with_stores,
             "8203 1cd | 2cd | 148 fd43 3c c0 | 248 8a2 40004a3 3000347 3c c0"},
            {"Granite Rapids", server(173, 1), &usual,
             "1cd | 148 fd43 8d1 248 8a2 3c c0 | "
             "40004a3 3000347 8a2 5000547 9000947 81d0 3c c0"},
            /* The kernel has a name for its load latency event: samples, and the counters
             * that every Intel CPU has. */
            {"unknown", server(254, 1), &usual, "1cd | 3c c0"},
        };
        for (size_t i = 0; i < LENGTH(cases); i++) {
                make(&cases[i].machine, cases[i].options, &no_limits);
                if (strcmp(plan_text(), cases[i].groups) != 0)
                        fail_msg("%s: %s", cases[i].name, plan_text());
        }
}

TEST(what_finds_no_counter_takes_turns_or_is_left_out)
{
        struct machine machine = server(63, 2);
        make(&machine, &usual, &no_limits);
        assert_true(plan.counters_rotate);
        assert_false(plan.samples_rotate);
        assert_int_equal(event(0, 0)->attr.pinned, 1);
        assert_int_equal(event(1, 0)->attr.pinned, 0);
        assert_string_equal(event(1, 1)->name, "mem_load_uops_retired.l1_miss");
        assert_string_equal(event(1, 0)->unit, "cycles");
        assert_string_equal(event(1, 1)->unit, "events");
        assert_int_equal(event(1, 0)->attr.read_format,
                         PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                             PERF_FORMAT_TOTAL_TIME_RUNNING);
        /* Not worth taking turns, and no counter is left for them. */
        assert_int_equal(plan.left_out_count, 2);
        assert_string_equal(plan.left_out[0], "cycle_activity.stalls_l2_pending");
        assert_string_equal(plan.left_out[1], "mem_uops_retired.all_loads");
        machine.counters = 8;
        make(&machine, &usual, &no_limits);
        assert_int_equal(plan.left_out_count, 1);

        machine = sapphire_rapids();
        make(&machine, &usual, &no_limits);
        assert_string_equal(event(1, 1)->name, "mem_load_completed.l1_miss_any");
        struct plan_options options = usual;
        options.stores = true;
        make(&machine, &options, &no_limits);
        assert_false(plan.samples_rotate);
        assert_string_equal(plan.left_out[0], "mem_load_retired.l1_miss");
        machine = server(85, 4);
        machine.nmi_watchdog = true;
        make(&machine, &usual, &no_limits);
        assert_true(plan.counters_rotate);
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
                assert_ok(
                    plan_pebs(&cases[i].machine, &options, &no_limits, &with, &diag));
                assert_int_equal(plan_pebs_stores_are_free(&with, &plan),
                                 cases[i].are_free);
                plan_free(&with);
        }
}

/* A validation found the usual event dead and another right: that is counted. */
TEST(validated_counters)
{
        static const char *const unusable[] = {"cycle_activity.cycles_no_execute",
                                               "resource_stalls.sb", NULL};
        static const char *const preferred[] = {"uops_executed.stall_cycles",
                                                "longest_lat_cache.miss", NULL};
        struct machine machine = server(63, 2);
        struct plan_options options = usual;
        options.validated = (struct validated_counters){unusable, preferred};
        check_plan(&machine, &options,
                   "1cd | 148 8d1 40d1 3c c0 | 1000248 1b2 81d0 3c c0 | "
                   "18001b1 c000ca3 50005a3 3c c0");
        assert_string_equal(event(3, 0)->name, "uops_executed.stall_cycles");
        assert_string_equal(event(3, 0)->stands_for, "cycle_activity.cycles_no_execute");
        assert_null(event(3, 1)->stands_for);
        /* The machine has it, but only a validation may prefer it. */
        options.validated = (struct validated_counters){unusable, NULL};
        make(&machine, &options, &no_limits);
        assert_null(strstr(plan_text(), "18001b1"));
}

/* Each kind of core has separate events and CPUs. */
TEST(alder_lake_has_two_kinds_of_core)
{
        struct machine machine = alder_lake();
        check_plan(&machine, &usual,
                   "8203 1cd | 5d0 | 148 fd43 8d1 3c c0 | "
                   "248 8a2 40004a3 3000347 81d0 3c c0 | 734 81d0 3c c0");
        assert_int_equal(event(0, 1)->attr.type, 4);
        assert_int_equal(event(1, 0)->attr.type, 10);
        assert_int_equal(plan.groups[0].cpu_count, 4);
        assert_int_equal(plan.groups[0].cpus[3], 3);
        assert_int_equal(plan.groups[4].cpus[0], 4);

        /* An E-core without PEBS does not forbid the P-cores', but has no samples. */
        machine.pmus[1].max_precise = 0;
        check_plan(&machine, &usual,
                   "8203 1cd | 148 fd43 8d1 3c c0 | 248 8a2 40004a3 3000347 81d0 3c c0");
        assert_int_equal(plan.groups[plan.group_count - 1].cpus[0], 0);
        machine.pmus[0].max_precise = 0;
        check_refused(&machine, &usual, -ENODEV, "max_precise is 0");
}

/* ---- less than usual ---- */

/* LMRL's three events find no room beside the samples: they take turns with them. */
TEST(too_few_counters_beside_samples)
{
        const struct machine machine = server(85, 4);
        struct pebs_limits limits = no_limits;
        limits.counters = 3;
        make(&machine, &usual, &limits);
        assert_memory_equal(plan_text(), "1cd | 148 8d1 40d1 3c c0 | ", 27);
        assert_true(plan.samples_rotate);
        assert_int_equal(event(0, 0)->attr.pinned, 0);

        /* With two they are not measured at all, rather than one by one. */
        limits.counters = 2;
        make(&machine, &usual, &limits);
        bool pending = false;
        for (size_t i = 0; i < plan.left_out_count; i++)
                pending |= strcmp(plan.left_out[i], "l1d_pend_miss.pending") == 0;
        assert_true(pending);
        assert_null(strstr(plan_text(), " 148 "));
}

TEST(refusals_have_reasons)
{
        struct machine machine = server(85, 4);
        struct plan_options options = usual;
        machine.pmus[0].max_precise = 0;
        check_refused(&machine, &usual, -ENODEV, "max_precise is 0");
        machine = server(254, 1);
        machine.pmus[0].mem_loads.known = false;
        check_refused(&machine, &usual, -ENODEV, "family 6 model 254");
        machine = server(85, 4);
        machine.pmu_count = 0;
        check_refused(&machine, &usual, -ENODEV, "no core PMU");
        strcpy(machine.vendor, "AuthenticAMD");
        check_refused(&machine, &usual, -ENODEV, "--source ibs");
        machine = server(85, 4);
        options.ldlat_cycles = 65536;
        check_refused(&machine, &options, -EINVAL, "65535");
        options.ldlat_cycles = 1; /* the same loads as 3, the least that there is */
        assert_int_equal(make_loads(&machine, &options, &no_limits)->config1, 3);
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
             .reads = {alias(0x304, 0)},
             .writes = {alias(0xc04, 0)},
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
        assert_string_equal(strrchr(plan_text(), '|'), "| 304 c04");
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
        assert_string_equal(strrchr(plan_text(), '|'), "| cf05 cf06 f005 f006");
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
        assert_ok(plan_ibs(machine, options, true, &plan, &diag));
        assert_int_equal(plan.groups[0].count, 1);
        return plan.groups[0].events[0].attr;
}

static void check_ibs_refused(const struct machine *machine, uint32_t ldlat_cycles,
                              int code, const char *reason)
{
        struct plan_options options = usual;
        struct diag diag = {""};
        options.ldlat_cycles = ldlat_cycles;
        assert_int_equal(plan_ibs(machine, &options, true, &plan, &diag), code);
        assert_non_null(strstr(diag.text, reason));
}

/* Zen 3: it can neither leave the kernel out nor choose by latency. */
TEST(ibs_of_zen_3)
{
        const struct machine machine = zen();
        struct plan_options options = usual;
        options.ldlat_cycles = 0;
        const struct perf_event_attr attr = ibs_attr(&machine, &options);
        assert_int_equal(attr.type, 11);
        assert_int_equal(attr.config, 1 << 19); /* count operations */
        assert_int_equal(attr.config1, 0);
        assert_int_equal(attr.config2, 0);
        assert_int_equal(attr.precise_ip, 0); /* ibs_op knows no other */
        assert_int_equal(attr.exclude_kernel | attr.exclude_user | attr.exclude_hv, 0);
        assert_int_equal(attr.sample_type, SAMPLE_TYPE | PERF_SAMPLE_WEIGHT_STRUCT);
        assert_int_equal(plan.group_count, 2);
        assert_int_equal(plan.groups[1].count, 2);
        assert_string_equal(event(1, 0)->name, "ls_not_halted_cyc");
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
        check_ibs_refused(&machine, 300, -EINVAL, "record without --ldlat");
        machine.ibs.ldlat = (struct machine_field){true, {.word = 1, .mask = 0xfff}};
        check_ibs_refused(&machine, 127, -EINVAL, "--ldlat=128");
        machine.ibs_op = false;
        machine.hypervisor = true;
        check_ibs_refused(&machine, 30, -ENODEV, "bare metal");
        strcpy(machine.vendor, "GenuineIntel");
        check_ibs_refused(&machine, 30, -ENODEV, "--source pebs");
}
