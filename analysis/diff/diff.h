/* SPDX-License-Identifier: MIT */
/* Two recordings beside each other: what was counted in each, and their lines, functions,
 * objects or types, each with the one that it is in the other recording. */
#ifndef MEMLAG_DIFF_H
#define MEMLAG_DIFF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "db.h"
#include "difference.h"
#include "render.h"
#include "report.h"

/* What rows are compared by; the later tells less. */
enum diff_figure {
        DIFF_STALLED_CYCLES, /* for which loads held up those behind them */
        DIFF_STALLED_NS,     /* at loads, of timer samples */
        DIFF_LATENCY_CYCLES, /* of all loads, estimated */
        DIFF_NONE
};

/* What was counted in a whole run. */
enum diff_count {
        COUNT_ON_CPUS, /* by the samples of a timer */
        COUNT_DURATION,
        COUNT_MEASURED_DURATION, /* of a first run of the command as it is */
        COUNT_MEASURED_CPU,
        COUNT_CYCLES,
        COUNT_INSTRUCTIONS,
        COUNT_DRAM_READ,
        COUNT_DRAM_WRITE,
        COUNT_LMRL,
        COUNT_INTERVALS,
        COUNT_CONTENDED,
        DIFF_COUNTS
};

extern const struct diff_count_name {
        const char *name; /* for programs */
        const char *shown;
        const char *unit;
} diff_count_names[DIFF_COUNTS];

/* A kind of rows, as SQL over findings. */
struct diff_kind {
        const char *name;
        const char *sql;
        /* The names of a row for programs, and which of them have a line behind them that
         * is another before and after. */
        const char *names[4];
        const char *line; /* the names of that line's columns begin so; NULL: none */
        int function;     /* which name is a function's; 0: none */
};

enum { DIFF_NAMES = 4 };

/* The kind called NAME, or NULL. */
const struct diff_kind *diff_kind_named(const char *name);

/* Ends a field of a row's group. Those of rows with lines begin with two that tell the
 * file of these. */
enum { DIFF_FIELD_END = 31 };

/* One row of a recording. */
struct diff_row {
        char *group; /* is equal where rows may be one, but for their lines */
        char *build; /* of the file that LINE is of; "": not known */
        int64_t line;
        char *names[DIFF_NAMES]; /* NULL: not known */
        int64_t samples;
        char *verdict;
        struct estimate estimate; /* of the mean of the side's recordings */
        double sum, squares;      /* of their values */
        double variance;          /* of their mean, between them; 0 of one */
};

/* A recording that was left out, as it is the same as another of its side. */
struct diff_equal {
        const char *file, *same_as; /* as the user called them */
};

struct diff_side {
        const char *file; /* as the user called it */
        struct db *db;
        struct report_summary summary;
        double counts[DIFF_COUNTS]; /* means of its recordings; NAN: not counted */
        double cycles;              /* NAN: not counted */
        double loads_per_sample;    /* NAN: not known */
        struct diff_row *rows;      /* by group and line, each once */
        size_t row_count, row_capacity;
        struct estimate whole;    /* sum of the rows */
        double whole_variance;    /* as a row's */
        double event;             /* of whole, as estimate_event */
        struct diff_side *others; /* more recordings of the same */
        size_t other_count;
        uint64_t digest; /* of the samples, where there are others */
        struct diff_equal *equals;
        size_t equal_count;
};

/* A row of one recording or of both. */
struct diff_pair {
        const struct diff_row *before, *after; /* NULL: it was not sampled there */
        struct estimate from, to, difference;
};

struct diff {
        struct diff_side before, after;
        const struct diff_kind *kind;
        enum diff_figure figure;
        struct diff_pair *pairs; /* by the size of the difference */
        size_t pair_count;
        struct estimate difference;      /* of the wholes */
        /* What no row has of the run's cycles, or time on CPUs; NAN: not known. */
        struct estimate rest_from, rest_to, rest_difference;
        const struct diff_row *unjoined; /* one of the first such name; NULL: none */
        size_t unjoined_count; /* names whose functions were not told over a rebuild */
};

struct diff_options {
        const struct diff_kind *kind; /* NULL: only what was counted */
        enum format format;
        int64_t top; /* rows; -1: all */
        size_t width;
};

/* Reads what was counted in SIDE's database, and in those of its other recordings; what
 * was counted is then their mean; those that are equal count once. diff_side_free frees
 * all, and closes the databases. */
int diff_side_read(struct diff_side *side, struct diag *diag);
void diff_side_free(struct diff_side *side);

/* Closes those of SIDE's other recordings that have the same samples as one before them,
 * and lists them in equals. What was counted in each was read. */
int diff_drop_equal(struct diff_side *side, struct diag *diag);

/* What SIDE's rows can be compared by at best; DIFF_NONE where samples tell nothing. */
enum diff_figure diff_side_figure(const struct diff_side *side);

/* The unit of FIGURE: "cycles" or "ns". */
const char *diff_unit(enum diff_figure figure);

/* Reads SIDE's rows of KIND, of all of its recordings. A program called FROM there is
 * called TO in them, as in the other recording; NULL: none is. MARK goes into the groups
 * of what only the same build can have. */
int diff_rows_read(struct diff_side *side, const struct diff_kind *kind,
                   enum diff_figure figure, const char *from, const char *to,
                   const char *mark, struct diag *diag);

/* Sorts SIDE's rows by group and line. */
void diff_rows_sort(struct diff_side *side);

/* Gives functions of one name that are told apart by places the same group in DIFF's two
 * sides: in their order, where as many are on both, or as many with samples enough. Those
 * of which that is not known are not joined, and counted. In the same build places are
 * equal. The rows were read: 0 or -ENOMEM. */
int diff_join_labels(struct diff *diff);

/* Of all of SIDE's rows, which were read. */
int64_t diff_side_samples(const struct diff_side *side);

/* Compares the two sides of DIFF, which were read, by KIND. -EINVAL: they cannot be
 * compared. */
int diff_make(struct diff *diff, const struct diff_kind *kind, struct diag *diag);
void diff_free(struct diff *diff);

/* Sentences on what is not alike in the recordings, or lacks in one. */
struct diff_notes {
        char **texts;
        size_t count, capacity;
};

/* Adds those on DIFF to NOTES; diff_notes_free frees them, also after an error. */
int diff_notes_read(const struct diff *diff, struct diff_notes *notes, struct diag *diag);
void diff_notes_free(struct diff_notes *notes);

/* In a table NOTES are above it, and for programs on standard error, of JSON in it too.
 */
int diff_print(const struct diff *diff, const struct diff_notes *notes,
               const struct diff_options *options, FILE *out, struct diag *diag);

int diff_print_table(const struct diff *diff, const struct diff_notes *notes,
                     const struct diff_options *options, FILE *out, struct diag *diag);

/* Of two numbers of a file, which may be damaged: at its end where it would overflow. */
int64_t diff_sum(int64_t one, int64_t other);

/* Whether COUNT was counted on either side; the ratio of after to before, or NAN. */
bool diff_counted(const struct diff *diff, enum diff_count count);
double diff_ratio(const struct diff *diff, enum diff_count count);

/* Whether PAIR has samples enough, and on both sides, for a verdict on its change. */
bool diff_is_judged(const struct diff_pair *pair);

/* For programs: "better", "only-before" and such. */
const char *diff_verdict(const struct diff_pair *pair);

/* Name I of PAIR's: that of the later recording, whose source is more likely at hand. */
const char *diff_name(const struct diff_pair *pair, size_t i);

#endif
