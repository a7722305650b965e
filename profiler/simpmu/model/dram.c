/* SPDX-License-Identifier: MIT */
/* The latency of main memory, bucket by bucket: see dram.h. */
#include "dram.h"

/* A bucket is long enough to hold some lines and short against an interval of the
 * counters: 1024 cycles are half a microsecond at 2 GHz. */
#define BUCKET_CYCLES        1024u
#define BUCKET_MINIMUM_LINES 64.0

/* How much of the difference a bucket makes good. Requests wait for fill buffers and
 * reach ahead of their thread, so that a change shows some buckets later: all at once
 * would swing. */
#define ADJUSTMENT 0.25

/* How much longer a read takes for each slot of work that memory is behind. All of it
 * would swing as well: requests learn of it only when all threads have passed the bucket,
 * which is long against the latency. */
#define BACKLOG_SHARE 0.125

/* Lines of a thread that was far behind the others come all at once. What memory is
 * behind then is made good over some time: reads wait for it at most so many times the
 * latency, and by Little's law a bucket counts as no fuller than that. */
#define MOST_BEHIND      3.0
#define MOST_UTILISATION 4.0

/* Of the writes that wait one in so many is done in a bucket, at least one. */
#define WRITES_SPREAD 16u

/* M/D/1 has no finite answer at u = 1; from here on Little's law decides. */
#define QUEUE_UTILISATION_LIMIT 0.97

void dram_init(struct dram *dram, const struct dram_timing *timing, uint64_t cycle_slots)
{
        double bucket_slots = (double)(BUCKET_CYCLES * cycle_slots);

        if (bucket_slots * timing->lines_per_slot < BUCKET_MINIMUM_LINES)
                bucket_slots = BUCKET_MINIMUM_LINES / timing->lines_per_slot;
        *dram = (struct dram){
            .bucket_slots = (uint64_t)bucket_slots,
            .line_slots = 1.0 / timing->lines_per_slot,
            .write_slots =
                timing->turnaround_slots / timing->write_batch / timing->channels,
            .service_slots = timing->channels / timing->lines_per_slot,
            .idle_latency_slots = timing->idle_latency_slots,
            .latency = timing->idle_latency_slots,
            .latency_slots = (uint64_t)(timing->idle_latency_slots + 0.5),
        };
        dram->close_at = dram->bucket_slots;
}

static void set_close_at(struct dram *dram)
{
        dram->close_at = (dram->oldest + 1) * dram->bucket_slots + dram->skew_slots;
}

void dram_set_skew(struct dram *dram, uint64_t skew_slots)
{
        dram->skew_slots = skew_slots;
        set_close_at(dram);
}

/* How many of the writes that wait are done beside the reads of BUCKET. */
static uint64_t write_some(struct dram *dram, const struct dram_bucket *bucket)
{
        uint64_t waiting = dram->writes_waiting + bucket->writes;
        uint64_t done = (waiting + WRITES_SPREAD - 1) / WRITES_SPREAD;

        dram->writes_waiting = waiting - done;
        return done;
}

/* The latency that follows from a bucket whose lines take BUSY_SLOTS. */
static double latency_after(const struct dram *dram, const struct dram_bucket *bucket,
                            double busy_slots)
{
        double utilisation = busy_slots / (double)dram->bucket_slots;
        double bounded =
            utilisation < QUEUE_UTILISATION_LIMIT ? utilisation : QUEUE_UTILISATION_LIMIT;
        double queued = dram->idle_latency_slots +
                        dram->service_slots * bounded / (2 * (1 - bounded));
        double balanced = 0;

        if (bucket->reads > 0)
                balanced =
                    (double)bucket->read_latency_slots / (double)bucket->reads *
                    (utilisation < MOST_UTILISATION ? utilisation : MOST_UTILISATION);
        return balanced > queued ? balanced : queued;
}

/* What a read waits for work that closed buckets have left. */
static double wait_behind(const struct dram *dram)
{
        double share = dram->backlog_slots * BACKLOG_SHARE;
        double most = dram->latency * MOST_BEHIND;

        return share < most ? share : most;
}

static void close_oldest(struct dram *dram)
{
        struct dram_bucket *bucket = &dram->buckets[dram->oldest & (DRAM_BUCKETS - 1)];
        double busy_slots =
            (double)bucket->reads * dram->line_slots +
            (double)write_some(dram, bucket) * (dram->line_slots + dram->write_slots);
        double backlog = dram->backlog_slots + busy_slots - (double)dram->bucket_slots;

        dram->backlog_slots = backlog > 0 ? backlog : 0;
        dram->latency +=
            (latency_after(dram, bucket, busy_slots) - dram->latency) * ADJUSTMENT;
        dram->latency_slots = (uint64_t)(dram->latency + wait_behind(dram) + 0.5);
        *bucket = (struct dram_bucket){0};
        dram->oldest++;
}

void dram_close(struct dram *dram, uint64_t clock)
{
        uint64_t first_open = (clock - dram->skew_slots) / dram->bucket_slots;

        /* After a long silence every bucket of the ring is empty but those closed in
         * one turn of it: the rest need not be looked at one by one. */
        if (first_open > dram->oldest + DRAM_BUCKETS) {
                for (uint32_t i = 0; i < DRAM_BUCKETS; i++)
                        close_oldest(dram);
                double silence =
                    (double)((first_open - dram->oldest) * dram->bucket_slots);
                dram->backlog_slots -=
                    silence < dram->backlog_slots ? silence : dram->backlog_slots;
                dram->oldest = first_open;
        }
        while (dram->oldest < first_open)
                close_oldest(dram);
        set_close_at(dram);
}
