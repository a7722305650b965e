/* SPDX-License-Identifier: MIT */
/* The latency of main memory, stretch by stretch: see dram.h. */
#include "dram.h"

/* A bucket of the calendar is short against the time over which bandwidth is measured. */
#define BUCKET_CYCLES 256u

/* A stretch is long enough to hold some lines and short against an interval of the
 * counters: 1024 cycles are half a microsecond at 2 GHz. */
#define STRETCH_CYCLES        1024u
#define STRETCH_MINIMUM_LINES 64.0

/* The weight of a stretch in the running means. Bursts of writes come every few
 * stretches. The mean rates of reads and writes, used only as a ratio, therefore cover
 * more stretches. */
#define WEIGHT      0.25
#define SLOW_WEIGHT (1.0 / 16)

/* The weight of a turn in a core's expected reads, and the turn's length in buckets
 * that gives the full weight. A shorter turn counts less. */
#define TURN_WEIGHT  0.5
#define TURN_BUCKETS 64.0

/* M/D/1 has no finite answer at u = 1; from here on Little's law decides. */
#define QUEUE_UTILISATION_LIMIT 0.97

/* After a pause of the reads the ratio says nothing. A write-back comes with a read. */
#define MOST_WRITES_PER_READ 2.0

/* Writes may exceed their mean share of a bucket a little, to drain waiting writes.
 * Even without earlier writes they get a minimum share. Reads can pass them. */
#define WRITE_SHARE_FACTOR 1.125
#define WRITE_SHARE_LEAST  (1.0 / 16)
#define WRITE_SHARE_MOST   0.75

static void bring_closer(double *mean, double value, double weight)
{
        *mean += (value - *mean) * weight;
}

static void set_write_limit(struct dram *dram)
{
        double all = dram->slow_reads + dram->slow_writes;
        double share = WRITE_SHARE_LEAST, most = WRITE_SHARE_MOST;

        if (all > 0)
                share += dram->slow_writes / all * WRITE_SHARE_FACTOR;
        if (dram->slow_reads * dram->write_batch < dram->slow_writes)
                most = 1; /* hardly any reads */
        if (share > most)
                share = most;
        dram->write_limit = (uint32_t)(share * dram->calendar.capacity) + 1;
}

/* A channel turns for a batch of writes if a read waits behind it. */
static void set_write_slots(struct dram *dram)
{
        double reads_of_batch = 0;

        if (dram->slow_writes > 0)
                reads_of_batch = dram->slow_reads / dram->slow_writes * dram->write_batch;
        dram->write_slots = dram->turn_slots * (reads_of_batch < 1 ? reads_of_batch : 1);
}

static void set_latency(struct dram *dram, double latency)
{
        dram->latency_slots = (uint64_t)(latency + 0.5);
        dram->wait_slots = (uint64_t)(latency - dram->idle_latency_slots + 0.5);
}

static void set_close_at(struct dram *dram)
{
        uint64_t end = (dram->oldest + 1) * dram->stretch_slots;

        dram->close_at = end <= dram->others_at ? end : UINT64_MAX;
}

void dram_init(struct dram *dram, const struct dram_timing *timing, uint64_t cycle_slots,
               uint32_t cores, sim_allocate allocate)
{
        double stretch_slots = (double)(STRETCH_CYCLES * cycle_slots);

        if (stretch_slots * timing->lines_per_slot < STRETCH_MINIMUM_LINES)
                stretch_slots = STRETCH_MINIMUM_LINES / timing->lines_per_slot;
        *dram = (struct dram){
            .stretch_slots = (uint64_t)stretch_slots,
            .others_at = DRAM_NO_OTHERS,
            .wanted = allocate(cores * sizeof(*dram->wanted)),
            .line_slots = 1.0 / timing->lines_per_slot,
            .turn_slots =
                timing->turnaround_slots / timing->write_batch / timing->channels,
            .write_batch = timing->write_batch,
            .service_slots = timing->channels / timing->lines_per_slot,
            .idle_latency_slots = timing->idle_latency_slots,
        };
        calendar_init(&dram->calendar, dram->line_slots,
                      (double)(BUCKET_CYCLES * cycle_slots), allocate);
        set_write_limit(dram);
        set_latency(dram, timing->idle_latency_slots);
        set_close_at(dram);
}

