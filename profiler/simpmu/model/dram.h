/* SPDX-License-Identifier: MIT */
/* Main memory: an idle latency, a bandwidth that reads and write-backs of all
 * threads share, and a queue in front of it.
 *
 * The threads of the simulated program run in turns, each up to a gate window
 * ahead of the others. A queue simulated request by request would then serve
 * whoever comes first in the turn and let the next one find everything taken.
 * Here every request of a stretch of virtual time (a bucket) meets the same
 * latency, and that latency follows from what the buckets before it held:
 *
 *   lines  = reads of the bucket + writes that are done in it
 *   busy   = lines / bandwidth + those writes / batch * turn-round / channels
 *   u      = busy / length of the bucket
 *   mean   = mean latency of the bucket's reads
 *   next   = max(idle + service * u / (2 (1 - u)), mean * u)
 *
 * and latency moves towards next by a part of the difference. Where traffic goes up and
 * down faster than that, more than the bandwidth would pass on the average: what a bucket
 * holds beyond its length is left for those after it, and until it is done all reads wait
 * for a part of it as well. Writes come in bursts, as caches give up modified lines; a
 * controller keeps them, as nobody waits for them, and does them between reads. So of the
 * writes that wait a part is done in each bucket, which is their mean rate. It turns a
 * channel from reads to writes and back for a batch of them; traffic is taken to spread
 * evenly over the channels, as the hash of real controllers makes it. The first term of
 * next is the waiting time of an M/D/1 queue (Pollaczek and Khinchine) in front of a
 * channel, which serves a line in channels / bandwidth. The second is Little's law: with
 * N reads outstanding throughput is N / latency, so that when the demand is u times the
 * bandwidth, u times the latency brings it down to the bandwidth. Threads with few
 * requests wait as long as those that fill the queue, as in a memory controller with a
 * common queue. */
#ifndef SIMPMU_MODEL_DRAM_H
#define SIMPMU_MODEL_DRAM_H

#include <stdint.h>

/* A power of two. The ring holds the buckets that threads within the gate window may
 * still use, and those that their requests reach ahead of them. */
#define DRAM_BUCKETS 256u

struct dram_bucket {
        uint64_t writes;
        uint64_t reads;
        uint64_t read_latency_slots; /* sum over reads */
};

struct dram {
        struct dram_bucket buckets[DRAM_BUCKETS];
        uint64_t oldest;   /* number of the oldest open bucket */
        uint64_t close_at; /* the clock at which it can be closed */
        uint64_t bucket_slots;
        uint64_t skew_slots;  /* how far behind the first a thread may be */
        double line_slots;    /* that a line takes of all channels */
        double write_slots;   /* and a write beyond that */
        double service_slots; /* of a line by its channel */
        double idle_latency_slots;
        double latency;          /* of the formulas above */
        uint64_t writes_waiting; /* of closed buckets */
        double backlog_slots;    /* work that closed buckets have left */
        uint64_t latency_slots;  /* that reads meet now */
        double in_turn_until;    /* when the next line of dram_in_turn may begin */
};

struct dram_timing {
        double idle_latency_slots;
        double lines_per_slot; /* of all channels, when they only read */
        double channels;
        double turnaround_slots; /* from reads to writes and back */
        double write_batch;      /* writes between two turn-rounds */
};

void dram_init(struct dram *dram, const struct dram_timing *timing, uint64_t cycle_slots);

/* Tells by how much the clocks of threads that run may differ: 0 for one thread. */
void dram_set_skew(struct dram *dram, uint64_t skew_slots);

/* The cold half of dram_tick. */
void dram_close(struct dram *dram, uint64_t clock);

/* A thread's clock stands at CLOCK: closes the buckets that no thread will use any
 * more. Requests do not do that, because they may be far ahead of their thread. */
static inline void dram_tick(struct dram *dram, uint64_t clock)
{
        if (clock >= dram->close_at)
                dram_close(dram, clock);
}

static inline struct dram_bucket *dram_bucket_at(struct dram *dram, uint64_t slot)
{
        uint64_t bucket = slot / dram->bucket_slots;

        if (bucket < dram->oldest)
                bucket = dram->oldest;
        if (bucket >= dram->oldest + DRAM_BUCKETS)
                bucket = dram->oldest + DRAM_BUCKETS - 1;
        return &dram->buckets[bucket & (DRAM_BUCKETS - 1)];
}

/* A line is read at SLOT; returns how long that takes, in slots. */
static inline uint64_t dram_read(struct dram *dram, uint64_t slot)
{
        struct dram_bucket *bucket = dram_bucket_at(dram, slot);

        bucket->reads++;
        bucket->read_latency_slots += dram->latency_slots;
        return dram->latency_slots;
}

/* A line is written back at SLOT; nobody waits for it. */
static inline void dram_write(struct dram *dram, uint64_t slot)
{
        dram_bucket_at(dram, slot)->writes++;
}

/* So many lines, which could begin at SLOT, are part of work that the model does at once,
 * so that the latency tells of it too late: such lines of all threads follow each other
 * at the bandwidth. Returns when these have passed. They are counted as any others are.
 */
static inline uint64_t dram_in_turn(struct dram *dram, uint64_t slot, uint64_t reads,
                                    uint64_t writes)
{
        double begin =
            dram->in_turn_until > (double)slot ? dram->in_turn_until : (double)slot;

        dram->in_turn_until = begin + (double)(reads + writes) * dram->line_slots +
                              (double)writes * dram->write_slots;
        return (uint64_t)dram->in_turn_until;
}

#endif
