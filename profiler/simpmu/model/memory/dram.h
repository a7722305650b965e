/* SPDX-License-Identifier: MIT */
/* Main memory: an idle latency, a bandwidth that reads and write-backs of all threads
 * share, and a queue in front of it.
 *
 * A calendar limits throughput to the bandwidth: it gives every line a transfer time,
 * for requests in any order (calendar.h).
 *
 * The calendar alone would not be fair. The threads of the simulated program run in
 * turns, each up to a gate window ahead of the others. The first thread of a turn
 * would find every transfer time free, and the last thread would find none. Therefore
 * all reads of a stretch of virtual time first wait for the same time, as in a memory
 * controller with a common queue. That time follows from the stretches before it:
 *
 *   busy    = reads * line + writes * (line + turn-round / batch / channels)
 *   u       = busy / length of the stretches
 *   queued  = idle + service * u / (2 (1 - u))
 *   shared  = reads under way * busy / reads
 *   latency = max(queued, shared)
 *
 * The fraction in queued is the waiting time of an M/D/1 queue (Pollaczek and
 * Khinchine) in front of a channel. A channel serves a line in channels / bandwidth.
 * The shared latency is Little's law: with N reads under way throughput is N /
 * latency, and at N * busy / reads it is the bandwidth. N itself is the sum of the
 * reads' latencies over the time. The calendar reserves room for the expected requests
 * of cores whose turns are still to come.
 *
 * Writes come in bursts, as caches evict modified lines. Nobody waits for a write, so
 * a controller queues writes and performs them between reads. The calendar therefore
 * spreads writes at their mean rate and leaves the other room to reads. A channel
 * turns from reads to writes and back once for a batch of them, if reads wait. Traffic
 * spreads evenly over the channels, as the hash of real controllers makes it. */
#ifndef SIMPMU_MODEL_DRAM_H
#define SIMPMU_MODEL_DRAM_H

#include <stdint.h>

#include "calendar.h"

/* A power of two. The ring holds the stretches that threads within the gate window may
 * still use, including stretches that their requests reach ahead. */
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
        double write_slots;   /* and a write beyond that, now */
        double turn_slots;    /* the same while reads wait */
        double write_batch;   /* writes between two turn-rounds */
        double service_slots; /* of a line by its channel */
        double idle_latency_slots;
        double reads_under_way; /* means of closed stretches, the last counting most */
        double reads;           /* of a stretch */
        double slow_reads;      /* the same, over more stretches */
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

/* CORE's turn is still to come within the time of the current turn. Reserves room for
 * as many lines as CORE read in its earlier turns. */
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

/* Transfers lines that the model handles at once, such as a whole page, beginning at
 * SLOT or later. The queueing latency reacts too late to such work. Therefore such
 * lines of all threads follow each other at the full bandwidth. Returns the end of the
 * transfer. The caller counts the lines as usual. */
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
