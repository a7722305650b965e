/* SPDX-License-Identifier: MIT */
#include "heap_waiting.h"

#include <time.h>

#include "thread_gone.h"

/* A living thread that never finishes its record makes the other threads wait for room
 * in vain. Limits that wait. */
#define STUCK_NS INT64_C(2000000000)

bool heap_waiting_passes_over(const struct heap_waiting *waiting, struct sim_ring *ring,
                              uint32_t pid, bool ended)
{
        struct owner owner = sim_ring_owner(ring);
        if (owner.tid == 0)
                return false;
        if (!ended &&
            (ring->tail != waiting->at || pid == 0 || !thread_has_gone(pid, owner.tid)))
                return false;
        /* It may have been written while it lived. */
        if (sim_ring_owner(ring).tid == 0)
                return false;
        sim_ring_pass_over(ring, &owner);
        return true;
}

bool heap_waiting_is_stuck(struct heap_waiting *waiting, const struct sim_ring *ring,
                           bool moved)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
        if (moved || !__atomic_load_n(&ring->slice->producer_waits, __ATOMIC_SEQ_CST)) {
                waiting->stuck_since_ns = 0;
                return false;
        }
        if (waiting->stuck_since_ns == 0)
                waiting->stuck_since_ns = now_ns;
        return now_ns - waiting->stuck_since_ns > STUCK_NS;
}
