/* SPDX-License-Identifier: MIT */
/* Reads one of two compared recordings: its counts and its rows. */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "diff.h"
#include "facts.h"
#include "report_sql.h"
#include "statement.h"
#include "text.h"

/* SQL is laid out as SQL. */
/* clang-format off */

/* The name of a module that is stable across builds. The program may be called ?1 here
 * and ?2 in the other recording; libraries lose their versions. */
#define MODULE_KEY(path) \
        " CASE WHEN" REPORT_BASE(path) "= ?1 THEN ?2" \
        "      WHEN instr(" path ", '.so.') THEN" \
        "           substr(" REPORT_BASE(path) ", 1, instr(" REPORT_BASE(path) ", '.so.') + 2)" \
        "      ELSE coalesce(" REPORT_BASE(path) ", '') END "
#define FIELD_END " || char(31) || " /* DIFF_FIELD_END */
/* NULL: not known. */
#define BUILD_OF_MODULE \
        " (SELECT group_concat(id) FROM (SELECT hex(build_id) AS id FROM module AS b" \
        "  WHERE b.path = f.module AND build_id IS NOT NULL ORDER BY 1)) "
/* Build of all files: the file that allocated a block is not known. */
#define BUILD_OF_ALL \
        " (SELECT iif(sum(build_id IS NULL), NULL, group_concat(id)) FROM" \
        "  (SELECT build_id, " REPORT_BASE("path") " || hex(build_id) AS id" \
        "   FROM module WHERE path NOT GLOB '[[]*' ORDER BY 2)) "
/* A function without a name is identified by its offset, which is valid in the same build
 * only. */
#define FUNCTION_KEY \
        " coalesce(function, iif(function_offset IS NULL, ''," \
        "   function_offset || char(31) || coalesce(" BUILD_OF_MODULE ", ?3))) "
/* Uses stall time if ?4 is set. */
#define ESTIMATE \
        " iif(?4, f.stalled_ratio, f.latency_share)," \
        " iif(?4, f.stalled_ratio_low, f.latency_share_low)," \
        " iif(?4, f.stalled_ratio_high, f.latency_share_high)"

/* The name of a block without its type. The type may follow the allocation site, which
 * identifies the block; the function's own name may also contain a site. */
#define BLOCK_PLACE \
        "(coalesce(alloc_function || ' at ', '') ||" REPORT_BASE("alloc_file") \
        " || ':' || alloc_line)"
#define BLOCK_NAME \
        " iif(instr(name, " BLOCK_PLACE "), substr(name, 1, instr(name, " BLOCK_PLACE ")" \
        "     + length(" BLOCK_PLACE ") - 1), name)"

/* The file of a part such as "[data of work]" or "work+0x12". PART_KEY changes its name
 * as MODULE_KEY does. */
#define PART_FILE \
        "iif(name GLOB '*+0x*', substr(name, 1, instr(name, '+0x') - 1)," \
        " substr(name, instr(name, ' of ') + 4, length(name) - instr(name, ' of ') - 4))"
#define PART_KEY \
        " iif(name GLOB '*+0x*', substr(name, instr(name, '+0x'))," \
        "     substr(name, 1, instr(name, ' of ') + 3)) || " MODULE_KEY(PART_FILE)
#define BUILD_OF_PART \
        " (SELECT group_concat(id) FROM (SELECT hex(build_id) AS id FROM module" \
        "  WHERE" REPORT_BASE("path") "=" PART_FILE " AND build_id IS NOT NULL ORDER BY 1)) "

/* A row's share of the first run's CPU time; ID is its key in FINDING. */
#define MEASURED ", c.measured_ratio, c.measured_ratio_low, c.measured_ratio_high"
#define FROM_MEASURED(finding, id) \
    " LEFT JOIN (SELECT " id " AS row_id, measured_ratio, measured_ratio_low," \
    "  measured_ratio_high FROM " finding ") AS c ON c.row_id = f." id

/* Columns: group, build, line, four names, samples, page faults, verdict,
 * estimate, measured. */
