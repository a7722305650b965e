/* SPDX-License-Identifier: MIT */
/* The tables of Intel's and AMD's events, compared with libpfm4's. */
#include <ctype.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#include "amd_events.h"
#include "counters.h"
#include "event_table.h"
#include "pfm.h"
#include "unit_test.h"

/* ---- libpfm4 ---- */

/* Events that libpfm4 4.13 is known to have wrong or to lack:
 * ../shared/facts/intel_events.md, from Intel's lists and a recording of a real CPU. */
static bool pfm_is_wrong(const char *pmu, const struct event *event)
{
        return strcmp(event->name, "cpu_clk_unhalted.thread") == 0 ||
               strcmp(event->name, "inst_retired.any") == 0 ||
               (strcmp(pmu, "spr") == 0 &&
                strcmp(event->name, "mem_trans_retired.store_sample") == 0);
}

static bool pfm_config(const char *pmu, const char *name, uint64_t *config)
{
        char text[160];
        struct perf_event_attr attr = {0};
        pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof(arg)};
        size_t event_length = strcspn(name, ".");
        bool has_mask = name[event_length] == '.';
        snprintf(text, sizeof(text), "%s::%.*s%s%s%s", pmu, (int)event_length, name,
                 has_mask ? ":" : "", has_mask ? name + event_length + 1 : "",
                 strstr(name, "load_latency") ? ":ldlat=3" : "");
        for (char *at = strstr(text, "::"); *at; at++)
                *at = (char)toupper((unsigned char)*at);
        char *ldlat = strstr(text, "LDLAT");
        if (ldlat)
                memcpy(ldlat, "ldlat", 5);
        int code = pfm_get_os_event_encoding(text, PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
        *config = attr.config;
        return code == PFM_SUCCESS;
}

static bool is_as_in_pfm(const char *platform, const char *pmu, const char *pfm_name,
                         const struct event *event)
{
        uint64_t config;
        if (pfm_is_wrong(pmu, event) || !pfm_config(pmu, pfm_name, &config))
                return false;
        if (event->config != config)
                fail_msg("%s %s is %#llx, and %#llx in libpfm4", platform, event->name,
                         (unsigned long long)event->config, (unsigned long long)config);
        return true;
}

TEST(events_are_libpfm4s)
{
        static const char *const names[][2] = {
            {"HSX", "hsw_ep"}, {"HSW", "hsw"}, {"BDX", "bdw_ep"}, {"BDW", "bdw"},
            {"SKX", "skx"},    {"SKL", "skl"}, {"CLX", "clx"},    {"ICX", "icx"},
            {"ICL", "icl"},    {"SPR", "spr"}};
        size_t checked = 0;
        setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
        assert_int_equal(pfm_initialize(), PFM_SUCCESS);
        for (size_t i = 0; i < LENGTH(names); i++)
                for (int role = 0; role < ROLE_COUNT; role++) {
                        const struct event *event;
                        for (size_t k = 0; (event = event_find(names[i][0], CORE_P,
                                                               (enum event_role)role, k));
                             k++)
                                checked += is_as_in_pfm(names[i][0], names[i][1],
                                                        event->name, event);
                }
        pfm_terminate();
        assert_true(checked >= 10 * 12);
}

static bool lists_code(char **names, uint64_t config)
{
        struct pmu_code code;
        for (; *names; names++)
                if (pfm_find(*names, &code) && code.words[0] == config)
                        return true;
        return false;
}

