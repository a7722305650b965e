/* SPDX-License-Identifier: MIT */
/* Pointer chases: the value of each load is the next address, so exactly one load is
 * outstanding. The time per access is the latency of the level that holds the data (M17's
 * plain chase and its two variants with multiplications; B20's six regions). */
#include <errno.h>
#include <stdlib.h>

#include "kernel.h"
#include "random.h"
#include "sled.h"

static uint64_t elements_of(const struct kernel_parameters *parameters)
{
        return kernel_part_bytes(parameters) / parameters->stride_bytes;
}

static int check(const struct kernel_parameters *parameters, struct diag *diag)
{
        if (parameters->stride_bytes < sizeof(void *) || parameters->stride_bytes % 8)
                return diag_set(diag, -EINVAL, "a stride of %u bytes is no multiple of 8",
                                parameters->stride_bytes);
        if (elements_of(parameters) < 2 || elements_of(parameters) > UINT32_MAX)
                return diag_set(diag, -EINVAL,
                                "%llu bytes for each thread hold %llu steps of %u bytes: "
                                "there must be from 2 to 2^32 - 1",
                                (unsigned long long)kernel_part_bytes(parameters),
                                (unsigned long long)elements_of(parameters),
                                parameters->stride_bytes);
        if (parameters->block_bytes && parameters->sequential)
                return diag_set(
                    diag, -EINVAL,
                    "--block is of a random order: with --order sequential it "
                    "does nothing");
        if (parameters->block_bytes &&
            parameters->block_bytes / parameters->stride_bytes < 2)
                return diag_set(diag, -EINVAL,
                                "a block of %llu bytes holds less than two steps of %u "
                                "bytes, so that nothing in it is random",
                                (unsigned long long)parameters->block_bytes,
                                parameters->stride_bytes);
        if (parameters->independent_multiplications > MULTIPLICATIONS_MAX ||
            parameters->dependent_multiplications > MULTIPLICATIONS_MAX)
                return diag_set(diag, -EINVAL, "at most %d multiplications per load",
                                MULTIPLICATIONS_MAX);
        if (parameters->independent_multiplications &&
            parameters->dependent_multiplications)
                return diag_set(diag, -EINVAL,
                                "multiplications are dependent or independent, not both");
        return 0;
}

/* The elements in visiting order. */
static void fill_order(uint32_t *order, uint64_t elements, uint64_t block_elements,
                       struct random *random)
{
        for (uint64_t i = 0; i < elements; i++)
                order[i] = (uint32_t)i;
        for (uint64_t first = 0; first < elements; first += block_elements) {
                uint64_t count =
                    elements - first < block_elements ? elements - first : block_elements;
                for (uint64_t i = count - 1; i > 0; i--) {
                        uint64_t j = random_below(random, i + 1);
                        uint32_t kept = order[first + i];
                        order[first + i] = order[first + j];
                        order[first + j] = kept;
                }
        }
}

static uint64_t block_elements_of(const struct kernel_parameters *parameters)
{
        uint64_t elements = elements_of(parameters);
        uint64_t block = parameters->block_bytes / parameters->stride_bytes;
        if (parameters->sequential)
                return 1;
        return parameters->block_bytes && block < elements ? block : elements;
}

static int prepare(struct kernel_share *share, struct diag *diag)
{
        const struct kernel_parameters *parameters = share->parameters;
        uint64_t elements = elements_of(parameters);
        uint32_t *order = calloc(elements, sizeof(*order));
        if (!order)
                return diag_set(diag, -ENOMEM, "no memory for the order of a chase");
        int rc = buffer_map(elements * parameters->stride_bytes, parameters->pages,
                            parameters->node, &share->buffer, diag);
        if (rc == 0) {
                struct random random = random_seeded(share->thread);
                char *base = share->buffer.addr;
                uint64_t stride = parameters->stride_bytes;
                fill_order(order, elements, block_elements_of(parameters), &random);
                for (uint64_t i = 0; i < elements; i++)
                        *(void **)(base + order[i] * stride) =
                            base + order[(i + 1) % elements] * stride;
                share->position = base + order[0] * stride;
                for (uint64_t i = 0; i < KERNEL_CHASES; i++)
                        share->positions[i] =
                            base + order[i * elements / KERNEL_CHASES] * stride;
        }
        free(order);
        return rc;
}

KERNEL_LOOP static void *chase_plain(void *position, uint64_t steps)
{
        __asm__ volatile("1:\n\t"
                         "mov (%[p]), %[p]\n\t"
                         "dec %[n]\n\t"
                         "jnz 1b"
                         : [p] "+r"(position), [n] "+r"(steps)
                         :
                         : "memory", "cc");
        return position;
}

/* Also loads another word of each line. This load depends on nothing else than the first
 * one, and hits the fill buffer of the outstanding line. */
KERNEL_LOOP static void *chase_pairs(void *position, uint64_t steps)
{
        uint64_t word;
        __asm__ volatile("1:\n\t"
                         "mov 8(%[p]), %[x]\n\t"
                         "mov (%[p]), %[p]\n\t"
                         "dec %[n]\n\t"
                         "jnz 1b"
                         : [p] "+r"(position), [n] "+r"(steps), [x] "=&r"(word)
                         :
                         : "memory", "cc");
        return position;
}

KERNEL_LOOP static void *chase_dependent(void *position, uint64_t steps,
                                         uint64_t multiplications)
{
        uint64_t entry = multiplications;
        __asm__ volatile(
            /* clang-format off */
            SLED_ENTRY(MULTIPLICATION_BYTES)
            "1:\n\t"
            "mov (%[p]), %[p]\n\t"
            SLED(MULTIPLICATIONS_MAX, "imul $1, %[p], %[p]")
            "dec %[n]\n\t"
            "jnz 1b"
            /* clang-format on */
            : [p] "+r"(position), [n] "+r"(steps), [e] "+r"(entry)
            :
            : "rax", "memory", "cc");
        return position;
}

