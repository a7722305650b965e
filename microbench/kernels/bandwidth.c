/* SPDX-License-Identifier: MIT */
/* Only loads, stores or non-temporal stores of a chosen width, from the first byte to the
 * last: measures the bandwidth of the level that holds the data (M17's table). */
#include <errno.h>

#include "kernel.h"

enum { UNROLL = 8, LONGEST_BYTES = 64, STEP_BYTES = UNROLL * LONGEST_BYTES };

static uint64_t bytes_of(const struct kernel_parameters *parameters)
{
        return kernel_part_bytes(parameters) / STEP_BYTES * STEP_BYTES;
}

static int check(const struct kernel_parameters *parameters, struct diag *diag)
{
        if (bytes_of(parameters) == 0)
                return diag_set(diag, -EINVAL, "at least %d bytes a thread", STEP_BYTES);
        switch (parameters->width_bits) {
        case 64:
        case 128:
                return 0;
        case 256:
                if (__builtin_cpu_supports("avx"))
                        return 0;
                break;
        case 512:
                if (__builtin_cpu_supports("avx512f"))
                        return 0;
                break;
        default:
                return diag_set(diag, -EINVAL,
                                "a width of %u bits is none of 64, 128, 256 and 512",
                                parameters->width_bits);
        }
        return diag_set(diag, -EINVAL, "this CPU has no %u-bit registers",
                        parameters->width_bits);
}

static int prepare(struct kernel_share *share, struct diag *diag)
{
        const struct kernel_parameters *parameters = share->parameters;
        uint64_t bytes = bytes_of(parameters);
        int rc =
            buffer_map(bytes, parameters->pages, parameters->node, &share->buffer, diag);
        uint64_t *words = share->buffer.addr;
        for (uint64_t i = 0; rc == 0 && i < bytes / sizeof(*words); i++)
                words[i] = i;
        return rc;
}

