/* SPDX-License-Identifier: MIT */
/* The report on an analysed database. */
#ifndef MEMLAG_REPORT_H
#define MEMLAG_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "brief_lines.h"
#include "db.h"
#include "render.h"

struct sqlite3_stmt;

/* A kind of report: its rows and their order. */
struct report_kind {
        const char *name;
        /* For programs: exactly the columns of a view. */
        const char *rows_sql;
        /* For people; ?1 is the number of rows, as in rows_sql. */
        const char *table_sql;
        const char *alignment; /* l or r for each column */
        const char *legend;    /* explains columns whose name is not enough */
        /* The table with fewer columns, used without --verbose; NULL: no shorter table.
         */
        const char *brief_sql;
        const char *brief_alignment;
        const char *brief_legend;
        const char *none; /* takes the place of a table without rows; NULL: never */
        /* SQL table of the findings in table_sql; NULL: no verdicts. */
        const char *shown;
        bool measured; /* the first column of its tables is the measured time */
        bool stalled;  /* the next column of table_sql is the stall time */
        bool of_code;  /* rows have a function and a module, for choosing rows */
        bool of_data;  /* rows can be chosen by the accessing code */
        bool of_all;   /* rows always cover all processes and threads */
};

/* The kind that --by=object has with --cache-sizes. */
#define REPORT_CACHE_SIZES "cache sizes"

/* The kind called NAME, or NULL. */
const struct report_kind *report_kind_named(const char *name);

/* The same kind for a run of timer samples: stalled time replaces latency. */
struct report_kind report_kind_of_stalls(const struct report_kind *kind);

/* The chosen rows of code, as shell patterns or exact names (NULL: all), and their order.
 */
struct report_choice {
        const char *function;
        const char *module; /* with its path, or the last part only */
        bool by_latency;    /* order by latency even if the stall time is known */
};

struct report_options {
        const struct report_kind *kind;
        struct report_choice choice; /* for kinds of code or data */
        bool by_stalled;             /* the user asked for it */
        enum format format;
        int64_t top;       /* number of rows; -1: all */
        bool source_text;  /* print source text below a table of lines, with VERBOSE */
        bool verbose;      /* explain all numbers */
        bool summary_only; /* no table */
        const char *file;  /* the database as the user named it; NULL: memlag.db */
        size_t width;      /* width of the terminal; 0: none */
        bool whole_names;  /* also in a table */
};

/* With fewer overlapping slow loads, shares of latency are about shares of waiting time.
 */
enum { REPORT_OVERLAP_MIN = 2 };

/* The facts above and below the rows. The summary owns its texts; NULL if not known. */
struct report_summary {
        char *command;
        char *source;
        char *numbers;
        char *cpu;
        char *sim_detail;         /* NULL: not simulated */
        char *sim_set;            /* changed parameters of the model; NULL: none */
        bool cut_off;             /* the recorder did not finish */
        int signal;               /* signal that ended the command; 0: none */
        char *selection;          /* the selected part of the recording; NULL: all */
        int64_t recorded_samples; /* of the whole recording, if a part is selected */
        char *model_note;         /* text of report_model_note; NULL: none */
        char *poor_calibration;   /* fault of the model's calibration; NULL: none */
        char *failure;            /* why the run is incomplete; NULL: complete */
        double duration_s;
        int64_t samples;
        int64_t memory_samples;
        bool timed;               /* the source is a timer, with or without samples */
        int64_t stalled_samples;  /* timer samples at loads */
        double stalled_s;         /* time of the stalled samples */
        double timed_s;           /* time of all timer samples */
        int64_t unplaced_samples; /* timer samples without a known stalled instruction */
        double timer_period_s;    /* 0: no timer, or not known */
        int64_t tracker_samples; /* in memlag's own heap tracker, excluded from samples */
        double stalled_ratio;    /* stalled_s over the run's cycles; NAN: not known */
        /* stalled_ratio without the loads' own retirement slots, which a simulated timer
         * also counts; NAN: not known. */
        double held_up_ratio;
        int64_t lost;
        int64_t ring_pages; /* of each CPU's ring buffer; 0: no ring buffer */
        int64_t intervals;
        int64_t contended_intervals;
        int64_t saturated_intervals; /* other intervals with saturated DRAM */
        int64_t unknown_intervals;   /* the counters do not decide contention */
        double contended_time_share;
        double short_time_share; /* contended or saturated */
        double contended_use;    /* mean share of the peak used there; NAN: unknown */
        double contended_busy;   /* share of the time there with DRAM traffic */
        double left_share; /* least bandwidth left in other intervals; NAN: unknown */
        double contended_lmrl_cycles; /* mean; NAN without such intervals */
        double other_lmrl_cycles;
        bool thresholds_of_machine; /* thresholds not derived from the run itself */
        /* Share of the run's cycles that all sampled loads stalled; NAN: not known. */
        double loads_stalled_ratio;
        /* The sampling threshold, if some loads below it missed L1; 0: no such loads, or
         * not known. */
        int64_t unsampled_cycles;
        /* Samples that stalled longer than the limit for rows (stall_limit_cycles). */
        int64_t long_stalls;
        double lmrl_factor;       /* multiple of idle LMRL; 0: no limit */
        char *lmrl_factor_origin; /* NULL: not measured */
        double latency_cycles;    /* of all loads, estimated; NAN: unknown period */
        /* latency_cycles over the run's cycles; above 1 if loads overlap much. NAN if
         * cycles or the period are not known. */
        double latency_per_cycle;
        /* Share of the run's cycles without execution during a load that missed L1; NAN
         * if not counted. */
        double stall_ratio;
        double instructions_per_cycle; /* retired; NAN if not counted */
        /* Share of the latency on lines that mostly waited for another core or node. */
        double others_share;
        /* Share of the latency that stall counters hardly see: on lines that other cores
         * write, and on translations. */
        double unseen_share;
        double sharing_share; /* on lines that other cores write only */
        /* Share of the latency in intervals bound by compute. */
        double compute_share;
        /* Share of the run's cycles with full fill buffers, queues beyond L2, or store
         * buffers; NAN if not counted. */
        double fb_full_ratio;
        double sq_full_ratio;
        double sb_full_ratio;
        /* Number of page faults, and the share of the run's cycles in the kernel for page
         * faults and system calls; NAN if not counted. */
        double user_s; /* CPU time of the command; NAN: not known */
        double kernel_s;
        double split_ratio; /* share of loads crossing a line boundary */
        double alias_ratio; /* share of loads that matched a store's low address bits */
        double mispredicted_ratio; /* branches predicted wrongly in a cycle */
        double page_faults;
        double fault_ratio;
        double call_ratio;
        bool has_first_run;    /* a first run has measured times */
        bool without_prefetch; /* the model's prefetchers were off */
        bool without_waits;    /* caches only: times are not the program's */
};

