/* SPDX-License-Identifier: MIT */
/* What a fix would gain, estimated from the samples of a simulated run: of what each
 * sample held up, the part that would go. Pure arithmetic; doc/method.md has it in words.
 */
#ifndef MEMLAG_GAIN_H
#define MEMLAG_GAIN_H

#include "db.h"
#include "tally.h"
#include "verdict.h"

/* X(symbol, name in the database). Each is this machine without one cost; the last is all
 * data of a line of code in L1 when it is wanted, as far as DRAM's bandwidth lets. */
#define GAIN_FIXES(X)                                                                    \
        X(MEMORY, "memory")                                                              \
        X(DRAM_BANDWIDTH, "dram-bandwidth")                                              \
        X(DRAM_LATENCY, "dram-latency")                                                  \
        X(L3_LATENCY, "l3-latency")                                                      \
        X(L3_PATH, "l3-path")                                                            \
        X(L2, "l2")                                                                      \
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

/* Cycles of what a sample held up that each fix would save; 0 of most. */
struct gain_parts {
        double cycles[GAIN_COUNT];
};

/* Of a SAMPLE with a latency and a latency of retirement, of a run on MACHINE. A fix that
 * brings the data earlier by some cycles saves these of the time for which the load held
 * up those behind it, and no more than that time. Where requests waited for buffers, the
 * time goes down in proportion instead, by Little's law. The latency of DRAM is no part
 * where its bandwidth was short, and no latency is where most of it was queueing for the
 * path from L3: lines would come no faster. */
struct gain_parts gain_of_sample(const struct sample_facts *sample,
                                 const struct machine_facts *machine);

/* Sums over samples, and over the page faults. */
struct gain_tally {
        double cycles[GAIN_COUNT];
        double squares[GAIN_COUNT];
        double fault_cycles;
};

void gain_add(struct gain_tally *tally, const struct gain_parts *parts);

/* The part of the run's cycles that FIX would save at a place, as tally_stalled has it:
 * TALLY of its samples, WHOLE the tally of all samples. */
struct share gain_share(const struct gain_tally *tally, enum gain_fix fix,
                        const struct tally *whole, double loads_per_sample,
                        double total_cycles);

/* Fills gain_finding with the gains of the runs of `memlag whatif`, where there are any.
 */
int gains_store_recorded(struct db *db, struct diag *diag);

#endif
