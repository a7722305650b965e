/* SPDX-License-Identifier: MIT */
/* Chooses the thresholds and stores them with their origin. contention.c and verdict.c
 * hold the rules that use them. */
#include "thresholds.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "statement.h"
#include "verdict.h"

/* With fewer loads, an interval's LMRL is random. */
static const double QUIET_LOADS_MIN = 1000;
static const double QUIET_BANDWIDTH_PART = 0.25;
static const double PREFETCHED_PART = 0.75;
/* Of such a latency DRAM takes the smaller half. */
static const double QUEUED_TIMES = 2;
/* Above the last cache's latency on any server CPU; for machines without the fact. */
static const double DEFAULT_CACHE_LATENCY_CYCLES = 100;

struct thresholds thresholds_of_machine(const struct machine_facts *machine)
{
        double cache = machine->l3_latency_cycles, factor = measured_lmrl_factor(machine);
        return (struct thresholds){
            .lmrl_factor = isnan(factor) ? LMRL_FACTOR : factor,
            /* No mix of loads can have a higher value: a safe limit if the counters do
             * not give the mix. */
            .quiet_lmrl_cycles = idle_dram_lmrl(machine),
            /* A measured knee may come before half of the peak. It never raises the
             * limit: writes raise the latency earlier. */
            .bandwidth_gbs = fmin(CONTENDED_BANDWIDTH_PART * machine->dram_bandwidth_gbs,
                                  machine->dram_knee_gbs),
            .near_gbs = NEAR_BANDWIDTH_PART * machine->dram_bandwidth_gbs,
            .saturated_gbs = SATURATED_BANDWIDTH_PART * machine->dram_bandwidth_gbs,
            .saturated_write_gbs =
                NEAR_BANDWIDTH_PART * machine->dram_write_bandwidth_gbs,
            .knee_gbs = machine->dram_knee_gbs,
            .saturating_cores = machine->saturating_cores,
            .lfb_entries = machine->lfb_entries,
            .high_latency_cycles = LMRL_FACTOR * machine->dram_latency_cycles,
            .prefetched_latency_cycles = PREFETCHED_PART * machine->dram_latency_cycles,
            .queued_latency_cycles = QUEUED_TIMES * machine->dram_latency_cycles,
            .cache_latency_cycles =
                LMRL_FACTOR * (isnan(cache) ? DEFAULT_CACHE_LATENCY_CYCLES : cache),
        };
}

/* ---- from the run's own quiet intervals ---- */

