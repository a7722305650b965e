/* SPDX-License-Identifier: MIT */
/* What is said above the report's table, in whole sentences: what waiting cost, which
 * verdicts weigh, whether DRAM was short, and how much there is. */
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "prose.h"
#include "report.h"
#include "report_sql.h"
#include "statement.h"

/* Of the cycles; to look closer at less is not worth while. */
static const double WORTHWHILE_RATIO = 0.05;
/* A chain of single instructions behind loads can be slow with hardly a cycle that
 * executes nothing; it takes few instructions a cycle (doc/method.md). */
static const double BUSY_INSTRUCTIONS_PER_CYCLE = 2;
/* Of the latency; more of it on lines of other cores, and these are worth a word. */
static const double OTHERS_SHARE_MIN = 0.1;
/* Of the latency; with so much of it beside work that took most of the time, nothing
 * tells what faster loads gain. */
static const double COMPUTE_SHARE_MIN = 0.5;

static void say_contended(FILE *text, const struct report_summary *summary)
{
        fprintf(text, "Contended: %" PRId64 " of ", summary->contended_intervals);
        prose_counted(text, summary->intervals, "intervals");
        fprintf(
            text,
            ", %.0f%% of the time. DRAM "
            "bandwidth was short there: loads that missed L1 waited %.0f cycles on the "
            "average (LMRL)",
            100 * summary->contended_time_share, summary->contended_lmrl_cycles);
        if (!isnan(summary->other_lmrl_cycles))
                fprintf(text, ", %.0f in the other intervals",
                        summary->other_lmrl_cycles);
        fputc('.', text);
}

/* Stores fill DRAM without a load that waits, and prefetches while few wait long. */
static void say_saturated(FILE *text, const struct report_summary *summary)
{
        if (!summary->saturated_intervals)
                return;
        fputs(" In ", text);
        prose_counted(text, summary->saturated_intervals, "intervals");
        fprintf(text, "%s DRAM moved nine tenths or more of what it can.",
                summary->contended_intervals ? " more" : "");
}

static void say_contention(FILE *text, const struct report_summary *summary)
{
        if (summary->without_waits)
                fputs("Contention: not known with caches only.", text);
        else if (summary->intervals == 0)
                fputs("Contention: not known, because nothing was counted by interval.",
                      text);
        else if (summary->contended_intervals > 0)
                say_contended(text, summary);
        else if (summary->unknown_intervals == summary->intervals)
                fputs("Contention: not known; the counters or the machine's limits that "
                      "tell it are missing.",
                      text);
        else {
                fputs("Contended: none of ", text);
                prose_counted(text, summary->intervals, "intervals");
                fputs(summary->saturated_intervals ? "."
                                                   : "; DRAM bandwidth was not short.",
                      text);
        }
        say_saturated(text, summary);
        if (summary->unknown_intervals > 0 &&
            summary->unknown_intervals < summary->intervals)
                fprintf(text, " Of %" PRId64 " intervals the counters do not tell.",
                        summary->unknown_intervals);
        if (summary->unknown_intervals < summary->intervals && !summary->without_waits &&
            !summary->thresholds_of_machine)
                fputs(" The limits come from the run's own quiet intervals, not from the "
                      "machine.",
                      text);
}

/* Of what was modelled nothing is measured. */
static void say_limit(FILE *text, const struct report_summary *summary)
{
        bool measured = summary->numbers && strcmp(summary->numbers, "measured") == 0;
        if (summary->unknown_intervals == summary->intervals || !summary->lmrl_factor)
                return;
        if (summary->lmrl_factor_origin)
                fprintf(text, " The limit of LMRL, %.2f times idle, is measured (%s).",
                        summary->lmrl_factor, summary->lmrl_factor_origin);
        else if (measured)
                fprintf(text,
                        " The limit of LMRL, %.2f times idle, is derived, not measured.",
                        summary->lmrl_factor);
}

