/* SPDX-License-Identifier: MIT */
/* Compares two recordings: their counters, and their lines, functions, objects or types.
 * Each row is matched with its counterpart in the other recording. */
#ifndef MEMLAG_DIFF_H
#define MEMLAG_DIFF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "db.h"
#include "difference.h"
#include "render.h"
#include "report.h"

/* The measure that rows are compared by; later values are less precise. */
enum diff_figure {
        DIFF_STALLED_CYCLES, /* stall time of loads */
        DIFF_STALLED_NS,     /* stall time of timer samples at loads */
        DIFF_LATENCY_CYCLES, /* latency of all loads, estimated */
        DIFF_NONE
};

/* Measures of a whole run. */
enum diff_count {
        COUNT_ON_CPUS, /* estimated from timer samples */
        COUNT_DURATION,
        COUNT_MEASURED_DURATION, /* of a first, unmodified run of the command */
        COUNT_MEASURED_CPU,
        COUNT_CYCLES,
        COUNT_INSTRUCTIONS,
        COUNT_MISPREDICTED, /* branches; no line has this time, nor that of the next */
        COUNT_CALLS,        /* system calls */
        COUNT_DRAM_READ,
        COUNT_DRAM_WRITE,
        COUNT_LMRL,
        COUNT_INTERVALS,
        COUNT_CONTENDED,
        DIFF_COUNTS
};

extern const struct diff_count_name {
        const char *name; /* name in output for programs */
        const char *shown;
        const char *unit;
} diff_count_names[DIFF_COUNTS];

/* A kind of row, as SQL over findings. */
struct diff_kind {
        const char *name;
        const char *sql;
        /* The column names of a row for programs. Names with a line have one line before
         * and one after. */
        const char *names[4];
        const char *line; /* prefix of the line's column names; NULL: no line */
        int function;     /* index of the function's name; 0: none */
};

enum { DIFF_NAMES = 4 };

/* The kind called NAME, or NULL. */
const struct diff_kind *diff_kind_named(const char *name);

/* Ends a field of a row's group. In rows with lines, the first two fields identify the
 * file. */
enum { DIFF_FIELD_END = 31 };

/* One row of a recording. */
struct diff_row {
        char *group; /* equal for rows that may match, apart from their lines */
        char *build; /* build of the file with LINE; "": not known */
        int64_t line;
        char *names[DIFF_NAMES]; /* NULL: not known */
        int64_t samples;
        int64_t faults; /* page faults, each of which was recorded */
        char *verdict;
        struct estimate estimate; /* mean over the side's recordings */
        double sum, squares;      /* of the recordings' values */
        double variance;          /* of the mean; 0 for one recording */
        /* CPU time of the first, unmodified run in ns; value NAN: not known. */
        struct estimate measured;
};

/* A recording that is left out, because it equals another one of its side. */
struct diff_equal {
        const char *file, *same_as; /* as given by the user */
};

struct diff_side {
        const char *file; /* as given by the user */
        struct db *db;
        struct report_summary summary;
        double counts[DIFF_COUNTS]; /* means over its recordings; NAN: not counted */
        double cycles;              /* NAN: not counted */
        double loads_per_sample;    /* NAN: not known */
        double measured_cpu_ns;     /* of its first run; NAN: none */
        double timer_ns;            /* CPU time of a timer sample of that run */
        struct diff_row *rows;      /* by group and line, without duplicates */
        size_t row_count, row_capacity;
        struct estimate whole;    /* sum of the rows */
        double whole_variance;    /* as in diff_row */
        double event;             /* event size of whole, see estimate_event */
        struct diff_side *others; /* further recordings of the same side */
        size_t other_count;
        uint64_t digest; /* of the samples, if the side has several recordings */
        struct diff_equal *equals;
        size_t equal_count;
};

/* A row that is in one recording or in both. */
struct diff_pair {
        const struct diff_row *before, *after; /* NULL: no samples there */
        struct estimate from, to, difference;
        struct estimate measured_difference; /* of CPU time; value NAN: not known */
};