static const struct diff_kind kinds[] = {
    {
        .name = "line",
        .names = {"module", "function", "file"},
        .line = "line",
        .function = 1,
        .sql = "SELECT" MODULE_KEY("module") FIELD_END
               " coalesce(" REPORT_BASE("file") ", '')" FIELD_END FUNCTION_KEY "," BUILD_OF_MODULE ", line,"
               " module," REPORT_FUNCTION_NAME ", file, NULL, samples, page_faults, verdict,"
               ESTIMATE MEASURED " FROM line_finding AS f"
               FROM_MEASURED("line_clock_finding", "line_id"),
    },
    {
        .name = "function",
        .names = {"module", "function"},
        .function = 1,
        .sql = "SELECT" MODULE_KEY("module") FIELD_END FUNCTION_KEY "," BUILD_OF_MODULE
               ", NULL, module," REPORT_FUNCTION_NAME ", NULL, NULL, samples, page_faults, verdict,"
               ESTIMATE MEASURED " FROM function_finding AS f"
               FROM_MEASURED("function_clock_finding", "function_id"),
    },
    {
        .name = "object",
        .names = {"object_kind", "object", "alloc_function", "alloc_file"},
        .line = "alloc_line",
        .function = 2,
        .sql = "SELECT kind" FIELD_END
               " CASE WHEN alloc_file IS NOT NULL THEN" REPORT_BASE("alloc_file") FIELD_END
               " coalesce(alloc_function, '')"
               " WHEN name GLOB 'stack of thread *' THEN 'stack of thread'"
               " WHEN kind = 'heap' AND name GLOB '*+0x*' THEN"
               PART_KEY FIELD_END "coalesce(" BUILD_OF_PART ", ?3)"
               " WHEN name GLOB '[[]* of *]' THEN" PART_KEY
               " ELSE name END,"
               BUILD_OF_ALL ", alloc_line, kind,"
               " CASE WHEN name GLOB 'stack of thread *' THEN 'stacks of threads'"
               " WHEN alloc_file IS NOT NULL THEN" BLOCK_NAME " ELSE name END,"
               " alloc_function, alloc_file, samples, page_faults, verdict,"
               ESTIMATE MEASURED " FROM object_finding AS f JOIN data_object USING (object_id)"
               FROM_MEASURED("object_clock_finding", "object_id"),
    },
    {
        .name = "type",
        .names = {"type", "field"},
        .sql = "SELECT coalesce(d.name, '?')" FIELD_END "coalesce(t.name, ''), NULL, NULL,"
               " d.name, t.name, NULL, NULL, samples, page_faults, verdict,"
               ESTIMATE ", NULL, NULL, NULL FROM field_finding AS f JOIN type_field AS t USING (field_id)"
               " JOIN data_type AS d USING (type_id)",
    },
};
/* clang-format on */

enum {
        COLUMN_GROUP,
        COLUMN_BUILD,
        COLUMN_LINE,
        COLUMN_NAMES,
        COLUMN_SAMPLES = COLUMN_NAMES + DIFF_NAMES,
        COLUMN_FAULTS,
        COLUMN_VERDICT,
        COLUMN_ESTIMATE,
        COLUMN_MEASURED = COLUMN_ESTIMATE + 3
};

const struct diff_kind *diff_kind_named(const char *name)
{
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                if (strcmp(kinds[i].name, name) == 0)
                        return &kinds[i];
        return NULL;
}

const char *diff_unit(enum diff_figure figure)
{
        return figure == DIFF_STALLED_NS ? "ns" : "cycles";
}

/* ---- what was counted ---- */