/* INSTRUCTION(n) is one access at n widths from %[p]. */
#define PASS(instruction, width_bytes)                                                   \
        __asm__ volatile(                                                                \
            "1:\n\t" instruction("0*" #width_bytes) instruction("1*" #width_bytes)       \
                instruction("2*" #width_bytes) instruction("3*" #width_bytes)            \
                    instruction("4*" #width_bytes) instruction("5*" #width_bytes)        \
                        instruction("6*" #width_bytes)                                   \
                            instruction("7*" #width_bytes) "add $8*" #width_bytes        \
                                                           ", %[p]\n\t"                  \
                                                           "cmp %[end], %[p]\n\t"        \
                                                           "jb 1b"                       \
            : [p] "+r"(p)                                                                \
            : [end] "r"(end)                                                             \
            : "rax", "xmm0", "memory", "cc")

#define LOAD_64(at)         "mov " at "(%[p]), %%rax\n\t"
#define LOAD_128(at)        "movaps " at "(%[p]), %%xmm0\n\t"
#define LOAD_256(at)        "vmovaps " at "(%[p]), %%ymm0\n\t"
#define LOAD_512(at)        "vmovaps " at "(%[p]), %%zmm0\n\t"
#define STORE_64(at)        "mov %%rax, " at "(%[p])\n\t"
#define STORE_128(at)       "movaps %%xmm0, " at "(%[p])\n\t"
#define STORE_256(at)       "vmovaps %%ymm0, " at "(%[p])\n\t"
#define STORE_512(at)       "vmovaps %%zmm0, " at "(%[p])\n\t"
#define NONTEMPORAL_64(at)  "movnti %%rax, " at "(%[p])\n\t"
#define NONTEMPORAL_128(at) "movntps %%xmm0, " at "(%[p])\n\t"
#define NONTEMPORAL_256(at) "vmovntps %%ymm0, " at "(%[p])\n\t"
#define NONTEMPORAL_512(at) "vmovntps %%zmm0, " at "(%[p])\n\t"

/* A function that passes from P to END by one kind of instruction. */
#define PASS_BY_WIDTH(name, instruction)                                                 \
        static void name(const char *p, const char *end, uint32_t width_bits)            \
        {                                                                                \
                switch (width_bits) {                                                    \
                case 64:                                                                 \
                        PASS(instruction##_64, 8);                                       \
                        return;                                                          \
                case 128:                                                                \
                        PASS(instruction##_128, 16);                                     \
                        return;                                                          \
                case 256:                                                                \
                        PASS(instruction##_256, 32);                                     \
                        break;                                                           \
                case 512:                                                                \
                        PASS(instruction##_512, 64);                                     \
                        break;                                                           \
                }                                                                        \
                __asm__ volatile("vzeroupper");                                          \
        }

PASS_BY_WIDTH(load_pass, LOAD)
PASS_BY_WIDTH(store_pass, STORE)
PASS_BY_WIDTH(nontemporal_pass, NONTEMPORAL)

static void run_load(struct kernel_share *share, uint64_t passes)
{
        const char *begin = share->buffer.addr;
        for (; passes > 0; passes--)
                load_pass(begin, begin + bytes_of(share->parameters),
                          share->parameters->width_bits);
}

static void run_store(struct kernel_share *share, uint64_t passes)
{
        const char *begin = share->buffer.addr;
        for (; passes > 0; passes--)
                store_pass(begin, begin + bytes_of(share->parameters),
                           share->parameters->width_bits);
}

static void run_nontemporal(struct kernel_share *share, uint64_t passes)
{
        const char *begin = share->buffer.addr;
        for (; passes > 0; passes--) {
                nontemporal_pass(begin, begin + bytes_of(share->parameters),
                                 share->parameters->width_bits);
                __asm__ volatile("sfence" ::: "memory");
        }
}

static uint64_t accesses_of(const struct kernel_parameters *parameters)
{
        return bytes_of(parameters) / (parameters->width_bits / 8);
}

static void count_load(const struct kernel_parameters *parameters,
                       struct kernel_counts *counts)
{
        uint64_t bytes = bytes_of(parameters) * parameters->threads;
        *counts = (struct kernel_counts){
            .accesses = accesses_of(parameters),
            .bytes = bytes,
            .loads = accesses_of(parameters) * parameters->threads,
            .lines_read = bytes / KERNEL_LINE_BYTES,
        };
}

static void count_store(const struct kernel_parameters *parameters,
                        struct kernel_counts *counts)
{
        uint64_t bytes = bytes_of(parameters) * parameters->threads;
        *counts = (struct kernel_counts){
            .accesses = accesses_of(parameters),
            .bytes = bytes,
            .stores = accesses_of(parameters) * parameters->threads,
            .lines_read = bytes / KERNEL_LINE_BYTES,
            .lines_written = bytes / KERNEL_LINE_BYTES,
        };
}

static void count_nontemporal(const struct kernel_parameters *parameters,
                              struct kernel_counts *counts)
{
        count_store(parameters, counts);
        counts->lines_read = 0;
}

const struct kernel kernel_load = {
    .name = "load",
    .summary = "Loads of one width, one after another",
    .takes = TAKES_SIZE | TAKES_WIDTH | TAKES_PAGES,
    .defaults = {.size_bytes = 256 << 20, .width_bits = 128, .pages = PAGES_HUGE},
    .check = check,
    .prepare = prepare,
    .run = run_load,
    .count = count_load,
};

const struct kernel kernel_store = {
    .name = "store",
    .summary = "Stores of one width, one after another",
    .takes = TAKES_SIZE | TAKES_WIDTH | TAKES_PAGES,
    .defaults = {.size_bytes = 256 << 20, .width_bits = 128, .pages = PAGES_HUGE},
    .check = check,
    .prepare = prepare,
    .run = run_store,
    .count = count_store,
};

const struct kernel kernel_nontemporal = {
    .name = "nontemporal",
    .summary = "Non-temporal stores of one width, one after another",
    .takes = TAKES_SIZE | TAKES_WIDTH | TAKES_PAGES,
    .defaults = {.size_bytes = 256 << 20, .width_bits = 128, .pages = PAGES_HUGE},
    .check = check,
    .prepare = prepare,
    .run = run_nontemporal,
    .count = count_nontemporal,
};
