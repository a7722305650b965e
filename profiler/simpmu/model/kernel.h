/* SPDX-License-Identifier: MIT */
/* What the kernel writes into the program's memory, through the caches of the core that
 * it runs on: the results of system calls, and the zeroes of anonymous pages that are
 * touched for the first time. Both leave their lines in L1 and L2, modified, and push
 * others out.
 *
 * The kernel's instructions are not modelled, and no counter of instructions or loads has
 * them. Their time is the thread's, and is in its cycles: a page fault takes
 * kernel.fault_ns, a system call kernel.call_ns, and what the kernel writes no less than
 * kernel.copy_gbs lets it. Lines that go to memory or come from there count at its
 * controllers: a core's requests have l2.queue_entries places, which by Little's law is a
 * line in the memory's latency over these. Whole pages, which the model writes at once,
 * also follow each other, and those of other threads, no faster than memory's bandwidth
 * lets them. What the kernel reads (the page cache) is not followed.
 *
 * A page of a file that is read first is mapped with those around it that are in the
 * page cache, as all are taken to be: 64 KiB at a time (fault_around_bytes of Linux). A
 * page of a private file that is written becomes a copy.
 *
 * A load from a page that nobody has touched finds the page of zeroes that all such
 * share: its lines come unmodified and are nowhere to be written to. A store gets it
 * memory of its own. Between the two the model sees the difference only at a walk: a page
 * that is loaded from first and then written stays as it is, but for the lines that are
 * written. */
#ifndef SIMPMU_MODEL_KERNEL_H
#define SIMPMU_MODEL_KERNEL_H

#include "machine.h"

/* The kernel writes SIZE_BYTES at ADDRESS for THREAD, whose clock stands at NOW, because
 * of a system call at SITE, which also has the page faults. HOT: of the thread that runs.
 * Returns for how many slots that takes. */
uint64_t kernel_write(struct machine *machine, struct sim_hot *hot,
                      struct sim_thread *thread, const struct access_site *site,
                      uint64_t address, uint64_t size_bytes, uint64_t now);

/* SITE has touched ADDRESS at NOW, and the page fault takes SLOTS: where page faults are
 * samples, it is one. */
void kernel_sample_fault(struct machine *machine, const struct access_site *site,
                         uint64_t address, uint64_t now, uint64_t slots);

/* The cold half of kernel_touch. */
uint64_t kernel_first_touch(struct machine *machine, struct sim_hot *hot,
                            struct sim_thread *thread, uint64_t page, bool writes,
                            uint64_t now);

/* THREAD makes a system call: returns for how many slots the kernel runs for it, beside
 * what it writes. */
uint64_t kernel_call(const struct machine *machine, struct sim_thread *thread);

/* THREAD's core has walked the page tables for PAGE, which it reads or WRITES: at the
 * first touch that is a page fault, and the kernel makes it a page of zeroes. Of a huge
 * page all lines, those of PAGE last. Returns the same as kernel_write. */
static inline uint64_t kernel_touch(struct machine *machine, struct sim_hot *hot,
                                    struct sim_thread *thread, uint64_t page, bool writes,
                                    uint64_t now)
{
        if (machine->page_kind == NULL || pages_at(&machine->pages, page)->memory >
                                              (writes ? PAGE_OF_ZEROES : PAGE_UNTOUCHED))
                return 0;
        return kernel_first_touch(machine, hot, thread, page, writes, now);
}

/* Nothing has touched PAGE: there is no memory that could be prefetched. */
static inline bool kernel_untouched(struct machine *machine, uint64_t page)
{
        return machine->page_kind != NULL &&
               pages_at(&machine->pages, page)->memory == PAGE_UNTOUCHED;
}

#endif
