/* SPDX-License-Identifier: MIT */
/* Samples of one kind are at the same address of a process, were called along the same
 * stack, and met the same mappings: where there are no data addresses, one of them tells
 * of all. They are counted on several processors, each with a connection of its own to
 * the database. */
#ifndef MEMLAG_SYMBOLIZE_TALLY_H
#define MEMLAG_SYMBOLIZE_TALLY_H

#include "samples.h"

/* Takes so MANY samples of the kind of FIRST, which is the first one of them. A kind may
 * come several times, but FIRST is never before one that came. 0 or a negative errno
 * value. */
typedef int tally_visit(void *context, const struct raw_sample *first, uint64_t many);

/* Counts the samples of RANGE, which come behind those that SAMPLES has read so far, and
 * then hands their kinds to VISIT. The database must not get other samples meanwhile.
 * *DONE is false when VISIT was not called, as the samples have to be gone over one by
 * one: some have data addresses, are not in the order of time or are of too many kinds,
 * or they cannot be read by several connections. 0, or what VISIT returned. */
int tally_samples(const struct samples *samples, const struct sample_range *range,
                  tally_visit *visit, void *context, bool *done);

#endif