void dram_set_others(struct dram *dram, uint64_t clock)
{
        dram->others_at = clock;
        set_close_at(dram);
}

void dram_end_turn(struct dram *dram, uint32_t core, uint64_t slots)
{
        const double length = (double)slots / dram->calendar.bucket_slots;
        double weight = length / TURN_BUCKETS;

        if (slots > 0)
                bring_closer(&dram->wanted[core], (double)dram->turn_reads / length,
                             weight < TURN_WEIGHT ? weight : TURN_WEIGHT);
        dram->turn_reads = 0;
        dram->expected = 0;
        calendar_keep(&dram->calendar, 0);
}

void dram_expect(struct dram *dram, uint32_t core)
{
        dram->expected += dram->wanted[core];
        calendar_keep(&dram->calendar, dram->expected);
}

uint64_t dram_write(struct dram *dram, uint64_t slot)
{
        dram_stretch_at(dram, slot)->writes++;
        dram->turn_rounds += dram->write_slots / dram->line_slots;
        for (; dram->turn_rounds >= 1; dram->turn_rounds--)
                (void)calendar_write(&dram->calendar, slot, dram->write_limit);
        return calendar_write(&dram->calendar, slot, dram->write_limit);
}

/* The latency that follows from the means over stretches. */
static double latency_of(const struct dram *dram)
{
        const double stretch_slots = (double)dram->stretch_slots;
        const double write_slots = dram->line_slots + dram->write_slots;
        double busy = dram->reads * dram->line_slots + dram->slow_writes * write_slots;
        double utilisation = busy / stretch_slots;
        double ratio = 0;

        if (utilisation > QUEUE_UTILISATION_LIMIT)
                utilisation = QUEUE_UTILISATION_LIMIT;
        double queued = dram->idle_latency_slots +
                        dram->service_slots * utilisation / (2 * (1 - utilisation));
        if (dram->slow_writes > 0)
                ratio = dram->slow_writes < MOST_WRITES_PER_READ * dram->slow_reads
                            ? dram->slow_writes / dram->slow_reads
                            : MOST_WRITES_PER_READ;
        double shared = dram->reads_under_way * (dram->line_slots + ratio * write_slots);
        return shared > queued ? shared : queued;
}

static void close_oldest(struct dram *dram)
{
        struct dram_stretch *stretch =
            &dram->stretches[dram->oldest & (DRAM_STRETCHES - 1)];

        bring_closer(&dram->reads_under_way,
                     (double)stretch->read_latency_slots / (double)dram->stretch_slots,
                     WEIGHT);
        bring_closer(&dram->reads, (double)stretch->reads, WEIGHT);
        bring_closer(&dram->slow_reads, (double)stretch->reads, SLOW_WEIGHT);
        bring_closer(&dram->slow_writes, (double)stretch->writes, SLOW_WEIGHT);
        *stretch = (struct dram_stretch){0};
        dram->oldest++;
}

void dram_close(struct dram *dram, uint64_t clock)
{
        uint64_t slowest = clock < dram->others_at ? clock : dram->others_at;
        uint64_t first_open = slowest / dram->stretch_slots;

        /* After a long silence every stretch of the ring is empty, except the
         * stretches closed in one turn of it. The rest need no individual look. */
        if (first_open > dram->oldest + DRAM_STRETCHES) {
                for (uint32_t i = 0; i < DRAM_STRETCHES; i++)
                        close_oldest(dram);
                dram->oldest = first_open;
        }
        while (dram->oldest < first_open)
                close_oldest(dram);
        calendar_advance(&dram->calendar, slowest);
        set_write_slots(dram);
        set_latency(dram, latency_of(dram));
        set_write_limit(dram);
        set_close_at(dram);
}
