/* SPDX-License-Identifier: MIT */
/* One pass over the samples in order of time. contention.c holds the rules that use the
 * results. */
#include "interval_samples.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "statement.h"
#include "verdict.h"

static const double IDLE_GAPS = 10;
/* Fewer gaps have no median that says what is usual. */
static const size_t GAPS_MIN = 10;

static int compare_int64(const void *left, const void *right)
{
        int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
        return (a > b) - (a < b);
}

static int64_t bounded(int64_t time_ns, int64_t start_ns, int64_t end_ns)
{
        return time_ns < start_ns ? start_ns : time_ns > end_ns ? end_ns : time_ns;
}

double idle_part(const int64_t *times_ns, size_t count, int64_t start_ns, int64_t end_ns,
                 double latency_ns)
{
        if (count < (size_t)VERDICT_SAMPLES_MIN || end_ns <= start_ns)
                return NAN;
        int64_t *gaps = calloc(count + 1, sizeof(*gaps));
        if (!gaps)
                return NAN;
        int64_t before = start_ns;
        size_t apart = 0;
        for (size_t i = 0; i <= count; i++) {
                int64_t time =
                    i < count ? bounded(times_ns[i], start_ns, end_ns) : end_ns;
                if ((double)(time - before) <= latency_ns)
                        continue;
                gaps[apart++] = time - before;
                before = time;
        }
        if (apart < GAPS_MIN) {
                free(gaps);
                return NAN;
        }
        qsort(gaps, apart, sizeof(*gaps), compare_int64);
        double limit = IDLE_GAPS * (double)gaps[apart / 2], idle = 0;
        for (size_t i = apart; i-- > 0 && (double)gaps[i] > limit;)
                idle += (double)gaps[i];
        free(gaps);
        return idle / (double)(end_ns - start_ns);
}

/* Sums over the samples of the current interval. */
struct reading {
        const struct interval_series *series;
        struct interval_metrics *metrics;
        double loads_per_sample, cache_latency_cycles, dram_latency_ns;
        size_t at; /* index in series */
        int64_t *times_ns;
        size_t count, capacity; /* of times_ns: samples that waited for DRAM */
        size_t dram, remote;    /* samples of these levels */
        double retire_cycles, retire_squared;
        int64_t retirements;
        double dram_cycles; /* of accesses that DRAM served */
        size_t dram_known;
        /* Latencies of accesses that took a buffer, and of those that crowd into few
         * sets. */
        double requested_cycles, crowded_cycles;
};

static void finish_interval(struct reading *reading)
{
        if (reading->at >= reading->series->count)
                return;
        const struct interval *interval = &reading->series->intervals[reading->at];
        struct interval_metrics *metrics = &reading->metrics[reading->at];
        size_t count = reading->count;
        bool tells = reading->dram >= (size_t)VERDICT_SAMPLES_MIN;
        metrics->idle_part = idle_part(reading->times_ns, count, interval->start_ns,
                                       interval->end_ns, reading->dram_latency_ns);
        metrics->remote_part =
            tells ? (double)reading->remote / (double)reading->dram : 0;
        if (reading->retirements >= VERDICT_SAMPLES_MIN)
                metrics->sampled_stall_most =
                    (reading->retire_cycles + 1.96 * sqrt(reading->retire_squared)) *
                    reading->loads_per_sample / interval->gained[CONCEPT_CYCLES];
        metrics->dram_sample_cycles =
            reading->dram_known >= (size_t)VERDICT_SAMPLES_MIN
                ? reading->dram_cycles / (double)reading->dram_known
                : NAN;
        reading->dram_cycles = 0;
        reading->dram_known = 0;
        metrics->sets_crowd = 3 * reading->crowded_cycles > reading->requested_cycles;
        reading->requested_cycles = reading->crowded_cycles = 0;
        reading->count = reading->dram = reading->remote = 0;
        reading->retire_cycles = reading->retire_squared = 0;
        reading->retirements = 0;
        reading->at++;
}

/* Columns: time, whether DRAM had the line, whether a remote DRAM had it, retire latency,
 * latency of a fill buffer's hit, latency of an access that took a buffer, whether it is
 * one of few sets, latency if DRAM served it and its address hit the TLB. */