/* All events for memory's roles that libpfm4 can name are asked for. */
TEST(memory_events_are_all_listed)
{
        static const char *const names[][2] = {
            {"HSW", "hsw"}, {"SKL", "skl"}, {"SPR", "spr"}};
        static const enum event_role roles[] = {
            ROLE_ALL_LOADS, ROLE_PENDING,    ROLE_L1_MISS,   ROLE_FB_HIT,
            ROLE_SQ_FULL,   ROLE_STALLS_L1D, ROLE_STALLS_L2, ROLE_STORE_BUFFER};
        for (size_t i = 0; i < LENGTH(names); i++) {
                setenv("LIBPFM_FORCE_PMU", names[i][1], 1);
                char **listed = pfm_memory_events();
                assert_non_null(listed);
                size_t found = 0;
                for (size_t r = 0; r < LENGTH(roles); r++) {
                        const struct event *event =
                            event_find(names[i][0], CORE_P, roles[r], 0);
                        struct pmu_code code;
                        if (!event || !pfm_find(event->name, &code))
                                continue;
                        if (!lists_code(listed, code.words[0]))
                                fail_msg("%s: %s is not listed", names[i][0],
                                         event->name);
                        found++;
                }
                assert_true(found >= 4);
                for (char **name = listed; *name; name++) {
                        assert_null(strstr(*name, "icache"));
                        free(*name);
                }
                free(listed);
        }
        unsetenv("LIBPFM_FORCE_PMU");
}

static const struct event *amd_event_named(int64_t family, const char *name)
{
        const struct event *event;
        for (size_t i = 0; (event = amd_event(family, i)); i++)
                if (strcmp(event->name, name) == 0)
                        return event;
        return NULL;
}

enum { ZEN_2, ZEN_3, ZEN_4, ZENS };

/* libpfm4's name for AMD's EVENT on the CPU; NULL: none. */
static const char *pfm_name_of_amd(const char *event, int zen)
{
#define ON_EACH(name) name, name, name
        static const struct {
                const char *event;
                const char *pfm[ZENS];
        } names[] = {
            {"ls_not_halted_cyc", {ON_EACH("cycles_not_in_halt")}},
            {"ex_ret_instr", {ON_EACH("retired_instructions")}},
            {"ls_dispatch.ld_dispatch", {ON_EACH("ls_dispatch.ld_dispatch")}},
            {"ls_dispatch.store_dispatch", {ON_EACH("ls_dispatch.store_dispatch")}},
            {"ls_mab_alloc.loads", {"mab_allocation_by_pipe.data_pipe", NULL, NULL}},
            {"ls_mab_alloc.load_store_allocations",
             {NULL, "mab_allocation_by_type.ls", "mab_allocation_by_type.ls"}},
            {"ls_alloc_mab_count", {NULL, "alloc_mab_count", "alloc_mab_count"}},
            {"ls_refills_from_sys.ls_mabresp_lcl_dram",
             {"data_cache_refills_from_system.ls_mabresp_lcl_dram", NULL, NULL}},
            {"ls_dmnd_fills_from_sys.dram_io_near",
             {NULL, "demand_data_cache_fills_from_system.mem_io_lcl",
              "demand_data_cache_fills_from_system.dram_io_near"}},
            {"ls_any_fills_from_sys.dram_io_near",
             {NULL, "any_data_cache_fills_from_system.mem_io_lcl",
              "any_data_cache_fills_from_system.dram_io_near"}},
            {"de_dis_dispatch_token_stalls1.store_queue_rsrc_stall",
             {ON_EACH("dispatch_resource_stall_cycles_1.store_queue_rsrc_stall")}},
        };
        for (size_t i = 0; i < LENGTH(names); i++)
                if (strcmp(names[i].event, event) == 0)
                        return names[i].pfm[zen];
        return NULL;
}

/* libpfm4 has every AMD event of each CPU, and with the same code. */
TEST(amd_events_are_libpfm4s)
{
        static const struct {
                int64_t family;
                const char *pmu;
                size_t events;
        } cpus[ZENS] = {{23, "amd64_fam17h_zen2", 7},
                        {25, "amd64_fam19h_zen3", 9},
                        {25, "amd64_fam19h_zen4", 9}};
        setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
        assert_int_equal(pfm_initialize(), PFM_SUCCESS);
        for (int zen = 0; zen < ZENS; zen++) {
                const struct event *event;
                size_t count = 0;
                for (; (event = amd_event(cpus[zen].family, count)); count++) {
                        const char *pmu = cpus[zen].pmu;
                        const char *pfm_name = pfm_name_of_amd(event->name, zen);
                        if (!pfm_name || !is_as_in_pfm(pmu, pmu, pfm_name, event))
                                fail_msg("%s has no %s", pmu, event->name);
                }
                assert_int_equal(count, cpus[zen].events);
        }
        pfm_terminate();
        assert_null(amd_event(21, 0)); /* before Zen */
        assert_null(amd_event_named(23, "ls_alloc_mab_count"));
        assert_non_null(amd_event_named(26, "ls_alloc_mab_count"));
}