/* Whether the numbers come from a model. */
bool report_is_modelled(const struct report_summary *summary);

/* Explains the column "stalled". */
void report_explain_stalled(FILE *out, const struct report_summary *summary);

/* SECONDS as text: "0.123 s", and below 10 ms "1.23 ms" or "45.6 us". */
struct duration_text {
        char text[32];
};
struct duration_text report_duration(double seconds);

/* Says the kernel's share of the CPU time of a measured run. */
void report_say_kernel_time(FILE *text, const struct report_summary *summary);

/* Says which lines wait for a cache because their data maps to few L1 sets. */
int report_say_set_conflicts(struct db *db, FILE *text, struct diag *diag);

/* Says the summary of a run of timer samples, in sentences. */
void report_say_stalls(FILE *text, const struct report_summary *summary);

/* NOTE gets sentences about a model that differs from the recording machine; the caller
 * frees it. NULL: the same machine, or unknown. */
int report_model_note(struct db *db, char **note, struct diag *diag);

/* Adds what limits the whole report to the first LINES. Returns 0 or -ENOMEM. */
int report_add_state(struct brief_lines *lines, const struct report_summary *summary);

/* Prints the first lines of a report: the kind of its numbers, the command, and limits of
 * the whole report. */
void report_print_head(FILE *out, const struct report_summary *summary, bool verbose);

/* Whether there are too few samples for a verdict: shares would be off by more than 0.2,
 * and no table is printed. Page faults are counted: rows with many page faults need no
 * samples. */
bool report_has_too_few(const struct report_summary *summary);

/* Prints a line on how to get more samples. */
void report_print_too_few(FILE *out, const struct report_summary *summary);

/* The meaning of a verdict, and frequent remedies. */
struct report_advice {
        const char *verdict;
        const char *meaning;
        const char *remedy;
        bool prefetch_matters;
};
/* The remedy of ADVICE for an access whose address follows PATTERN (access_pattern; "":
 * not known). */
const char *report_remedy(const struct report_advice *advice, const char *pattern);
/* The advice on VERDICT; NULL: none. */
const struct report_advice *report_advice_on(const char *verdict);

/* The change that FIX of gain_view makes, to follow "if"; NULL: no such fix. */
const char *report_fix_condition(const char *fix);

/* Percent of the run's cycles, with their range. */
struct report_gain {
        double gain;
        double low;
        double high;
};

/* Prints what FIX changes: "If all memory were local". */
void report_say_condition(FILE *out, const char *fix);

/* Whether the line of GAIN says that nothing changed. */
bool report_is_no_change(const struct report_gain *gain);

/* Prints one line: the gain of FIX in another run. FIX may combine fixes with '+'. */
void report_say_gain(FILE *out, const char *fix, const struct report_gain *gain);

/* Prints the gains of the whole run that repeated runs with fixes recorded. */
int report_print_gains(struct db *db, FILE *out, struct diag *diag);

/* Prints the first lines, at most ten: head, time spent waiting for memory, and in a
 * report by line the slowest places. What has no room is in the verbose report. */
