/* SPDX-License-Identifier: MIT */
/* Collects the facts of a report that are not rows. Prints nothing but the provenance. */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "facts.h"
#include "report.h"
#include "statement.h"
#include "text.h"

static const char run_sql[] =
    "WITH stalled AS MATERIALIZED (SELECT count(*) FILTER (WHERE stall_ns > 0) AS "
    "samples,"
    " sum(stall_ns) AS ns FROM sample) "
    "SELECT (SELECT value FROM run_info WHERE key = 'duration_ns') / 1e9,"
    " (SELECT value FROM run_info WHERE key = 'samples'),"
    " (SELECT value FROM run_info WHERE key = 'memory_samples'),"
    " (SELECT value FROM run_info WHERE key = 'lost'),"
    " EXISTS (SELECT 1 FROM threshold WHERE name = 'lmrl_cycles'"
    "         AND origin NOT LIKE 'the run''s%'),"
    " (SELECT samples FROM stalled), (SELECT ns FROM stalled) / 1e9,"
    " (SELECT value FROM machine WHERE key = 'ring_pages'),"
    " (SELECT value FROM threshold WHERE name = 'lmrl_factor'),"
    " (SELECT origin FROM threshold WHERE name = 'lmrl_factor'"
    "  AND origin NOT LIKE 'rule%'),"
    " (SELECT samples > 0 FROM stalled)"
    " OR EXISTS (SELECT 1 FROM run WHERE key = 'source' AND (value = 'clock'"
    "            OR (value = 'sim' AND EXISTS (SELECT 1 FROM run"
    "                                          WHERE key = 'frequency_hz')))),"
    " (SELECT CAST(value AS INTEGER) FROM run WHERE key = 'ldlat_cycles'"
    "  AND CAST(value AS INTEGER) - 1 > coalesce("
    "   (SELECT value FROM machine WHERE key = 'l1d_latency_cycles'), 0)),"
    " (SELECT total(value) FROM ledger WHERE kind = 'samples in the heap tracker'),"
    " (SELECT total(value) FROM ledger WHERE stage = 'analysis' AND kind ="
    "  'longer than a twentieth of all that was held up, which they count as'),"
    " (SELECT ns FROM stalled) / 1e3"
    " * (SELECT value FROM machine WHERE key = 'clock_mhz'),"
    " (SELECT CAST(value AS INTEGER) FROM run WHERE key = 'user_ns'),"
    " (SELECT CAST(value AS INTEGER) FROM run WHERE key = "
    "'kernel_ns')," STATEMENT_TIMED_NS "/ 1e9, (SELECT total(value) FROM ledger"
    "  WHERE kind = 'timer samples on unknown instructions'),"
    " EXISTS (SELECT 1 FROM line_clock_finding)";

static const char interval_sql[] =
    "SELECT count(*), count(*) FILTER (WHERE contended = 1),"
    " count(*) FILTER (WHERE contended IS NULL),"
    " coalesce(1.0 * sum(end_ns - start_ns) FILTER (WHERE contended = 1)"
    "          / sum(end_ns - start_ns), 0),"
    " avg(lmrl_cycles) FILTER (WHERE contended = 1),"
    " avg(lmrl_cycles) FILTER (WHERE contended = 0),"
    " count(*) FILTER (WHERE bound = 'bandwidth' AND contended IS NOT 1),"
    " 1 - (SELECT max(use_ratio) FROM utilisation_view JOIN interval USING (interval_id)"
    "      WHERE bound IS NOT 'bandwidth' AND contended IS NOT 1),"
    " (SELECT sum(use_ratio * (u.end_ns - u.start_ns)) / sum(u.end_ns - u.start_ns)"
    "  FROM utilisation_view AS u JOIN interval USING (interval_id)"
    "  WHERE contended = 1 AND use_ratio IS NOT NULL),"
    " (SELECT sum(coalesce(u.busy_ratio, 1) * (u.end_ns - u.start_ns))"
    "   / sum(u.end_ns - u.start_ns) FROM utilisation_view AS u"
    "  JOIN interval USING (interval_id) WHERE contended = 1),"
    " coalesce(1.0 * sum(end_ns - start_ns) FILTER (WHERE contended = 1"
    "   OR bound = 'bandwidth') / sum(end_ns - start_ns), 0)"
    " FROM interval_view";

static const char latency_sql[] =
    "SELECT sum(samples * mean_latency_cycles)"
    " * (SELECT value FROM run WHERE key = 'period_loads'),"
    " (SELECT value FROM machine WHERE key = 'issue_width') FROM function_finding";