/* Latency is not time lost, because loads overlap and other work goes on beside them; but
 * it is no less than that. Slow are the loads that reach the threshold of sampling: what
 * nobody saw is not in it. How much less the loss may be, the cycles without any
 * execution tell; they are no bound, as work may be slow that goes on. */
static void say_latency(FILE *text, const struct report_summary *summary)
{
        bool simulated = summary->source && strcmp(summary->source, "sim") == 0;
        if (summary->latency_per_cycle < 1) {
                fprintf(text,
                        "Waiting for slow loads took at most %.1f%% of the run's cycles.",
                        100 * summary->latency_per_cycle);
                return;
        }
        fprintf(text,
                "On the average %.1f slow loads were under way at a time (each load "
                "counts, also those of one line)",
                summary->latency_per_cycle);
        if (summary->latency_per_cycle >= REPORT_OVERLAP_MIN &&
            !isnan(summary->loads_stalled_ratio))
                fputs(", so that shares of latency are not shares of time; those are in "
                      "reports by line, function, object and type (stalled)",
                      text);
        else if (summary->latency_per_cycle >= REPORT_OVERLAP_MIN)
                fprintf(text,
                        ", so that shares of latency are not shares of time; for those "
                        "record with %s",
                        simulated ? "--freq" : "--source clock");
        fputc('.', text);
}

/* Loads were slow, but their core had enough else to do. */
static bool other_work_hides(const struct report_summary *summary)
{
        return summary->latency_per_cycle >= WORTHWHILE_RATIO &&
               summary->stall_ratio < WORTHWHILE_RATIO &&
               summary->instructions_per_cycle >= BUSY_INSTRUCTIONS_PER_CYCLE &&
               summary->others_share < OTHERS_SHARE_MIN;
}

/* Loads under way are the whole wait: neither the core's resources nor DRAM were short.
 * Cycles without execution alone do not tell: threads that write one line have few. */
bool report_waits_little(const struct report_summary *summary)
{
        return (summary->latency_per_cycle < WORTHWHILE_RATIO ||
                other_work_hides(summary)) &&
               !(summary->stall_ratio >= WORTHWHILE_RATIO) &&
               !(summary->fb_full_ratio >= WORTHWHILE_RATIO) &&
               !(summary->sq_full_ratio >= WORTHWHILE_RATIO) &&
               !(summary->sb_full_ratio >= WORTHWHILE_RATIO) &&
               summary->contended_intervals == 0 && summary->saturated_intervals == 0;
}

/* A cycle that executes nothing beside a load that missed L1 may wait for a chain of
 * arithmetic: in intervals bound by compute such cycles are no least gain. */
static bool works_beside(const struct report_summary *summary)
{
        return summary->latency_per_cycle >= WORTHWHILE_RATIO &&
               summary->compute_share >= COMPUTE_SHARE_MIN &&
               summary->unseen_share < OTHERS_SHARE_MIN;
}

static void say_unknown_gain(FILE *text, const struct report_summary *summary)
{
        bool simulated = summary->source && strcmp(summary->source, "sim") == 0;
        fprintf(text,
                " What faster loads gain is not known: %.0f%% of the latency is in "
                "intervals bound by compute (--by phase), where other work may take as "
                "long beside them%s.",
                100 * summary->compute_share,
                simulated ? "; record --freq tells for how long loads hold up what comes "
                            "behind them"
                          : "");
}

/* Which of the two numbers before it tells what faster loads can gain; whether it says
 * that nothing does. */
static bool say_gain(FILE *text, const struct report_summary *summary)
{
        if (report_waits_little(summary) && other_work_hides(summary))
                fprintf(text,
                        " Other work went on in the rest (%.1f instructions a cycle%s), "
                        "so that faster loads can gain about this share only.",
                        summary->instructions_per_cycle,
                        summary->sim_detail && strcmp(summary->sim_detail, "full") == 0
                            ? ", all branches taken as predicted: --sim-detail branches"
                            : "");
        else if (!report_waits_little(summary) && works_beside(summary)) {
                say_unknown_gain(text, summary);
                return true;
        } else if (!report_waits_little(summary) && summary->latency_per_cycle < 1)
                fputs(" The gain from faster loads lies between the two.", text);
        return false;
}

