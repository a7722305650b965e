/* SPDX-License-Identifier: MIT */
/* The report on an analysed database. */
#ifndef MEMLAG_REPORT_H
#define MEMLAG_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "db.h"
#include "render.h"

struct sqlite3_stmt;

/* What a report can be ordered by. */
struct report_kind {
        const char *name;
        /* Rows for programs: exactly the columns of a view. */
        const char *rows_sql;
        /* Rows for people; ?1 is the number of rows, as in rows_sql. */
        const char *table_sql;
        const char *alignment; /* of its columns: l or r each */
        const char *legend;    /* what its columns mean, where a name does not say it */
        /* The same with fewer columns, unless all is to be explained; NULL: there are no
         * fewer. */
        const char *brief_sql;
        const char *brief_alignment;
        const char *brief_legend;
        /* The rows of the findings that table_sql shows, as a table of SQL; NULL: it has
         * no verdicts. */
        const char *shown;
        bool measured; /* the first column of its tables is for the measured time */
        bool stalled;  /* the next column of table_sql is for how long loads held up */
        bool of_code;  /* rows have a function and a module, and can be chosen by them */
        bool of_data;  /* rows can be chosen by the code that accessed them */
        bool of_all;   /* rows are of all processes and threads, and of no part of them */
};

/* The kind called NAME, or NULL. */
const struct report_kind *report_kind_named(const char *name);

/* The same for a run of timer samples, which have stalled time in place of latency. */
struct report_kind report_kind_of_stalls(const struct report_kind *kind);

/* Which rows of code are meant: shell patterns, or exact names; NULL: all. And which come
 * first. */
struct report_choice {
        const char *function;
        const char *module; /* with its path, or its last part alone */
        bool by_latency;    /* also where the time that loads held up others is known */
};

struct report_options {
        const struct report_kind *kind;
        struct report_choice choice; /* for kinds of code or data */
        bool by_stalled;             /* was asked for */
        enum format format;
        int64_t top;       /* rows; -1: all */
        bool source_text;  /* show it under a table of lines, with VERBOSE */
        bool verbose;      /* explain all figures */
        bool summary_only; /* no table */
        const char *file;  /* the database, as the user named it; NULL: memlag.db */
        size_t width;      /* of the terminal; 0: none */
        bool whole_names;  /* in a table too */
};

/* With fewer slow loads under way shares of latency are about those of the waiting. */
enum { REPORT_OVERLAP_MIN = 2 };