struct diff {
        struct diff_side before, after;
        const struct diff_kind *kind;
        enum diff_figure figure;
        struct diff_pair *pairs; /* by the size of the difference */
        size_t pair_count;
        struct estimate difference; /* between the wholes */
        /* The part of the run's cycles or CPU time outside all rows; NAN: not known. */
        struct estimate rest_from, rest_to, rest_difference;
        const struct diff_row *unjoined; /* a row with such a name; NULL: none */
        size_t unjoined_count;           /* names without a match across builds */
        bool measured;                   /* the rows of both sides have measured time */
};

struct diff_options {
        const struct diff_kind *kind; /* NULL: counters only */
        enum format format;
        int64_t top;  /* number of rows; -1: all */
        size_t width; /* of a table; 0: names are whole */
};

/* Reads the counts of SIDE's databases; with several recordings, computes means. Equal
 * recordings count once. diff_side_free frees everything and closes the databases. */
int diff_side_read(struct diff_side *side, struct diag *diag);
void diff_side_free(struct diff_side *side);

/* Closes other recordings of SIDE with the same samples as an earlier one, and lists them
 * in equals. Their counts have been read. */
int diff_drop_equal(struct diff_side *side, struct diag *diag);

/* The best measure of SIDE's rows; DIFF_NONE if its samples have none. */
enum diff_figure diff_side_figure(const struct diff_side *side);

/* The unit of FIGURE: "cycles" or "ns". */
const char *diff_unit(enum diff_figure figure);

/* Reads SIDE's rows of KIND from all its recordings. Renames the program FROM to TO, its
 * name in the other recording; NULL: no renaming. MARK goes into the groups of rows that
 * only match in the same build. */
int diff_rows_read(struct diff_side *side, const struct diff_kind *kind,
                   enum diff_figure figure, const char *from, const char *to,
                   const char *mark, struct diag *diag);

/* Sorts SIDE's rows by group and line. */
void diff_rows_sort(struct diff_side *side);

/* Matches functions with one name that differ by source position: they get the same group
 * in both sides of DIFF. Matches in order, if both sides have equally many such
 * functions, or equally many with enough samples. Otherwise the functions stay unmatched,
 * and are counted. In the same build, equal positions match. Call it after reading the
 * rows. Returns 0 or -ENOMEM. */
int diff_join_labels(struct diff *diff);

/* The samples of all SIDE's rows; call it after reading the rows. */
int64_t diff_side_samples(const struct diff_side *side);

/* Compares the two sides of DIFF by KIND after both were read. Returns -EINVAL if they
 * cannot be compared. */
int diff_make(struct diff *diff, const struct diff_kind *kind, struct diag *diag);
void diff_free(struct diff *diff);

/* Sentences on differences between recordings, or on missing data in one recording. */
struct diff_notes {
        char **texts;
        size_t count, capacity;
};

/* Adds the notes on DIFF to NOTES; diff_notes_free frees them, also after an error. */
int diff_notes_read(const struct diff *diff, struct diff_notes *notes, struct diag *diag);
void diff_notes_free(struct diff_notes *notes);

/* Prints NOTES above a table; for programs on standard error, and in JSON also as a
 * member. */
int diff_print(const struct diff *diff, const struct diff_notes *notes,
               const struct diff_options *options, FILE *out, struct diag *diag);

int diff_print_table(const struct diff *diff, const struct diff_notes *notes,
                     const struct diff_options *options, FILE *out, struct diag *diag);

/* Adds two numbers from a file, which may be damaged: saturates on overflow. */
int64_t diff_sum(int64_t one, int64_t other);

/* diff_counted: whether either side has COUNT. diff_ratio: after over before, or NAN. */
bool diff_counted(const struct diff *diff, enum diff_count count);
double diff_ratio(const struct diff *diff, enum diff_count count);

/* Whether ROW has enough samples and page faults. All of a few may belong to one long
 * wait, which no confidence interval shows. */
bool diff_has_enough(const struct diff_row *row);

/* Whether PAIR has two sides, and one of them enough, for a verdict on its change. */
bool diff_is_judged(const struct diff_pair *pair);

/* The verdict in output for programs: "better", "only-before", ... */
const char *diff_verdict(const struct diff_pair *pair);

/* Name I of PAIR, from the later recording: its source is more likely available. */
const char *diff_name(const struct diff_pair *pair, size_t i);

#endif
