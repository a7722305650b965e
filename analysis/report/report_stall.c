/* SPDX-License-Identifier: MIT */
/* The report on timer samples: the share of their time at loads, and the limits of a
 * timer. Timer samples have no latency, level or verdict, and their tables have no such
 * columns. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report.h"
#include "report_sql.h"
#include "statement.h"

/* SQL is laid out as SQL. */
/* clang-format off */
/* The ?1 intervals with the most stall time, in the order of time. */
#define TIMED_INTERVALS                                                                  \
        " (SELECT time_ns / length_ns AS interval, length_ns, sum(stall_ns) AS stalled,"  \
        "   count(*) AS samples"                                                         \
        "  FROM sample, (SELECT CAST(value AS INTEGER) AS length_ns FROM run"            \
        "                WHERE key = 'interval_ns')"                                     \
        "  WHERE stall_ns > 0 AND length_ns > 0 GROUP BY interval"                       \
        "  ORDER BY stalled DESC, interval LIMIT ?1) ORDER BY interval"
#define SHARE REPORT_SHARE("latency_share") " AS stalled," REPORT_SHARE_RANGE " samples,"
#define RANGE_LEGEND \
        REPORT_STALLS_LEGEND ", with its 95 % confidence range"

static const struct report_kind kinds[] = {
    {
        .name = "line",
        .table_sql =
            "WITH top AS (SELECT *," REPORT_BASE("file") "AS base FROM" REPORT_TOP_LINES ") "
            "SELECT" SHARE REPORT_PLACE("file", "line") "AS line," REPORT_FUNCTION_AND_CALLER
            " FROM top" REPORT_ORDER "line_id",
        .alignment = "rrrll",
        .legend = RANGE_LEGEND,
    },
    {
        .name = "function",
        .table_sql =
            "SELECT" SHARE REPORT_MODULE_FUNCTION_AND_CALLER
            " FROM" REPORT_TOP_FUNCTIONS
            "ORDER BY latency_share DESC, samples DESC, function_id",
        .alignment = "rrrll",
        .legend = RANGE_LEGEND,
    },
    {
        .name = "object",
        .table_sql =
            "WITH top AS (SELECT *," REPORT_BASE("alloc_file") "AS base"
            "             FROM object_finding JOIN data_object USING (object_id)"
            "             WHERE" REPORT_TOUCHED_OBJECTS
            "             ORDER BY latency_share DESC, samples DESC, object_id LIMIT ?1) "
            "SELECT" SHARE " kind, name AS object,"
            REPORT_PLACE("alloc_file", "alloc_line") "AS \"allocated at\""
            " FROM top ORDER BY latency_share DESC, samples DESC, object_id",
        .alignment = "rrrlll",
        .legend = RANGE_LEGEND,
    },
    {
        .name = "caller",
        .table_sql =
            "SELECT" REPORT_SHARE("latency_share") " AS stalled,"
            REPORT_SHARE("self_latency_share") " AS self, samples," REPORT_CALLERS,
        .alignment = "rrrl",
        .legend = REPORT_STALLS_LEGEND ", in the function and in what it calls; self: in the "
                                 "function itself",
    },
    {
        .name = "allocation",
        .table_sql = REPORT_ALLOCATIONS(REPORT_ALLOCATED_SHARE("latency_share") "AS stalled,"),
        .alignment = "rrrrrll",
        .legend = "stalled: the object's share of the time of all timer samples; "
                  REPORT_ALLOCATIONS_LEGEND,
        .brief_legend = REPORT_ALLOCATIONS_BRIEF,
    },
    {
        .name = "type",
        .table_sql =
            REPORT_FIELDS(REPORT_FIELD_FIGURE(REPORT_SHARE("latency_share"), "stalled")
                          REPORT_FIELD_SAMPLES),
        .alignment = "rrrrrrll",
        .legend = REPORT_STALLS_LEGEND "; " REPORT_FIELDS_LEGEND,
        .brief_legend = REPORT_STALLS_LEGEND "; " REPORT_FIELDS_BRIEF,
    },
    {
        .name = "thread",
        .table_sql =
            "SELECT" REPORT_SHARE("latency_share") " AS stalled, samples, pid, tid,"
            " coalesce(name, '-') AS thread FROM (" REPORT_THREADS ") LIMIT ?1",
        .alignment = "rrrrl",
        .legend = REPORT_STALLS_LEGEND,
    },
    {
        .name = "process",
        .table_sql =
            "SELECT" REPORT_SHARE("latency_share") " AS stalled, samples, threads, pid,"
            " coalesce(parent_pid, '-') AS parent," REPORT_PROCESS
            " FROM (" REPORT_PROCESSES ") LIMIT ?1",
        .alignment = "rrrrrl",
        .legend = REPORT_STALLS_LEGEND
            "; a process that executes another program has another row",
    },
    /* Without counters, an interval only has its samples. */
    {
        .name = "interval",
        .rows_sql =
            "SELECT interval, interval * length_ns AS start_ns, stalled AS stall_ns, samples,"
            " stalled /" STATEMENT_TIMED_NS "AS latency_share "
            "FROM" TIMED_INTERVALS,
        .table_sql =
            "SELECT printf('%.1f%%', 100.0 * stalled /" STATEMENT_TIMED_NS ") AS stalled,"
            " printf('%.3f', stalled / 1e6) AS \"accesses ms\", samples, interval,"
            " printf('%.3f', interval * length_ns / 1e6) AS \"start ms\" "
            "FROM" TIMED_INTERVALS,
        .alignment = "rrrrr",
        .legend = REPORT_STALLS_LEGEND "; accesses: at loads and stores, of all CPUs together",
    },
};
/* clang-format on */

