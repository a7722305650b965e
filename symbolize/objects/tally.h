/* SPDX-License-Identifier: MIT */
/* Samples of one kind are at the same address of a process, were called along the same
 * stack, and met the same mappings of that process: where there are no data addresses,
 * one of them tells of all. They are counted on several processors, each with a
 * connection of its own to the database. */
#ifndef MEMLAG_SYMBOLIZE_TALLY_H
#define MEMLAG_SYMBOLIZE_TALLY_H

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
        int64_t last_ns;              /* of the samples, those before among them */
        struct tally_thread *threads; /* they are theirs */
};

/* The times between which none of a process's mappings comes or goes; one for all tallies
 * of RAW's samples. NULL: no memory, or too many. */
struct tally_epochs *tally_epochs_new(const struct raw *raw);
void tally_epochs_free(struct tally_epochs *epochs);

/* Counts by EPOCHS the samples of RANGE, which come behind those that SAMPLES has read so
 * far. The database must not get other samples meanwhile. Other processors help when
 * READY, called with CONTEXT, says so, or (NULL) at once. 0; a negative errno value where
 * they have to be gone over one by one: some have data addresses, are not in the order of
 * time or are of too many kinds (in all, or for so many samples), or they cannot be read
 * by several connections. TALLY is then empty. */
int tally_samples(struct tally *tally, const struct tally_epochs *epochs,
                  const struct samples *samples, const struct sample_range *range,
                  parallel_ready *ready, void *context);
void tally_free(struct tally *tally);

#endif
