/* SPDX-License-Identifier: MIT */
/* The kinds of report, as SQL over views and findings. This file shapes tables for
 * people; analyze computes the numbers. */
#include <stddef.h>
#include <string.h>

#include "report.h"
#include "report_sql.h"
#include "statement.h"

/* SQL is laid out as SQL. */
/* clang-format off */

#define MEAN_CYCLES \
        " iif(mean_latency_cycles IS NULL, '-', printf('%.0f', mean_latency_cycles))"
#define MEAN MEAN_CYCLES " AS mean,"
#define SHARE \
        REPORT_STALLED_COLUMN REPORT_SHARE("latency_share") \
        " AS latency," REPORT_SHARE_RANGE " samples," \
        REPORT_DRAM "AS DRAM," \
        MEAN
#define P95 \
        " iif(p95_latency_cycles IS NULL, '-', printf('%.0f', p95_latency_cycles))" \
        " AS p95,"
#define CONTENDED \
        " iif(contended_samples IS NULL, '-'," \
        "     printf('%.0f%%', 100.0 * contended_samples / samples)) AS contended,"
#define VERDICT CONTENDED REPORT_VERDICT_NAME "AS verdict,"

#define SAMPLES_LEGEND \
        REPORT_SHARE_LEGEND ", with its 95 % confidence range" \
        REPORT_DRAM_LEGEND

/* One more column, with "-" for an unknown VALUE. */
#define KNOWN(value, format, name) \
        ", iif(" value " IS NULL, '-', printf('" format "', " value ")) AS \"" name "\""
#define PERCENT(ratio, name) KNOWN("100 * " ratio, "%.0f%%", name)
#define LMRL KNOWN("lmrl_cycles", "%.1f", "LMRL")
#define CORES KNOWN("active_cores", "%.1f", "cores")
#define BANDWIDTH \
        KNOWN("read_gbs", "%.2f", "read") \
        KNOWN("write_gbs", "%.2f", "write")
#define FB_FULL PERCENT("fb_full_ratio", "FB full")
#define L1_MISS KNOWN("l1_miss_latency_cycles", "%.1f", "L1 miss")
#define SHARES \
        PERCENT("busy_ratio", "busy") \
        PERCENT("busy_use_ratio", "used") \
        PERCENT("productive_ratio", "work") \
        PERCENT("latency_ratio", "latency") \
        PERCENT("bandwidth_ratio", "bandwidth") \
        PERCENT("other_stall_ratio", "other")
/* The sizes of caches for the whole run and for the ?1 objects with most lines. */
#define WORKING_SETS \
        "WITH every AS MATERIALIZED (" \
        "        SELECT *, dense_rank() OVER (ORDER BY object_id IS NOT NULL, lines DESC, object_id)" \
        "         AS place FROM working_set_view) "
#define OF_TOP_OBJECTS " FROM every WHERE ?1 < 0 OR place <= ?1 + 1 "
/* The largest of the sizes up to BYTES tells. */
#define MISSES_WITHIN(bytes) \
        " printf('%.0f%%', 100 * min(iif(cache_bytes <= " bytes ", miss_ratio, 1))) "
#define MISSES_AT(bytes, name) "," MISSES_WITHIN(bytes) "AS \"" name "\""
#define MISSES_OF_CACHE(key, name) \
        ", coalesce((SELECT printf('%.0f KiB: ', value / 1024) FROM machine" \
        "            WHERE key = '" key "') ||" \
        MISSES_WITHIN("(SELECT value FROM machine WHERE key = '" key "')") \
        ", '-') AS " name
/* Phases keep their number in a selected part. */
#define PHASES \
        " FROM phase_view AS p JOIN phase_limit_view USING (start_ns)" \
        " JOIN (SELECT start_ns, phase_id AS phase FROM main.phase_interval_view" \
        "       JOIN main.interval USING (interval_id)) USING (start_ns)" \
        " ORDER BY start_ns LIMIT ?1"

/* The share of the first run's CPU time of a row, with its range; ID is the row's key in
 * FINDING. */
#define MEASURED_OF(shown, finding, id, none) \
        " coalesce((SELECT" shown "FROM (SELECT " id " AS row_id, measured_ratio," \
        "           measured_ratio_low, measured_ratio_high FROM " finding ")" \
        "          WHERE row_id = " id "), '" none "') AS measured,"