/* Whether rows count some samples for less than their stall time, for ordering only. The
 * run's stall time uses uncut samples. */
#define STALLS_CUT                                                                       \
        " EXISTS (SELECT 1 FROM threshold WHERE name = '" STATEMENT_STALL_LIMIT "') "

static const char others_sql[] =
    "WITH rows AS (SELECT sum(stalled_ratio - coalesce(fault_ratio, 0)) AS stalled,"
    "  1 - total(fault_ratio) AS most FROM function_finding) "
    "SELECT (SELECT CASE WHEN" STALLS_CUT
    "  THEN min(most, stalled * (SELECT total(s.retire_latency_cycles)"
    "   / total(" STATEMENT_STALL ") FROM sample AS s" STATEMENT_MEMORY_SAMPLES
    "   AND s.retire_latency_cycles > 0))"
    "  ELSE stalled END FROM rows), total(latency_share) "
    "FILTER (WHERE verdict IN ('sharing', 'remote-memory')),"
    " total(latency_share) FILTER (WHERE verdict IN ('sharing', 'tlb')),"
    " total(latency_share) FILTER (WHERE verdict = 'sharing')"
    " FROM line_finding";

static const char compute_sql[] =
    "SELECT total(latency_cycles) FILTER (WHERE"
    " time_ns / (SELECT CAST(value AS INTEGER) FROM run WHERE key = 'interval_ns')"
    " IN (SELECT interval_id FROM interval WHERE bound = 'compute'))"
    " / total(latency_cycles) FROM sample";

/* Counter sums of the whole run; a counter's name gives its concept. */
static const char counts_sql[] = "SELECT name, sum(value) FROM counter "
                                 "JOIN reading USING (counter_id) GROUP BY counter_id";

struct reading {
        struct report_summary *summary;
        double counts[CONCEPT_COUNT]; /* NAN: not counted */
        double latency_cycles;        /* of the run's loads; NAN: not known */
        double stalled_cycles;        /* of timer samples; NAN: not known */
        double issue_width;           /* instructions a cycle; NAN: not known */
};

static double real_or_nan(sqlite3_stmt *row, int i)
{
        return sqlite3_column_type(row, i) == SQLITE_NULL ? NAN
                                                          : sqlite3_column_double(row, i);
}

static int take_run(void *context, sqlite3_stmt *row)
{
        struct reading *reading = context;
        struct report_summary *summary = reading->summary;
        summary->duration_s = sqlite3_column_double(row, 0);
        summary->samples = sqlite3_column_int64(row, 1);
        summary->memory_samples = sqlite3_column_int64(row, 2);
        summary->lost = sqlite3_column_int64(row, 3);
        summary->thresholds_of_machine = sqlite3_column_int(row, 4);
        summary->stalled_samples = sqlite3_column_int64(row, 5);
        summary->stalled_s = sqlite3_column_double(row, 6);
        summary->ring_pages = sqlite3_column_int64(row, 7);
        summary->lmrl_factor = sqlite3_column_double(row, 8);
        summary->lmrl_factor_origin = statement_printable(row, 9);
        summary->timed = sqlite3_column_int(row, 10);
        summary->unsampled_cycles = sqlite3_column_int64(row, 11);
        summary->tracker_samples = sqlite3_column_int64(row, 12);
        summary->long_stalls = sqlite3_column_int64(row, 13);
        reading->stalled_cycles = real_or_nan(row, 14);
        summary->timed_s = sqlite3_column_double(row, 17);
        summary->has_first_run = sqlite3_column_int(row, 19);
        if (summary->selection)
                return 0; /* other facts exist for the whole recording only */
        summary->user_s = real_or_nan(row, 15) / 1e9;
        summary->kernel_s = real_or_nan(row, 16) / 1e9;
        summary->unplaced_samples = sqlite3_column_int64(row, 18);
        return 0;
}

static int take_intervals(void *context, sqlite3_stmt *row)
{
        struct report_summary *summary = ((struct reading *)context)->summary;
        summary->intervals = sqlite3_column_int64(row, 0);
        summary->contended_intervals = sqlite3_column_int64(row, 1);
        summary->unknown_intervals = sqlite3_column_int64(row, 2);
        summary->contended_time_share = sqlite3_column_double(row, 3);
        summary->contended_lmrl_cycles = real_or_nan(row, 4);
        summary->other_lmrl_cycles = real_or_nan(row, 5);
        summary->saturated_intervals = sqlite3_column_int64(row, 6);
        summary->left_share = real_or_nan(row, 7);
        summary->contended_use = real_or_nan(row, 8);
        summary->contended_busy = real_or_nan(row, 9);
        summary->short_time_share = sqlite3_column_double(row, 10);
        return 0;
}

