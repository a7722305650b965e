/* SPDX-License-Identifier: MIT */
/* The table of AMD's events. The codes come from the Processor Programming References of
 * the families ("Core Performance Monitor Counters"). */
#include "amd_events.h"

enum { ZEN = 23, ZEN_3 = 25, LATER = 255 };

static const struct {
        int64_t first_family, last_family;
        struct event event;
} events[] = {
    {ZEN, LATER, {"ls_not_halted_cyc", 0x76, 0}},
    {ZEN, LATER, {"ex_ret_instr", 0xc0, 0}},
    {ZEN, LATER, {"ls_dispatch.ld_dispatch", 0x129, 0}},
    {ZEN, LATER, {"ls_dispatch.store_dispatch", 0x229, 0}},
    {ZEN, ZEN_3 - 1, {"ls_mab_alloc.loads", 0x141, 0}},
    {ZEN_3, LATER, {"ls_mab_alloc.load_store_allocations", 0x3f41, 0}},
    {ZEN_3, LATER, {"ls_alloc_mab_count", 0x5f, 0}},
    {ZEN, ZEN_3 - 1, {"ls_refills_from_sys.ls_mabresp_lcl_dram", 0x843, 0}},
    {ZEN_3, LATER, {"ls_dmnd_fills_from_sys.dram_io_near", 0x843, 0}},
    {ZEN_3, LATER, {"ls_any_fills_from_sys.dram_io_near", 0x844, 0}},
    {ZEN, LATER, {"de_dis_dispatch_token_stalls1.store_queue_rsrc_stall", 0x4ae, 0}},
};

const struct event *amd_event(int64_t family, size_t index)
{
        for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
                if (family >= events[i].first_family && family <= events[i].last_family &&
                    index-- == 0)
                        return &events[i].event;
        return NULL;
}
