/* SPDX-License-Identifier: MIT */
/* Main memory: an idle latency, a bandwidth that reads and write-backs of all
 * threads share, and a queue in front of it.
 *
 * Every line has its place in a calendar, so that no more pass than the bandwidth lets,
 * whatever the order in which they are asked for (calendar.h).
 *
 * The calendar alone would not be fair. The threads of the simulated program run in
 * turns, each up to a gate window ahead of the others: whoever comes first in a turn
 * would find every place free, and the last would find all of them taken. So all reads of
 * a stretch of virtual time wait for the same time first, as in a memory controller with
 * a common queue. That time follows from the stretches before it:
 *
 *   busy    = reads * line + writes * (line + turn-round / batch / channels)
 *   u       = busy / length of the stretches
 *   queued  = idle + service * u / (2 (1 - u))
 *   shared  = reads under way * busy / reads
 *   latency = max(queued, shared)
 *
 * The term in queued is the waiting time of an M/D/1 queue (Pollaczek and Khinchine) in
 * front of a channel, which serves a line in channels / bandwidth. The shared latency is
 * Little's law: with N reads under way throughput is N / latency, and at N * busy / reads
 * it is the bandwidth. N itself is the sum of the reads' latencies over the time. Places
 * that a core is expected to want when its turn comes are kept for it.
 *
 * Writes come in bursts, as caches give up modified lines; a controller keeps them, as
 * nobody waits for them, and does them between reads. So the calendar spreads writes:
 * they leave the places to reads that their mean rate does not need. A channel turns from
 * reads to writes and back once for a batch of them. Traffic spreads evenly over the
 * channels, as the hash of real controllers makes it. */
#ifndef SIMPMU_MODEL_DRAM_H
#define SIMPMU_MODEL_DRAM_H

#include <stdint.h>

#include "calendar.h"

/* A power of two. The ring holds the stretches that threads within the gate window may
 * still use, and those that their requests reach ahead of them. */
#define DRAM_STRETCHES 256u

struct dram_stretch {
        uint64_t writes;
        uint64_t reads;
        uint64_t read_latency_slots; /* sum over reads */
};

struct dram {
        struct calendar calendar;
        struct dram_stretch stretches[DRAM_STRETCHES];
        uint64_t oldest; /* number of the oldest open stretch */
        uint64_t
            close_at; /* the clock at which it can be closed; NEVER: others are first */
        uint64_t stretch_slots;
        uint64_t others_at;   /* the clock of the slowest of the other threads */
        double line_slots;    /* that a line takes of all channels */
        double write_slots;   /* and a write beyond that */
        double service_slots; /* of a line by its channel */
        double idle_latency_slots;
        double reads_under_way; /* means of closed stretches, the last counting most */
        double reads;           /* of a stretch */
        double slow_reads;      /* the same, over more of them */
        double slow_writes;
        uint32_t write_limit;   /* of a bucket, in lines */
        double turn_rounds;     /* that writes have not paid for yet, in lines */
        uint64_t wait_slots;    /* of reads, now */
        uint64_t latency_slots; /* with the idle latency */
        double in_turn_until;   /* when the next line of dram_in_turn may begin */
        double *wanted;         /* by core: lines that it reads in the time of a bucket */
        double expected;        /* of all cores whose turns are to come */
        uint64_t turn_reads;    /* in this turn */
};

struct dram_timing {
        double idle_latency_slots;
        double lines_per_slot; /* of all channels, when they only read */
        double channels;
        double turnaround_slots; /* from reads to writes and back */
        double write_batch;      /* writes between two turn-rounds */
};

#define DRAM_NO_OTHERS UINT64_MAX

/* For CORES cores. */
void dram_init(struct dram *dram, const struct dram_timing *timing, uint64_t cycle_slots,
               uint32_t cores, sim_allocate allocate);

/* CORE's turn of SLOTS ends. */
void dram_end_turn(struct dram *dram, uint32_t core, uint64_t slots);

/* CORE, whose turn is still to come in the time of the one that begins, will want what it
 * wanted in its turns before: that is kept for it. */
void dram_expect(struct dram *dram, uint32_t core);

/* No thread that can run, but the running one, has a clock before CLOCK. */
void dram_set_others(struct dram *dram, uint64_t clock);

/* The cold half of dram_tick. */
void dram_close(struct dram *dram, uint64_t clock);

/* The running thread's clock stands at CLOCK: closes the stretches that no thread will
 * use any more. Requests do not do that, because they may be far ahead of their thread.
 */
static inline void dram_tick(struct dram *dram, uint64_t clock)
{
        if (clock >= dram->close_at)
                dram_close(dram, clock);
}

static inline struct dram_stretch *dram_stretch_at(struct dram *dram, uint64_t slot)
{
        uint64_t stretch = slot / dram->stretch_slots;

        if (stretch < dram->oldest)
                stretch = dram->oldest;
        if (stretch >= dram->oldest + DRAM_STRETCHES)
                stretch = dram->oldest + DRAM_STRETCHES - 1;
        return &dram->stretches[stretch & (DRAM_STRETCHES - 1)];
}

/* A line is read at SLOT; returns how long that takes, in slots. */
static inline uint64_t dram_read(struct dram *dram, uint64_t slot)
{
        struct dram_stretch *stretch = dram_stretch_at(dram, slot);
        uint64_t served = calendar_read(&dram->calendar, slot + dram->wait_slots);
        uint64_t latency = served - slot + (dram->latency_slots - dram->wait_slots);

        dram->turn_reads++;
        stretch->reads++;
        stretch->read_latency_slots += latency;
        return latency;
}

/* A line is written back at SLOT; returns when that is done. */
uint64_t dram_write(struct dram *dram, uint64_t slot);

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
