/* SPDX-License-Identifier: MIT */
/* See gain.h. Knows nothing of the database. */
#include "gain.h"

#include <math.h>
#include <stddef.h>

const char *gain_name(enum gain_fix fix)
{
        static const char *const names[GAIN_COUNT] = {
#define GAIN_NAME(symbol, name) [GAIN_##symbol] = name,
            GAIN_FIXES(GAIN_NAME)
#undef GAIN_NAME
        };
        return names[fix];
}

/* The parts of a sample's latency, in cycles. */
struct stages {
        double walk;    /* translation */
        double service; /* of the level that had the line, unloaded */
        double queue;   /* the rest: buffers, paths and DRAM channels */
};

/* An unknown cost counts as zero. */
static double known(double cycles)
{
        return cycles > 0 ? cycles : 0;
}

/* The time of a walk includes the look-up in the second level. */
static double walk_of(const struct sample_facts *sample,
                      const struct machine_facts *machine)
{
        if (sample->tlb_second)
                return known(machine->stlb_latency_cycles);
        return sample->tlb_missed ? known(machine->page_walk_cycles) : 0;
}

static bool is_shared(const struct sample_facts *sample)
{
        return sample->hit_modified || sample->line_origin == ORIGIN_SHARING;
}

/* A hit of a fill buffer takes the level from the origin of its line. */
static enum level level_of(const struct sample_facts *sample)
{
        if (sample->level != LEVEL_LFB)
                return sample->level;
        switch (sample->line_origin) {
        case ORIGIN_DRAM:
                return LEVEL_DRAM;
        case ORIGIN_REMOTE:
                return LEVEL_REMOTE_DRAM;
        case ORIGIN_CACHE:
        case ORIGIN_SHARING:
                return LEVEL_L3;
        default:
                return LEVEL_LFB;
        }
}

static double service_of(const struct sample_facts *sample,
                         const struct machine_facts *machine)
{
        switch (level_of(sample)) {
        case LEVEL_L2:
                return known(machine->l2_latency_cycles);
        case LEVEL_L3:
                return known(is_shared(sample) ? machine->hitm_latency_cycles
                                               : machine->l3_latency_cycles);
        case LEVEL_DRAM:
                return known(machine->dram_latency_cycles);
        case LEVEL_REMOTE_DRAM:
                return known(machine->remote_dram_latency_cycles);
        case LEVEL_REMOTE_CACHE:
                return known(machine->remote_cache_latency_cycles);
        default:
                return known(machine->l1d_latency_cycles);
        }
}

/* An earlier load requested the line of a fill buffer hit. The queueing part of its
 * latency is unknown. */
static struct stages stages_of(const struct sample_facts *sample,
                               const struct machine_facts *machine)
{
        struct stages stages = {walk_of(sample, machine), service_of(sample, machine), 0};
        if (sample->level != LEVEL_LFB)
                stages.queue = fmax(0, (double)sample->latency_cycles - stages.walk -
                                           stages.service);
        return stages;
}

/* For such loads, the page walkers have a lower throughput than the fill buffers. */
static bool waits_for_walkers(const struct sample_facts *sample,
                              const struct machine_facts *machine)
{
        return sample->tlb_missed &&
               !(sample_sets_per_walk(sample, level_of(sample), machine) > 1) &&
               walk_of(sample, machine) / machine->page_walkers >
                   service_of(sample, machine) / machine->lfb_entries;
}

/* How many times as long a full path from L3 takes for a line as the walkers for a walk;
 * 0: not full, or not known. */
static double path_per_walk(const struct sample_facts *sample,
                            const struct machine_facts *machine)
{
        return sample->tlb_missed && sample->interval_path_full &&
                       level_of(sample) != LEVEL_L2
                   ? LINE_BYTES / machine->l3_bytes_per_cycle /
                         (walk_of(sample, machine) / machine->page_walkers)
                   : 0;
}

/* It waits for a cache's line, on its way to a set of L1 that takes one after another. */
static bool waits_for_a_set(const struct sample_facts *sample)
{
        return sample->level == LEVEL_LFB && sample->conflict_sets > 0 &&
               !is_shared(sample) && !level_is_dram(level_of(sample));
}

