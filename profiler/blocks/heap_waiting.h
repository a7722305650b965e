/* SPDX-License-Identifier: MIT */
/* Decides when to stop waiting for unfinished records. A thread of the target that does
 * not finish a record blocks later records in the heap tracker's ring. */
#ifndef MEMLAG_HEAP_WAITING_H
#define MEMLAG_HEAP_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "sim_ring.h"

/* State of a ring from earlier reads; zeroes at first. */
struct heap_waiting {
        uint64_t at;            /* the ring's tail after the last time */
        int64_t stuck_since_ns; /* CLOCK_MONOTONIC; 0: not stuck */
};

/* Returns true if the writer of the record that blocks RING has gone; the record is then
 * skipped. The writer is a thread of PID (0: not known yet). ENDED: the whole process
 * has ended. */
bool heap_waiting_passes_over(const struct heap_waiting *waiting, struct sim_ring *ring,
                              uint32_t pid, bool ended);

/* Returns true if an unfinished record has blocked all others for so long that no
 * progress is likely. MOVED: records arrive; the producers are then only faster than the
 * reader. */
bool heap_waiting_is_stuck(struct heap_waiting *waiting, const struct sim_ring *ring,
                           bool moved);

#endif
