/* SPDX-License-Identifier: MIT */
/* What findings.c sums up over the samples, and findings_store.c writes down. */
#ifndef MEMLAG_FINDINGS_PASS_H
#define MEMLAG_FINDINGS_PASS_H

#include "askers.h"
#include "data_sources.h"
#include "findings.h"
#include "gain.h"
#include "grouping.h"
#include "latencies.h"
#include "pairs.h"
#include "placing.h"
#include "tally.h"
#include "user_code.h"

struct findings_pass {
        const struct findings_input *input;
        struct findings_gaps *gaps;
        struct grouping grouping;
        struct placing placing;
        struct data_sources sources;
        struct origins *line_origins;
        struct origins *function_origins;
        struct pairs touched; /* of function and object: the origins of its loads */
        struct origins run_origins;
        struct tally whole;
        struct tally *lines;
        struct tally *functions;
        struct tally *objects;      /* by grouping_of_object; 0: no object */
        struct pairs pairs;         /* of line and object */
        struct pairs accesses;      /* of such a pair's index and a field: short ones */
        struct pairs fields;        /* of 0 and a field: tallies */
        struct latencies latencies; /* of each line, for the percentiles */
        struct user_code user_code;
        struct askers askers;
        struct gain_tally *gains; /* of each line; NULL: none are estimated */
        struct gain_tally run_gains;
};

/* What loads must have held up, of those that were sampled, to stall the run for as long
 * as page faults of KERNEL_CYCLES. */
static inline double findings_faults_as_stall(double kernel_cycles,
                                              const struct findings_input *input)
{
        return input->loads_per_sample > 0 ? kernel_cycles / input->loads_per_sample : 0;
}

/* What the verdict on TALLY, a part of WHOLE, is found by. */
struct verdict_facts findings_facts(const struct tally *tally, const struct tally *whole,
                                    const struct findings_input *input);

/* Fills the tables of findings, which are empty, and counts in PASS's gaps what they
 * lack.
 */
int findings_store(struct db *db, struct findings_pass *pass, struct diag *diag);

/* Fills the table gain_finding, where gains are estimated. */
int gains_store(struct db *db, const struct findings_pass *pass, struct diag *diag);

/* Fills certainty_finding, afterwards. */
int findings_store_certainty(struct db *db, const struct findings_pass *pass,
                             struct diag *diag);

#endif