/* The fix that would remove the queueing. */
static enum gain_fix queue_fix(const struct sample_facts *sample,
                               const struct machine_facts *machine)
{
        if (level_is_dram(level_of(sample)) && sample->bandwidth_short == ANSWER_YES)
                return GAIN_DRAM_BANDWIDTH;
        if (is_shared(sample)) /* other cores' accesses to the line are before it */
                return GAIN_SHARING;
        const double path = path_per_walk(sample, machine);
        const double sets = sample_sets_per_walk(sample, level_of(sample), machine);
        if (sample->conflict_sets > 0 && !waits_for_walkers(sample, machine) &&
            !(path > sets))
                return GAIN_SETS;
        if (sample->interval_path_full && (!sample->tlb_missed || path > 1))
                return GAIN_L3_PATH;
        if (waits_for_walkers(sample, machine))
                return GAIN_TRANSLATION;
        return sample->interval_sets_crowd ? GAIN_SETS : GAIN_BUFFERS;
}

/* The part of the queue that FIX removes: of walkers, few sets and a full path, the next
 * slower remains. */
static double part_removed(const struct sample_facts *sample,
                           const struct machine_facts *machine, enum gain_fix fix)
{
        const double sets = sample_sets_per_walk(sample, level_of(sample), machine);
        const double path = path_per_walk(sample, machine);
        const double own = fix == GAIN_SETS ? sets : fix == GAIN_L3_PATH ? path : 1;
        const double next =
            fmax(fix == GAIN_TRANSLATION ? sets : 1, fix == GAIN_L3_PATH ? sets : path);
        if (fix != GAIN_TRANSLATION && (!sample->tlb_missed || !(own > 1)))
                return 1;
        return fmax(0, 1 - next / own);
}

/* How many cycles earlier each fix delivers the data. */
static void find_savings(const struct sample_facts *sample,
                         const struct machine_facts *machine, const struct stages *stages,
                         double saved[GAIN_COUNT])
{
        const double l1 = known(machine->l1d_latency_cycles);
        const double l2 = known(machine->l2_latency_cycles);
        const double l3 = known(machine->l3_latency_cycles);
        const double dram = known(machine->dram_latency_cycles);
        const enum level level = level_of(sample);
        const bool short_of_bandwidth =
            level_is_dram(level) && sample->bandwidth_short == ANSWER_YES;

        saved[GAIN_MEMORY] = fmax(0, (double)sample->latency_cycles - l1);
        saved[GAIN_TRANSLATION] = stages->walk;
        if (level == LEVEL_L2)
                saved[GAIN_L2] = stages->service - l1;
        if (level == LEVEL_L3 && is_shared(sample))
                saved[GAIN_SHARING] = stages->service - l1;
        else if (level == LEVEL_L3)
                saved[GAIN_L3_LATENCY] = stages->service - l2;
        if (level_is_dram(level) && !short_of_bandwidth)
                saved[GAIN_DRAM_LATENCY] = dram - l3;
        if (level == LEVEL_REMOTE_DRAM)
                saved[GAIN_REMOTE] = stages->service - dram;
        if (level == LEVEL_REMOTE_CACHE)
                saved[sample->hit_modified ? GAIN_SHARING : GAIN_REMOTE] =
                    stages->service - (sample->hit_modified ? l1 : l3);
        if (sample->level == LEVEL_LFB && short_of_bandwidth)
                saved[GAIN_DRAM_BANDWIDTH] = (double)sample->latency_cycles;
        else if (waits_for_a_set(sample))
                saved[GAIN_SETS] = (double)sample->latency_cycles;
        else if (!level_is_dram(level) || sample->bandwidth_short != ANSWER_UNKNOWN)
                saved[queue_fix(sample, machine)] += stages->queue;
        if (!short_of_bandwidth && !is_shared(sample))
                saved[GAIN_IN_TIME] = saved[GAIN_MEMORY];
}