static int take_others(void *context, sqlite3_stmt *row)
{
        struct report_summary *summary = ((struct reading *)context)->summary;
        summary->loads_stalled_ratio = real_or_nan(row, 0);
        summary->others_share = sqlite3_column_double(row, 1);
        summary->unseen_share = sqlite3_column_double(row, 2);
        summary->sharing_share = sqlite3_column_double(row, 3);
        return 0;
}

static int take_compute(void *context, sqlite3_stmt *row)
{
        struct report_summary *summary = ((struct reading *)context)->summary;
        summary->compute_share = sqlite3_column_double(row, 0);
        return 0;
}

static int take_latency(void *context, sqlite3_stmt *row)
{
        struct reading *reading = context;
        reading->latency_cycles = real_or_nan(row, 0);
        reading->issue_width = real_or_nan(row, 1);
        return 0;
}

static int take_count(void *context, sqlite3_stmt *row)
{
        struct reading *reading = context;
        enum concept concept = counter_concept(statement_text(row, 0));
        if (concept < CONCEPT_COUNT)
                reading->counts[concept] = sqlite3_column_double(row, 1);
        return 0;
}

/* The stall time of timer samples without each load's own slot. Samples cover a part of
 * that time: chance may make the difference negative. */
static double held_up_cycles(const struct reading *reading)
{
        double left = reading->stalled_cycles -
                      reading->counts[CONCEPT_LOADS] / reading->issue_width;
        return left < 0 ? 0 : left;
}

/* Ratios to the run's cycles; NAN if cycles or the dividend are NAN. */
static void set_ratios(const struct reading *reading)
{
        struct report_summary *summary = reading->summary;
        const double *counts = reading->counts;
        double cycles = counts[CONCEPT_CYCLES];
        summary->latency_cycles = reading->latency_cycles;
        summary->latency_per_cycle = reading->latency_cycles / cycles;
        if (summary->without_waits)
                cycles = NAN;
        summary->stalled_ratio = reading->stalled_cycles / cycles;
        summary->held_up_ratio = held_up_cycles(reading) / cycles;
        summary->instructions_per_cycle = counts[CONCEPT_INSTRUCTIONS] / cycles;
        summary->stall_ratio = counts[CONCEPT_STALLS_L1D] / cycles;
        summary->fb_full_ratio = counts[CONCEPT_FB_FULL] / cycles;
        summary->sq_full_ratio = counts[CONCEPT_SQ_FULL] / cycles;
        summary->sb_full_ratio = counts[CONCEPT_STORE_BUFFER] / cycles;
        summary->split_ratio = counts[CONCEPT_SPLIT_LOADS] / counts[CONCEPT_LOADS];
        summary->alias_ratio = counts[CONCEPT_ALIASED_LOADS] / counts[CONCEPT_LOADS];
        summary->mispredicted_ratio = counts[CONCEPT_MISPREDICTED] / cycles;
        summary->page_faults = counts[CONCEPT_PAGE_FAULTS];
        summary->fault_ratio = counts[CONCEPT_KERNEL_FAULT] / cycles;
        summary->call_ratio = counts[CONCEPT_KERNEL_CALL] / cycles;
}

static int read_figures(struct db *db, struct report_summary *summary, struct diag *diag)
{
        static const struct {
                const char *sql;
                statement_take *take;
        } parts[] = {
            {run_sql, take_run},         {interval_sql, take_intervals},
            {others_sql, take_others},   {compute_sql, take_compute},
            {latency_sql, take_latency}, {counts_sql, take_count},
        };
        struct reading reading = {
            .summary = summary,
            .latency_cycles = NAN,
            .stalled_cycles = NAN,
            .issue_width = NAN,
        };
        int code = 0;
        for (int c = 0; c < CONCEPT_COUNT; c++)
                reading.counts[c] = NAN;
        for (size_t i = 0; !code && i < sizeof(parts) / sizeof(parts[0]); i++)
                code = statement_each(db, parts[i].sql, parts[i].take, &reading, diag);
        if (!code)
                set_ratios(&reading);
        return code;
}

/* A key of the run, printable on a terminal; NULL if absent. */
static char *run_text(struct db *db, const char *key)
{
        char *raw = db_run_text(db, key);
        char *text = raw ? text_printable(raw, strnlen(raw, TEXT_SHOWN_BYTES)) : NULL;
        free(raw);
        return text;
}