/* Samples stand for others, so that their sum is above all cycles by a little where loads
 * hold up nearly all of them; what is further off no program can have: it tells no gain.
 */
#define STALLED_RATIO_MAX 1.02

static bool is_out_of_range(double ratio)
{
        return ratio > STALLED_RATIO_MAX;
}

/* By how much the cycles without execution beside a miss exceed what sampled loads held
 * up, so that faster ones, hits of L2, must have their part in it. */
#define FASTER_LOADS_SHARE_MIN 0.05

/* The samples themselves tell it: what of their latency others do not hide. GAIN_UNKNOWN:
 * that is said already. */
static void say_stalled(FILE *text, const struct report_summary *summary,
                        bool gain_unknown)
{
        double ratio = summary->loads_stalled_ratio;
        bool beyond = is_out_of_range(ratio);
        fprintf(text,
                "The sampled loads held up what comes behind them for %.1f%% of the "
                "cycles%s%s%s",
                100 * (beyond ? ratio : fmin(ratio, 1)),
                beyond ? ", which is more than there are: this estimate, of samples, is "
                         "too high"
                       : ": about the most that making them faster can gain",
                beyond && !gain_unknown
                    ? " and does not tell what making them faster can gain"
                    : "",
                report_is_modelled(summary) ? " in the model." : ".");
        if (summary->unsampled_cycles &&
            summary->stall_ratio - ratio >= FASTER_LOADS_SHARE_MIN)
                fprintf(text,
                        " Loads of less than %" PRId64
                        " cycles, hits of L2 for instance, were not sampled; they hold "
                        "up more, and lines may change their order without --ldlat.",
                        summary->unsampled_cycles);
}

/* Without waits loads overlap as they do not in the program; their cycles are fewer than
 * the program's, so that little is less there. */
static bool latency_is_known(const struct report_summary *summary)
{
        return summary->latency_per_cycle < (summary->without_waits ? 1 : INFINITY);
}

static bool stalls_are_worth_saying(const struct report_summary *summary)
{
        return !isnan(summary->stall_ratio) &&
               !(summary->stall_ratio >= fmin(summary->latency_per_cycle, 1));
}

static void say_without_execution(FILE *text, const struct report_summary *summary)
{
        fprintf(text,
                "In %.1f%% of the run's cycles nothing was executed beside a load that "
                "missed L1.",
                100 * summary->stall_ratio);
}

static void say_turns(FILE *text, const struct report_summary *summary)
{
        if (summary->sharing_share >= OTHERS_SHARE_MIN)
                fputs(" Threads that write each other's lines have few such cycles, "
                      "however long they wait.",
                      text);
}

/* What the samples tell of the program's time, and then what is counted beside it. */
static void say_known_cost(FILE *text, const struct report_summary *summary)
{
        say_stalled(text, summary, false);
        if (stalls_are_worth_saying(summary)) {
                putc(' ', text);
                say_without_execution(text, summary);
                say_turns(text, summary);
        }
        if (latency_is_known(summary)) {
                putc(' ', text);
                say_latency(text, summary);
        }
}

/* What bounds the gain, as the samples do not tell it. */
static void say_bounds(FILE *text, const struct report_summary *summary)
{
        const char *separator = "";
        bool gain_unknown = false;
        if (latency_is_known(summary)) {
                say_latency(text, summary);
                separator = " ";
        }
        if (stalls_are_worth_saying(summary)) {
                fputs(separator, text);
                say_without_execution(text, summary);
                gain_unknown = say_gain(text, summary);
                say_turns(text, summary);
                separator = " ";
        }
        if (!isnan(summary->loads_stalled_ratio)) {
                fputs(separator, text);
                say_stalled(text, summary, gain_unknown);
        }
}

