/* SPDX-License-Identifier: MIT */
/* The sums of findings.c, which findings_store.c writes. */
#ifndef MEMLAG_FINDINGS_PASS_H
#define MEMLAG_FINDINGS_PASS_H

#include "askers.h"
#include "buffers.h"
#include "data_sources.h"
#include "findings.h"
#include "gain.h"
#include "grouping.h"
#include "latencies.h"
#include "pairs.h"
#include "placing.h"
#include "prefetch_distance.h"
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
        struct buffer_use *buffer_uses; /* by function */
        struct pairs touched;           /* (function, object) → origins of its loads */
        struct origins run_origins;
        struct tally whole;
        struct tally *lines;
        struct tally *functions;
        struct tally *objects;      /* by grouping_of_object; 0: no object */
        struct pairs pairs;         /* (line, object) → tally */
        struct pairs accesses;      /* (index in pairs, field) → short_tally */
        struct pairs fields;        /* (0, field) → tally */
        struct latencies latencies; /* of each line, for the percentiles */
        struct user_code user_code;
        struct askers askers;
        struct pairs requests;           /* (line, location) → requests */
        struct gain_tally *gains;        /* by line; NULL: no estimates */
        struct gain_tally *object_gains; /* as objects; NULL likewise */
        struct gain_tally run_gains;
        struct sqlite3_stmt *insert_part; /* NULL: sample_part stays as it is */
};

/* The stall time of sampled loads that equals KERNEL_CYCLES of page faults. */
static inline double findings_faults_as_stall(double kernel_cycles,
                                              const struct findings_input *input)
{
        return input->loads_per_sample > 0 ? kernel_cycles / input->loads_per_sample : 0;
}

/* The inputs of the verdict on TALLY, a part of WHOLE. */
struct verdict_facts findings_facts(const struct tally *tally, const struct tally *whole,
                                    const struct findings_input *input);

/* Fills the empty tables of findings, and counts their gaps in PASS. */
int findings_store(struct db *db, struct findings_pass *pass, struct diag *diag);

/* Fills the tables gain_finding and object_gain_finding if PASS has gain estimates. */
int gains_store(struct db *db, const struct findings_pass *pass, struct diag *diag);

/* Fills certainty_finding; call it last. */
int findings_store_certainty(struct db *db, const struct findings_pass *pass,
                             struct diag *diag);

#endif