#define MEASURED_SHOWN REPORT_SHARE("measured_ratio")
#define MEASURED_RANGE_SHOWN \
        " printf('%.1f%% (%.1f-%.1f)', 100 * measured_ratio," \
        " 100 * measured_ratio_low, 100 * measured_ratio_high) "
#define MEASURED(finding, id) MEASURED_OF(MEASURED_SHOWN, finding, id, "0.0%")
#define MEASURED_RANGE(finding, id) MEASURED_OF(MEASURED_RANGE_SHOWN, finding, id, "0.0%")
/* Unknown for objects that only page faults touch: the timer does not see the kernel. */
#define MEASURED_OBJECT(shown) MEASURED_OF(shown, "object_clock_finding", "object_id", "-")

/* The columns for a first look. */
#define BRIEF \
        REPORT_STALLED_COLUMN REPORT_SHARE("latency_share") " AS latency, samples," \
        REPORT_DRAM "AS DRAM," MEAN REPORT_VERDICT_NAME "AS verdict,"
#define BRIEF_LEGEND \
        REPORT_BRIEF_STALLED "latency: share of all samples' latency; DRAM: samples that " \
        "DRAM served; mean: cycles"

static const struct report_kind kinds[] = {
    {
        .name = "line",
        .shown = REPORT_TOP_LINES,
        .of_code = true,
        .rows_sql = "SELECT * FROM line_view WHERE" REPORT_CHOSEN
                    "ORDER BY" REPORT_STALLED "DESC, latency_share DESC, samples DESC LIMIT ?1",
        .table_sql =
            "WITH top AS (SELECT *," REPORT_BASE("file") "AS base FROM" REPORT_TOP_LINES ") "
            "SELECT" MEASURED_RANGE("line_clock_finding", "line_id") SHARE P95 VERDICT
            REPORT_PLACE("file", "line") "AS line," REPORT_FUNCTION_AND_CALLER
            " FROM top" REPORT_ORDER "line_id",
        .measured = true,
        .stalled = true,
        .alignment = "rrrrrrrrrlll",
        .legend = SAMPLES_LEGEND ", p95: cycles" REPORT_CONTENDED_LEGEND,
        .brief_sql =
            "SELECT" MEASURED("line_clock_finding", "line_id") BRIEF " iif(file IS NULL, '-'," REPORT_BASE("file")
            " || ':' || coalesce(line, '?')) AS line," REPORT_FUNCTION_AND_CALLING_LINE
            " FROM" REPORT_TOP_LINES REPORT_ORDER "line_id",
        .brief_alignment = "rrrrrrlll",
        .brief_legend = BRIEF_LEGEND,
    },
    {
        .name = "function",
        .shown = REPORT_TOP_FUNCTIONS,
        .of_code = true,
        .rows_sql = "SELECT * FROM function_view WHERE" REPORT_CHOSEN REPORT_ORDER
                    "function_id LIMIT ?1",
        .table_sql =
            "SELECT" MEASURED_RANGE("function_clock_finding", "function_id") SHARE P95 VERDICT
            REPORT_MODULE_FUNCTION_AND_CALLER
            " FROM" REPORT_TOP_FUNCTIONS REPORT_ORDER "function_id",
        .measured = true,
        .stalled = true,
        .alignment = "rrrrrrrrrlll",
        .legend = SAMPLES_LEGEND ", p95: cycles" REPORT_CONTENDED_LEGEND,
        .brief_sql = "SELECT" MEASURED("function_clock_finding", "function_id") BRIEF
                     REPORT_MODULE_FUNCTION_AND_CALLER
                     " FROM" REPORT_TOP_FUNCTIONS REPORT_ORDER "function_id",
        .brief_alignment = "rrrrrrlll",
        .brief_legend = BRIEF_LEGEND,
    },
    {
        .name = "object",
        .shown = REPORT_TOP_OBJECTS,
        .of_data = true,
        .rows_sql = "SELECT * FROM object_view WHERE" REPORT_TOUCHED_OBJECTS
                    "ORDER BY" REPORT_STALLED "DESC, latency_share DESC, samples DESC LIMIT ?1",
        .table_sql =
            "WITH top AS (SELECT *," REPORT_BASE("alloc_file") "AS base"
            "             FROM" REPORT_TOP_OBJECTS "JOIN data_object USING (object_id)) "
            "SELECT" MEASURED_OBJECT(MEASURED_RANGE_SHOWN) SHARE VERDICT
            REPORT_SIZE("size_bytes") " AS size,"
            " coalesce(allocations, '-') AS blocks, kind, name AS object,"
            REPORT_PLACE("alloc_file", "alloc_line") "AS \"allocated at\""
            " FROM top" REPORT_ORDER "object_id",
        .measured = true,
        .stalled = true,
        .alignment = "rrrrrrrrlrrlll",
        .legend = SAMPLES_LEGEND ": cycles" REPORT_CONTENDED_LEGEND
                                 "; size: of all blocks that were live at once",
        .brief_sql =
            "SELECT" MEASURED_OBJECT(MEASURED_SHOWN) BRIEF
            REPORT_SIZE("size_bytes") " AS size, kind, name AS object"
            " FROM" REPORT_TOP_OBJECTS "JOIN data_object USING (object_id)"
            REPORT_ORDER "object_id",
        .brief_alignment = "rrrrrrlrll",
        .brief_legend = BRIEF_LEGEND "; size: of all blocks that were live at once",
    },
    {
        .name = "caller",
        .rows_sql = "SELECT * FROM caller_view WHERE caller_id IN (SELECT caller_id"
                    " FROM caller_finding" REPORT_ORDER "caller_id LIMIT ?1)"
                    " ORDER BY caller_id",
        .table_sql =
            "SELECT" REPORT_STALLED_COLUMN REPORT_SHARE("latency_share") " AS latency,"
            REPORT_SHARE("self_latency_share") " AS self, samples,"
            REPORT_DRAM "AS DRAM,"
            MEAN REPORT_CALLERS,
        .stalled = true,
        .alignment = "rrrrrrl",
        .legend =
            "latency: share of the latency of all samples, in the function and in what "
            "it calls; self: in the function itself; DRAM: samples served by DRAM; mean: "
            "cycles",
    },
    {
        .name = "allocation",
        .of_all = true,
        .rows_sql =
            "SELECT v.* FROM allocation_view AS v JOIN object_finding AS f USING (object_id)"
            " WHERE object_id IN" REPORT_TOP_ALLOCATED
            "ORDER BY f.stalled_ratio DESC, f.latency_share DESC, f.samples DESC,"
            " object_id, place",
        .table_sql = REPORT_ALLOCATIONS(
            REPORT_ALLOCATED_SHARE("stalled_ratio") "AS stalled,"
            REPORT_ALLOCATED_SHARE("latency_share") "AS latency,"),
        .stalled = true,
        .alignment = "rrrrrrll",
        .none = "No sample is in memory that the program was seen to allocate; --by object "
                "shows where samples are.",
        .legend = "latency: the object's share of that of all samples; "
                  REPORT_ALLOCATIONS_LEGEND,
        .brief_legend = REPORT_ALLOCATIONS_BRIEF,
    },
    {
        .name = "type",
        .shown = REPORT_TOP_FIELDS,
        .of_data = true,
        .rows_sql = "SELECT * FROM type_view WHERE type_id IN" REPORT_TOP_TYPES("")
                    REPORT_TYPES_IN_ORDER,
        .table_sql =
            REPORT_FIELDS(
            REPORT_FIELD_FIGURE(REPORT_SHARE("stalled_ratio"), "stalled")
            REPORT_FIELD_FIGURE(REPORT_SHARE("latency_share"), "latency")
            REPORT_FIELD_SAMPLES
            REPORT_FIELD_FIGURE(REPORT_DRAM, "DRAM")
            REPORT_FIELD_FIGURE(MEAN_CYCLES, "mean")
            REPORT_FIELD_FIGURE(" coalesce(" REPORT_VERDICT_NAME ", '-')", "verdict")),
        .none = "No sampled access has a known type: memlag query --name missing says why.",
        .stalled = true,
        .alignment = "rrrrrrlrrrll",
        .legend = REPORT_SHARE_LEGEND REPORT_DRAM_LEGEND ": cycles; " REPORT_FIELDS_LEGEND,
        .brief_sql =
            REPORT_FIELDS(
            REPORT_FIELD_FIGURE(REPORT_SHARE("stalled_ratio"), "stalled")
            REPORT_FIELD_FIGURE(REPORT_SHARE("latency_share"), "latency")
            REPORT_FIELD_BRIEF_SAMPLES
            REPORT_FIELD_FIGURE(" coalesce(" REPORT_VERDICT_NAME ", '-')", "verdict")),
        .brief_alignment = "rrrlrrrll",
        .brief_legend = REPORT_SHARE_LEGEND "; " REPORT_FIELDS_BRIEF,
    },
    {
        .name = "thread",
        .rows_sql = "SELECT pid, tid, name, samples, dram_samples, mean_latency_cycles,"
                    " latency_share, contended_samples, stalled_ratio, level_samples"
                    " FROM (" REPORT_THREADS ") LIMIT ?1",
        .table_sql =
            "SELECT" REPORT_STALLED_COLUMN REPORT_SHARE("latency_share") " AS latency, samples,"
            REPORT_DRAM "AS DRAM,"
            MEAN CONTENDED " pid, tid, coalesce(name, '-') AS thread"
            " FROM (" REPORT_THREADS ") LIMIT ?1",
        .stalled = true,
        .alignment = "rrrrrrrrl",
        .legend = "latency: share of the latency of all samples; DRAM: samples served by "
                  "DRAM; mean: cycles" REPORT_CONTENDED_LEGEND,
    },
    {
        .name = "process",
        .rows_sql = "SELECT pid, parent_pid, process, name, executable, threads, samples,"
                    " dram_samples, mean_latency_cycles, latency_share, contended_samples,"
                    " stalled_ratio, level_samples, start_ns, end_ns"
                    " FROM (" REPORT_PROCESSES ") LIMIT ?1",
        .table_sql =
            "SELECT" REPORT_STALLED_COLUMN REPORT_SHARE("latency_share") " AS latency, samples,"
            REPORT_DRAM "AS DRAM,"
            MEAN CONTENDED " threads, pid, coalesce(parent_pid, '-') AS parent,"
            REPORT_PROCESS
            " FROM (" REPORT_PROCESSES ") LIMIT ?1",
        .stalled = true,
        .alignment = "rrrrrrrrrl",
        .legend = "latency: share of the latency of all samples; DRAM: samples served by "
                  "DRAM; mean: cycles" REPORT_CONTENDED_LEGEND
                  "; a process that executes another program has another row",
    },
    {
        .name = "cacheline",
        .rows_sql = "SELECT * FROM sharing_view WHERE (process_id, line_address) IN"
                    " (SELECT process_id, line_address FROM" REPORT_TOP_CACHELINES("1") ")",
        .table_sql = REPORT_SHARED_LINES(REPORT_FUNCTION ","),
        .brief_sql = REPORT_SHARED_LINES(""),
        .brief_alignment = "rrrrrlrll",
        .none = "No cache line has " REPORT_HITM_MIN " samples that found it modified in "
                "another core.",
        .stalled = true,
        .alignment = "rrrrrlrlll",
        .legend = "HITM: samples that found the line modified in another core; reads, "
                  "writes: samples (locked instructions are writes); offset: byte of the line",
    },
    {
        .name = "line-use",
        .of_code = true,
        .rows_sql = "SELECT * FROM line_use_view WHERE" REPORT_CHOSEN "LIMIT ?1",
        .table_sql =
            "SELECT lines, printf('%.0f', bytes_used_per_line) AS used,"
            " iif(file IS NULL, '-'," REPORT_BASE("file") " || ':' || coalesce(line, '?'))"
            " AS line," REPORT_FUNCTION ", coalesce(object, '[unknown]') AS object,"
            " coalesce(type || iif(field IS NULL, '', '.' || field), '-') AS field,"
            " coalesce((SELECT group_concat(printf('%s %.0f%%', with_field,"
            "                               100.0 * used_lines / f.lines), ', ')"
            "           FROM field_use_view AS f WHERE f.field_id = v.field_id"
            "           AND used_lines >= 0.05 * f.lines), '-') AS \"also used\" "
            "FROM line_use_view AS v WHERE" REPORT_CHOSEN "LIMIT ?1",
        .none = "No sample of the simulated PMU brought a cache line from beyond L2.",
        .alignment = "rrlllll",
        .legend = "lines: samples that brought a cache line from L3 or memory; used: mean bytes "
                  "of its 64 that were accessed before it left L1 and L2; also used: other "
                  "fields accessed there, with the share of their lines",
    },
    {
        .name = REPORT_CACHE_SIZES,
        .rows_sql = WORKING_SETS "SELECT object_kind, object, cache_bytes, miss_ratio,"
                    " lines, object_id" OF_TOP_OBJECTS "ORDER BY place, cache_bytes",
        .table_sql =
            WORKING_SETS "SELECT lines,"
            REPORT_SIZE("min(iif(miss_ratio <= 0.02, cache_bytes, NULL))")
            " AS \"fits in\"" MISSES_OF_CACHE("l2_bytes", "L2")
            MISSES_OF_CACHE("l3_bytes", "L3") MISSES_AT("524288", "512 KiB")
            MISSES_AT("2097152", "2 MiB") MISSES_AT("8388608", "8 MiB")
            ", iif(object_id IS NULL, '[the whole run]', coalesce(object, '-')) AS object"
            OF_TOP_OBJECTS "GROUP BY place ORDER BY place",
        .none = "No sample of the simulated PMU was of a line that L1 requested again.",
        .alignment = "rrrrrrrl",
        .legend = "lines: samples of lines that L1 requested again; L2, L3 and the sizes: "
                  "miss ratio of a fully associative LRU cache of that size; fits in: the smallest "
                  "with at most 2 % misses",
    },
    {
        .name = "interval",
        .of_all = true,
        .rows_sql = "SELECT v.*, busy_ratio, busy_use_ratio FROM (SELECT * FROM interval_view ORDER BY"
                    " contended DESC, lmrl_cycles DESC, interval_id LIMIT ?1) AS v"
                    " JOIN utilisation_view USING (interval_id) ORDER BY interval_id",
        .table_sql =
            "SELECT interval_id AS interval, printf('%.3f', start_ns / 1e6)"
            " AS \"start ms\", printf('%.3f', end_ns / 1e6) AS \"end ms\"" LMRL L1_MISS
            FB_FULL CORES BANDWIDTH PERCENT("busy_use_ratio", "used")
            ", CASE contended WHEN 1 THEN 'yes' WHEN 0 THEN 'no' ELSE '-' END"
            " AS contended, coalesce(" REPORT_BOUND("bound") ", '-') AS bound "
            "FROM (SELECT * FROM interval_view ORDER BY contended DESC, lmrl_cycles DESC,"
            " interval_id LIMIT ?1) JOIN (SELECT interval_id, other_stall_ratio FROM stall_view)"
            " USING (interval_id) JOIN (SELECT interval_id, busy_use_ratio FROM utilisation_view)"
            " USING (interval_id) ORDER BY interval_id",
        .alignment = "rrrrrrrrrrll",
        .legend =
            "LMRL: mean cycles of loads that missed L1 or waited for a requested line; L1 miss: "
            "the same per L1 miss; FB full: share of the cycles in which a request waited for "
            "a fill buffer; cores: how many waited for memory; read, write: of DRAM, in GB/s; "
            "used: share of the DRAM bandwidth while DRAM was busy",
    },
    {
        .name = "phase",
        .of_all = true,
        .rows_sql = "SELECT p.*, duration_ns, active_cores, use_ratio, productive_ratio,"
                    " latency_ratio, bandwidth_ratio, other_stall_ratio, phase, busy_ratio,"
                    " busy_use_ratio" PHASES,
        .table_sql =
            "SELECT phase, printf('%.3f', start_ns / 1e6) AS \"start ms\","
            " printf('%.3f', p.end_ns / 1e6) AS \"end ms\","
            " coalesce(" REPORT_BOUND("p.bound") ", '-') AS bound" LMRL BANDWIDTH SHARES PHASES,
        .alignment = "rrrlrrrrrrrrr",
        .legend =
            "phases: neighbouring intervals with one bound; read, write: of DRAM, in GB/s; busy: "
            "share of the time with DRAM traffic; used: share of the DRAM bandwidth of so many "
            "cores in that time; work: share of the cycles that executed; latency, bandwidth: "
            "stalled for these (full buffers count as bandwidth); other: the rest (the kernel, L1, "
            "stores, translation, arithmetic)",
    },
};
/* clang-format on */

const struct report_kind *report_kind_named(const char *name)
{
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                if (strcmp(kinds[i].name, name) == 0)
                        return &kinds[i];
        return NULL;
}