static void say_cost(FILE *text, const struct report_summary *summary)
{
        if (report_waits_little(summary))
                fputs("Waiting for memory is not what this program's time goes to. ",
                      text);
        if (isnan(summary->loads_stalled_ratio) ||
            is_out_of_range(summary->loads_stalled_ratio))
                say_bounds(text, summary);
        else
                say_known_cost(text, summary);
}

/* "Latency of all samples, by the verdict on their line: 62% dram-contention, 30% …", or
 * the time that they held up, in the order of which rows are then. */
static int say_verdicts(struct db *db, FILE *text, struct diag *diag)
{
        sqlite3_stmt *rows;
        int code = statement_prepare(
            db,
            "WITH weighed AS (SELECT" REPORT_VERDICT_NAME "AS name, stalled,"
            "  sum(weight) / sum(sum(weight)) OVER () AS part"
            "  FROM" REPORT_WEIGHED_LINES "GROUP BY name)"
            " SELECT printf('%.0f%% %s', 100 * part, name), stalled FROM weighed"
            " WHERE part >= 0.005 ORDER BY part DESC, name",
            &rows, diag);
        bool any = false;
        while (code == 0 && (code = statement_next(db, rows, diag)) > 0) {
                char *part = statement_printable(rows, 0);
                if (any)
                        fputs(", ", text);
                else
                        fprintf(text, "%s, by the verdict on their line: ",
                                sqlite3_column_int(rows, 1)
                                    ? "Time that sampled loads held up"
                                    : "Latency of all samples");
                fputs(part ? part : "", text);
                free(part);
                any = true;
                code = 0;
        }
        if (any)
                fputc('.', text);
        sqlite3_finalize(rows);
        return code;
}

/* Half of the weight without a verdict: more samples are the remedy, if it can matter.
 */
