/* SPDX-License-Identifier: MIT */
/* Coherence of the cores' caches: a line is modified in one core, or unmodified in any
 * number of cores. A request that finds it modified elsewhere is answered from there
 * (HITM), and a write takes it from all others.
 *
 * The directory tracks only lines of pages that several cores use. It may forget a
 * line: a request is then answered as if no other core had it. */
#ifndef SIMPMU_MODEL_COHERENCE_H
#define SIMPMU_MODEL_COHERENCE_H

#include "machine.h"

/* The state in which a request finds the line in other cores; for a write also in the
 * L3 of other nodes. */
enum others {
        OTHERS_NOTHING,
        OTHERS_CLEAN,       /* of a write: have given the line up */
        OTHERS_FAR_CLEAN,   /* the same on another node */
        OTHERS_MODIFIED,    /* answers; after a read it is unmodified there */
        OTHERS_FAR_MODIFIED /* the same on another node */
};

/* A second core comes into use: which pages the first one uses. */
void coherence_begin(struct machine *machine);

/* Notes that the core of THREAD uses the page of LINE; true when others do, too. */
static inline bool coherence_is_shared(struct machine *machine,
                                       const struct sim_thread *thread, uint64_t line)
{
        const uint32_t self = thread->core->number + 1;

        if (machine->cores_used == 1)
                return false;
        struct page *page = pages_at(&machine->pages, line >> PAGE_LINE_SHIFT);
        if (page->user == 0)
                page->user = (uint16_t)self;
        if (page->user != self)
                page->shared = 1;
        return page->shared != 0;
}

/* The thread's core reads or WRITES LINE at NOW. The line's page is shared, and the
 * core has not modified it, so it must ask. After a read, a line modified elsewhere is
 * in the L3 as well. *CONTESTED becomes true when cores fight for the line. */
enum others coherence_request(struct machine *machine, struct sim_thread *thread,
                              uint64_t line, bool writes, uint64_t now, bool *contested);

/* Another core of the thread's node has LINE, whose page is shared and which the L3 has
 * not. */
bool coherence_near_copy(struct machine *machine, const struct sim_thread *thread,
                         uint64_t line);

#endif