static double timer_period(struct db *db)
{
        int64_t frequency_hz = db_run_int(db, "frequency_hz", 0);
        return frequency_hz > 0 ? 1.0 / (double)frequency_hz : 0;
}

int report_summary_read(struct db *db, struct report_summary *summary, struct diag *diag)
{
        *summary = (struct report_summary){
            .command = run_text(db, "command"),
            .source = run_text(db, "source"),
            .numbers = run_text(db, "numbers"),
            .cpu = run_text(db, "sim_preset"),
            .sim_detail = run_text(db, "sim_detail"),
            .sim_set = run_text(db, "sim_set"),
            .poor_calibration = run_text(db, "calibration_poor"),
            .failure = run_text(db, "failure"),
            .selection = run_text(db, "selection"),
            .recorded_samples = db_run_int(db, "recorded_samples", 0),
            .timer_period_s = timer_period(db),
            .user_s = NAN,
            .kernel_s = NAN,
        };
        if (!summary->cpu)
                summary->cpu = run_text(db, "cpu");
        char *prefetch = db_run_text(db, "sim_prefetch");
        summary->without_prefetch =
            summary->source && strcmp(summary->source, "sim") == 0 && !prefetch;
        free(prefetch);
        summary->without_waits = facts_without_waits(db);
        char *ended_by = db_run_text(db, "signal");
        summary->signal = ended_by ? atoi(ended_by) : 0;
        free(ended_by);
        char *state = db_run_text(db, "state");
        summary->cut_off = state && strcmp(state, "recording") == 0;
        free(state);
        int code = report_model_note(db, &summary->model_note, diag);
        return code ? code : read_figures(db, summary, diag);
}

bool report_short_in_part(const struct report_summary *summary)
{
        return summary->contended_use < REPORT_PART_USE_MAX;
}

void report_summary_free(struct report_summary *summary)
{
        free(summary->command);
        free(summary->source);
        free(summary->numbers);
        free(summary->cpu);
        free(summary->sim_detail);
        free(summary->sim_set);
        free(summary->selection);
        free(summary->model_note);
        free(summary->poor_calibration);
        free(summary->failure);
        free(summary->lmrl_factor_origin);
}

bool report_is_modelled(const struct report_summary *summary)
{
        return summary->numbers && strcmp(summary->numbers, "modelled") == 0;
}

struct duration_text report_duration(double seconds)
{
        struct duration_text duration;
        size_t size = sizeof(duration.text);
        if (seconds >= 10e-3 || !(seconds > 0))
                snprintf(duration.text, size, "%.3f s", seconds);
        else if (seconds >= 1e-3)
                snprintf(duration.text, size, "%.2f ms", seconds * 1e3);
        else
                snprintf(duration.text, size, "%.1f us", seconds * 1e6);
        return duration;
}

bool report_predicts_branches(const struct report_summary *summary)
{
        return summary->sim_detail && strcmp(summary->sim_detail, "cache") != 0;
}

void report_print_provenance(FILE *out, const struct report_summary *summary)
{
        const char *numbers = summary->numbers ? summary->numbers : "of unknown origin";
        const char *source = summary->source ? summary->source : "an unknown source";
        bool simulated = strcmp(source, "sim") == 0;
        fprintf(out, "%s %s %s", numbers,
                strcmp(numbers, "imported") == 0 ? "from" : "by",
                simulated ? "the simulated PMU" : source);
        if (summary->cpu)
                fprintf(out, " (%s%s%s)", summary->cpu,
                        !summary->sim_set                ? ""
                        : strstr(summary->cpu, " with ") ? " and "
                                                         : " with ",
                        summary->sim_set ? summary->sim_set : "");
        const char *detail = summary->sim_detail ? summary->sim_detail : "";
        bool cache = strcmp(detail, "cache") == 0;
        bool branches = strcmp(detail, "branches") == 0;
        if (cache)
                fputs(", caches only: no load waits for a value", out);
        if (branches)
                fputs(", with wrong paths and the front end", out);
        if (summary->without_prefetch)
                fputs(", without prefetchers", out);
        if (report_is_modelled(summary))
                fputs(", not measured", out);
        if (summary->unplaced_samples > 0 && summary->samples > 0)
                fprintf(out, ", %.1f%% of the samples not placed",
                        100.0 * (double)summary->unplaced_samples /
                            (double)summary->samples);
        if (summary->selection)
                fprintf(out, ", only %s", summary->selection);
}