struct report_kind report_kind_of_stalls(const struct report_kind *kind)
{
        struct report_kind stalls = *kind;
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                if (strcmp(kinds[i].name, kind->name) != 0)
                        continue;
                if (kinds[i].rows_sql)
                        stalls.rows_sql = kinds[i].rows_sql;
                stalls.table_sql = kinds[i].table_sql;
                stalls.alignment = kinds[i].alignment;
                stalls.legend = kinds[i].legend;
                stalls.brief_sql = NULL;
                stalls.brief_legend = kinds[i].brief_legend;
                stalls.shown = NULL;
                stalls.measured = false;
                stalls.stalled = false; /* another meaning here */
        }
        return stalls;
}

static void say_share_of_cycles(FILE *text, const struct report_summary *summary)
{
        fprintf(text, " (%.1f%% of the run's cycles", 100 * summary->stalled_ratio);
        if (!isnan(summary->held_up_ratio))
                fprintf(text, "; %.1f%% can be gained if no load waits%s",
                        100 * summary->held_up_ratio,
                        report_predicts_branches(summary)
                            ? " and no branch before a load is mispredicted"
                            : "");
        fputc(')', text);
}

static void say_modelled_stalls(FILE *text, const struct report_summary *summary)
{
        fprintf(text,
                "Duration %s of the model, %" PRId64
                " samples of the time in which loads stalled the program, %s in all",
                report_duration(summary->duration_s).text, summary->samples,
                report_duration(summary->stalled_s).text);
        if (!isnan(summary->stalled_ratio))
                say_share_of_cycles(text, summary);
        fputs("; ", text);
        report_say_lost(text, summary);
        fputs(". A timer would show the same places. For causes record without --freq.",
              text);
}

/* Share of all samples, with samples in the tracker; above it, the tracker distorts the
 * program's profile. */
static const double TRACKER_SHARE_MIN = 0.1;

static void say_tracker(FILE *text, const struct report_summary *summary)
{
        double taken = (double)(summary->samples + summary->tracker_samples);
        double share = taken > 0 ? (double)summary->tracker_samples / taken : 0;
        if (share > TRACKER_SHARE_MIN && !summary->selection)
                fprintf(text,
                        " Another %" PRId64
                        " samples (%.0f%% of all) were in memlag's heap tracker, which "
                        "slowed the program; they are in no row. 'memlag record "
                        "--no-heap' leaves out the tracker and the names of heap blocks.",
                        summary->tracker_samples, 100 * share);
}

void report_say_stalls(FILE *text, const struct report_summary *summary)
{
        if (summary->numbers && strcmp(summary->numbers, "modelled") == 0) {
                say_modelled_stalls(text, summary);
                return;
        }
        fprintf(text, "Duration %s, %" PRId64 " timer samples",
                report_duration(summary->duration_s).text, summary->samples);
        if (summary->timer_period_s > 0)
                fprintf(
                    text, ", which stand for %s on CPUs outside of the kernel",
                    report_duration((double)summary->samples * summary->timer_period_s)
                        .text);
        fprintf(text, "; %" PRId64, summary->stalled_samples);
        if (summary->samples > 0)
                fprintf(text, " of them (%.0f%%)",
                        100.0 * (double)summary->stalled_samples /
                            (double)summary->samples);
        fprintf(text, " at loads and stores, %s; ",
                report_duration(summary->stalled_s).text);
        report_say_lost(text, summary);
        fputs(
            ". A timer shows where the program waited, not why: latencies, cache levels "
            "and contention are unknown, and some loads may have hit L1. For causes use "
            "pebs, ibs or sim.",
            text);
        report_say_kernel_time(text, summary);
        say_tracker(text, summary);
}
