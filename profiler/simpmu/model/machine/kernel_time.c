/* SPDX-License-Identifier: MIT */
/* See kernel_time.h. */
#include "kernel_time.h"

#include "miss.h"

/* A write of the kernel, in progress. */
struct kernel_job {
        struct machine *machine;
        struct sim_hot *hot;
        struct sim_thread *thread;
        bool writes;  /* false: lines come as they are */
        bool in_turn; /* its lines are many: see dram_in_turn */
        uint64_t now;
        double least; /* the clock until which the kernel writes in any case */
};

/* Adds the time of the lines that the job transferred from and to memory. */
static void take_time(struct kernel_job *job, uint64_t reads, uint64_t writes)
{
        struct core *core = job->thread->core;
        struct dram *dram = &core->node->dram;
        uint64_t begin = job->now;

        if (reads + writes == 0)
                return;
        job->now += (reads + writes) * dram->latency_slots / core->queue.count;
        if (job->in_turn)
                job->now = later(job->now, dram_in_turn(dram, begin, reads, writes));
}

/* LINE is not in L1; returns the bit of the way that now holds it. */
static uint32_t bring_line(const struct kernel_job *job, uint64_t line, bool whole,
                           const struct cache_place *place, bool *contested)
{
        const struct l1d *l1d = &job->thread->core->l1d;
        uint32_t bit = cache_victim_bit(&l1d->cache, place->set);
        const struct kernel_line kernel = {
            .line = line,
            .whole = whole,
            .victim = l1d_replace(l1d, job->hot, place, bit),
        };

        *l1d_way_of(l1d, place, bit) = (struct l1d_way){job->now};
        miss_for_kernel(job->machine, job->thread, &kernel, job->now, contested);
        return bit;
}

/* LINE comes to L1; the kernel writes the whole line or a part. */
static void use_line(struct kernel_job *job, uint64_t line, bool whole)
{
        struct machine *machine = job->machine;
        struct cache_place place = cache_place_of(&job->thread->core->l1d.cache, line);
        uint32_t bit = cache_find(&job->thread->core->l1d.cache, &place);
        const struct sim_counters *counters = &job->thread->counters;
        const uint64_t reads = counters->dram_read_lines;
        const uint64_t writes = counters->dram_write_lines;
        bool contested = false;

        machine_tick(machine, job->now);
        if (job->writes)
                job->least += machine->kernel_line_slots;
        if (bit == 0)
                bit = bring_line(job, line, whole, &place, &contested);
        else if (job->writes && (place.set->dirty & bit) == 0)
                (void)miss_take_ownership(machine, job->thread, line, job->now,
                                          &contested);
        place.set->recent |= bit;
        place.set->dirty |= job->writes ? bit : 0;
        if (contested) {
                place.set->contested |= bit;
                filter_drop(job->hot, line);
        }
        take_time(job, counters->dram_read_lines - reads,
                  counters->dram_write_lines - writes);
}

static void use_lines(struct kernel_job *job, uint64_t address, uint64_t end)
{
        for (uint64_t at = address; at < end; at = (at | (LINE_BYTES - 1)) + 1) {
                bool whole = (at & (LINE_BYTES - 1)) == 0 && end - at >= LINE_BYTES;
                use_line(job, at >> LINE_SHIFT, whole);
        }
}

static void zero_page(struct kernel_job *job, uint64_t page)
{
        use_lines(job, page << PAGE_SHIFT, (page + 1) << PAGE_SHIFT);
}

static uint8_t memory_of(bool writes)
{
        return writes ? PAGE_OF_ITS_OWN : PAGE_OF_ZEROES;
}

/* Linux zeroes the requested part of a huge page last, which keeps it in the caches.
 * It zeroes the farthest parts first. */
static void zero_huge_page(struct kernel_job *job, uint64_t page)
{
        struct page_block *block = pages_block(&job->machine->pages, page);
        uint64_t first = block->number << BLOCK_PAGE_SHIFT;
        uint64_t end = first + BLOCK_PAGES;

        for (uint32_t i = 0; i < BLOCK_PAGES; i++)
                block->pages[i].memory = memory_of(job->writes);
        while (end - first > 1) {
                if (page - first > end - 1 - page)
                        zero_page(job, first++);
                else
                        zero_page(job, --end);
        }
        zero_page(job, page);
}

/* Pages of a file, from the page cache. A write maps PAGE alone. A read also maps the
 * surrounding pages of its mapping, from FIRST to before END. */
static void map_file(struct machine *machine, uint64_t page, bool writes, uint64_t first,
                     uint64_t end)
{
        const uint64_t around = 16; /* pages */
        const uint64_t from = later(first, page & ~(around - 1));
        const uint64_t limit = (page & ~(around - 1)) + around;

        pages_at(&machine->pages, page)->memory = memory_of(writes);
        for (uint64_t at = from; !writes && at < limit && at < end; at++) {
                struct page *near = pages_at(&machine->pages, at);
                near->memory =
                    near->memory == PAGE_UNTOUCHED ? PAGE_OF_ZEROES : near->memory;
        }
}

