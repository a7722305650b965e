/* SPDX-License-Identifier: MIT */
/* Records that a thread of the target has begun and does not finish, where they keep the
 * reader of the heap tracker's ring from what others have told: when it is not to wait
 * for them any more. */
#ifndef MEMLAG_HEAP_WAITING_H
#define MEMLAG_HEAP_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "sim_ring.h"

/* What is known of a ring from the times that it was read; zeroes at first. */
struct heap_waiting {
        uint64_t at;            /* the ring's tail after the last time */
        int64_t stuck_since_ns; /* CLOCK_MONOTONIC; 0: not stuck */
};

/* Whether the writer of the record that keeps the reader of RING waiting is no more, with
 * all its process PID (0: not known yet) when that has ENDED; then the record was passed
 * over. */
bool heap_waiting_passes_over(const struct heap_waiting *waiting, struct sim_ring *ring,
                              uint32_t pid, bool ended);

/* Whether a record that was begun has kept all others waiting for so long that nothing
 * more is to be expected. Where records come, MOVED, the producers only tell faster than
 * they are listened to. */
bool heap_waiting_is_stuck(struct heap_waiting *waiting, const struct sim_ring *ring,
                           bool moved);

#endif