/* Four independent chains beside the chase. The next iteration reads each result: binary
 * translators cannot remove any. With a latency of three cycles, four multiplications
 * take a cycle each. */
#define FOUR_MULTIPLICATIONS                                                             \
        "imul $1, %[a], %[a]\n\t"                                                        \
        "imul $1, %[b], %[b]\n\t"                                                        \
        "imul $1, %[c], %[c]\n\t"                                                        \
        "imul $1, %[d], %[d]"

KERNEL_LOOP static void *chase_independent(void *position, uint64_t steps,
                                           uint64_t multiplications)
{
        uint64_t entry = multiplications, a = 1, b = 1, c = 1, d = 1;
        __asm__ volatile(
            /* clang-format off */
            SLED_ENTRY(MULTIPLICATION_BYTES)
            "1:\n\t"
            "mov (%[p]), %[p]\n\t"
            SLED((MULTIPLICATIONS_MAX / 4), FOUR_MULTIPLICATIONS)
            "dec %[n]\n\t"
            "jnz 1b"
            /* clang-format on */
            : [p] "+r"(position), [n] "+r"(steps), [e] "+r"(entry), [a] "+r"(a),
              [b] "+r"(b), [c] "+r"(c), [d] "+r"(d)
            :
            : "rax", "memory", "cc");
        return position;
}

void chase_steps(struct kernel_share *share, uint64_t steps)
{
        const struct kernel_parameters *parameters = share->parameters;
        if (parameters->dependent_multiplications)
                share->position = chase_dependent(share->position, steps,
                                                  parameters->dependent_multiplications);
        else if (parameters->independent_multiplications)
                share->position = chase_independent(
                    share->position, steps, parameters->independent_multiplications);
        else
                share->position = chase_plain(share->position, steps);
}

KERNEL_LOOP static void chase_many(void **p, uint64_t steps)
{
        __asm__ volatile("1:\n\t"
                         "mov (%0), %0\n\tmov (%1), %1\n\tmov (%2), %2\n\t"
                         "mov (%3), %3\n\tmov (%4), %4\n\tmov (%5), %5\n\t"
                         "mov (%6), %6\n\tmov (%7), %7\n\t"
                         "dec %[n]\n\t"
                         "jnz 1b"
                         : "+r"(p[0]), "+r"(p[1]), "+r"(p[2]), "+r"(p[3]), "+r"(p[4]),
                           "+r"(p[5]), "+r"(p[6]), "+r"(p[7]), [n] "+r"(steps)
                         :
                         : "memory", "cc");
}

void chase_overlapping_steps(struct kernel_share *share, uint64_t steps)
{
        chase_many(share->positions, steps / KERNEL_CHASES);
}

static void run(struct kernel_share *share, uint64_t passes)
{
        chase_steps(share, elements_of(share->parameters) * passes);
}

static void run_pairs(struct kernel_share *share, uint64_t passes)
{
        share->position =
            chase_pairs(share->position, elements_of(share->parameters) * passes);
}

static void count(const struct kernel_parameters *parameters,
                  struct kernel_counts *counts)
{
        uint64_t loads = elements_of(parameters) * parameters->threads;
        uint64_t lines = loads;
        if (parameters->stride_bytes < KERNEL_LINE_BYTES)
                lines =
                    parameters->threads * (elements_of(parameters) *
                                           parameters->stride_bytes / KERNEL_LINE_BYTES);
        *counts = (struct kernel_counts){
            .accesses = elements_of(parameters),
            .bytes = loads * sizeof(void *),
            .loads = loads,
            .lines_read = lines,
        };
}

static void count_pairs(const struct kernel_parameters *parameters,
                        struct kernel_counts *counts)
{
        count(parameters, counts);
        counts->bytes *= 2;
        counts->loads *= 2;
}

const struct kernel kernel_chase = {
    .name = "chase",
    .summary = "Loads whose address is the value of the one before",
    .takes =
        TAKES_SIZE | TAKES_STRIDE | TAKES_ORDER | TAKES_MULTIPLICATIONS | TAKES_PAGES,
    .defaults = {.size_bytes = 256 << 20,
                 .stride_bytes = KERNEL_LINE_BYTES,
                 .pages = PAGES_HUGE},
    .check = check,
    .prepare = prepare,
    .run = run,
    .count = count,
};

/* One line per page, at changing positions in the page: the caches hold the lines, but
 * the TLB does not hold the pages. */
const struct kernel kernel_tlb = {
    .name = "tlb",
    .summary = "A chase that steps from page to page",
    .takes = TAKES_SIZE | TAKES_STRIDE | TAKES_PAGES,
    .defaults = {.size_bytes = 64 << 20,
                 .stride_bytes = 4096 + KERNEL_LINE_BYTES,
                 .pages = PAGES_SMALL},
    .check = check,
    .prepare = prepare,
    .run = run,
    .count = count,
};

const struct kernel kernel_pairs = {
    .name = "pairs",
    .summary = "A chase with two loads of each line: a miss and a fill buffer hit",
    .takes = TAKES_SIZE | TAKES_STRIDE | TAKES_ORDER | TAKES_PAGES,
    .defaults = {.size_bytes = 256 << 20,
                 .stride_bytes = KERNEL_LINE_BYTES,
                 .pages = PAGES_HUGE},
    .check = check,
    .prepare = prepare,
    .run = run_pairs,
    .count = count_pairs,
};