int report_print_brief(struct db *db, const struct report_options *options,
                       const struct report_summary *summary, FILE *out,
                       struct diag *diag);

/* Share of the cycles or CPU time; a smaller share of the kernel is not mentioned. */
#define REPORT_KERNEL_RATIO_MIN 0.01

/* Share of the cycles; a smaller share is not worth a closer look. */
#define REPORT_WORTHWHILE_RATIO 0.05

/* Says the share of samples in libraries that poll for other processes (library_view),
 * from 1 %: a sentence after a blank. */
int report_say_libraries(struct db *db, FILE *text, struct diag *diag);

/* Says the cost of waiting, in sentences. */
int report_say_time(struct db *db, FILE *text, const struct report_summary *summary,
                    struct diag *diag);

/* Prints the text above the table. report_waits_little: whether that text says that
 * memory is not the program's problem. */
int report_print_summary(struct db *db, FILE *out, const struct report_summary *summary,
                         struct diag *diag);
bool report_waits_little(const struct report_summary *summary);

/* Whether the table covers only a part of the run's code or data. */
bool report_is_chosen(const struct report_choice *choice);
/* Prints the choice and its share of the whole run; *ANY: the choice has samples. */
int report_print_choice(struct db *db, const struct report_options *options,
                        const struct report_summary *summary, bool *any, FILE *out,
                        struct diag *diag);

/* Prints the ledger and remedies for missing lines. FAILED: the recording ended before
 * the run, and nobody counted the rest. */
int report_print_missing(struct db *db, const struct report_options *options,
                         const struct report_summary *summary, FILE *out,
                         struct diag *diag);

/* Writes a line of text for each verdict with much of CHOICE's latency: its meaning, and
 * frequent remedies. */
int report_say_advice(struct db *db, FILE *text, const struct report_choice *choice,
                      const struct report_summary *summary, struct diag *diag);

/* Prints below the table which other loads first requested the cache lines that rows wait
 * for. STALLED: verdicts use stall time. */
int report_explain_waits(struct db *db, const struct report_options *options,
                         bool stalled, FILE *out, struct diag *diag);

/* Prints below a table by stall time whether chance may have put a row first. */
int report_explain_range(struct db *db, const struct report_options *options, FILE *out,
                         struct diag *diag);

int report_summary_read(struct db *db, struct report_summary *summary, struct diag *diag);
void report_summary_free(struct report_summary *summary);

/* A share of the bandwidth. An interval with less traffic was short for a part of its
 * time. */
#define REPORT_PART_USE_MAX 0.5

/* Whether the contended intervals used so little bandwidth that it was short for a part
 * of their time only: the rule for contention looks at their busy part (method.md). */
bool report_short_in_part(const struct report_summary *summary);

/* "N records lost", or the known part if the recording has not ended. */
void report_say_lost(FILE *text, const struct report_summary *summary);

/* Whether wrong predictions take time in the model. */
bool report_predicts_branches(const struct report_summary *summary);

/* "modelled by the simulated PMU (skylake-sp), without prefetchers, not measured":
 * names the kind of the numbers. */
void report_print_provenance(FILE *out, const struct report_summary *summary);

/* Prints the report in one of the formats. */
int report_table(struct db *db, const struct report_options *options,
                 const struct report_summary *summary, FILE *out, struct diag *diag);
int report_csv(struct db *db, const struct report_options *options,
               const struct report_summary *summary, FILE *out, struct diag *diag);
int report_json(struct db *db, const struct report_options *options,
                const struct report_summary *summary, FILE *out, struct diag *diag);

/* Print how well the measured time of a first run agrees with the model, and the lines
 * with disagreement. Nothing without such a run. */
int report_print_agreement(struct db *db, FILE *out, const struct report_summary *summary,
                           struct diag *diag);
int report_print_disagreement(struct db *db, FILE *out,
                              const struct report_summary *summary, struct diag *diag);

/* Prints the head of a report in JSON: an object up to the key "run". */
int report_json_head(struct db *db, const struct report_summary *summary, FILE *out,
                     struct diag *diag);

/* Binds CHOICE to the parameters 2 to 4 of STATEMENT. */
void report_bind_choice(struct sqlite3_stmt *statement,
                        const struct report_choice *choice);

/* Runs SQL with TOP as parameter 1 and CHOICE as parameters 2 to 4, if SQL has them, and
 * renders its rows. ALIGNMENT and NONE (may be NULL): see report_kind. EXTRA cells with
 * their names (may be empty) follow every row. Returns 1 if it has printed NONE, 0, or a
 * negative error. */
struct report_rows {
        const char *sql;
        int64_t top;
        struct report_choice choice;
        size_t width;     /* see report_options */
        bool short_names; /* see render_shorten_names */
        const char *alignment;
        const char *none;
        size_t left_out; /* number of leading SQL columns that are hidden */
        const char *const *extra_names;
        const struct cell *extra;
        size_t extra_count;
};
int report_render(struct db *db, const struct report_rows *rows, enum format format,
                  FILE *out, struct diag *diag);

#endif