const struct diff_count_name diff_count_names[DIFF_COUNTS] = {
    [COUNT_ON_CPUS] = {"on_cpus", "time on CPUs", "ns"},
    [COUNT_DURATION] = {"duration", "duration", "ns"},
    [COUNT_MEASURED_DURATION] = {"measured_duration", "duration, measured", "ns"},
    [COUNT_MEASURED_CPU] = {"measured_cpu", "CPU time, measured", "ns"},
    [COUNT_CYCLES] = {"cycles", "cycles", "cycles"},
    [COUNT_INSTRUCTIONS] = {"instructions", "instructions", "instructions"},
    [COUNT_MISPREDICTED] = {"mispredicted", "mispredicted branches", "branches"},
    [COUNT_CALLS] = {"call_cycles", "cycles of system calls", "cycles"},
    [COUNT_DRAM_READ] = {"dram_read", "bytes read from DRAM", "bytes"},
    [COUNT_DRAM_WRITE] = {"dram_write", "bytes written to DRAM", "bytes"},
    [COUNT_LMRL] = {"lmrl", "LMRL, cycles", "cycles"},
    [COUNT_INTERVALS] = {"intervals", "intervals", "intervals"},
    [COUNT_CONTENDED] = {"contended_intervals", "contended intervals", "intervals"},
};

/* A time of a first, unmodified run of the command; NAN: no such run, or a part of the
 * recording. */
static double first_run_ns(const struct diff_side *side, const char *key)
{
        int64_t ns = side->summary.selection ? -1 : db_run_int(side->db, key, -1);
        return ns >= 0 ? (double)ns : NAN;
}

static int read_timer(struct diff_side *side, struct diag *diag)
{
        int64_t samples;
        int code = statement_number(side->db, "SELECT total(samples) FROM clock_sample",
                                    &samples, diag);
        side->measured_cpu_ns =
            first_run_ns(side, "clock_user_ns") + first_run_ns(side, "clock_kernel_ns");
        side->timer_ns =
            samples > 0 ? first_run_ns(side, "clock_user_ns") / (double)samples : NAN;
        return code < 0 ? code : 0;
}

/* The time that timer samples stand for, without the kernel; NAN: no timer measured it.
 */
static double on_cpus_ns(const struct report_summary *summary)
{
        bool measured =
            summary->timed && summary->timer_period_s > 0 && !report_is_modelled(summary);
        return measured ? (double)summary->samples * summary->timer_period_s * 1e9 : NAN;
}

static double counted(const struct run_counters *counters, const struct interval *sum,
                      enum concept concept)
{
        return counters->known[concept] ? sum->gained[concept] : NAN;
}

static void set_counts(struct diff_side *side, const struct run_counters *counters)
{
        struct interval sum = {.end_ns = 1};
        for (size_t i = 0; i < counters->series.count; i++)
                for (int c = 0; c < CONCEPT_COUNT; c++)
                        sum.gained[c] += counters->series.intervals[i].gained[c];
        bool told = side->summary.intervals > side->summary.unknown_intervals;
        double *counts = side->counts;
        side->cycles = counters->total_cycles;
        counts[COUNT_ON_CPUS] = on_cpus_ns(&side->summary);
        counts[COUNT_DURATION] =
            side->summary.selection ? NAN : side->summary.duration_s * 1e9;
        counts[COUNT_MEASURED_DURATION] = first_run_ns(side, "clock_duration_ns");
        counts[COUNT_MEASURED_CPU] = side->measured_cpu_ns;
        counts[COUNT_CYCLES] = counters->total_cycles;
        counts[COUNT_INSTRUCTIONS] = counted(counters, &sum, CONCEPT_INSTRUCTIONS);
        counts[COUNT_MISPREDICTED] = counted(counters, &sum, CONCEPT_MISPREDICTED);
        counts[COUNT_CALLS] = counted(counters, &sum, CONCEPT_KERNEL_CALL);
        counts[COUNT_DRAM_READ] = counted(counters, &sum, CONCEPT_DRAM_READ);
        counts[COUNT_DRAM_WRITE] = counted(counters, &sum, CONCEPT_DRAM_WRITE);
        counts[COUNT_LMRL] = interval_metrics(&sum, counters->known, NAN).lmrl_cycles;
        counts[COUNT_INTERVALS] = told ? (double)side->summary.intervals : NAN;
        counts[COUNT_CONTENDED] = told ? (double)side->summary.contended_intervals : NAN;
}

