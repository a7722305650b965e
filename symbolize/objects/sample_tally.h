/* SPDX-License-Identifier: MIT */
/* Samples of one kind have the same address of a process, the same call stack, and the
 * same mappings of that process. Without data addresses, one sample represents its
 * kind. Several processors count the samples, each with a separate connection to the
 * database. */
#ifndef MEMLAG_SYMBOLIZE_SAMPLE_TALLY_H
#define MEMLAG_SYMBOLIZE_SAMPLE_TALLY_H

#include "parallel.h"
#include "samples.h"

struct tally_kind {
        struct raw_sample first; /* of the kind */
        uint64_t many;
};

struct tally_thread;
struct tally_epochs;

struct tally {
        /* In the order of their first samples. A kind may come several times, then with
         * a part of its samples each. */
        const struct tally_kind **kinds;
        size_t count;
        int64_t last_ns;              /* of the samples, earlier ones included */
        struct tally_thread *threads; /* they are theirs */
};

/* The times between which none of a process's mappings comes or goes; one for all tallies
 * of RAW's samples. NULL: no memory, or too many. */
struct tally_epochs *tally_epochs_new(const struct raw *raw);
void tally_epochs_free(struct tally_epochs *epochs);

/* Counts by EPOCHS the samples of RANGE, behind the samples that SAMPLES has read so
 * far. No samples may be added meanwhile. Other processors help when READY, called
 * with CONTEXT, allows it, or (NULL) at once.
 *
 * 0, or a negative errno value if the samples must be read one by one; TALLY is then
 * empty. Reasons: data addresses, samples out of time order, too many kinds (in all,
 * or for the number of samples), or no further connections. */
int tally_samples(struct tally *tally, const struct tally_epochs *epochs,
                  const struct samples *samples, const struct sample_range *range,
                  parallel_ready *ready, void *context);
void tally_free(struct tally *tally);

#endif
