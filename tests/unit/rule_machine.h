/* SPDX-License-Identifier: MIT */
/* The machine on which tests of the rules judge. */
#ifndef RULE_MACHINE_H
#define RULE_MACHINE_H

#include <math.h>

#include "contention.h"

static const struct machine_facts machine = {.clock_mhz = 2000,
                                             .l1d_latency_cycles = 4,
                                             .l1d_set_interval_l2_cycles = 8,
                                             .l1d_set_interval_l3_cycles = 16,
                                             .page_walk_cycles = 30,
                                             .page_walkers = 2,
                                             .l2_latency_cycles = 14,
                                             .l3_latency_cycles = 60,
                                             .dram_latency_cycles = 200,
                                             .dram_bandwidth_gbs = 100,
                                             .dram_write_bandwidth_gbs = NAN,
                                             .dram_knee_gbs = NAN,
                                             .idle_lmrl_cycles = NAN,
                                             .lmrl_threshold_cycles = NAN,
                                             .saturating_cores = NAN};

#endif
