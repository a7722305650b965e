/* SPDX-License-Identifier: MIT */
/* What an event counts, by what it counted where the truth is known. Pure functions. */
#ifndef MEMLAG_JUDGE_H
#define MEMLAG_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "trial.h"

/* One event in one trial. */
struct observation {
        struct expectation expected; /* with a known low end */
        bool prefetchable;
        double counted; /* in a pass */
        double spread;  /* from repetition to repetition, see judge_spread */
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
        /* Counted / expected, the median over the trials whose truth is known and not 0:
         * of those where nothing can be prefetched, and of the others. NAN: there is
         * none. */
        double ratio;
        double prefetched_ratio;
        double spread;      /* the largest */
        double correlation; /* Pearson's, of counted and expected over all trials; NAN:
                               one of them does not change */
        enum event_verdict verdict;
        /* The one that is furthest beyond what is tolerated, as a part of what was
         * expected (where that is nothing, of its scale); NULL: none is. */
        const struct observation *worst;
};

/* COUNT observations of one event, as one of the concept. */
struct judgement judge(enum concept concept, const struct observation *observations,
                       size_t count);

/* Whether what was found lets the event stand for the concept. */
bool judge_usable(enum concept concept, enum event_verdict verdict);

/* How much better A is than B for CONCEPT: usable ones first, then the verdict, then the
 * distance of the ratio from 1. Less than 0: B is better. */
int judge_compare(enum concept concept, const struct judgement *a,
                  const struct judgement *b);

/* The median of the values, which are sorted by it. */
double judge_median(double *values, size_t count);

/* Half the range of sorted VALUES over the larger of their median and SCALE. */
double judge_spread(const double *values, size_t count, double scale);

#endif