static int read_recording(struct diff_side *side, struct diag *diag)
{
        struct run_counters counters = {0};
        int code = report_summary_read(side->db, &side->summary, diag);
        if (!code)
                code = facts_counters(side->db, &counters, diag);
        int64_t period = db_run_int(side->db, "period_loads", 0);
        side->loads_per_sample = period > 0 ? (double)period : NAN;
        if (!code)
                code = read_timer(side, diag);
        if (!code)
                set_counts(side, &counters);
        facts_counters_free(&counters);
        return code;
}

int diff_side_read(struct diff_side *side, struct diag *diag)
{
        int code = read_recording(side, diag);
        for (size_t i = 0; !code && i < side->other_count; i++)
                code = read_recording(&side->others[i], diag);
        if (!code)
                code = diff_drop_equal(side, diag);
        for (size_t i = 0; !code && i < side->other_count; i++)
                for (int c = 0; c < DIFF_COUNTS; c++)
                        side->counts[c] += side->others[i].counts[c];
        for (int c = 0; c < DIFF_COUNTS; c++)
                side->counts[c] /= (double)(1 + side->other_count);
        return code;
}

static void free_row(struct diff_row *row)
{
        free(row->group);
        free(row->build);
        free(row->verdict);
        for (size_t i = 0; i < DIFF_NAMES; i++)
                free(row->names[i]);
}

void diff_side_free(struct diff_side *side)
{
        for (size_t i = 0; i < side->row_count; i++)
                free_row(&side->rows[i]);
        free(side->rows);
        for (size_t i = 0; i < side->other_count; i++)
                diff_side_free(&side->others[i]);
        free(side->others);
        free(side->equals);
        report_summary_free(&side->summary);
        db_close(side->db);
}

enum diff_figure diff_side_figure(const struct diff_side *side)
{
        const struct report_summary *summary = &side->summary;
        if (summary->timed)
                return DIFF_STALLED_NS;
        if (isfinite(summary->loads_stalled_ratio) && isfinite(side->cycles))
                return DIFF_STALLED_CYCLES;
        return isfinite(side->loads_per_sample) ? DIFF_LATENCY_CYCLES : DIFF_NONE;
}

/* ---- rows ---- */

int64_t diff_sum(int64_t one, int64_t other)
{
        int64_t sum;
        if (!__builtin_add_overflow(one, other, &sum))
                return sum;
        return one < 0 ? INT64_MIN : INT64_MAX;
}

struct reading {
        struct diff_side *side;
        enum diff_figure figure;
        double total; /* the whole that a row's estimate is a part of */
        bool of_code; /* rows are lines or functions */
};

/* COPY stays NULL for NULL; returns 0 or -ENOMEM. */
static int copy_text(sqlite3_stmt *row, int column, char **copy)
{
        if (sqlite3_column_type(row, column) == SQLITE_NULL)
                return 0;
        const char *text = (const char *)sqlite3_column_text(row, column);
        *copy = text ? strndup(text, TEXT_SHOWN_BYTES) : NULL;
        return *copy ? 0 : -ENOMEM;
}

static bool read_estimate(const struct reading *reading, sqlite3_stmt *row,
                          struct estimate *estimate)
{
        if (sqlite3_column_type(row, COLUMN_ESTIMATE) == SQLITE_NULL)
                return false;
        double value = sqlite3_column_double(row, COLUMN_ESTIMATE);
        double low = sqlite3_column_double(row, COLUMN_ESTIMATE + 1);
        double high = sqlite3_column_double(row, COLUMN_ESTIMATE + 2);
        return reading->figure == DIFF_STALLED_CYCLES
                   ? estimate_of_ratio(value, low, high, reading->total, estimate)
                   : estimate_of_share(value, low, high, reading->total, estimate);
}

/* Rows without timer samples: in a recording with a first run, none were at the row. That
 * run has no names of code in no file. */
