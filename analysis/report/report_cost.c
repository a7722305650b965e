/* SPDX-License-Identifier: MIT */
/* What waiting costs the program, in whole sentences: what its samples tell, what is
 * counted beside that, and what nothing tells. */
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_sql.h"
#include "statement.h"

/* A chain of single instructions behind loads can be slow with hardly a cycle that
 * executes nothing; it takes few instructions a cycle (doc/method.md). */
static const double BUSY_INSTRUCTIONS_PER_CYCLE = 2;
/* Of the latency; more of it on lines of other cores, and these are worth a word. */
static const double OTHERS_SHARE_MIN = 0.1;
/* Of the latency; with so much of it beside work that took most of the time, nothing
 * tells what faster loads gain. */
static const double COMPUTE_SHARE_MIN = 0.5;

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
        return summary->latency_per_cycle >= REPORT_WORTHWHILE_RATIO &&
               summary->stall_ratio < REPORT_WORTHWHILE_RATIO &&
               summary->instructions_per_cycle >= BUSY_INSTRUCTIONS_PER_CYCLE &&
               summary->others_share < OTHERS_SHARE_MIN;
}

/* Loads under way are the whole wait: neither the core's resources nor DRAM were short.
 * Cycles without execution alone do not tell: threads that write one line have few. */
bool report_waits_little(const struct report_summary *summary)
{
        return (summary->latency_per_cycle < REPORT_WORTHWHILE_RATIO ||
                other_work_hides(summary)) &&
               !(summary->stall_ratio >= REPORT_WORTHWHILE_RATIO) &&
               !(summary->fb_full_ratio >= REPORT_WORTHWHILE_RATIO) &&
               !(summary->sq_full_ratio >= REPORT_WORTHWHILE_RATIO) &&
               !(summary->sb_full_ratio >= REPORT_WORTHWHILE_RATIO) &&
               !(summary->fault_ratio >= REPORT_WORTHWHILE_RATIO) &&
               summary->contended_intervals == 0 && summary->saturated_intervals == 0;
}

/* A cycle that executes nothing beside a load that missed L1 may wait for a chain of
 * arithmetic: in intervals bound by compute such cycles are no least gain. */
static bool works_beside(const struct report_summary *summary)
{
        return summary->latency_per_cycle >= REPORT_WORTHWHILE_RATIO &&
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

/* Which of the two numbers before it tells what faster loads can gain. */
static void say_gain(FILE *text, const struct report_summary *summary)
{
        if (report_waits_little(summary) && other_work_hides(summary))
                fprintf(text,
                        " Other work went on in the rest (%.1f instructions a cycle%s), "
                        "so that faster loads can gain about this share only.",
                        summary->instructions_per_cycle,
                        summary->sim_detail && strcmp(summary->sim_detail, "full") == 0
                            ? ", all branches taken as predicted: --sim-detail branches"
                            : "");
        else if (!report_waits_little(summary) && works_beside(summary))
                say_unknown_gain(text, summary);
        else if (!report_waits_little(summary) && summary->latency_per_cycle < 1)
                fputs(" The gain from faster loads lies between the two.", text);
}

/* By how much the cycles without execution beside a miss exceed what sampled loads held
 * up, so that faster ones, hits of L2, must have their part in it. */
#define FASTER_LOADS_SHARE_MIN 0.05

/* The samples themselves tell it: what of their latency others do not hide. */
static void say_stalled(FILE *text, const struct report_summary *summary)
{
        double ratio = summary->loads_stalled_ratio;
        fprintf(text,
                "The sampled accesses held up what comes behind them for %.1f%% of the "
                "cycles: about the most that making them faster can gain%s",
                100 * ratio, report_is_modelled(summary) ? " in the model." : ".");
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
        say_stalled(text, summary);
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
        if (latency_is_known(summary)) {
                say_latency(text, summary);
                separator = " ";
        }
        if (stalls_are_worth_saying(summary)) {
                fputs(separator, text);
                say_without_execution(text, summary);
                say_gain(text, summary);
                say_turns(text, summary);
        }
}

static void say_cost(FILE *text, const struct report_summary *summary)
{
        if (report_waits_little(summary))
                fputs("Waiting for memory is not what this program's time goes to. ",
                      text);
        if (isnan(summary->loads_stalled_ratio))
                say_bounds(text, summary);
        else
                say_known_cost(text, summary);
}

/* Most cycles without execution beside a load that missed L1, if the loads were not what
 * the instructions behind them waited for. */
static bool chains_matter(const struct report_summary *summary, double *unexplained)
{
        *unexplained = summary->stall_ratio - summary->loads_stalled_ratio;
        return *unexplained >= REPORT_WORTHWHILE_RATIO &&
               *unexplained >= 0.5 * summary->stall_ratio &&
               !(summary->sb_full_ratio >= REPORT_WORTHWHILE_RATIO);
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

void report_say_kernel_time(FILE *text, const struct report_summary *summary)
{
        double all_s = summary->user_s + summary->kernel_s;
        if (!(summary->kernel_s >= REPORT_KERNEL_RATIO_MIN * all_s && all_s > 0))
                return;
        fprintf(text,
                " The kernel took %s of the command's CPU time (%.0f%%; system calls, "
                "page faults, interrupts), which is in no row.",
                report_duration(summary->kernel_s).text, 100 * summary->kernel_s / all_s);
}

/* What of the cycles is the kernel's, and where its time is in the tables. */
static void say_kernel(FILE *text, const struct report_summary *summary)
{
        double kernel = summary->fault_ratio + summary->call_ratio;
        report_say_kernel_time(text, summary);
        if (!(kernel >= REPORT_KERNEL_RATIO_MIN))
                return;
        fprintf(
            text,
            " The kernel took %.1f%% of the cycles: %.1f%% for %.0f page fault%s, which "
            "count where memory was touched first, and %.1f%% for system calls, "
            "which no line has.",
            100 * kernel, 100 * summary->fault_ratio, summary->page_faults,
            summary->page_faults == 1 ? "" : "s", 100 * summary->call_ratio);
}

int report_say_time(struct db *db, FILE *text, const struct report_summary *summary,
                    struct diag *diag)
{
        say_cost(text, summary);
        say_kernel(text, summary);
        return say_chains(db, text, summary, diag);
}
