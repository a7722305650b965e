/* SPDX-License-Identifier: MIT */
/* Data sources and weights: values of real CPUs, compared with perf's descriptions
 * (../shared/facts/datasrc-vectors.csv, or $MEMLAG_SHARED), and the kernel's tables. */
#include <linux/perf_event.h>

#include "datasrc.h"
#include "retire_latency.h"
#include "unit_test.h"

/* ---- perf's words for the decoder's results ---- */

/* The text of FIELD ("LVL ") in perf's description, up to the next '|' or ','. */
static void perf_field(const char *perf, const char *field, char *text, size_t size)
{
        const char *at = strstr(perf, field);
        assert_non_null(at);
        at += strlen(field);
        snprintf(text, size, "%.*s", (int)strcspn(at, "|,"), at);
}

static const char *expected(const char *words, const char *const table[][2], size_t rows)
{
        for (size_t i = 0; i < rows; i++)
                if (strncmp(words, table[i][0], strlen(table[i][0])) == 0)
                        return table[i][1];
        fail_msg("perf's words '%s' are not in the test's table", words);
        return NULL;
}

#define EXPECTED(words, table) expected(words, table, sizeof(table) / sizeof(*(table)))

static void check_row(uint64_t raw, const char *perf)
{
        static const char *const ops[][2] = {{"LOAD", "load"}, {"N/A", "NA"}};
        static const char *const levels[][2] = {{"L1 hit", "L1"}, {"L2 hit", "L2"},
                                                {"L3 hit", "L3"}, {"LFB", "LFB"},
                                                {"N/A", "NA"},    {"L3 or Remote", "L3"}};
        static const char *const tlbs[][2] = {{"L1 or L2 hit", "hit"},
                                              {"L2 hit", "hit"},
                                              {"L2 miss", "miss"},
                                              {"N/A", "NA"}};
        static const char *const snoops[][2] = {{"None", "none"}, {"N/A", "NA"}};
        struct data_source_row row;
        char words[64];
        bool access = datasrc_decode(raw, &row);

        perf_field(perf, "|OP ", words, sizeof(words));
        assert_string_equal(row.op, EXPECTED(words, ops));
        assert_int_equal(access, strcmp(words, "N/A") != 0);
        perf_field(perf, "|LVL ", words, sizeof(words));
        assert_string_equal(row.level, EXPECTED(words, levels));
        perf_field(perf, "|SNP ", words, sizeof(words));
        assert_string_equal(row.snoop, EXPECTED(words, snoops));
        perf_field(perf, "|TLB ", words, sizeof(words));
        assert_string_equal(row.tlb, EXPECTED(words, tlbs));
        perf_field(perf, "|LCK ", words, sizeof(words));
        assert_int_equal(row.locked, strncmp(words, "Yes", 3) == 0);
        assert_true(row.has_raw && row.raw == raw);
}

/* The fields of a CSV line up to the quoted ones: hex, perf's words, weight, ins_lat. */
static void check_line(char *line)
{
        char *perf = strchr(line, ',');
        assert_non_null(perf);
        check_row(strtoull(line, NULL, 16), perf + 1);
}

TEST(vectors_of_real_cpus)
{
        const char *shared = getenv("MEMLAG_SHARED");
        char path[4096];
        snprintf(path, sizeof(path), "%s/facts/datasrc-vectors.csv",
                 shared ? shared : MEMLAG_SHARED_DEFAULT);
        FILE *file = fopen(path, "r");
        if (!file)
                skip_test("no vectors of real CPUs: %s is not there", path);
        char line[1024];
        int rows = 0;
        assert_non_null(fgets(line, sizeof(line), file)); /* the header */
        for (; fgets(line, sizeof(line), file); rows++)
                check_line(line);
        fclose(file);
        assert_true(rows >= 27);
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

/* The Alder Lake row of the vectors with weight 5 and ins_lat 33. */
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
