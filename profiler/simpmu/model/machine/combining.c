/* SPDX-License-Identifier: MIT */
/* See combining.h. */
#include "combining.h"

#include "access.h"

/* The oldest of the open lines leaves at NOW. */
static void leave(struct machine *machine, struct sim_thread *thread, uint64_t now)
{
        struct combining *combining = &thread->combining;
        const uint64_t line = combining->open[0].line;

        for (uint32_t i = 1; i < combining->count; i++)
                combining->open[i - 1] = combining->open[i];
        combining->count--;
        thread->counters.dram_read_lines++;
        (void)dram_read(&machine_home(machine, line, thread->core->node)->dram, now);
}

static struct open_line *find(struct combining *combining, uint64_t line)
{
        for (uint32_t i = combining->count; i > 0; i--) {
                if (combining->open[i - 1].line == line)
                        return &combining->open[i - 1];
        }
        return NULL;
}

/* LINE is opened by ACCESS, which can begin at START. */
static struct open_line *open_line(struct machine *machine, struct sim_hot *hot,
                                   struct sim_thread *thread, const struct access *access,
                                   uint64_t line, uint64_t start,
                                   enum tlb_outcome translation)
{
        struct combining *combining = &thread->combining;

        if (combining->count == machine->fill_buffers)
                leave(machine, thread, access->now);
        const struct miss miss =
            miss_write_past(machine, hot, thread, line, start, access->now);
        const struct found found = {
            .arrival = miss.completion, .level = miss.level, .translation = translation};
        void *sampled = NULL;
        if (found.arrival - access->start >= machine->sample_latency)
                sampled = sample_store(machine, thread, access, &found);
        thread_hold_store(thread, access->now - thread->stall, access->stores, miss.begin,
                          sampled);
        combining->done = later(combining->done, miss.completion);
        combining->open[combining->count] = (struct open_line){line, UINT64_MAX};
        return &combining->open[combining->count++];
}

/* The bytes of LINE that ACCESS writes, a bit of each. */
static uint64_t bytes_of(const struct access *access, uint64_t line)
{
        const uint64_t first = line << LINE_SHIFT;
        const uint64_t end = access->address + access->site->size_bytes;
        const uint64_t from = later(first, access->address) - first;
        const uint64_t to = end - first < LINE_BYTES ? end - first : LINE_BYTES;

        return (UINT64_MAX >> (LINE_BYTES - (to - from))) << from;
}

static void close_line(struct combining *combining, struct open_line *line)
{
        const struct open_line *end = &combining->open[--combining->count];

        for (; line < end; line++)
                line[0] = line[1];
}

void combining_store(struct machine *machine, struct sim_hot *hot,
                     struct sim_thread *thread, const struct access_site *site,
                     uint64_t address)
{
        const enum access_mode mode =
            machine->one_load_waits ? ACCESS_OF_CACHES : ACCESS_IN_GENERAL;
        struct access access =
            access_begin(hot, thread, site, ACCESS_STORE, mode, address);
        const uint64_t last = (address + site->size_bytes - 1) >> LINE_SHIFT;

        for (uint64_t line = address >> LINE_SHIFT; line <= last; line++) {
                const uint64_t page = line >> PAGE_LINE_SHIFT;
                enum tlb_outcome translation =
                    machine_translate(machine, thread->core, page);
                if (translation > TLB_STLB_HIT || find(&thread->combining, line) == NULL)
                        touch_page(machine, hot, thread, &access, page);
                uint64_t start =
                    access.start +
                    tlb_latency(machine, thread->core, translation, access.start, false);
                struct open_line *open = find(&thread->combining, line);
                if (open == NULL)
                        open = open_line(machine, hot, thread, &access, line, start,
                                         translation);
                open->missing &= ~bytes_of(&access, line);
                if (open->missing == 0)
                        close_line(&thread->combining, open);
        }
}

uint64_t combining_drain(struct machine *machine, struct sim_thread *thread, uint64_t now)
{
        while (thread->combining.count > 0)
                leave(machine, thread, now);
        return thread->combining.done;
}