static struct estimate read_measured(const struct diff_side *side, bool by_code,
                                     sqlite3_stmt *row)
{
        struct estimate measured = {NAN, NAN, NAN};
        if (!isfinite(side->timer_ns))
                return measured;
        if (sqlite3_column_type(row, COLUMN_MEASURED) == SQLITE_NULL)
                return by_code && sqlite3_column_type(row, COLUMN_NAMES) != SQLITE_NULL
                           ? estimate_of_none(side->timer_ns)
                           : measured;
        if (!estimate_scaled(sqlite3_column_double(row, COLUMN_MEASURED),
                             sqlite3_column_double(row, COLUMN_MEASURED + 1),
                             sqlite3_column_double(row, COLUMN_MEASURED + 2),
                             side->measured_cpu_ns, &measured))
                measured.value = NAN;
        return measured;
}

static int take_row(void *context, sqlite3_stmt *row)
{
        struct reading *reading = context;
        struct diff_side *side = reading->side;
        struct diff_row taken = {.line = sqlite3_column_int64(row, COLUMN_LINE),
                                 .samples = sqlite3_column_int64(row, COLUMN_SAMPLES),
                                 .faults = sqlite3_column_int64(row, COLUMN_FAULTS)};
        if (!read_estimate(reading, row, &taken.estimate))
                return 0;
        taken.measured = read_measured(side, reading->of_code, row);
        if (array_reserve(&side->rows, &side->row_capacity, side->row_count,
                          sizeof(*side->rows)))
                return -ENOMEM;
        taken.group = strdup(statement_text(row, COLUMN_GROUP));
        taken.build = strdup(statement_text(row, COLUMN_BUILD));
        taken.verdict = strdup(statement_text(row, COLUMN_VERDICT));
        int code = taken.group && taken.build && taken.verdict ? 0 : -ENOMEM;
        for (int i = 0; !code && i < DIFF_NAMES; i++)
                code = copy_text(row, COLUMN_NAMES + i, &taken.names[i]);
        side->rows[side->row_count++] = taken;
        return code;
}

static int by_group_and_line(const void *left, const void *right)
{
        const struct diff_row *a = left, *b = right;
        int order = strcmp(a->group, b->group);
        return order ? order : (a->line > b->line) - (a->line < b->line);
}

void diff_rows_sort(struct diff_side *side)
{
        if (side->row_count)
                qsort(side->rows, side->row_count, sizeof(*side->rows),
                      by_group_and_line);
}

/* Merges rows that cannot be distinguished, such as two objects with one name. The
 * verdict comes from the larger row. */
static void join_equal(struct diff_side *side)
{
        size_t kept = 0;
        diff_rows_sort(side);
        for (size_t i = 0; i < side->row_count; i++) {
                struct diff_row *row = &side->rows[i];
                struct diff_row *last = kept ? &side->rows[kept - 1] : NULL;
                if (!last || by_group_and_line(last, row) != 0) {
                        side->rows[kept++] = *row;
                        continue;
                }
                if (row->estimate.value > last->estimate.value) {
                        char *verdict = last->verdict;
                        last->verdict = row->verdict;
                        row->verdict = verdict;
                }
                last->samples = diff_sum(last->samples, row->samples);
                last->faults = diff_sum(last->faults, row->faults);
                if (strcmp(last->build, row->build) != 0)
                        *last->build = '\0';
                last->sum += row->sum;
                last->squares += row->squares;
                estimate_add(&last->estimate, &row->estimate);
                estimate_add(&last->measured, &row->measured);
                free_row(row);
        }
        side->row_count = kept;
}

static void sum_up(struct diff_side *side)
{
        double variance = 0;
        for (size_t i = 0; i < side->row_count; i++) {
                const struct estimate *estimate = &side->rows[i].estimate;
                variance += estimate_event(estimate) * estimate->value;
                estimate_add(&side->whole, estimate);
        }
        side->event = side->whole.value > 0 ? variance / side->whole.value : 0;
}

