/* SPDX-License-Identifier: MIT */
/* Runs the analysis in order: intervals, thresholds, verdicts on intervals, then verdicts
 * on samples. contention.c and verdict.c hold the rules. */
#include "analyze.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "callers.h"
#include "facts.h"
#include "findings.h"
#include "gain.h"
#include "gaps.h"
#include "interval_samples.h"
#include "measured.h"
#include "memlag_views_sql.h"
#include "stall_limit.h"
#include "statement.h"
#include "thresholds.h"

struct analysis {
        struct db *db;
        struct machine_facts machine;
        struct machine_origins origins;
        struct run_counters counters;
        struct interval_metrics *metrics; /* one per interval of counters.series */
        double remote_cycles; /* idle latency of a remote node's memory; NAN: unknown */
        struct thresholds thresholds;
        struct judged_interval *judged; /* likewise */
        bool without_waits;
        bool stores_parts; /* of samples */
        int64_t intervals_of_unknown_contention;
        int64_t intervals_of_unknown_bound;
        struct stalls stalls;
        double loads_per_sample; /* NAN: not known */
        int64_t percent_beyond;  /* excess over the run's cycles */
        struct findings_gaps gaps;
};

static int read_facts(struct analysis *a, struct diag *diag)
{
        int code = facts_machine(a->db, &a->machine, &a->origins, diag);
        a->without_waits = facts_without_waits(a->db);
        if (!code)
                code = facts_counters(a->db, &a->counters, diag);
        return code;
}

/* ---- intervals ---- */

static int measure_intervals(struct analysis *a, struct diag *diag)
{
        const struct interval_series *series = &a->counters.series;
        a->metrics = calloc(series->count + 1, sizeof(*a->metrics));
        a->judged = calloc(series->count + 1, sizeof(*a->judged));
        if (!a->metrics || !a->judged)
                return diag_set(diag, -ENOMEM, "no memory for %zu intervals",
                                series->count);
        for (size_t i = 0; i < series->count; i++)
                a->metrics[i] = interval_metrics(&series->intervals[i], a->counters.known,
                                                 a->machine.clock_mhz);
        const double cache_cycles =
            thresholds_of_machine(&a->machine).cache_latency_cycles;
        const double dram_ns =
            a->machine.dram_latency_cycles * 1000 / a->machine.clock_mhz;
        int code = interval_samples_read(a->db, series, a->loads_per_sample, cache_cycles,
                                         dram_ns, a->metrics, &a->remote_cycles, diag);
        for (size_t i = 0; i < series->count; i++)
                interval_limit_stalls(&a->metrics[i], a->machine.dram_latency_cycles);
        return code;
}