static int take_sample(void *context, sqlite3_stmt *row)
{
        struct reading *reading = context;
        const struct interval_series *series = reading->series;
        int64_t time_ns = sqlite3_column_int64(row, 0);
        int64_t id = time_ns < 0 ? -1 : time_ns / series->interval_ns;
        while (reading->at < series->count && series->intervals[reading->at].id < id)
                finish_interval(reading);
        if (reading->at == series->count || series->intervals[reading->at].id != id)
                return 0;
        if (sqlite3_column_type(row, 3) != SQLITE_NULL) {
                reading->retirements++;
                double cycles = sqlite3_column_double(row, 3);
                reading->retire_cycles += cycles;
                reading->retire_squared += cycles * cycles;
        }
        reading->dram_known += sqlite3_column_int64(row, 7) > 0;
        reading->dram_cycles += sqlite3_column_double(row, 7);
        const double requested_cycles = sqlite3_column_double(row, 5);
        reading->requested_cycles += requested_cycles;
        if (sqlite3_column_int(row, 6))
                reading->crowded_cycles += requested_cycles;
        const bool dram = sqlite3_column_int(row, 1);
        if (!dram && !(sqlite3_column_double(row, 4) > reading->cache_latency_cycles))
                return 0;
        if (array_reserve(&reading->times_ns, &reading->capacity, reading->count,
                          sizeof(*reading->times_ns)))
                return -ENOMEM;
        reading->times_ns[reading->count++] = time_ns;
        reading->dram += dram;
        reading->remote += sqlite3_column_int(row, 2) != 0;
        return 0;
}

static int read_remote(struct db *db, double *cycles, struct diag *diag)
{
        static const char sql[] =
            "SELECT latency_cycles FROM (SELECT s.latency_cycles,"
            "  row_number() OVER (ORDER BY s.latency_cycles) AS n, count(*) OVER () AS "
            "all_n"
            "  FROM sample AS s JOIN data_source AS d USING (data_source_id)"
            "  WHERE d.level = 'REMOTE_DRAM' AND d.op = 'load' AND s.latency_cycles > 0)"
            " WHERE n = (all_n + 9) / 10 AND all_n >= ?1";
        sqlite3_stmt *row;
        int64_t any;
        *cycles = NAN;
        int code = statement_number(
            db, "SELECT EXISTS (SELECT 1 FROM data_source WHERE level = 'REMOTE_DRAM')",
            &any, diag);
        if (!code && any)
                code = statement_prepare(db, sql, &row, diag);
        if (code || !any)
                return code;
        sqlite3_bind_int64(row, 1, VERDICT_SAMPLES_MIN);
        code = statement_next(db, row, diag);
        if (code > 0)
                *cycles = sqlite3_column_double(row, 0);
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

/* Retire latency counts only if the run also sampled loads faster than L2: else some
 * stalled loads have no samples. */
static const char sql_of_samples[] =
    "SELECT s.time_ns, d.level IN ('DRAM', 'REMOTE_DRAM', 'PMEM'), d.level = "
    "'REMOTE_DRAM',"
    " iif((SELECT CAST(run.value AS INTEGER) <= machine.value FROM run, machine"
    "      WHERE run.key = 'ldlat_cycles' AND machine.key = 'l2_latency_cycles'),"
    "     s.retire_latency_cycles, NULL),"
    " iif(d.level = 'LFB', s.latency_cycles, 0),"
    " iif(d.level IN ('L1', 'LFB'), 0, s.latency_cycles),"
    " s.sample_id IN (SELECT sample_id FROM set_conflict),"
    " iif(d.level = 'DRAM' AND d.tlb <> 'miss' AND NOT d.locked, s.latency_cycles, 0)"
    " FROM sample AS s JOIN data_source AS d USING (data_source_id)"
    " WHERE d.op <> 'NA' OR d.level <> 'NA' ORDER BY s.time_ns";

int interval_samples_read(struct db *db, const struct interval_series *series,
                          double loads_per_sample, double cache_latency_cycles,
                          double dram_latency_ns, struct interval_metrics *metrics,
                          double *remote_cycles, struct diag *diag)
{
        struct reading reading = {.series = series,
                                  .metrics = metrics,
                                  .loads_per_sample = loads_per_sample,
                                  .cache_latency_cycles = cache_latency_cycles,
                                  .dram_latency_ns = dram_latency_ns};
        for (size_t i = 0; i < series->count; i++) {
                metrics[i].idle_part = NAN;
                metrics[i].dram_sample_cycles = NAN;
                metrics[i].sampled_stall_most = NAN;
        }
        int code = read_remote(db, remote_cycles, diag);
        if (!code && series->count)
                code = statement_each(db, sql_of_samples, take_sample, &reading, diag);
        while (reading.at < series->count)
                finish_interval(&reading);
        free(reading.times_ns);
        return code;
}
