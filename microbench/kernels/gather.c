/* SPDX-License-Identifier: MIT */
/* Random gather: loads random lines whose addresses take two instructions each: a table
 * has the offsets, from a place that changes with each round of the table. Few
 * instructions lie between two misses, so the fill buffers limit the misses at once, not
 * the reorder buffer. */
#include <errno.h>

#include "kernel.h"
#include "random.h"

enum { OFFSETS = 1024 };

static uint64_t lines_of(const struct kernel_parameters *parameters)
{
        return kernel_part_bytes(parameters) / KERNEL_LINE_BYTES;
}

static int check(const struct kernel_parameters *parameters, struct diag *diag)
{
        if (lines_of(parameters) < 1 || lines_of(parameters) > UINT32_MAX)
                return diag_set(diag, -EINVAL,
                                "gather needs from one line to 2^32 - 1 a thread");
        return 0;
}

/* The offsets point into the first half of the data, and a round begins there too. */
static int prepare(struct kernel_share *share, struct diag *diag)
{
        const struct kernel_parameters *parameters = share->parameters;
        uint64_t lines = lines_of(parameters), bytes = lines * KERNEL_LINE_BYTES;
        int rc = buffer_map(bytes + OFFSETS * sizeof(uint64_t), parameters->pages,
                            parameters->node, &share->buffer, diag);
        if (rc < 0)
                return rc;
        char *base = share->buffer.addr;
        for (uint64_t i = 0; i < bytes; i += KERNEL_LINE_BYTES)
                *(uint64_t *)(base + i) = i;
        struct random random = random_seeded(share->thread);
        uint64_t *offsets = (uint64_t *)(void *)(base + bytes);
        for (size_t i = 0; i < OFFSETS; i++)
                offsets[i] = random_below(&random, lines / 2) * KERNEL_LINE_BYTES;
        return 0;
}

/* Loads the line at each of the first COUNT offsets from BEGIN. */
KERNEL_LOOP static void gather_lines(const char *begin, const uint64_t *offsets,
                                     uint64_t count)
{
        for (const uint64_t *end = offsets + count; offsets < end; offsets++) {
                uint64_t word;
                __asm__ volatile("mov (%[offset]), %[word]\n\t"
                                 "mov (%[begin], %[word]), %[word]"
                                 : [word] "=&r"(word)
                                 : [offset] "r"(offsets), [begin] "r"(begin));
        }
}

static void run(struct kernel_share *share, uint64_t passes)
{
        const uint64_t lines = lines_of(share->parameters);
        const char *base = share->buffer.addr;
        const uint64_t *offsets =
            (const uint64_t *)(const void *)(base + lines * KERNEL_LINE_BYTES);
        struct random random = random_seeded(share->thread);
        for (uint64_t loads = lines * passes, count; loads > 0; loads -= count) {
                count = loads < OFFSETS ? loads : OFFSETS;
                gather_lines(base + random_below(&random, lines - lines / 2) *
                                        KERNEL_LINE_BYTES,
                             offsets, count);
        }
}

static void count(const struct kernel_parameters *parameters,
                  struct kernel_counts *counts)
{
        uint64_t loads = lines_of(parameters) * parameters->threads;
        *counts = (struct kernel_counts){
            .accesses = lines_of(parameters),
            .bytes = loads * sizeof(uint64_t),
            .loads = 2 * loads,
            .lines_read = loads,
        };
}

const struct kernel kernel_gather = {
    .name = "gather",
    .summary = "Independent loads at random lines",
    .takes = TAKES_SIZE | TAKES_PAGES,
    .defaults = {.size_bytes = 256 << 20, .pages = PAGES_HUGE},
    .check = check,
    .prepare = prepare,
    .run = run,
    .count = count,
};
