/* SPDX-License-Identifier: MIT */
/* Judges an event by its counts in trials with known truth. Pure functions. */
#ifndef MEMLAG_JUDGE_H
#define MEMLAG_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "trial.h"

/* One event in one trial. */
struct observation {
        struct expectation expected; /* low is always known */
        bool prefetchable;
        double counted; /* per pass */
        double spread;  /* between repetitions, see judge_spread */
};

/* X(symbol, name) */
#define EVENT_VERDICTS(X)                                                                \
        X(EXACT, "exact")                                                                \
        X(WITHIN_BOUNDS, "within bounds")                                                \
        X(COUNTS_PREFETCH, "counts prefetch too")                                        \
        X(MISSES_PREFETCH, "misses prefetch")                                            \
        X(SOMETHING_ELSE, "counts something else")                                       \
        X(DEAD, "dead")                                                                  \
        X(NOISY, "too noisy")                                                            \
        X(UNKNOWN, "unknown")

enum event_verdict {
#define VERDICT_ENUM(symbol, name) EVENT_##symbol,
        EVENT_VERDICTS(VERDICT_ENUM)
#undef VERDICT_ENUM
};

const char *event_verdict_name(enum event_verdict verdict);

struct judgement {
        /* Median of counted / expected, over trials with a known, non-zero truth: trials
         * that cannot prefetch, and the others. NAN: no such trial. */
        double ratio;
        double prefetched_ratio;
        double spread;      /* the largest */
        double correlation; /* Pearson's, counted with expected; NAN: constant */
        enum event_verdict verdict;
        /* The observation with the largest relative error beyond the tolerance (relative
         * to its scale if zero is expected); NULL: none. */
        const struct observation *worst;
};

/* Judges COUNT observations of one event as CONCEPT. */
struct judgement judge(enum concept concept, const struct observation *observations,
                       size_t count);

/* Whether an event with this verdict may represent the concept. */
bool judge_usable(enum concept concept, enum event_verdict verdict);

/* Compares A and B for CONCEPT: usable first, then by verdict, then by the ratio's
 * distance from 1. Negative: B is better. */
int judge_compare(enum concept concept, const struct judgement *a,
                  const struct judgement *b);

/* The median of the values; sorts them. */
double judge_median(double *values, size_t count);

/* Half the range of sorted VALUES, divided by the larger of median and SCALE. */
double judge_spread(const double *values, size_t count, double scale);

#endif
