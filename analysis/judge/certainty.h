/* SPDX-License-Identifier: MIT */
/* How sure a verdict is: by how much one of the terms that it is found by would have to
 * be another for the verdict to be another. Pure arithmetic. */
#ifndef MEMLAG_CERTAINTY_H
#define MEMLAG_CERTAINTY_H

#include <stdbool.h>

#include "verdict.h"

struct certainty {
        /* The least part by which one term must be larger or smaller, from 0 to
         * CERTAINTY_MARGIN_MAX, beyond which none was tried. */
        double margin;
        enum verdict other; /* that it is then; VERDICT_COUNT: none was found */
        bool sure;          /* the margin is more than models and chance are wrong by */
};

/* What models of memory are off by in what they are fitted to (doc/experiments/). */
#define CERTAINTY_MARGIN_SURE 0.2
#define CERTAINTY_MARGIN_MAX  0.5

/* Of verdict_of(FACTS). The chance of sampling counts as two standard deviations of a sum
 * over as many samples, 2 / sqrt(n). */
struct certainty verdict_certainty(const struct verdict_facts *facts);

#endif
