/* SPDX-License-Identifier: MIT */
/* Estimates the gain of a fix from the samples of a simulated run: the part of each
 * sample's stall time that the fix removes. Pure arithmetic; see doc/method.md. */
#ifndef MEMLAG_GAIN_H
#define MEMLAG_GAIN_H

#include "db.h"
#include "tally.h"
#include "verdict.h"

/* X(symbol, name in the database). Each fix removes one cost of this machine. The last
 * fix has all data of a code line in L1 in time, within DRAM's bandwidth. */
#define GAIN_FIXES(X)                                                                    \
        X(MEMORY, "memory")                                                              \
        X(DRAM_BANDWIDTH, "dram-bandwidth")                                              \
        X(DRAM_LATENCY, "dram-latency")                                                  \
        X(L3_LATENCY, "l3-latency")                                                      \
        X(L3_PATH, "l3-path")                                                            \
        X(L2, "l2")                                                                      \
        X(SETS, "cache-sets")                                                            \
        X(BUFFERS, "buffers")                                                            \
        X(TRANSLATION, "translation")                                                    \
        X(SHARING, "sharing")                                                            \
        X(REMOTE, "remote-memory")                                                       \
        X(FAULTS, "page-faults")                                                         \
        X(IN_TIME, "in-time")

enum gain_fix {
#define GAIN_ENUM(symbol, name) GAIN_##symbol,
        GAIN_FIXES(GAIN_ENUM)
#undef GAIN_ENUM
            GAIN_COUNT
};

/* The name in the database. */
const char *gain_name(enum gain_fix fix);

/* Cycles of the sample's stall time that each fix saves; 0 for most fixes. */
struct gain_parts {
        double cycles[GAIN_COUNT];
};

/* For a SAMPLE with a latency and a retire latency, on MACHINE. A fix that delivers the
 * data earlier saves as many cycles of the stall time, at most all. If requests queued
 * for buffers, the time shrinks in proportion instead (Little's law). DRAM latency does
 * not count while DRAM's bandwidth was short. No latency counts if most was queueing for
 * the path from L3, a set of L1 or walkers: lines would arrive no faster. Where sets and
 * walkers both limit the loads, a fix of one leaves the other's time. For a line from
 * DRAM no fix but memory and dram-bandwidth saves more than the part of the bandwidth
 * that is left. */
struct gain_parts gain_of_sample(const struct sample_facts *sample,
                                 const struct machine_facts *machine);

/* Sums over samples, and over the page faults. */
struct gain_tally {
        double cycles[GAIN_COUNT];
        double squares[GAIN_COUNT];
        double fault_cycles;
};

void gain_add(struct gain_tally *tally, const struct gain_parts *parts);

/* The share of the run's cycles that FIX would save at a place, computed as in
 * tally_stalled. TALLY: sums of the place; WHOLE: tally of all samples. */
struct share gain_share(const struct gain_tally *tally, enum gain_fix fix,
                        const struct tally *whole, double loads_per_sample,
                        double total_cycles);

/* Fills gain_finding from the runs of `memlag whatif`, if any. */
int gains_store_recorded(struct db *db, struct diag *diag);

#endif
