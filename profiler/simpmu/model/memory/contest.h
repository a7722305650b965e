/* SPDX-License-Identifier: MIT */
/* Lines that several cores fight for, as in false sharing.
 *
 * Threads run in turns of thousands of cycles. A core that wins a line would keep it
 * for the whole turn, where real cores take it from each other every few accesses. A
 * line is contested once it has moved between cores twice within a few turns. Every
 * access to a contested line is recorded in its stretch of virtual time. A core that
 * uses the line at time t reads the accesses of other cores in that stretch. The first
 * core in a stretch uses their average over a turn instead. The core has lost the line
 * when, at this rate, another core has requested it since the core's last access:
 *
 *   requests of others since = (t - time of the last access) * n / stretch >= 1
 *
 * n: accesses of other cores in the stretch, over the part of it in which they do not
 * wait for the line; for a read only their writes. What a core does while it waits for
 * the line is served together by the arrival; requests of others gather behind that.
 *
 * The line moves from one waiting core to the next and then back: N cores that always
 * want it get it once in N transfers. Measured on an i7-4790, with 20 ns for a transfer:
 * an atomic addition of two threads takes 40 ns, of four 78 ns (moderncpp.dev, on false
 * sharing). Other CPUs make several accesses before the next core's request arrives:
 * hitm.hold_percent of a transfer. Knows no caches, nor where cores are. */
#ifndef SIMPMU_MODEL_CONTEST_H
#define SIMPMU_MODEL_CONTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "cache.h"

#define CONTESTED_LINES   256u /* known at a time; a power of two, as the next two */
#define CONTENDED_LINES   64u  /* of each core */
#define STRETCHES         64u  /* known of each line */
#define STRETCH_CYCLES    512u
#define STRETCHES_OF_TURN 20u
#define STRETCHES_BEHIND  40u /* older stretches are ignored: a turn and its lag */

/* A core in a set of cores, which has bits of their numbers modulo 64. */
static inline uint64_t contest_core(uint32_t number)
{
        return 1ull << number % 64;
}

struct stretch {
        uint64_t number;
        uint64_t cores; /* the set of cores that used the line */
        uint32_t reads;
        uint32_t writes;
        uint64_t waits; /* slots for which accesses of all cores waited for the line */
};

struct contest_user {
        uint32_t core;
        uint64_t stretch; /* of its latest access */
};

struct contest {
        uint64_t line;
        struct contest_user latest;
        struct contest_user before; /* another core */
        struct stretch stretches[STRETCHES];
};

/* One core's part in a contest. */
struct contender {
        uint64_t line;
        uint64_t last;           /* access with the line there */
        uint64_t requests;       /* of others since then: parts of parts: see is_lost */
        uint64_t lead_from;      /* the stretch after which only this core has been ... */
        uint32_t lead_rivals[2]; /* ... and the other cores' accesses in the turn
                                    before it, that conflict with a read and with a
                                    write */
        struct stretch own[STRETCHES];
};

struct contests {
        uint64_t stretch_slots;
        struct contest *lines[CONTESTED_LINES];
        sim_allocate allocate;
};

enum contest_outcome { CONTEST_KEEPS, CONTEST_LOSES, CONTEST_IS_OVER };

struct contest_access {
        uint32_t core;
        uint64_t line;
        uint64_t time;
        uint64_t arrival; /* of the line */
        uint64_t hold;    /* how long from then on others wait for it */
        bool writes;
};

/* How a core has lost a line. */
struct contest_loss {
        uint64_t others;   /* the set of cores that use it too */
        uint64_t requests; /* of theirs, 1 or more */
        uint64_t since;    /* slots since the first of them, with the line there */
};

void contests_init(struct contests *contests, uint64_t cycle_slots,
                   sim_allocate allocate);

/* Transfers of a line that lie farther apart, in slots, are no contest. */
uint64_t contest_reach(const struct contests *contests);

/* At NOW another core takes LINE from core LOSER. */
void contest_begin(struct contests *contests, uint64_t line, uint32_t loser,
                   uint64_t now);

/* A core, with its CONTENDERS (CONTENDED_LINES; NULL: none), has the line and uses it.
 * When it loses it, LOSS says how. */
enum contest_outcome contest_use(struct contests *contests, struct contender **contenders,
                                 const struct contest_access *access,
                                 struct contest_loss *loss);

/* The core's ACCESS, which has lost the line, waits for SLOTS until it is back, and so
 * does what comes after it. */
void contest_wait(struct contests *contests, struct contender **contenders,
                  const struct contest_access *access, uint64_t slots);

#endif