/* A load of L1 waits for nothing of memory but its translation: the rest is for a store
 * that has a part of its bytes, or seems to. No fix of the machine makes that shorter. */
static bool waits_for_a_store(const struct sample_facts *sample)
{
        return sample->unforwarded ||
               (sample->level == LEVEL_L1 && !sample->tlb_missed && !sample->tlb_second);
}

/* The load waited mostly for a path, a set or walkers that serve one after another. */
static bool lines_come_one_by_one(const struct sample_facts *sample, enum gain_fix queues,
                                  const struct stages *stages)
{
        return waits_for_a_set(sample) ||
               ((queues == GAIN_L3_PATH || queues == GAIN_SETS ||
                 queues == GAIN_TRANSLATION) &&
                stages->queue > stages->walk + stages->service);
}

/* The part of SAMPLE's stall time that FIX can save at most: its line has to come from
 * DRAM within the bandwidth. */
static double bandwidth_left(const struct sample_facts *sample, enum gain_fix fix)
{
        const bool fewer_lines = fix == GAIN_MEMORY || fix == GAIN_DRAM_BANDWIDTH;
        return fewer_lines || sample->level != LEVEL_DRAM || isnan(sample->bandwidth_use)
                   ? 1
                   : fmax(0, 1 - sample->bandwidth_use);
}

struct gain_parts gain_of_sample(const struct sample_facts *sample,
                                 const struct machine_facts *machine)
{
        struct gain_parts parts = {0};
        double saved[GAIN_COUNT] = {0};
        const double held = (double)sample->retire_latency_cycles;
        if (sample->latency_cycles <= 0 || sample->retire_latency_cycles <= 0 ||
            waits_for_a_store(sample))
                return parts;
        const struct stages stages = stages_of(sample, machine);
        const double busy = stages.walk + stages.service;
        const double queued = fmin(1, stages.queue / (double)sample->latency_cycles);
        find_savings(sample, machine, &stages, saved);
        const enum gain_fix queues = queue_fix(sample, machine);
        const bool one_by_one = lines_come_one_by_one(sample, queues, &stages);
        for (int fix = 0; fix < GAIN_COUNT; fix++) {
                if (one_by_one && fix != (int)queues && fix != GAIN_MEMORY)
                        continue;
                const bool all = fix == GAIN_MEMORY || fix == GAIN_IN_TIME;
                const double alone = fmin(held, fmax(0, saved[fix]));
                const double together = busy > 0 && !all && fix != (int)queues
                                            ? held * fmin(1, fmax(0, saved[fix]) / busy)
                                            : alone;
                const double removed =
                    fix == (int)queues ? part_removed(sample, machine, queues) : 1;
                /* All loads that wait for a buffer would be in flight (Little's law). */
                const double served = fix == GAIN_BUFFERS ? 0 : (1 - queued) * alone;
                parts.cycles[fix] =
                    fmin(served + queued * removed * together,
                         held * bandwidth_left(sample, (enum gain_fix)fix));
        }
        return parts;
}

void gain_add(struct gain_tally *tally, const struct gain_parts *parts)
{
        for (int fix = 0; fix < GAIN_COUNT; fix++) {
                tally->cycles[fix] += parts->cycles[fix];
                tally->squares[fix] += parts->cycles[fix] * parts->cycles[fix];
        }
}

struct share gain_share(const struct gain_tally *tally, enum gain_fix fix,
                        const struct tally *whole, double loads_per_sample,
                        double total_cycles)
{
        const struct tally part = {
            .retirements = whole->retirements,
            .retire_cycles = tally->cycles[fix],
            .retire_squared = tally->squares[fix],
        };
        const bool has_faults = fix == GAIN_MEMORY || fix == GAIN_FAULTS;
        const double faulted = has_faults ? tally->fault_cycles / total_cycles : 0;
        struct share share = {0};
        if (part.retire_cycles > 0)
                share = tally_stalled(&part, whole, loads_per_sample,
                                      loads_per_sample / total_cycles);
        return (struct share){share.value + faulted, share.low + faulted,
                              fmin(1, share.high + faulted)};
}
