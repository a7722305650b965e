/* SPDX-License-Identifier: MIT */
/* Random gather: loads random lines with computed addresses: the core has its maximum
 * number of loads outstanding. */
#include <errno.h>

#include "kernel.h"
#include "random.h"

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

static int prepare(struct kernel_share *share, struct diag *diag)
{
        const struct kernel_parameters *parameters = share->parameters;
        uint64_t bytes = lines_of(parameters) * KERNEL_LINE_BYTES;
        int rc =
            buffer_map(bytes, parameters->pages, parameters->node, &share->buffer, diag);
        char *base = share->buffer.addr;
        for (uint64_t i = 0; rc == 0 && i < bytes; i += KERNEL_LINE_BYTES)
                *(uint64_t *)(base + i) = i;
        return rc;
}

KERNEL_LOOP static void gather_lines(const char *base, uint64_t lines, uint64_t loads,
                                     uint64_t seed)
{
        struct random random = random_seeded(seed);
        for (; loads > 0; loads--) {
                uint64_t word;
                __asm__ volatile(
                    "mov (%[at]), %[word]"
                    : [word] "=r"(word)
                    : [at] "r"(base + random_below(&random, lines) * KERNEL_LINE_BYTES));
        }
}

static void run(struct kernel_share *share, uint64_t passes)
{
        uint64_t lines = lines_of(share->parameters);
        gather_lines(share->buffer.addr, lines, lines * passes, share->thread);
}

static void count(const struct kernel_parameters *parameters,
                  struct kernel_counts *counts)
{
        uint64_t loads = lines_of(parameters) * parameters->threads;
        *counts = (struct kernel_counts){
            .accesses = lines_of(parameters),
            .bytes = loads * sizeof(uint64_t),
            .loads = loads,
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
