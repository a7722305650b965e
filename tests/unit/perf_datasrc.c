/* SPDX-License-Identifier: MIT */
/* Data sources and weights: values of real CPUs, and the kernel's tables. */
#include <linux/perf_event.h>

#include "datasrc.h"
#include "retire_latency.h"
#include "unit_test.h"

/* Intel's from Ivy Bridge to Alder Lake, and AMD's Zen, as perf script names them. */
TEST(values_of_real_cpus)
{
        static const struct {
                uint64_t raw;
                const char *op, *level, *tlb, *snoop;
                bool locked;
        } cases[] = {
            {UINT64_C(0x68100142), "load", "L1", "hit", "none", false},
            {UINT64_C(0x6a100142), "load", "L1", "hit", "none", true},
            {UINT64_C(0x68100442), "load", "L2", "hit", "none", false},
            {UINT64_C(0x68100242), "load", "LFB", "hit", "none", false},
            {UINT64_C(0x11868100242), "load", "LFB", "hit", "none", false},
            {UINT64_C(0x10268100142), "load", "L1", "hit", "none", false},
            {UINT64_C(0x1026a100142), "load", "L1", "hit", "none", true},
            {UINT64_C(0x10668100842), "load", "L3", "hit", "none", false},
            {UINT64_C(0x10650100842), "load", "L3", "miss", "none", false},
            {UINT64_C(0x10468100442), "load", "L2", "hit", "none", false},
            {UINT64_C(0x40268100142), "load", "L1", "hit", "none", false},
            {UINT64_C(0x20268100142), "load", "L1", "hit", "none", false},
            {UINT64_C(0x4026a100142), "load", "L1", "hit", "none", true},
            {UINT64_C(0x10450100442), "load", "L2", "miss", "none", false},
            {UINT64_C(0x51080242), "load", "LFB", "miss", "NA", false},
            {UINT64_C(0x49080142), "load", "L1", "hit", "NA", false},
            {UINT64_C(0x49080442), "load", "L2", "hit", "NA", false},
            {UINT64_C(0x51088842), "load", "L3", "miss", "NA", false},
            {UINT64_C(0x5080021), "NA", "NA", "NA", "NA", false},
            {UINT64_C(0x1e05080021), "NA", "NA", "NA", "NA", false},
        };
        for (size_t i = 0; i < LENGTH(cases); i++) {
                struct data_source_row row;
                assert_int_equal(datasrc_decode(cases[i].raw, &row),
                                 strcmp(cases[i].op, "NA") != 0);
                assert_string_equal(row.op, cases[i].op);
                assert_string_equal(row.level, cases[i].level);
                assert_string_equal(row.tlb, cases[i].tlb);
                assert_string_equal(row.snoop, cases[i].snoop);
                assert_int_equal(row.locked, cases[i].locked);
                assert_true(row.has_raw && row.raw == cases[i].raw);
        }
}

/* ---- built by hand from the kernel's definitions ---- */

#define LVL(bits) ((uint64_t)(bits) << PERF_MEM_LVL_SHIFT)
#define NUM(n)    ((uint64_t)(n) << PERF_MEM_LVLNUM_SHIFT)
#define REMOTE    ((uint64_t)1 << PERF_MEM_REMOTE_SHIFT)
#define HOPS(n)   ((uint64_t)(n) << PERF_MEM_HOPS_SHIFT)
#define SNOOP(b)  ((uint64_t)(b) << PERF_MEM_SNOOP_SHIFT)
#define SNOOPX(b) ((uint64_t)(b) << PERF_MEM_SNOOPX_SHIFT)
#define LOAD      ((uint64_t)PERF_MEM_OP_LOAD)
#define STORE     ((uint64_t)PERF_MEM_OP_STORE)
#define HIT       LVL(PERF_MEM_LVL_HIT)
#define MISS      LVL(PERF_MEM_LVL_MISS)

