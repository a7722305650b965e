/* SPDX-License-Identifier: MIT */
/* See certainty.h. This file knows no rules: it changes each term until verdict_of
 * returns another verdict. */
#include "certainty.h"

#include <math.h>

/* Halvings of CERTAINTY_MARGIN_MAX: to about half a percent. */
enum { HALVINGS = 7 };

/* The terms. Numbers below CAUSE_COUNT are causes: latency and stall time of a cause
 * change together. */
enum {
        TERM_COST = CAUSE_COUNT,
        TERM_CYCLES, /* for stalls, without page faults */
        TERM_FAULTS,
        TERM_COUNT
};

static struct verdict_facts with_term(const struct verdict_facts *facts, int term,
                                      double factor)
{
        struct verdict_facts changed = *facts;
        if (term < CAUSE_COUNT) {
                changed.cause_latency_cycles[term] *= factor;
                changed.cause_retire_cycles[term] *= factor;
        } else if (term == TERM_COST) {
                changed.cost_ratio *= factor;
        } else if (term == TERM_CYCLES) {
                changed.cycle_ratio *= factor;
        } else {
                changed.fault_ratio *= factor;
        }
        return changed;
}

/* Scales a term up or down by MARGIN. */
static double factor_of(double margin, bool larger)
{
        return larger ? 1 + margin : 1 / (1 + margin);
}

static enum verdict verdict_with(const struct verdict_facts *facts, int term,
                                 double margin, bool larger)
{
        struct verdict_facts changed = with_term(facts, term, factor_of(margin, larger));
        return verdict_of(&changed);
}

/* Updates CERTAINTY if a change of TERM flips the verdict at a smaller margin. */
static void try_term(const struct verdict_facts *facts, enum verdict verdict, int term,
                     bool larger, struct certainty *certainty)
{
        double low = 0, high = certainty->margin;
        enum verdict other = verdict_with(facts, term, high, larger);
        if (other == verdict)
                return;
        for (int i = 0; i < HALVINGS; i++) {
                double middle = (low + high) / 2;
                enum verdict there = verdict_with(facts, term, middle, larger);
                if (there == verdict) {
                        low = middle;
                } else {
                        high = middle;
                        other = there;
                }
        }
        certainty->margin = high;
        certainty->other = other;
}

/* The sampling error. Page faults are counted: they can be sure without samples. */
static double chance(const struct verdict_facts *facts, enum verdict verdict)
{
        double samples =
            verdict_by_stalls(facts) ? facts->stalls : (double)facts->latencies;
        double error = samples > 0 ? 2 / sqrt(samples) : 0;
        return verdict == VERDICT_PAGE_FAULTS ? fmin(CERTAINTY_MARGIN_MAX, error) : error;
}

struct certainty verdict_certainty(const struct verdict_facts *facts)
{
        struct certainty certainty = {CERTAINTY_MARGIN_MAX, VERDICT_COUNT, true};
        enum verdict verdict = verdict_of(facts);
        for (int term = 0; term < TERM_COUNT; term++) {
                try_term(facts, verdict, term, true, &certainty);
                try_term(facts, verdict, term, false, &certainty);
        }
        certainty.sure =
            certainty.margin >= fmax(CERTAINTY_MARGIN_SURE, chance(facts, verdict)) &&
            !(verdict == VERDICT_NONE && facts->may_stall);
        return certainty;
}
