/* SPDX-License-Identifier: MIT */
/* Kernel writes to the program's memory, through the caches of the core: results of
 * system calls, and zeroes of anonymous pages at their first touch. Both leave
 * modified lines in L1 and L2, and evict other lines.
 *
 * The kernel's instructions are not modelled, and no counter of instructions or loads
 * counts them. Their time is part of the thread's cycles. A page fault takes
 * kernel.fault_ns and a system call kernel.call_ns. Kernel writes are no faster than
 * kernel.copy_gbs. The memory controllers count their lines.
 *
 * A core's requests have l2.queue_entries places. By Little's law this allows a line
 * every memory latency / l2.queue_entries. The model writes whole pages at once. Their
 * lines, together with the lines of other threads, are no faster than the memory's
 * bandwidth. Kernel reads (the page cache) are not modelled.
 *
 * The first read of a file's page also maps the surrounding pages in the page cache:
 * 64 KiB at a time (fault_around_bytes of Linux). All pages are assumed to be in the
 * page cache. A write to a page of a private file makes a copy.
 *
 * A system call that populates memory (MAP_POPULATE, mlock) takes as long as the page
 * faults would. No line faults there, and the events of the kernel do not count it.
 *
 * After a fork, the first write to each private page is a page fault in either process,
 * with a copy while there is another.
 *
 * A load from an untouched page reads the shared page of zeroes. Its lines arrive
 * unmodified and are never written back. A store allocates new memory for the page.
 * The model sees the difference only at a page walk. If a page is first loaded and
 * then written, its other lines stay as they are. */
#ifndef SIMPMU_MODEL_KERNEL_TIME_H
#define SIMPMU_MODEL_KERNEL_TIME_H

#include "machine.h"

/* The kernel writes SIZE_BYTES at ADDRESS for THREAD, whose clock stands at NOW, because
 * of a system call at SITE, which also has the page faults. HOT: of the thread that runs.
 * Returns for how many slots that takes. */
uint64_t kernel_write(struct machine *machine, struct sim_hot *hot,
                      struct sim_thread *thread, const struct access_site *site,
                      uint64_t address, uint64_t size_bytes, uint64_t now);

/* A system call of THREAD populates SIZE_BYTES at ADDRESS, for writes or only for reads.
 * Returns the same as kernel_write. */
uint64_t kernel_populate(struct machine *machine, struct sim_hot *hot,
                         struct sim_thread *thread, uint64_t address, uint64_t size_bytes,
                         bool writes, uint64_t now);

/* SITE has touched ADDRESS at NOW, and the page fault takes SLOTS: where page faults are
 * samples, it is one. */
void kernel_sample_fault(struct machine *machine, const struct access_site *site,
                         uint64_t address, uint64_t now, uint64_t slots);

/* The cold half of kernel_touch. */
uint64_t kernel_first_touch(struct machine *machine, struct sim_hot *hot,
                            struct sim_thread *thread, uint64_t page, bool writes,
                            uint64_t now);

/* THREAD makes a system call. Returns the kernel's slots, without its writes. */
uint64_t kernel_call(const struct machine *machine, struct sim_thread *thread);

/* THREAD's core has walked the page tables for PAGE, or is about to write to it. The
 * first touch is a page fault, and the kernel zeroes the page. It zeroes a whole huge
 * page, the lines of PAGE last. Returns the same as kernel_write. */
static inline uint64_t kernel_touch(struct machine *machine, struct sim_hot *hot,
                                    struct sim_thread *thread, uint64_t page, bool writes,
                                    uint64_t now)
{
        if (machine->page_kind == NULL || pages_at(&machine->pages, page)->memory >
                                              (writes ? PAGE_OF_FORK : PAGE_UNTOUCHED))
                return 0;
        return kernel_first_touch(machine, hot, thread, page, writes, now);
}

/* PAGE is mapped to memory that is not its own: a write is a page fault. */
static inline bool kernel_write_faults(struct machine *machine, uint64_t page)
{
        const uint8_t memory = pages_at(&machine->pages, page)->memory;

        return memory == PAGE_OF_ZEROES || memory == PAGE_OF_FORK;
}

/* Nothing has touched PAGE: there is no memory that could be prefetched. */
static inline bool kernel_untouched(struct machine *machine, uint64_t page)
{
        return machine->page_kind != NULL &&
               pages_at(&machine->pages, page)->memory == PAGE_UNTOUCHED;
}

#endif