TEST(levels_of_both_encodings)
{
        static const struct {
                uint64_t raw;
                const char *level;
        } cases[] = {
            {LOAD | HIT | LVL(PERF_MEM_LVL_LOC_RAM) | NUM(PERF_MEM_LVLNUM_RAM), "DRAM"},
            {LOAD | HIT | LVL(PERF_MEM_LVL_LOC_RAM), "DRAM"},
            {LOAD | HIT | LVL(PERF_MEM_LVL_REM_RAM1), "REMOTE_DRAM"},
            {LOAD | HIT | LVL(PERF_MEM_LVL_REM_CCE1), "REMOTE_CACHE"},
            {LOAD | HIT | NUM(PERF_MEM_LVLNUM_RAM) | REMOTE, "REMOTE_DRAM"},
            {LOAD | HIT | NUM(PERF_MEM_LVLNUM_RAM) | REMOTE | HOPS(3), "REMOTE_DRAM"},
            {LOAD | HIT | NUM(PERF_MEM_LVLNUM_L3) | REMOTE, "REMOTE_CACHE"},
            {LOAD | HIT | NUM(PERF_MEM_LVLNUM_ANY_CACHE) | REMOTE, "REMOTE_CACHE"},
            {LOAD | HIT | NUM(PERF_MEM_LVLNUM_ANY_CACHE) | HOPS(1), "REMOTE_CACHE"},
            {LOAD | HIT | NUM(PERF_MEM_LVLNUM_ANY_CACHE) | HOPS(1) |
                 LVL(PERF_MEM_LVL_L3 | PERF_MEM_LVL_REM_CCE1),
             "L3"},
            {LOAD | HIT | NUM(PERF_MEM_LVLNUM_ANY_CACHE), "NA"},
            {LOAD | HIT | NUM(PERF_MEM_LVLNUM_PMEM), "PMEM"},
            {LOAD | HIT | NUM(PERF_MEM_LVLNUM_PMEM) | REMOTE, "PMEM"},
            {LOAD | HIT | NUM(PERF_MEM_LVLNUM_CXL), "REMOTE_DRAM"},
            {LOAD | HIT | NUM(PERF_MEM_LVLNUM_IO), "IO"},
            {LOAD | HIT | NUM(8), "UNCACHED"},
            {LOAD | HIT | LVL(PERF_MEM_LVL_UNC), "UNCACHED"},
            {LOAD | HIT | NUM(5), "LFB"},
            {LOAD | HIT | NUM(6), "NA"},
            {LOAD | HIT | NUM(PERF_MEM_LVLNUM_NA) | LVL(PERF_MEM_LVL_L2), "L2"},
            /* "unknown L3 miss" of Intel's table, and an L1 miss of a store */
            {LOAD | MISS | LVL(PERF_MEM_LVL_L3) | NUM(PERF_MEM_LVLNUM_L3), "NA"},
            {STORE | MISS | LVL(PERF_MEM_LVL_L1), "NA"},
            {STORE | HIT | LVL(PERF_MEM_LVL_L1), "L1"},
        };
        for (size_t i = 0; i < LENGTH(cases); i++) {
                struct data_source_row row;
                assert_true(datasrc_decode(cases[i].raw, &row));
                assert_string_equal(row.level, cases[i].level);
        }
}

TEST(snoops_and_operations)
{
        struct data_source_row row;
        datasrc_decode(LOAD | SNOOP(PERF_MEM_SNOOP_HITM), &row);
        assert_string_equal(row.snoop, "hitm");
        datasrc_decode(LOAD | SNOOP(PERF_MEM_SNOOP_HIT), &row);
        assert_string_equal(row.snoop, "hit");
        datasrc_decode(LOAD | SNOOP(PERF_MEM_SNOOP_MISS), &row);
        assert_string_equal(row.snoop, "none");
        datasrc_decode(LOAD | SNOOPX(PERF_MEM_SNOOPX_FWD), &row);
        assert_string_equal(row.snoop, "hit");
        datasrc_decode(STORE, &row);
        assert_string_equal(row.op, "store");
        datasrc_decode(PERF_MEM_OP_PFETCH, &row);
        assert_string_equal(row.op, "prefetch");
        datasrc_decode(PERF_MEM_OP_EXEC, &row);
        assert_string_equal(row.op, "exec");
}

TEST(not_a_memory_access)
{
        static const uint64_t raws[] = {0, 0x5080021, UINT64_C(0x1e05080021)};
        for (size_t i = 0; i < LENGTH(raws); i++) {
                struct data_source_row row;
                assert_false(datasrc_decode(raws[i], &row));
                assert_string_equal(row.op, "NA");
                assert_string_equal(row.level, "NA");
        }
}

/* Alder Lake's, with weight 5 and ins_lat 33. */
TEST(both_forms_of_weight)
{
        union perf_sample_weight packed = {.var1_dw = 5, .var2_w = 33, .var3_w = 7};
        struct datasrc_weight weight =
            datasrc_weight(PERF_SAMPLE_WEIGHT_STRUCT, packed.full);
        assert_int_equal(weight.latency_cycles, 5);
        assert_int_equal(weight.instruction_latency_cycles, 33);
        assert_int_equal(weight.retire_latency_cycles, 7);

        weight = datasrc_weight(PERF_SAMPLE_WEIGHT, UINT64_C(0x100000002));
        assert_true(weight.latency_cycles == UINT64_C(0x100000002));
        assert_int_equal(weight.instruction_latency_cycles, 0);
}

/* By Intel's models and the kernel that first handed it on. */
TEST(cpus_with_a_latency_of_retirement)
{
        const int64_t meteor_lake = 0xaa, granite_rapids = 0xad, sapphire_rapids = 0x8f;
        assert_true(retire_latency_known(6, meteor_lake, "6.8.0-31-generic"));
        assert_true(retire_latency_known(6, granite_rapids, "7.0.1"));
        assert_true(retire_latency_known(6, granite_rapids, "6.3"));
        assert_false(retire_latency_known(6, granite_rapids, "6.2.16"));
        assert_false(retire_latency_known(6, granite_rapids, "5.14.0-503.el9"));
        assert_false(retire_latency_known(6, sapphire_rapids, "6.8.0"));
        assert_false(retire_latency_known(26, granite_rapids, "6.8.0"));
        assert_false(retire_latency_known(6, granite_rapids, ""));
}
