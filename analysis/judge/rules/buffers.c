/* SPDX-License-Identifier: MIT */
#include "buffers.h"

#include <math.h>

void buffer_use_add(struct buffer_use *use, const struct sample_facts *sample,
                    const struct machine_facts *machine, double path_use)
{
        const double l1 = machine->l1d_latency_cycles, l2 = machine->l2_latency_cycles;
        const double l3 = machine->l3_latency_cycles, dram = machine->dram_latency_cycles;
        const enum level level = sample->level;
        const double held = level == LEVEL_DRAM ? dram : level == LEVEL_L3 ? l3 : l2;
        if ((level != LEVEL_DRAM && level != LEVEL_L3 && level != LEVEL_L2) ||
            sample->latency_cycles < 0 || sample->tlb_missed ||
            !sample->interval_buffers_full || sample->bandwidth_short != ANSWER_NO)
                return;
        use->samples++;
        use->held_cycles += held;
        /* Lines from L2 fill its path before they fill the buffers. */
        use->latency_cycles +=
            level == LEVEL_L2 ? held : fmax(held, (double)sample->latency_cycles);
        use->path_cycles += isnan(path_use) ? 0 : held * path_use;
        if (level == LEVEL_DRAM)
                use->dram_cycles += sample->store ? 0 : dram - l3;
        else
                use->cache_cycles += level == LEVEL_L3 ? l3 - l2 : l2 - l1;
}

/* More buffers save the wait for one. They and nearer DRAM gain no more than the path
 * from L3 has left; lines of a nearer cache do not need it. */
enum cause buffer_use_cause(const struct buffer_use *use)
{
        const double more = 1 - use->held_cycles / use->latency_cycles;
        const double dram = use->dram_cycles / use->held_cycles;
        const double cache = use->cache_cycles / use->held_cycles;
        const double left = 1 - use->path_cycles / (PATH_FULL_PART * use->held_cycles);
        if (use->samples < VERDICT_SAMPLES_MIN || isnan(dram + cache))
                return CAUSE_NONE;
        if (cache >= fmin(left, fmax(more, dram)))
                return CAUSE_CACHE;
        return more > dram ? CAUSE_IN_CORE : CAUSE_DRAM;
}