/* ---- finding ---- */

static const char *platform_of(int64_t model, int64_t stepping)
{
        const struct event_platform *platform = event_platform_find(6, model, stepping);
        return platform ? platform->name : "none";
}

/* Models as in the kernel's arch/x86/include/asm/intel-family.h. */
TEST(cpus_are_found)
{
        assert_string_equal(platform_of(63, 2), "HSX");
        assert_string_equal(platform_of(79, 1), "BDX");
        assert_string_equal(platform_of(85, 4), "SKX");
        assert_string_equal(platform_of(85, 7), "CLX"); /* by its stepping */
        assert_string_equal(platform_of(106, 6), "ICX");
        assert_string_equal(platform_of(143, 8), "SPR");
        assert_string_equal(platform_of(207, 2), "EMR");
        assert_string_equal(platform_of(173, 1), "GNR");
        assert_string_equal(platform_of(151, 2), "ADL");
        assert_string_equal(platform_of(183, 1), "ADL"); /* Raptor Lake */
        assert_string_equal(platform_of(170, 4), "MTL");
        assert_string_equal(platform_of(1, 0), "none");
        assert_string_equal(platform_of(143, -1), "none");
        assert_string_equal(platform_of(143, 16), "none");
        assert_null(event_platform_find(15, 6, 0));
        assert_int_equal(event_platform_find(6, 190, 0)->core, CORE_E); /* E-cores only */
        assert_int_equal(event_counters("HSX", CORE_P), 4);
        assert_int_equal(event_counters("SPR", CORE_P), 8);
        assert_int_equal(event_counters("ADL", CORE_E), 6);
}

/* ---- names in the analysis ---- */

/* The analysis knows each counter by the names of all CPUs. */
TEST(analysis_knows_the_names)
{
        static const char *const platforms[] = {
            "HSW", "HSX", "BDW", "BDX", "SKL", "SKX", "CLX", "ICL",   "ICX",
            "TGL", "RKL", "ADL", "SPR", "EMR", "MTL", "GNR", "BDW-DE"};
        static const struct {
                enum event_role role;
                enum concept concept;
        } meanings[] = {
            {ROLE_CYCLES, CONCEPT_CYCLES},
            {ROLE_INSTRUCTIONS, CONCEPT_INSTRUCTIONS},
            {ROLE_PENDING, CONCEPT_PENDING},
            {ROLE_L1_MISS, CONCEPT_L1_MISS},
            {ROLE_FB_HIT, CONCEPT_FB_HIT},
            {ROLE_L1_MISS_ANY, CONCEPT_L1_MISS_ANY},
            {ROLE_FB_FULL, CONCEPT_FB_FULL},
            {ROLE_SQ_FULL, CONCEPT_SQ_FULL},
            {ROLE_STALLS_L1D, CONCEPT_STALLS_L1D},
            {ROLE_STALLS_L2, CONCEPT_STALLS_L2},
            {ROLE_STALLS_L3, CONCEPT_STALLS_L3},
            {ROLE_STORE_BUFFER, CONCEPT_STORE_BUFFER},
        };
        for (size_t p = 0; p < LENGTH(platforms); p++)
                for (int core = CORE_P; core <= CORE_E; core++)
                        for (size_t i = 0; i < LENGTH(meanings); i++) {
                                const struct event *event =
                                    event_find(platforms[p], (enum core_kind)core,
                                               meanings[i].role, 0);
                                if (event &&
                                    counter_concept(event->name) != meanings[i].concept)
                                        fail_msg("%s is unknown", event->name);
                        }
}
