/* SPDX-License-Identifier: MIT */
/* What the kernel writes into the program's memory, through the caches of the core that
 * it runs on: the results of system calls, and the zeroes of anonymous pages that are
 * touched for the first time. Both leave their lines in L1 and L2, modified, and push
 * others out.
 *
 * No user-mode counter counts it, and no time of a core: the kernel's instructions are
 * not modelled. Lines that go to memory or come from there count at its controllers, and
 * the time that they take passes on the thread's clock as time in which it does not run:
 * a core's requests have l2.queue_entries places, which by Little's law is a line in the
 * memory's latency over these. Whole pages, which the model writes at once, also follow
 * each other, and those of other threads, no faster than memory's bandwidth lets them.
 * What the kernel reads (the page cache) is not followed.
 *
 * A load from a page that nobody has touched finds the page of zeroes that all such
 * share: its lines come unmodified and are nowhere to be written to. A store gets it
 * memory of its own. Between the two the model sees the difference only at a walk: a page
 * that is loaded from first and then written stays as it is, but for the lines that are
 * written. */
#ifndef SIMPMU_MODEL_KERNEL_H
#define SIMPMU_MODEL_KERNEL_H

#include "machine.h"

/* The kernel writes SIZE_BYTES at ADDRESS for THREAD, whose clock stands at NOW. HOT: of
 * the thread that runs. Returns for how many slots it waits for memory. */
uint64_t kernel_write(struct machine *machine, struct sim_hot *hot,
                      struct sim_thread *thread, uint64_t address, uint64_t size_bytes,
                      uint64_t now);

/* The cold half of kernel_touch. */
uint64_t kernel_first_touch(struct machine *machine, struct sim_hot *hot,
                            struct sim_thread *thread, uint64_t page, bool writes,
                            uint64_t now);

/* THREAD's core has walked the page tables for PAGE, which it reads or WRITES: at the
 * first touch the kernel makes it a page of zeroes. Of a huge page all lines, those of
 * PAGE last. Returns the same as kernel_write. */
static inline uint64_t kernel_touch(struct machine *machine, struct sim_hot *hot,
                                    struct sim_thread *thread, uint64_t page, bool writes,
                                    uint64_t now)
{
        if (machine->page_is_zeroed == NULL ||
            pages_at(&machine->pages, page)->memory >
                (writes ? PAGE_OF_ZEROES : PAGE_UNTOUCHED))
                return 0;
        return kernel_first_touch(machine, hot, thread, page, writes, now);
}

/* Nothing has touched PAGE: there is no memory that could be prefetched. */
static inline bool kernel_untouched(struct machine *machine, uint64_t page)
{
        return machine->page_is_zeroed != NULL &&
               pages_at(&machine->pages, page)->memory == PAGE_UNTOUCHED;
}

#endif