static struct kernel_job job_of(struct machine *machine, struct sim_hot *hot,
                                struct sim_thread *thread, bool writes, bool in_turn,
                                uint64_t now)
{
        return (struct kernel_job){machine, hot, thread,     writes,
                                   in_turn, now, (double)now};
}

/* For how long the job has run that began at BEGIN. */
static uint64_t time_of(const struct kernel_job *job, uint64_t begin)
{
        return later(job->now, (uint64_t)job->least) - begin;
}

/* The kernel writes the first contents of the untouched PAGE. */
static void fill_page(struct kernel_job *job, uint64_t page, enum page_kind kind,
                      bool copies)
{
        if (kind == PAGE_IS_OF_FILE && copies)
                job->least +=
                    job->machine->kernel_line_slots * (double)(1u << PAGE_LINE_SHIFT);
        if (kind != PAGE_IS_ZEROED)
                return;
        if (pages_huge(&job->machine->pages, page))
                zero_huge_page(job, page);
        else
                zero_page(job, page);
}

uint64_t kernel_first_touch(struct machine *machine, struct sim_hot *hot,
                            struct sim_thread *thread, uint64_t page, bool writes,
                            uint64_t now)
{
        uint64_t first = page, end = page + 1;
        const enum page_kind kind = machine->page_kind(page, &first, &end);
        struct kernel_job job = job_of(machine, hot, thread, writes, true, now);

        const bool forked = pages_at(&machine->pages, page)->memory == PAGE_OF_FORK;

        /* Only a write finds a page forked. The kernel copies it as it copies a file's,
         * and of a huge page a small one. */
        if (forked || !pages_huge(&machine->pages, page))
                pages_block(&machine->pages, page)->small = true;
        if (kind == PAGE_IS_OF_FILE)
                map_file(machine, page, writes, first, end);
        else
                pages_at(&machine->pages, page)->memory =
                    memory_of(writes || kind == PAGE_IS_THERE);
        if (kind == PAGE_IS_THERE)
                return 0;
        fill_page(&job, page, forked ? PAGE_IS_OF_FILE : kind,
                  forked ? !machine->fork_is_alone : writes);
        const uint64_t slots = time_of(&job, now) + machine->fault_cost;
        thread->counters.page_faults++;
        thread->counters.fault_slots += slots;
        return slots;
}

uint64_t kernel_populate(struct machine *machine, struct sim_hot *hot,
                         struct sim_thread *thread, uint64_t address, uint64_t size_bytes,
                         bool writes, uint64_t now)
{
        const uint64_t end = (address + size_bytes - 1) >> PAGE_SHIFT;
        struct sim_counters *counters = &thread->counters;
        const uint64_t faults = counters->page_faults;
        const uint64_t fault_slots = counters->fault_slots;
        uint64_t slots = 0;

        for (uint64_t page = address >> PAGE_SHIFT; page <= end; page++)
                slots += kernel_touch(machine, hot, thread, page, writes, now + slots);
        counters->page_faults = faults;
        counters->fault_slots = fault_slots;
        counters->call_slots += slots;
        return slots;
}

uint64_t kernel_call(const struct machine *machine, struct sim_thread *thread)
{
        thread->counters.call_slots += machine->call_cost;
        return machine->call_cost;
}

/* A timer's samples are all alike. */
void kernel_sample_fault(struct machine *machine, const struct access_site *site,
                         uint64_t address, uint64_t now, uint64_t slots)
{
        const bool huge = pages_huge(&machine->pages, address >> PAGE_SHIFT);
        const struct sim_sample sample = {
            .site = site,
            .address = address,
            .time_slots = now,
            .kernel_slots = slots,
            .page_bytes = (huge ? BLOCK_PAGES : 1u) << PAGE_SHIFT,
        };

        if (slots > 0 && !machine->samples_stalls && !machine->loads_only)
                machine->on_sample(&sample);
}

uint64_t kernel_write(struct machine *machine, struct sim_hot *hot,
                      struct sim_thread *thread, const struct access_site *site,
                      uint64_t address, uint64_t size_bytes, uint64_t now)
{
        struct kernel_job job =
            job_of(machine, hot, thread, true, size_bytes >> PAGE_SHIFT > 0, now);
        const uint64_t end = address + size_bytes;
        uint64_t faults = 0;

        for (uint64_t at = address; at < end;) {
                uint64_t page = at >> PAGE_SHIFT;
                uint64_t page_end = (page + 1) << PAGE_SHIFT;
                (void)machine_translate(machine, thread->core, page);
                const uint64_t begin = time_of(&job, now) + now + faults;
                uint64_t fault = kernel_touch(machine, hot, thread, page, true, begin);
                kernel_sample_fault(machine, site, at, begin, fault);
                faults += fault;
                use_lines(&job, at, end < page_end ? end : page_end);
                at = page_end;
        }
        thread->counters.call_slots += time_of(&job, now);
        return time_of(&job, now) + faults;
}
