/* SPDX-License-Identifier: MIT */
/* The report on an analysed database. */
#ifndef MEMLAG_REPORT_H
#define MEMLAG_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "db.h"
#include "render.h"

/* What a report can be ordered by. */
struct report_kind {
        const char *name;
        /* Rows for programs: exactly the columns of a view. */
        const char *rows_sql;
        /* Rows for people; ?1 is the number of rows, as in rows_sql. */
        const char *table_sql;
        const char *alignment; /* of its columns: l or r each */
        const char *legend;    /* what its columns mean, where a name does not say it */
        const char *finding_table; /* where its rows' verdicts are; NULL: it has none */
};

/* The kind called NAME, or NULL. */
const struct report_kind *report_kind_named(const char *name);

/* The same for a run of timer samples, which have stalled time in place of latency. */
struct report_kind report_kind_of_stalls(const struct report_kind *kind);

struct report_options {
        const struct report_kind *kind;
        enum format format;
        int64_t top;      /* rows; -1: all */
        bool source_text; /* show it under a table of lines */
        size_t width;     /* of the terminal; 0: none */
};

/* The facts above and below the rows; texts are owned, NULL where not known. */
struct report_summary {
        char *command;
        char *source;
        char *numbers;
        char *cpu;
        char *sim_detail; /* NULL: not simulated */
        bool cut_off;     /* the recorder did not get to its end */
        double duration_s;
        int64_t samples;
        int64_t memory_samples;
        bool timed;              /* the samples are, or would be, a timer's */
        int64_t stalled_samples; /* of a timer, at loads */
        double stalled_s;        /* that they stand for */
        int64_t lost;
        int64_t ring_pages; /* of each CPU's ring buffer; 0: there was none */
        int64_t intervals;
        int64_t contended_intervals;
        int64_t unknown_intervals; /* contended or not: the counters do not tell */
        double contended_time_share;
        double contended_lmrl_cycles; /* mean, NAN without such intervals */
        double other_lmrl_cycles;
        bool thresholds_of_machine; /* not derived from the run itself */
        double lmrl_factor;         /* of idle LMRL; 0: there was no limit */
        char *lmrl_factor_origin;   /* NULL: it was not measured */
        /* The estimated latency of all loads over the run's cycles; more than 1 when
         * loads overlap much. NAN when cycles or the period are not known. */
        double latency_per_cycle;
};

/* The summary of a run of timer samples, in whole sentences. */
void report_say_stalls(FILE *text, const struct report_summary *summary);

int report_summary_read(struct db *db, struct report_summary *summary, struct diag *diag);
void report_summary_free(struct report_summary *summary);

/* "modelled by the simulated PMU (skylake-sp), not measured": says in words what
 * kind of numbers these are. */
void report_print_provenance(FILE *out, const struct report_summary *summary);

/* Prints the report in one of the formats. */
int report_table(struct db *db, const struct report_options *options,
                 const struct report_summary *summary, FILE *out, struct diag *diag);
int report_csv(struct db *db, const struct report_options *options,
               const struct report_summary *summary, FILE *out, struct diag *diag);
int report_json(struct db *db, const struct report_options *options,
                const struct report_summary *summary, FILE *out, struct diag *diag);

/* Runs SQL with TOP as its parameter 1 and gives its rows to a renderer.
 * ALIGNMENT (may be NULL) as in report_kind. EXTRA cells and their names (may be
 * none) follow every row. */
struct report_rows {
        const char *sql;
        int64_t top;
        size_t width; /* as in report_options */
        const char *alignment;
        const char *const *extra_names;
        const struct cell *extra;
        size_t extra_count;
};
int report_render(struct db *db, const struct report_rows *rows, enum format format,
                  FILE *out, struct diag *diag);

#endif
