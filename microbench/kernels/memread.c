/* SPDX-License-Identifier: MIT */
/* Memory read (H19, H20): each thread reads the first word of record t in four arrays of
 * 64-byte records, then runs DELAY NOPs. Threads and delay set the bandwidth. */
#include <errno.h>

#include "kernel.h"
#include "sled.h"

enum { ARRAYS = 4, RECORD_BYTES = KERNEL_LINE_BYTES };

static uint64_t records_of(const struct kernel_parameters *parameters)
{
        return kernel_part_bytes(parameters) / (ARRAYS * RECORD_BYTES);
}

static int check(const struct kernel_parameters *parameters, struct diag *diag)
{
        if (records_of(parameters) < 1)
                return diag_set(diag, -EINVAL, "memread needs at least %d bytes a thread",
                                ARRAYS * RECORD_BYTES);
        if (parameters->delay_nops > NOPS_MAX)
                return diag_set(diag, -EINVAL, "at most %d NOPs of delay", NOPS_MAX);
        return 0;
}

static int prepare(struct kernel_share *share, struct diag *diag)
{
        const struct kernel_parameters *parameters = share->parameters;
        uint64_t bytes = records_of(parameters) * ARRAYS * RECORD_BYTES;
        int rc =
            buffer_map(bytes, parameters->pages, parameters->node, &share->buffer, diag);
        char *base = share->buffer.addr;
        for (uint64_t i = 0; rc == 0 && i < bytes; i += RECORD_BYTES)
                *(uint64_t *)(base + i) = i;
        return rc;
}

/* ARRAY_BYTES: distance between record t of neighbouring arrays. */
#define READ_RECORD                                                                      \
        "mov (%[r]), %[x]\n\t"                                                           \
        "mov (%[r],%[a]), %[x]\n\t"                                                      \
        "mov (%[r],%[a],2), %[x]\n\t"                                                    \
        "mov (%[r],%[a3]), %[x]\n\t"

KERNEL_LOOP static void read_records(const char *record, uint64_t array_bytes,
                                     uint64_t records)
{
        uint64_t word;
        __asm__ volatile("1:\n\t" READ_RECORD "add $64, %[r]\n\t"
                         "dec %[n]\n\t"
                         "jnz 1b"
                         : [r] "+r"(record), [n] "+r"(records), [x] "=&r"(word)
                         : [a] "r"(array_bytes), [a3] "r"(3 * array_bytes)
                         : "memory", "cc");
}

KERNEL_LOOP static void read_records_delayed(const char *record, uint64_t array_bytes,
                                             uint64_t records, uint64_t delay_nops)
{
        uint64_t word, entry = delay_nops;
        __asm__ volatile(
            /* clang-format off */
            SLED_ENTRY(NOP_BYTES)
            "1:\n\t"
            READ_RECORD
            SLED(NOPS_MAX, "nop")
            "add $64, %[r]\n\t"
            "dec %[n]\n\t"
            "jnz 1b"
            /* clang-format on */
            : [r] "+r"(record), [n] "+r"(records), [e] "+r"(entry), [x] "=&r"(word)
            : [a] "r"(array_bytes), [a3] "r"(3 * array_bytes)
            : "rax", "memory", "cc");
}

static void run(struct kernel_share *share, uint64_t passes)
{
        const struct kernel_parameters *parameters = share->parameters;
        uint64_t records = records_of(parameters);
        for (; passes > 0; passes--) {
                if (parameters->delay_nops)
                        read_records_delayed(share->buffer.addr, records * RECORD_BYTES,
                                             records, parameters->delay_nops);
                else
                        read_records(share->buffer.addr, records * RECORD_BYTES, records);
        }
}

static void count(const struct kernel_parameters *parameters,
                  struct kernel_counts *counts)
{
        uint64_t part = records_of(parameters) * ARRAYS;
        uint64_t loads = part * parameters->threads;
        *counts = (struct kernel_counts){
            .accesses = part,
            .bytes = loads * RECORD_BYTES,
            .loads = loads,
            .lines_read = loads,
        };
}

const struct kernel kernel_memread = {
    .name = "memread",
    .summary = "Four arrays read side by side, with NOPs between (H20)",
    .takes = TAKES_SIZE | TAKES_DELAY | TAKES_PAGES,
    .defaults = {.size_bytes = 256 << 20, .pages = PAGES_HUGE},
    .check = check,
    .prepare = prepare,
    .run = run,
    .count = count,
};
