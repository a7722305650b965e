/* SPDX-License-Identifier: MIT */
/* How certain a verdict is: the smallest relative change of one of its terms that flips
 * it. Pure arithmetic. */
#ifndef MEMLAG_CERTAINTY_H
#define MEMLAG_CERTAINTY_H

#include <stdbool.h>

#include "verdict.h"

struct certainty {
        /* The smallest relative change of one term that flips the verdict: from 0 to
         * CERTAINTY_MARGIN_MAX. Larger changes are not tried. */
        double margin;
        enum verdict other; /* the flipped verdict; VERDICT_COUNT: none found */
        bool sure;          /* the margin exceeds model error and sampling error */
};

/* The error of memory models on the data that they are fitted to (doc/experiments/). */
#define CERTAINTY_MARGIN_SURE 0.2
#define CERTAINTY_MARGIN_MAX  0.5

/* The certainty of verdict_of(FACTS). Sampling error counts as two standard deviations of
 * a sum over n samples, or stalls if they decide: 2 / sqrt(n). */
struct certainty verdict_certainty(const struct verdict_facts *facts);

#endif