/* The facts above and below the rows; texts are owned, NULL where not known. */
struct report_summary {
        char *command;
        char *source;
        char *numbers;
        char *cpu;
        char *sim_detail; /* NULL: not simulated */
        char *sim_set;    /* parameters of the model that were changed; NULL: none */
        bool cut_off;     /* the recorder did not get to its end */
        int signal;       /* that ended the command; 0: none did */
        char *selection;  /* which part of the recording all is about; NULL: all of it */
        int64_t recorded_samples; /* of the whole recording, with a selection */
        char *model_note;         /* what report_model_note says; NULL: nothing */
        char *poor_calibration;   /* what is wrong with the one behind; NULL: nothing */
        char *failure;            /* why a part of the run is missing; NULL: none is */
        double duration_s;
        int64_t samples;
        int64_t memory_samples;
        bool timed;              /* the samples are, or would be, a timer's */
        int64_t stalled_samples; /* of a timer, at loads */
        double stalled_s;        /* that they stand for */
        double timed_s;          /* that all samples of a timer stand for */
        int64_t
            unplaced_samples;    /* of a timer, and no instruction is known to wait for */
        double timer_period_s;   /* 0: not of a timer, or not known */
        int64_t tracker_samples; /* in memlag's own heap tracker, not among samples */
        double stalled_ratio;    /* the same over the run's cycles; NAN: not known */
        /* The same without the slots in which the loads themselves retire, which a
         * simulated timer counts too; NAN: not known. */
        double held_up_ratio;
        int64_t lost;
        int64_t ring_pages; /* of each CPU's ring buffer; 0: there was none */
        int64_t intervals;
        int64_t contended_intervals;
        int64_t saturated_intervals; /* others in which DRAM was at its limit */
        int64_t unknown_intervals;   /* contended or not: the counters do not tell */
        double contended_time_share;
        double left_share; /* of the bandwidth, at least, in other intervals; NAN: unknown */
        double contended_lmrl_cycles; /* mean, NAN without such intervals */
        double other_lmrl_cycles;
        bool thresholds_of_machine; /* not derived from the run itself */
        /* The part of the run's cycles for which sampled loads, in all, held up those
         * behind them; NAN: not known. */
        double loads_stalled_ratio;
        /* Loads of less were not sampled, though some of them missed L1; 0: there are
         * none such, or it is not known. */
        int64_t unsampled_cycles;
        /* Samples that held up more than rows count any for (stall_limit_cycles). */
        int64_t long_stalls;
        double lmrl_factor;       /* of idle LMRL; 0: there was no limit */
        char *lmrl_factor_origin; /* NULL: it was not measured */
        double latency_cycles; /* of all loads, estimated; NAN: the period is not known */
        /* The same over the run's cycles; more than 1 when
         * loads overlap much. NAN when cycles or the period are not known. */
        double latency_per_cycle;
        /* Cycles that executed nothing beside a load that missed L1, over the run's; NAN
         * when they were not counted. */
        double stall_ratio;
        double instructions_per_cycle; /* retired; NAN when they were not counted */
        /* Of the latency, what is on lines that mostly waited for another core or node.
         */
        double others_share;
        /* The same of lines whose waits the counters of stalls hardly see: for lines that
         * other cores write, and for translations. */
        double unseen_share;
        double sharing_share; /* of lines that other cores write, and nothing else */
        /* Of the latency, what was waited in intervals bound by compute. */
        double compute_share;
        /* Cycles in which the cores' fill buffers, queues beyond L2 and store buffers
         * were full, over the run's; NAN when they were not counted. */
        double fb_full_ratio;
        double sq_full_ratio;
        double sb_full_ratio;
        /* Page faults, and the part of the run's cycles in the kernel for them and for
         * system calls; NAN when they were not counted. */
        double user_s; /* CPU time of the command; NAN: not known */
        double kernel_s;
        double split_ratio; /* of the loads, across a line border */
        double alias_ratio; /* and with the low address bits of a store */
        double page_faults;
        double fault_ratio;
        double call_ratio;
        bool has_first_run;    /* under timer samples: time is measured, too */
        bool without_prefetch; /* the model's prefetchers were off */
        bool without_waits;    /* the model had caches only: no time is the program's */
};

/* Whether the figures are a model's. */
bool report_is_modelled(const struct report_summary *summary);

/* What the column "stalled" means. */
void report_explain_stalled(FILE *out, const struct report_summary *summary);

/* SECONDS for people: "0.123 s", and below 10 ms "1.23 ms" or "45.6 us". */
struct duration_text {
        char text[32];
};
struct duration_text report_duration(double seconds);

/* Of a measured run, what of its CPU time the kernel took. */
void report_say_kernel_time(FILE *text, const struct report_summary *summary);

/* Lines that wait for a cache because their own lie in few sets of L1. */
int report_say_set_conflicts(struct db *db, FILE *text, struct diag *diag);

/* The summary of a run of timer samples, in whole sentences. */
void report_say_stalls(FILE *text, const struct report_summary *summary);

/* What to know where the model is not of the machine that recorded goes into NOTE, in
 * sentences, which the caller frees; NULL: it is, or nothing tells. */
int report_model_note(struct db *db, char **note, struct diag *diag);

/* The first lines of a report: what kind of numbers these are, of which command, and what
 * limits all that follows. */
void report_print_head(FILE *out, const struct report_summary *summary, bool verbose);

/* Fewer samples than for a verdict leave shares uncertain by more than 0.2: no table is
 * shown. Page faults are counted, and where they matter rows are there without samples. */
bool report_has_too_few(const struct report_summary *summary);

/* How to get more: a line. */
void report_print_too_few(FILE *out, const struct report_summary *summary);

/* What a verdict means, and what often helps. */
struct report_advice {
        const char *verdict;
        const char *meaning;
        const char *remedy;
        bool prefetch_matters;
};
/* The advice on VERDICT; NULL: there is none. */
const struct report_advice *report_advice_on(const char *verdict);

/* What FIX of gain_view changes, to follow "if"; NULL: there is no such fix. */
const char *report_fix_condition(const char *fix);

/* Per cent of the run's cycles, and their range. */
struct report_gain {
        double gain;
        double low;
        double high;
};

/* A line: what FIX, or fixes with a '+' between, gained in another run. */
void report_say_gain(FILE *out, const char *fix, const struct report_gain *gain);

/* The first lines: head, how much time waits for memory, and in a report by line the
 * places where. */
