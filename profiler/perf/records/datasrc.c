/* SPDX-License-Identifier: MIT */
/* Decodes data sources and weights. Bits are taken by shifts and not by the header's
 * bit-fields: the codes of newer kernels must be readable with older headers. */
#include "datasrc.h"

#include <linux/perf_event.h>

enum {
        OP_SHIFT = 0,
        OP_BITS = 5,
        LVL_SHIFT = 5,
        LVL_BITS = 14,
        SNOOP_SHIFT = 19,
        SNOOP_BITS = 5,
        LOCK_SHIFT = 24,
        LOCK_BITS = 2,
        TLB_SHIFT = 26,
        TLB_BITS = 7,
        LVL_NUM_SHIFT = 33,
        LVL_NUM_BITS = 4,
        REMOTE_SHIFT = 37,
        REMOTE_BITS = 1,
        SNOOPX_SHIFT = 38,
        SNOOPX_BITS = 2,
        HOPS_SHIFT = 43,
        HOPS_BITS = 3
};

/* Of mem_lvl_num; some are newer than the headers of Debian 12. */
enum {
        NUM_L1 = 1,
        NUM_L2 = 2,
        NUM_L3 = 3,
        NUM_L4 = 4,
        NUM_L2_MHB = 5, /* L2 miss handling buffer: a line in flight */
        NUM_MSC = 6,    /* memory-side cache */
        NUM_UNCACHED = 8,
        NUM_CXL = 9,
        NUM_IO = 10,
        NUM_ANY_CACHE = 11, /* which: see mem_lvl */
        NUM_LFB = 12,
        NUM_RAM = 13,
        NUM_PMEM = 14
};

#define FIELD(raw, name)                                                                 \
        ((unsigned)((raw) >> name##_SHIFT & ((UINT64_C(1) << name##_BITS) - 1)))

static const char na[] = "NA";

static const char *decode_op(uint64_t raw)
{
        unsigned op = FIELD(raw, OP);
        if (op & PERF_MEM_OP_LOAD)
                return "load";
        if (op & PERF_MEM_OP_STORE)
                return "store";
        if (op & PERF_MEM_OP_PFETCH)
                return "prefetch";
        return op & PERF_MEM_OP_EXEC ? "exec" : na;
}

static bool is_remote(uint64_t raw)
{
        return FIELD(raw, REMOTE) || FIELD(raw, HOPS);
}

/* Decodes mem_lvl_num; NULL: no information. ANY_CACHE is less specific than mem_lvl:
 * AMD before Zen 4 uses it for "L3 or another core's cache". */
static const char *level_by_number(uint64_t raw)
{
        bool remote = is_remote(raw);
        switch (FIELD(raw, LVL_NUM)) {
        case NUM_L1:
                return remote ? "REMOTE_CACHE" : "L1";
        case NUM_L2:
                return remote ? "REMOTE_CACHE" : "L2";
        case NUM_L3:
                return remote ? "REMOTE_CACHE" : "L3";
        case NUM_L4:
                return remote ? "REMOTE_CACHE" : na;
        case NUM_LFB:
        case NUM_L2_MHB:
                return "LFB";
        case NUM_RAM:
                return remote ? "REMOTE_DRAM" : "DRAM";
        case NUM_CXL:
                return "REMOTE_DRAM";
        case NUM_PMEM:
                return "PMEM";
        case NUM_IO:
                return "IO";
        case NUM_UNCACHED:
                return "UNCACHED";
        case NUM_MSC:
                return na;
        default:
                return NULL;
        }
}

/* Decodes mem_lvl, the nearest level first: AMD before Zen 4 reports "L3 or another
 * cache". */
static const char *level_by_bits(unsigned level)
{
        static const struct {
                unsigned bits;
                const char *name;
        } levels[] = {
            {PERF_MEM_LVL_L1, "L1"},
            {PERF_MEM_LVL_LFB, "LFB"},
            {PERF_MEM_LVL_L2, "L2"},
            {PERF_MEM_LVL_L3, "L3"},
            {PERF_MEM_LVL_LOC_RAM, "DRAM"},
            {PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2, "REMOTE_CACHE"},
            {PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2, "REMOTE_DRAM"},
            {PERF_MEM_LVL_IO, "IO"},
            {PERF_MEM_LVL_UNC, "UNCACHED"},
        };
        for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
                if (level & levels[i].bits)
                        return levels[i].name;
        return na;
}

static const char *decode_level(uint64_t raw)
{
        unsigned level = FIELD(raw, LVL);
        if (level & PERF_MEM_LVL_MISS && !(level & PERF_MEM_LVL_HIT))
                return na;
        const char *name = level_by_number(raw);
        if (!name)
                name = level_by_bits(level);
        if (name == na && FIELD(raw, LVL_NUM) == NUM_ANY_CACHE && is_remote(raw))
                name = "REMOTE_CACHE";
        return name;
}

static const char *decode_tlb(uint64_t raw)
{
        unsigned tlb = FIELD(raw, TLB);
        if (tlb & PERF_MEM_TLB_MISS)
                return "miss";
        return tlb & PERF_MEM_TLB_HIT ? "hit" : na;
}

static const char *decode_snoop(uint64_t raw)
{
        unsigned snoop = FIELD(raw, SNOOP);
        if (snoop & PERF_MEM_SNOOP_HITM)
                return "hitm";
        if (snoop & PERF_MEM_SNOOP_HIT || FIELD(raw, SNOOPX))
                return "hit";
        return snoop & (PERF_MEM_SNOOP_NONE | PERF_MEM_SNOOP_MISS) ? "none" : na;
}

bool datasrc_decode(uint64_t raw, struct data_source_row *row)
{
        *row = (struct data_source_row){
            .op = decode_op(raw),
            .level = decode_level(raw),
            .tlb = decode_tlb(raw),
            .snoop = decode_snoop(raw),
            .locked = FIELD(raw, LOCK) & PERF_MEM_LOCK_LOCKED,
            .has_raw = true,
            .raw = raw,
        };
        return row->op != na || row->level != na;
}

struct datasrc_weight datasrc_weight(uint64_t sample_type, uint64_t raw)
{
        if (!(sample_type & PERF_SAMPLE_WEIGHT_STRUCT))
                return (struct datasrc_weight){.latency_cycles = raw};
        return (struct datasrc_weight){
            .latency_cycles = (uint32_t)raw,
            .instruction_latency_cycles = (uint16_t)(raw >> 32),
            .retire_latency_cycles = (uint16_t)(raw >> 48),
        };
}
