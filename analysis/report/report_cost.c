/* SPDX-License-Identifier: MIT */
/* Says the cost of waiting, in sentences: from samples, from counters, and where neither
 * gives an answer. */
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_sql.h"
#include "statement.h"

/* A chain of dependent instructions after loads can be slow without cycles that execute
 * nothing; it executes few instructions a cycle (doc/method.md). */
static const double BUSY_INSTRUCTIONS_PER_CYCLE = 2;
/* Share of the latency on other cores' lines that is worth mentioning. */
static const double OTHERS_SHARE_MIN = 0.1;
/* Share of the latency in intervals bound by compute; above it, the gain of faster loads
 * is unknown. */
static const double COMPUTE_SHARE_MIN = 0.5;

/* Latency is an upper limit of the lost time: loads overlap, and other work runs in
 * parallel. It only has loads above the sampling threshold; faster loads have no samples.
 * Cycles without execution give a lower value. They are no bound: parallel work may be
 * slow too. */
static void say_latency(FILE *text, const struct report_summary *summary)
{
        bool simulated = summary->source && strcmp(summary->source, "sim") == 0;
        if (summary->latency_per_cycle < 1) {
                fprintf(
                    text,
                    "The program waited for slow loads for at most %.1f%% of the cycles.",
                    100 * summary->latency_per_cycle);
                return;
        }
        fprintf(text, "Slow loads overlapped: %.1f were outstanding at a time",
                summary->latency_per_cycle);
        if (summary->latency_per_cycle >= REPORT_OVERLAP_MIN &&
            !isnan(summary->loads_stalled_ratio))
                fputs(", so compare rows by \"stalled\", not by \"latency\"", text);
        else if (summary->latency_per_cycle >= REPORT_OVERLAP_MIN)
                fprintf(text, ", so latency is not time; record time with %s",
                        simulated ? "--freq" : "--source clock");
        fputc('.', text);
}

/* Loads were slow, but their core had enough other work. */
static bool other_work_hides(const struct report_summary *summary)
{
        return summary->latency_per_cycle >= REPORT_WORTHWHILE_RATIO &&
               summary->stall_ratio < REPORT_WORTHWHILE_RATIO &&
               summary->instructions_per_cycle >= BUSY_INSTRUCTIONS_PER_CYCLE &&
               summary->others_share < OTHERS_SHARE_MIN;
}

/* Waiting is short only if neither the core's resources nor DRAM were short. Cycles
 * without execution are not enough: threads that write one line have few. */
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

/* A cycle without execution during an L1 miss may wait for a chain of arithmetic. In
 * intervals bound by compute, such cycles are no lower limit of the gain. */
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
                " The gain from faster loads is not known: %.0f%% of the latency is in "
                "intervals bound by compute (--by phase), where other work may take as "
                "long%s.",
                100 * summary->compute_share,
                simulated ? "; record --freq measures stalls" : "");
}

/* Says which of the two numbers before it bounds the gain of faster loads. */
static void say_gain(FILE *text, const struct report_summary *summary)
{
        if (report_waits_little(summary) && other_work_hides(summary))
                fprintf(text,
                        " Other work filled the rest (%.1f instructions a cycle): "
                        "faster loads can gain only about this share.",
                        summary->instructions_per_cycle);
        else if (!report_waits_little(summary) && works_beside(summary))
                say_unknown_gain(text, summary);
        else if (!report_waits_little(summary) && summary->latency_per_cycle < 1)
                fputs(" The gain from faster loads lies between the two.", text);
}

/* If stall cycles exceed the sampled stall time by this share, faster loads (L2 hits)
 * cause a part of the difference. */
#define FASTER_LOADS_SHARE_MIN 0.05

/* Says the stall time from samples: the part of their latency that other loads do not
 * hide. */
static void say_stalled(FILE *text, const struct report_summary *summary)
{
        double ratio = summary->loads_stalled_ratio;
        fprintf(text,
                "The program was stalled on memory accesses for %.1f%% of the cycles. "
                "Faster accesses can gain at most about that%s.",
                100 * ratio, report_is_modelled(summary) ? ", in the model" : "");
        if (summary->unsampled_cycles &&
            summary->stall_ratio - ratio >= FASTER_LOADS_SHARE_MIN)
                fprintf(text,
                        " Loads of less than %" PRId64
                        " cycles, such as hits of L2, were not sampled (--ldlat): they "
                        "add to this, and may change the order of lines.",
                        summary->unsampled_cycles);
}

/* Without simulated waits, loads overlap more than in the program, and the run has fewer
 * cycles: only a small latency is certain. */
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
                "For %.1f%% of the cycles the core did nothing while a load that missed "
                "L1 was outstanding.",
                100 * summary->stall_ratio);
}

static void say_turns(FILE *text, const struct report_summary *summary)
{
        if (summary->sharing_share >= OTHERS_SHARE_MIN)
                fputs(" Threads that write to each other's lines have few such cycles.",
                      text);
}

/* Says the cost from samples, then the counted cost. */
static void say_known_cost(FILE *text, const struct report_summary *summary)
{
        say_stalled(text, summary);
        if (stalls_are_worth_saying(summary)) {
                putc(' ', text);
                say_without_execution(text, summary);
                say_turns(text, summary);
        }
        if (latency_is_known(summary) && summary->latency_per_cycle >= 1) {
                putc(' ', text);
                say_latency(text, summary);
        }
}

/* Says the bounds of the gain if samples have no stall time. */
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

/* Whether the loads explain less than half of the stall cycles: instructions then waited
 * for something else. */
static bool chains_matter(const struct report_summary *summary, double *unexplained)
{
        *unexplained = summary->stall_ratio - summary->loads_stalled_ratio;
        return *unexplained >= REPORT_WORTHWHILE_RATIO &&
               *unexplained >= 0.5 * summary->stall_ratio &&
               !(summary->sb_full_ratio >= REPORT_WORTHWHILE_RATIO);
}

/* As many samples as a verdict needs. */
enum { CHAIN_SAMPLES_MIN = 20 };

/* In the model, only chains of dependent instructions can also stop execution. Says so if
 * every load that missed L1 could be a sample. Names the line with most of the
 * overlapping load latency. */
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
                fprintf(text,
                        " For at least %.1f%% of the cycles it waited for other "
                        "instructions, such as dependent additions%s%s%s. Faster memory "
                        "does not help there.",
                        100 * ratio,
                        report_predicts_branches(summary) ? " and mispredicted branches"
                                                          : "",
                        line ? ", beside the loads at " : "", line ? line : "");
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
                " The kernel took %s of the command's CPU time (%.0f%%: system calls, "
                "page faults, interrupts), in no row.",
                report_duration(summary->kernel_s).text, 100 * summary->kernel_s / all_s);
}

/* Says the kernel's share of the cycles, and where the tables count it. */
static void say_kernel(FILE *text, const struct report_summary *summary)
{
        double kernel = summary->fault_ratio + summary->call_ratio;
        report_say_kernel_time(text, summary);
        if (!(kernel >= REPORT_KERNEL_RATIO_MIN))
                return;
        fprintf(text,
                " The kernel took %.1f%%: %.1f%% for %.0f page fault%s (at the line that "
                "first touched the memory), and %.1f%% for system calls (at no line).",
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