static double total_of(const struct diff_side *side, enum diff_figure figure)
{
        const struct report_summary *summary = &side->summary;
        switch (figure) {
        case DIFF_STALLED_CYCLES:
                return side->cycles;
        case DIFF_STALLED_NS:
                return summary->timed_s * 1e9;
        default:
                return summary->latency_cycles;
        }
}

static int read_own_rows(struct diff_side *side, const struct diff_kind *kind,
                         enum diff_figure figure, const char *from, const char *to,
                         const char *mark, struct diag *diag)
{
        bool of_code = kind->function == 1;
        struct reading reading = {side, figure, total_of(side, figure), of_code};
        sqlite3_stmt *rows;
        int code = statement_prepare(side->db, kind->sql, &rows, diag);
        if (code)
                return code;
        sqlite3_bind_text(rows, 1, from, -1, SQLITE_STATIC);
        sqlite3_bind_text(rows, 2, to, -1, SQLITE_STATIC);
        sqlite3_bind_text(rows, 3, mark, -1, SQLITE_STATIC);
        sqlite3_bind_int(rows, 4, figure == DIFF_STALLED_CYCLES);
        while (!code && (code = statement_next(side->db, rows, diag)) > 0)
                code = take_row(&reading, rows) ? diag_no_memory(diag) : 0;
        sqlite3_finalize(rows);
        if (!code)
                join_equal(side);
        for (size_t i = 0; i < side->row_count; i++) {
                side->rows[i].sum = side->rows[i].estimate.value;
                side->rows[i].squares = side->rows[i].sum * side->rows[i].sum;
        }
        return code;
}

/* The variance of the mean of COUNT values. */
static double variance_of_mean(double sum, double squares, size_t count)
{
        double n = (double)count;
        return count > 1 ? fmax(0, squares - sum * sum / n) / (n - 1) / n : 0;
}

static double sum_of_rows(const struct diff_side *side)
{
        double sum = 0;
        for (size_t i = 0; i < side->row_count; i++)
                sum += side->rows[i].sum;
        return sum;
}

/* Adds the rows of SIDE's other recordings, and computes means. */
static int join_recordings(struct diff_side *side, struct diag *diag)
{
        size_t count = 1 + side->other_count;
        double sum = sum_of_rows(side), squares = sum * sum;
        for (size_t i = 0; i < side->other_count; i++) {
                struct diff_side *other = &side->others[i];
                double of_other = sum_of_rows(other);
                sum += of_other;
                squares += of_other * of_other;
                for (; other->row_count; other->row_count--) {
                        if (array_reserve(&side->rows, &side->row_capacity,
                                          side->row_count, sizeof(*side->rows)))
                                return diag_no_memory(diag);
                        side->rows[side->row_count++] = other->rows[other->row_count - 1];
                }
        }
        join_equal(side);
        for (size_t i = 0; i < side->row_count; i++) {
                struct diff_row *row = &side->rows[i];
                estimate_divide(&row->estimate, (double)count);
                estimate_divide(&row->measured, (double)count);
                row->variance = variance_of_mean(row->sum, row->squares, count);
        }
        side->whole_variance = variance_of_mean(sum, squares, count);
        return 0;
}

int diff_rows_read(struct diff_side *side, const struct diff_kind *kind,
                   enum diff_figure figure, const char *from, const char *to,
                   const char *mark, struct diag *diag)
{
        int code = read_own_rows(side, kind, figure, from, to, mark, diag);
        for (size_t i = 0; !code && i < side->other_count; i++)
                code =
                    read_own_rows(&side->others[i], kind, figure, from, to, mark, diag);
        if (!code)
                code = join_recordings(side, diag);
        if (!code)
                sum_up(side);
        return code;
}

int64_t diff_side_samples(const struct diff_side *side)
{
        int64_t samples = 0;
        for (size_t i = 0; i < side->row_count; i++)
                samples = diff_sum(samples, side->rows[i].samples);
        return samples;
}
