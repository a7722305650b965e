/* SPDX-License-Identifier: MIT */
/* Iterates over samples in time order and finds each sample's location, from the
 * mappings and blocks at that time. Functions return 0 or a negative errno value. */
#ifndef MEMLAG_SYMBOLIZE_PASS_H
#define MEMLAG_SYMBOLIZE_PASS_H

#include "sweep.h"

/* The number of samples to read ahead. Prefetches of their places are then under way
 * when a sample is processed. */
enum { PASS_AHEAD = 16 };

/* The caller gives all before COUNT, which begins with 0. */
struct pass {
        struct sweep *sweep;
        sample_visit *visit;
        void *context; /* of VISIT */
        struct diag *diag;
        size_t count;
        struct raw_sample samples[PASS_AHEAD];
};

/* Goes back to before the first sample. */
void pass_begin(struct sweep *sweep);
/* Visits the samples of RANGE, which come behind the earlier ones. -ESTALE: the caller
 * must begin again, in time order; not if SQLite sorts the samples. */
int pass_over(struct pass *pass, const struct sample_range *range);
/* The location of SAMPLE, which is no earlier than the previous sample. Stacks on the
 * way to it look up their places. */
int pass_locate(struct sweep *sweep, const struct raw_sample *sample,
                struct sample_location *location);
/* Tells that SAMPLE will be located soon. */
void pass_expect(const struct sweep *sweep, const struct raw_sample *sample);
/* After the last sample: looks up the stacks without samples. A stack with an
 * allocated block uses the mappings of the block's time. Other stacks (of blocks
 * without samples) use all mappings that ever were, the latest first. */
int pass_ask_other_stacks(struct sweep *sweep);
/* Frees SWEEP's knowledge of its processes at the current time. */
void pass_forget(struct sweep *sweep);

#endif