static int store_intervals(struct analysis *a, struct diag *diag)
{
        sqlite3_stmt *insert;
        int code = statement_prepare(
            a->db,
            "INSERT INTO interval (interval_id, start_ns, end_ns, lmrl_cycles,"
            " l1_miss_latency_cycles, fb_full_ratio, active_cores, read_gbs, write_gbs,"
            " stall_ratio, memory_stall_ratio, bandwidth_stall_ratio, l2_stall_ratio,"
            " beyond_l2_stall_ratio, l3_stall_ratio, dram_stall_ratio, busy_ratio,"
            " dram_nodes)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &insert, diag);
        const struct interval_series *series = &a->counters.series;
        for (size_t i = 0; code == 0 && i < series->count; i++) {
                const struct interval_metrics *metrics = &a->metrics[i];
                sqlite3_bind_int64(insert, 1, series->intervals[i].id);
                sqlite3_bind_int64(insert, 2, series->intervals[i].start_ns);
                sqlite3_bind_int64(insert, 3, series->intervals[i].end_ns);
                statement_bind_real(insert, 4, metrics->lmrl_cycles);
                statement_bind_real(insert, 5, metrics->l1_miss_latency_cycles);
                statement_bind_real(insert, 6, metrics->fb_full_ratio);
                statement_bind_real(insert, 7, metrics->active_cores);
                statement_bind_real(insert, 8, metrics->read_gbs);
                statement_bind_real(insert, 9, metrics->write_gbs);
                statement_bind_real(insert, 10, metrics->stall_ratio);
                statement_bind_real(insert, 11, metrics->memory_stall_ratio);
                statement_bind_real(insert, 12, metrics->bandwidth_stall_ratio);
                statement_bind_real(insert, 13, metrics->l2_stall_ratio);
                statement_bind_real(insert, 14, metrics->beyond_l2_stall_ratio);
                statement_bind_real(insert, 15, metrics->l3_stall_ratio);
                statement_bind_real(insert, 16, metrics->dram_stall_ratio);
                statement_bind_real(insert, 17, 1 - metrics->idle_part);
                statement_bind_real(insert, 18, interval_nodes(metrics, &a->machine));
                code = statement_run(a->db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

/* Without simulated waits, every load runs ahead: the fill of buffers and memory means
 * nothing. */
static struct judged_interval untold_interval(int64_t id)
{
        return (struct judged_interval){.id = id,
                                        .contended = ANSWER_UNKNOWN,
                                        .bandwidth_short = ANSWER_UNKNOWN,
                                        .bound = BOUND_UNKNOWN,
                                        .path_use = NAN,
                                        .bandwidth_use = NAN,
                                        .traffic = ORIGIN_UNKNOWN};
}

static void judge_intervals(struct analysis *a)
{
        for (size_t i = 0; i < a->counters.series.count; i++) {
                const struct interval *interval = &a->counters.series.intervals[i];
                if (a->without_waits) {
                        a->judged[i] = untold_interval(interval->id);
                        continue;
                }
                struct machine_facts mix = machine_of_mix(
                    &a->machine, a->metrics[i].remote_part, a->remote_cycles);
                const struct interval_metrics node =
                    metrics_of_node(&a->metrics[i], &a->machine);
                enum answer contended = interval_contended(
                    &node, uncontended_lmrl(interval, a->counters.known, &mix),
                    &a->thresholds);
                enum bound bound = interval_bound(&node, contended, &a->thresholds);
                a->judged[i] = (struct judged_interval){
                    interval->id,
                    contended,
                    bandwidth_short(contended, bound),
                    bound,
                    interval_lacks_buffers(&a->metrics[i]),
                    interval_buffers_full(&a->metrics[i]),
                    a->metrics[i].sets_crowd,
                    interval_buffers_free(&a->metrics[i]),
                    interval_path_use(interval, a->counters.known, &a->machine),
                    interval_bandwidth_use(&node, &a->machine),
                    traffic_origin(interval, a->counters.known, &a->machine)};
                a->intervals_of_unknown_contention += contended == ANSWER_UNKNOWN;
                a->intervals_of_unknown_bound += bound == BOUND_UNKNOWN;
        }
}

static int store_judgements(struct analysis *a, struct diag *diag)
{
        sqlite3_stmt *update;
        int code = statement_prepare(
            a->db, "UPDATE interval SET contended = ?, bound = ? WHERE interval_id = ?",
            &update, diag);
        for (size_t i = 0; code == 0 && i < a->counters.series.count; i++) {
                const struct judged_interval *judged = &a->judged[i];
                if (judged->contended == ANSWER_UNKNOWN)
                        sqlite3_bind_null(update, 1);
                else
                        sqlite3_bind_int(update, 1, judged->contended == ANSWER_YES);
                sqlite3_bind_text(update, 2, bound_name(judged->bound), -1,
                                  SQLITE_STATIC);
                sqlite3_bind_int64(update, 3, judged->id);
                code = statement_run(a->db, update, diag);
        }
        sqlite3_finalize(update);
        return code;
}

static int find_intervals(struct analysis *a, struct diag *diag)
{
        int code = measure_intervals(a, diag);
        if (!code)
                code = store_intervals(a, diag);
        if (!code)
                code = thresholds_derive(a->db, &a->machine, &a->origins, &a->counters,
                                         a->metrics, &a->thresholds, diag);
        if (code)
                return code;
        judge_intervals(a);
        return store_judgements(a, diag);
}

/* ---- samples and the ledger ---- */

/* The loads that a sample stands for. Samples may by chance stand for more cycles than
 * the run has without its page faults, even with the longest cut. The number is then
 * reduced. */
static int find_loads_per_sample(struct analysis *a, struct diag *diag)
{
        static const char sql[] = "SELECT total(f.kernel_cycles) FROM page_fault AS f"
                                  " JOIN sample USING (sample_id)";
        int64_t period = db_run_int(a->db, "period_loads", 0);
        sqlite3_stmt *row;
        int code = statement_first(a->db, sql, &row, diag);
        double stalled = stalls_total(&a->stalls);
        double left = a->counters.total_cycles - sqlite3_column_double(row, 0);
        sqlite3_finalize(row);
        a->loads_per_sample = period > 0 ? (double)period : NAN;
        a->percent_beyond = 0;
        if (left > 0 && stalled * a->loads_per_sample > left) {
                a->percent_beyond =
                    llrint(fmin(1e6, 100 * (stalled * a->loads_per_sample - left) /
                                         a->counters.total_cycles));
                a->loads_per_sample = left / stalled;
        }
        return code < 0 ? code : 0;
}

/* The stacks of memory samples, with all their callers; several stacks share a caller.
 * Leaves out other stacks, of allocations: they can be far more. */
static const char keep_stacks[] =
    "CREATE TEMP TABLE sampled_stack AS SELECT DISTINCT s.stack_id FROM sample AS "
    "s" STATEMENT_MEMORY_SAMPLES "AND s.stack_id IS NOT NULL"
    " UNION SELECT s.stack_id FROM page_fault JOIN sample AS s USING (sample_id)"
    " WHERE s.stack_id IS NOT NULL;"
    "CREATE TEMP TABLE calling_stack (stack_id INTEGER PRIMARY KEY);"
    "INSERT INTO temp.calling_stack WITH RECURSIVE caller(stack_id) AS ("
    " SELECT stack_id FROM temp.sampled_stack"
    " UNION SELECT parent_id FROM caller JOIN stack_node USING (stack_id)"
    " WHERE parent_id IS NOT NULL) SELECT stack_id FROM caller ORDER BY stack_id";
static const char drop_stacks[] =
    "DROP TABLE temp.sampled_stack; DROP TABLE temp.calling_stack";

static bool numbers_are(struct db *db, const char *kind)
{
        char *numbers = db_run_text(db, "numbers");
        bool same = numbers && strcmp(numbers, kind) == 0;
        free(numbers);
        return same;
}

static int find_samples(struct analysis *a, struct diag *diag)
{
        const struct findings_input input = {
            .intervals = a->judged,
            .interval_count = a->counters.series.count,
            .interval_ns = a->counters.series.interval_ns,
            .machine = a->machine,
            .thresholds = a->thresholds,
            .total_cycles = a->counters.total_cycles,
            .loads_per_sample = a->loads_per_sample,
            .without_waits = a->without_waits,
            .estimates_gains = numbers_are(a->db, "modelled") && !a->without_waits,
            .stores_parts = a->stores_parts,
        };
        return findings_make(a->db, &input, &a->gaps, diag);
}

static bool is_imported(struct db *db)
{
        return numbers_are(db, "imported");
}

static int store_ledger(struct analysis *a, struct diag *diag)
{
        const struct {
                const char *kind;
                int64_t value;
                const char *unit;
        } rows[] = {
            {"impossible reading times", a->counters.impossible_readings, "readings"},
            {"contention not told by the counters", a->intervals_of_unknown_contention,
             "intervals"},
            {"bound not told by the counters", a->intervals_of_unknown_bound,
             "intervals"},
            {"no latency", a->gaps.samples_without_latency, "samples"},
            {"in objects of memlag itself", a->gaps.samples_in_own_objects, "samples"},
            {is_imported(a->db) ? "outside all counted intervals"
                                : "outside all counted intervals; record a longer run, "
                                  "or with a smaller --interval",
             a->gaps.samples_without_interval, "samples"},
            {"that may have waited for DRAM, and nothing counted tells if its bandwidth "
             "was short",
             a->gaps.waits_of_unknown_contention, "samples"},
            {"longer than a twentieth of all that was held up, which they count as",
             (int64_t)a->stalls.cut, "samples"},
            {"stalled beyond the run's cycles, to which shares were made to add up",
             a->percent_beyond, "percent"},
            {"too few samples for a verdict", a->gaps.lines_with_too_few_samples,
             "lines"},
        };
        int code = 0;
        for (size_t i = 0; !code && i < sizeof(rows) / sizeof(rows[0]); i++)
                code = db_ledger_set(a->db, "analysis", rows[i].kind, rows[i].value,
                                     rows[i].unit, diag);
        return code;
}

/* Reads the kinds of data that memory samples have. */
static int read_recorded(struct analysis *a, struct recorded *recorded, struct diag *diag)
{
        static const char sql[] =
            "SELECT count(*), coalesce(sum(d.level <> 'NA'), 0),"
            " coalesce(sum(s.latency_cycles IS NOT NULL), 0),"
            " coalesce(sum(d.tlb <> 'NA'), 0), coalesce(sum(d.snoop <> 'NA'), 0)"
            " FROM sample AS s LEFT JOIN data_source AS d USING "
            "(data_source_id)" STATEMENT_MEMORY_SAMPLES;
        sqlite3_stmt *row;
        int code = statement_prepare(a->db, sql, &row, diag);
        if (code)
                return code;
        code = statement_next(a->db, row, diag);
        *recorded = (struct recorded){.memory_samples = sqlite3_column_int64(row, 0),
                                      .levels = sqlite3_column_int64(row, 1),
                                      .latencies = sqlite3_column_int64(row, 2),
                                      .tlb = sqlite3_column_int64(row, 3),
                                      .snoops = sqlite3_column_int64(row, 4),
                                      .without_waits = a->without_waits};
        for (int i = 0; i < CONCEPT_COUNT; i++)
                recorded->counted[i] = a->counters.known[i];
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

/* An imported recording only has the requested data, and a recording with caches only has
 * no times. Stores the verdicts that such a recording cannot give. */
static int store_verdict_gaps(struct analysis *a, struct diag *diag)
{
        const char *gaps[VERDICT_GAPS_MAX];
        struct recorded recorded;
        if (!is_imported(a->db) && !a->without_waits)
                return 0;
        int code = read_recorded(a, &recorded, diag);
        bool timed = !recorded.latencies && a->without_waits;
        size_t count = code || timed ? 0 : verdict_gaps(&recorded, gaps);
        for (size_t i = 0; !code && i < count; i++) {
                char *kind = NULL;
                if (asprintf(&kind, "verdict not given: %s", gaps[i]) < 0)
                        return diag_no_memory(diag);
                code = db_ledger_set(a->db, "analysis", kind, 1, "verdict", diag);
                free(kind);
        }
        return code;
}

/* Runs PART, which selects samples and counter values, then sums the selected cycles.
 * Without cycles, stall shares are unknown. */
static int select_part(struct analysis *a, const char *part, struct diag *diag)
{
        struct run_counters counters;
        int code = statement_run_all(a->db, part, diag);
        if (!code)
                code = facts_counters(a->db, &counters, diag);
        if (code)
                return code;
        a->counters.total_cycles =
            counters.total_cycles > 0 ? counters.total_cycles : NAN;
        facts_counters_free(&counters);
        return stalls_read(a->db, &a->stalls, diag);
}

/* PART: NULL, or see analyze_part. */
static int run(struct analysis *a, const char *part, struct diag *diag)
{
        int code = read_facts(a, diag);
        if (!code)
                code = stalls_read(a->db, &a->stalls, diag);
        if (!code)
                code = find_loads_per_sample(a, diag);
        if (!code)
                code = find_intervals(a, diag);
        if (!code && part)
                code = select_part(a, part, diag);
        if (!code)
                code = stalls_store_limit(a->db, &a->stalls, diag);
        if (!code)
                code = find_loads_per_sample(a, diag);
        if (!code)
                code = db_exec(a->db, keep_stacks, diag);
        if (!code)
                code = find_samples(a, diag);
        if (!code && !part) /* the first run cannot be divided into parts */
                code = measured_store(a->db, diag);
        if (!code && !part)
                code = gains_store_recorded(a->db, diag);
        if (!code)
                code = callers_make(a->db, a->loads_per_sample, a->counters.total_cycles,
                                    diag);
        if (!code)
                code = allocations_make(a->db, diag);
        if (!code)
                code = db_exec(a->db, drop_stacks, diag);
        if (!code)
                code = store_ledger(a, diag);
        if (!code)
                code = store_verdict_gaps(a, diag);
        return code;
}

static void close_analysis(struct analysis *a)
{
        machine_origins_free(&a->origins);
        free(a->metrics);
        free(a->judged);
        facts_counters_free(&a->counters);
}

int analyze_part(struct db *db, const char *part, bool parts, struct diag *diag)
{
        struct analysis a = {.db = db, .stores_parts = parts};
        int code = run(&a, part, diag);
        close_analysis(&a);
        return code;
}

int analyze(struct db *db, struct diag *diag)
{
        struct analysis a = {.db = db};
        int code = db_exec(db, "BEGIN IMMEDIATE", diag);
        if (code)
                return code;
        code = db_clear_findings(db, diag);
        if (!code)
                code = run(&a, NULL, diag);
        if (!code)
                code = db_exec(db, memlag_views_sql, diag);
        if (!code)
                code = db_exec(db, "COMMIT", diag);
        if (code)
                db_exec(db, "ROLLBACK", NULL);
        close_analysis(&a);
        return code;
}