int report_print_brief(struct db *db, const struct report_options *options,
                       const struct report_summary *summary, FILE *out,
                       struct diag *diag);

/* Of the cycles, or of the CPU time; less of the kernel's is not worth a word. */
#define REPORT_KERNEL_RATIO_MIN 0.01

/* Of the cycles; to look closer at less is not worth while. */
#define REPORT_WORTHWHILE_RATIO 0.05

/* The share of samples in libraries that poll for other processes (library_view), where
 * that is 1 % or more: a sentence after a blank. */
int report_say_libraries(struct db *db, FILE *text, struct diag *diag);

/* What waiting costs the program, in whole sentences. */
int report_say_time(struct db *db, FILE *text, const struct report_summary *summary,
                    struct diag *diag);

/* What is above the table, and whether that says that waiting for memory is not what
 * the program's time goes to. */
int report_print_summary(struct db *db, FILE *out, const struct report_summary *summary,
                         struct diag *diag);
bool report_waits_little(const struct report_summary *summary);

/* Whether the table has but a part of the run's code, or data. */
bool report_is_chosen(const struct report_choice *choice);
/* Which, and how much of the whole run it is; *ANY: there is some. */
int report_print_choice(struct db *db, const struct report_options *options,
                        const struct report_summary *summary, bool *any, FILE *out,
                        struct diag *diag);

/* The ledger, and what to do about lines that are missing. FAILED: recording ended before
 * the run did; how much there was then nobody counted. */
int report_print_missing(struct db *db, const struct report_options *options,
                         const struct report_summary *summary, FILE *out,
                         struct diag *diag);

/* A line of text on each verdict that much of the latency of CHOICE has: what it means,
 * and what often helps. */
int report_say_advice(struct db *db, FILE *text, const struct report_choice *choice,
                      const struct report_summary *summary, struct diag *diag);

/* Below the table: what those of its rows waited for whose lines of the cache other loads
 * had asked for. STALLED: verdicts go by what held up the program. */
int report_explain_waits(struct db *db, const struct report_options *options,
                         bool stalled, FILE *out, struct diag *diag);

/* Below the table in the order of stalled time: that chance may have put a row first. */
int report_explain_range(struct db *db, const struct report_options *options, FILE *out,
                         struct diag *diag);

int report_summary_read(struct db *db, struct report_summary *summary, struct diag *diag);
void report_summary_free(struct report_summary *summary);

/* "N records lost", or what is known of that where the recording has not ended. */
void report_say_lost(FILE *text, const struct report_summary *summary);

/* "modelled by the simulated PMU (skylake-sp), with mispredicted branches, not measured":
 * says in words what kind of numbers these are. */
void report_print_provenance(FILE *out, const struct report_summary *summary);

/* Prints the report in one of the formats. */
int report_table(struct db *db, const struct report_options *options,
                 const struct report_summary *summary, FILE *out, struct diag *diag);
int report_csv(struct db *db, const struct report_options *options,
               const struct report_summary *summary, FILE *out, struct diag *diag);
int report_json(struct db *db, const struct report_options *options,
                const struct report_summary *summary, FILE *out, struct diag *diag);

/* How well the measured time of a first run and the model agree, and the lines where they
 * do not. */
int report_print_measured(struct db *db, FILE *out, const struct report_summary *summary,
                          struct diag *diag);

/* The same for programs: the beginning of a JSON object, up to the key "run". */
int report_json_head(struct db *db, const struct report_summary *summary, FILE *out,
                     struct diag *diag);

/* Binds CHOICE to the parameters 2 to 4 of STATEMENT. */
void report_bind_choice(struct sqlite3_stmt *statement,
                        const struct report_choice *choice);

/* Runs SQL with TOP as its parameter 1 and, where it has more, CHOICE as 2 to 4, and
 * gives its rows to a renderer.
 * ALIGNMENT (may be NULL) as in report_kind. EXTRA cells and their names (may be
 * none) follow every row. */
struct report_rows {
        const char *sql;
        int64_t top;
        struct report_choice choice;
        size_t width;      /* as in report_options */
        size_t name_bytes; /* longer texts lose template arguments; 0: none does */
        const char *alignment;
        size_t left_out; /* columns of SQL that are not shown, from the first */
        const char *const *extra_names;
        const struct cell *extra;
        size_t extra_count;
};
int report_render(struct db *db, const struct report_rows *rows, enum format format,
                  FILE *out, struct diag *diag);

#endif
