/* SPDX-License-Identifier: MIT */
/* From samples to findings: the wait causes of each line, function and object. */
#ifndef MEMLAG_FINDINGS_H
#define MEMLAG_FINDINGS_H

#include "facts.h"
#include "verdict.h"

/* Facts about an interval that its samples are judged with; sorted by id. */
struct judged_interval {
        int64_t id;
        enum answer contended;
        enum answer bandwidth_short; /* for slow loads of the interval */
        enum bound bound;
        bool lacks_buffers;
        bool buffers_full;
        bool sets_crowd;
        bool buffers_free;
        double path_use;      /* of the path from L3; NAN: not known */
        double bandwidth_use; /* of DRAM; NAN: not known */
        enum origin traffic;  /* origin of the lines that loads waited for */
};

struct findings_input {
        const struct judged_interval *intervals;
        size_t interval_count;
        int64_t interval_ns; /* 0: no intervals */
        struct machine_facts machine;
        struct thresholds thresholds;
        double total_cycles;     /* of the run; NAN: not counted */
        double loads_per_sample; /* NAN: not known */
        bool without_waits;      /* of all samples, see sample_facts */
        bool estimates_gains;    /* the machine is simulated: its latencies are known */
        bool stores_parts; /* fill the table sample_part (sample_id, part): see tally.h */
};

/* Gaps in the findings, for the ledger. */
struct findings_gaps {
        int64_t samples_without_latency;
        int64_t samples_in_own_objects;   /* in memlag's objects, which get no finding */
        int64_t samples_without_interval; /* in intervals without counter values */
        int64_t waits_of_unknown_contention;
        int64_t lines_with_too_few_samples;
};

/* Judges every memory sample. Fills the empty tables line_finding, function_finding,
 * object_finding, field_finding, line_object_finding, line_asker_finding and
 * gain_finding. */
int findings_make(struct db *db, const struct findings_input *input,
                  struct findings_gaps *gaps, struct diag *diag);

#endif