static int say_too_few(struct db *db, FILE *text, const struct report_summary *summary,
                       struct diag *diag)
{
        sqlite3_stmt *row;
        bool imported = summary->numbers && strcmp(summary->numbers, "imported") == 0;
        if (summary->latency_per_cycle < WORTHWHILE_RATIO || report_waits_little(summary))
                return 0;
        int code = statement_prepare(
            db,
            "SELECT (SELECT value FROM run WHERE key = 'period_loads') WHERE 0.5 <= "
            "(SELECT sum(weight) FILTER (WHERE verdict = 'too-few-samples')"
            " / sum(weight) FROM" REPORT_WEIGHED_LINES ")",
            &row, diag);
        if (code)
                return code;
        code = statement_next(db, row, diag);
        int64_t period = code > 0 ? sqlite3_column_int64(row, 0) : 0;
        if (code > 0 && period > 1)
                fprintf(text,
                        " Most of it is on lines with too few samples: record a longer "
                        "run, or with a smaller %s than %" PRId64 ".",
                        imported ? "period (perf record -c)" : "--period", period);
        else if (code > 0)
                fputs(
                    " Most of it is on lines with too few samples: record a longer run.",
                    text);
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

/* What waits, and for what. */
static int say_causes(struct db *db, FILE *text, const struct report_summary *summary,
                      struct diag *diag)
{
        int code = say_verdicts(db, text, diag);
        if (!code)
                code = say_too_few(db, text, summary, diag);
        if (ftell(text) > 0)
                putc(' ', text);
        say_contention(text, summary);
        say_limit(text, summary);
        return code;
}

static void say_size(FILE *text, const struct report_summary *summary)
{
        fprintf(text, "Duration %s%s, ", report_duration(summary->duration_s).text,
                report_is_modelled(summary) ? " of the model" : "");
        prose_counted(text, summary->samples, "samples");
        fprintf(text, ", %" PRId64 " of them of memory accesses, ",
                summary->memory_samples);
        prose_counted(text, summary->lost, "records");
        fputs(" lost.", text);
}

/* Most cycles without execution beside a load that missed L1, if the loads were not what
 * the instructions behind them waited for. */
static bool chains_matter(const struct report_summary *summary, double *unexplained)
{
        *unexplained = summary->stall_ratio - summary->loads_stalled_ratio;
        return *unexplained >= WORTHWHILE_RATIO &&
               *unexplained >= 0.5 * summary->stall_ratio &&
               !(summary->sb_full_ratio >= WORTHWHILE_RATIO);
}

/* Fewer tell as little of this as of a verdict. */
enum { CHAIN_SAMPLES_MIN = 20 };

/* In the model nothing else keeps a core from executing: instructions that wait for each
 * other's results. Told where all loads that miss L1 could be samples. Names the line
 * whose loads are most of what waited beside them. */
static int say_chains(struct db *db, FILE *text, const struct report_summary *summary,
                      struct diag *diag)
{
        static const char sql[] = "SELECT (SELECT" REPORT_BASE(
            "file") "|| ':' || line FROM line_finding"
                    "  WHERE line IS NOT NULL AND latency_share >= 0.5)"
                    " FROM run, machine WHERE run.key = 'ldlat_cycles'"
                    " AND machine.key = 'l2_latency_cycles'"
                    " AND CAST(run.value AS INTEGER) <= machine.value";
        bool simulated = summary->source && strcmp(summary->source, "sim") == 0;
        double ratio;
        sqlite3_stmt *row;
        if (!simulated || summary->memory_samples < CHAIN_SAMPLES_MIN ||
            !chains_matter(summary, &ratio))
                return 0;
        int code = statement_first(db, sql, &row, diag);
        char *line = code > 0 ? statement_printable(row, 0) : NULL;
        if (code > 0)
                fprintf(
                    text,
                    " In at least %.1f%% of the cycles the program did not wait for such "
                    "loads%s%s, but for chains of other instructions beside them, "
                    "such as additions each of which needs the one before%s: faster "
                    "memory does not shorten these.",
                    100 * ratio, line ? ", most of which are at " : "", line ? line : "",
                    summary->sim_detail && strcmp(summary->sim_detail, "branches") == 0
                        ? ", or for what wrongly predicted branches cost"
                        : "");
        free(line);
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

static int say_time(struct db *db, FILE *text, const struct report_summary *summary,
                    struct diag *diag)
{
        say_cost(text, summary);
        return say_chains(db, text, summary, diag);
}

static int say_run(struct db *db, FILE *text, const struct report_summary *summary,
                   struct diag *diag)
{
        (void)db;
        (void)diag;
        if (summary->timed)
                report_say_stalls(text, summary);
        else
                say_size(text, summary);
        return 0;
}

/* A part of the summary, as sentences. */
typedef int say_part(struct db *db, FILE *text, const struct report_summary *summary,
                     struct diag *diag);

/* As a paragraph, with an empty line before it unless it is the FIRST. */
static int print_paragraph(struct db *db, FILE *out, say_part *say, bool *first,
                           const struct report_summary *summary, struct diag *diag)
{
        char *paragraph = NULL;
        size_t length;
        FILE *text = open_memstream(&paragraph, &length);
        if (!text)
                return diag_no_memory(diag);
        int code = say(db, text, summary, diag);
        if (fclose(text))
                code = diag_no_memory(diag);
        if (!code && *paragraph) {
                fputs(*first ? "" : "\n", out);
                prose_wrapped(out, paragraph);
                *first = false;
        }
        free(paragraph);
        return code;
}

/* First what waiting costs the program, then why, and last how much that is told from. */
int report_print_summary(struct db *db, FILE *out, const struct report_summary *summary,
                         struct diag *diag)
{
        static say_part *const parts[] = {say_time, say_causes, say_run};
        bool first = true;
        int code = 0;
        for (size_t i = summary->timed ? 2 : 0;
             !code && i < sizeof(parts) / sizeof(parts[0]); i++)
                code = print_paragraph(db, out, parts[i], &first, summary, diag);
        return code;
}