static int compare_double(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

static double moved_gbs(const struct interval_metrics *metrics)
{
        return metrics->read_gbs + metrics->write_gbs;
}

static double greatest_rate(const struct interval_metrics *metrics, size_t count)
{
        double greatest = NAN;
        for (size_t i = 0; i < count; i++)
                greatest = fmax(greatest, moved_gbs(&metrics[i]));
        return greatest;
}

int quiet_lmrl(const struct interval_metrics *metrics, size_t count, double *lmrl_cycles,
               double *peak_gbs)
{
        *lmrl_cycles = NAN;
        *peak_gbs = greatest_rate(metrics, count);
        double limit_gbs = QUIET_BANDWIDTH_PART * *peak_gbs;
        double *values = calloc(count + 1, sizeof(*values));
        if (!values)
                return -ENOMEM;
        size_t quiet = 0;
        for (size_t i = 0; i < count; i++)
                if (metrics[i].miss_loads >= QUIET_LOADS_MIN &&
                    !isnan(metrics[i].lmrl_cycles) &&
                    !(moved_gbs(&metrics[i]) > limit_gbs))
                        values[quiet++] = metrics[i].lmrl_cycles;
        qsort(values, quiet, sizeof(*values), compare_double);
        if (isnan(limit_gbs))
                quiet /= 10;
        if (quiet >= QUIET_INTERVALS_MIN)
                *lmrl_cycles = values[quiet / 2];
        free(values);
        return 0;
}

/* H20's sampling latency in quiet memory (data from DRAM, address in the TLB, not
 * locked): the median, or NAN without such samples. If DRAM bytes were not counted
 * (LIMIT_GBS is NAN), an interval is quiet below an LMRL of LMRL_CYCLES. */
static int quiet_sampling_latency(struct db *db, double limit_gbs, double lmrl_cycles,
                                  int64_t interval_ns, double *cycles, struct diag *diag)
{
        static const char sql[] =
            "SELECT latency_cycles FROM ("
            " SELECT s.latency_cycles, row_number() OVER (ORDER BY s.latency_cycles) AS "
            "n,"
            "        count(*) OVER () AS samples"
            " FROM sample AS s JOIN data_source AS d USING (data_source_id)"
            " JOIN interval AS i ON i.interval_id = s.time_ns / ?2"
            " WHERE d.level = 'DRAM' AND d.tlb <> 'miss' AND d.locked = 0"
            " AND s.latency_cycles > 0 AND CASE WHEN ?1 IS NULL"
            " THEN i.lmrl_cycles <= ?4 ELSE i.read_gbs + i.write_gbs <= ?1 END)"
            "WHERE n = (samples + 1) / 2 AND samples >= ?3";
        *cycles = NAN;
        sqlite3_stmt *statement;
        int code = statement_prepare(db, sql, &statement, diag);
        if (code)
                return code;
        statement_bind_real(statement, 1, limit_gbs);
        sqlite3_bind_int64(statement, 2, interval_ns);
        sqlite3_bind_int64(statement, 3, VERDICT_SAMPLES_MIN);
        statement_bind_real(statement, 4, lmrl_cycles);
        code = statement_next(db, statement, diag);
        if (code > 0)
                *cycles = sqlite3_column_double(statement, 0);
        sqlite3_finalize(statement);
        return code < 0 ? code : 0;
}

static int fill_from_run(struct db *db, const struct run_counters *counters,
                         const struct interval_metrics *metrics,
                         struct thresholds *thresholds, struct diag *diag)
{
        double lmrl_cycles, peak_gbs, sampling_cycles;
        if (quiet_lmrl(metrics, counters->series.count, &lmrl_cycles, &peak_gbs))
                return diag_set(diag, -ENOMEM, "no memory for the intervals");
        int code = quiet_sampling_latency(
            db, QUIET_BANDWIDTH_PART * peak_gbs, LMRL_FACTOR * lmrl_cycles,
            counters->series.interval_ns, &sampling_cycles, diag);
        if (isnan(thresholds->quiet_lmrl_cycles))
                thresholds->quiet_lmrl_cycles = lmrl_cycles;
        if (isnan(thresholds->high_latency_cycles)) {
                thresholds->high_latency_cycles = LMRL_FACTOR * sampling_cycles;
                thresholds->queued_latency_cycles = QUEUED_TIMES * sampling_cycles;
        }
        if (isnan(thresholds->bandwidth_gbs))
                thresholds->bandwidth_gbs = CONTENDED_BANDWIDTH_PART * peak_gbs;
        return code;
}

/* ---- the threshold table ---- */

struct threshold_row {
        const char *name;
        double value;
        const char *unit;
        const char *origin;
};

static int store(struct db *db, const struct threshold_row *rows, size_t count,
                 struct diag *diag)
{
        sqlite3_stmt *insert;
        int code = statement_prepare(db, "INSERT INTO threshold VALUES (?, ?, ?, ?)",
                                     &insert, diag);
        for (size_t i = 0; i < count && !code; i++) {
                if (isnan(rows[i].value))
                        continue;
                sqlite3_bind_text(insert, 1, rows[i].name, -1, SQLITE_STATIC);
                sqlite3_bind_double(insert, 2, rows[i].value);
                sqlite3_bind_text(insert, 3, rows[i].unit, -1, SQLITE_STATIC);
                sqlite3_bind_text(insert, 4, rows[i].origin, -1, SQLITE_STATIC);
                code = statement_run(db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

static const char *or_else(const char *origin, const char *other)
{
        return origin ? origin : other;
}

int thresholds_derive(struct db *db, const struct machine_facts *machine,
                      const struct machine_origins *origins,
                      const struct run_counters *counters,
                      const struct interval_metrics *metrics,
                      struct thresholds *thresholds, struct diag *diag)
{
        static const char rule[] = "rule, see method.md";
        static const char rule_after_all[] =
            "rule, see method.md, as the calibration's threshold cannot be right";
        static const char run[] = "the run's quiet intervals";
        *thresholds = thresholds_of_machine(machine);
        bool measured = !isnan(measured_lmrl_factor(machine));
        bool knee_first = thresholds->bandwidth_gbs == machine->dram_knee_gbs;
        const char *latency_origin = or_else(origins->dram_latency_cycles, run);
        const char *bandwidth_origin =
            or_else(origins->dram_bandwidth_gbs, "the run's busiest interval");
        if (isnan(thresholds->quiet_lmrl_cycles) || isnan(thresholds->bandwidth_gbs)) {
                int code = fill_from_run(db, counters, metrics, thresholds, diag);
                if (code)
                        return code;
        }
        const struct threshold_row rows[] = {
            {"lmrl_factor", thresholds->lmrl_factor, "ratio",
             measured                         ? origins->lmrl_threshold_cycles
             : origins->lmrl_threshold_cycles ? rule_after_all
                                              : rule},
            {"lmrl_cycles", thresholds->lmrl_factor * thresholds->quiet_lmrl_cycles,
             "cycles", measured ? origins->lmrl_threshold_cycles : latency_origin},
            {"contended_bandwidth_gbs", thresholds->bandwidth_gbs, "GB/s",
             knee_first ? origins->dram_knee_gbs : bandwidth_origin},
            {"nearly_saturated_bandwidth_gbs", thresholds->near_gbs, "GB/s",
             bandwidth_origin},
            {"saturated_bandwidth_gbs", thresholds->saturated_gbs, "GB/s",
             bandwidth_origin},
            {"saturated_write_gbs", thresholds->saturated_write_gbs, "GB/s",
             origins->dram_write_bandwidth_gbs},
            {"knee_gbs", thresholds->knee_gbs, "GB/s", origins->dram_knee_gbs},
            {"saturating_cores", thresholds->saturating_cores, "cores",
             origins->saturating_cores},
            {"high_latency_cycles", thresholds->high_latency_cycles, "cycles",
             latency_origin},
            {"prefetched_latency_cycles", thresholds->prefetched_latency_cycles, "cycles",
             latency_origin},
            {"queued_latency_cycles", thresholds->queued_latency_cycles, "cycles",
             latency_origin},
            {"cache_latency_cycles", thresholds->cache_latency_cycles, "cycles",
             or_else(origins->l3_latency_cycles, rule)},
            {"fb_full_ratio", FB_FULL_RATIO, "ratio", rule},
            {"fb_short_ratio", FB_SHORT_RATIO, "ratio", rule},
            {"verdict_samples", (double)VERDICT_SAMPLES_MIN, "samples", rule},
            {"verdict_stalls", VERDICT_STALLS_MIN, "samples", rule},
            {"verdict_unstalled", (double)VERDICT_UNSTALLED_MIN, "samples", rule},
            {"verdict_hidden_ratio", VERDICT_HIDDEN_RATIO_MAX, "ratio", rule},
            {"verdict_cost_ratio", VERDICT_COST_RATIO_MIN, "ratio", rule},
        };
        return store(db, rows, sizeof(rows) / sizeof(rows[0]), diag);
}
