/* SPDX-License-Identifier: MIT */
/* DDOT, DGEMV and DGEMM as in B20: known traffic, because each pass starts with flushed
 * caches. Plain scalar loops, one element per instruction. */
#include <emmintrin.h>
#include <errno.h>
#include <math.h>

#include "kernel.h"

static int map_ones(struct kernel_share *share, uint64_t elements, struct diag *diag)
{
        const struct kernel_parameters *parameters = share->parameters;
        int rc = buffer_map(elements * sizeof(double), parameters->pages,
                            parameters->node, &share->buffer, diag);
        double *values = share->buffer.addr;
        for (uint64_t i = 0; rc == 0 && i < elements; i++)
                values[i] = 1;
        return rc;
}

static void flush(struct kernel_share *share)
{
        const char *base = share->buffer.addr;
        uint64_t bytes = share->buffer.bytes;
        for (uint64_t i = 0; i < bytes; i += KERNEL_LINE_BYTES)
                _mm_clflush(base + i);
        _mm_mfence();
}

static uint64_t lines(uint64_t elements)
{
        return elements * sizeof(double) / KERNEL_LINE_BYTES;
}

/* LEAST_ELEMENTS: elements of all operands of one thread, with N = 8. */
static int check_size(const struct kernel_parameters *parameters, uint64_t least_elements,
                      struct diag *diag)
{
        uint64_t least_bytes = least_elements * sizeof(double) * parameters->threads;
        if (parameters->size_bytes >= least_bytes)
                return 0;
        return diag_set(
            diag, -EINVAL,
            "the size is too small for eight elements a side: it must be %llu "
            "bytes or more with %u thread%s",
            (unsigned long long)least_bytes, parameters->threads,
            parameters->threads == 1 ? "" : "s");
}

/* Rounds to whole cache lines: no line belongs to two operands. */
static uint64_t whole_lines(double elements)
{
        return (uint64_t)elements / 8 * 8;
}

/* Returns N. The checks ensure at least 8: compilers then omit code for empty loops. */
static inline uint64_t some(uint64_t n)
{
        if (n == 0)
                __builtin_unreachable();
        return n;
}

/* ---- DDOT: two vectors of N ---- */

static uint64_t ddot_n(const struct kernel_parameters *parameters)
{
        return whole_lines((double)kernel_part_bytes(parameters) / (2 * sizeof(double)));
}

static int ddot_check(const struct kernel_parameters *parameters, struct diag *diag)
{
        return check_size(parameters, 2 * 8, diag);
}

static int ddot_prepare(struct kernel_share *share, struct diag *diag)
{
        return map_ones(share, 2 * ddot_n(share->parameters), diag);
}

static void ddot_run(struct kernel_share *share, uint64_t passes)
{
        uint64_t n = some(ddot_n(share->parameters));
        const double *x = share->buffer.addr, *y = x + n;
        for (; passes > 0; passes--) {
                double sum = 0;
                for (uint64_t i = 0; i < n; i++)
                        sum += x[i] * y[i];
                share->sum += sum;
                __asm__ volatile("" ::: "memory");
        }
}

static void ddot_count(const struct kernel_parameters *parameters,
                       struct kernel_counts *counts)
{
        uint64_t n = ddot_n(parameters), threads = parameters->threads;
        *counts = (struct kernel_counts){
            .accesses = n,
            .bytes = threads * 2 * n * sizeof(double),
            .loads = threads * 2 * n,
            .lines_read = threads * 2 * lines(n),
            .flops = threads * 2 * n,
        };
}

const struct kernel kernel_ddot = {
    .name = "ddot",
    .summary = "Dot product, from memory (B20)",
    .takes = TAKES_SIZE | TAKES_PAGES,
    .defaults = {.size_bytes = 64 << 20, .pages = PAGES_HUGE},
    .check = ddot_check,
    .prepare = ddot_prepare,
    .flush = flush,
    .run = ddot_run,
    .count = ddot_count,
};

/* ---- DGEMV: y = A x, A of N by N ---- */

static uint64_t dgemv_n(const struct kernel_parameters *parameters)
{
        double elements = (double)kernel_part_bytes(parameters) / sizeof(double);
        return whole_lines(sqrt(elements + 1) - 1);
}

static int dgemv_check(const struct kernel_parameters *parameters, struct diag *diag)
{
        return check_size(parameters, 8 * 8 + 2 * 8, diag);
}

static int dgemv_prepare(struct kernel_share *share, struct diag *diag)
{
        uint64_t n = dgemv_n(share->parameters);
        return map_ones(share, n * n + 2 * n, diag);
}

static void dgemv_run(struct kernel_share *share, uint64_t passes)
{
        uint64_t n = some(dgemv_n(share->parameters));
        const double *a = share->buffer.addr, *x = a + n * n;
        double *y = (double *)share->buffer.addr + n * n + n;
        for (; passes > 0; passes--) {
                for (uint64_t i = 0; i < n; i++) {
                        double sum = 0;
                        for (uint64_t j = 0; j < n; j++)
                                sum += a[i * n + j] * x[j];
                        y[i] = sum;
                }
                __asm__ volatile("" ::: "memory");
        }
}

static void dgemv_count(const struct kernel_parameters *parameters,
                        struct kernel_counts *counts)
{
        uint64_t n = dgemv_n(parameters), threads = parameters->threads;
        *counts = (struct kernel_counts){
            .accesses = n * n,
            .bytes = threads * (n * n + 2 * n) * sizeof(double),
            .loads = threads * 2 * n * n,
            .stores = threads * n,
            .lines_read = threads * lines(n * n + 2 * n),
            .lines_written = threads * lines(n),
            .flops = threads * 2 * n * n,
        };
}

const struct kernel kernel_dgemv = {
    .name = "dgemv",
    .summary = "Matrix times vector, from memory (B20)",
    .takes = TAKES_SIZE | TAKES_PAGES,
    .defaults = {.size_bytes = 64 << 20, .pages = PAGES_HUGE},
    .check = dgemv_check,
    .prepare = dgemv_prepare,
    .flush = flush,
    .run = dgemv_run,
    .count = dgemv_count,
};

/* ---- DGEMM: C = A B, each N by N ---- */

static uint64_t dgemm_n(const struct kernel_parameters *parameters)
{
        return whole_lines(
            sqrt((double)kernel_part_bytes(parameters) / (3 * sizeof(double))));
}

static int dgemm_check(const struct kernel_parameters *parameters, struct diag *diag)
{
        return check_size(parameters, 3 * 8 * 8, diag);
}

static int dgemm_prepare(struct kernel_share *share, struct diag *diag)
{
        uint64_t n = dgemm_n(share->parameters);
        return map_ones(share, 3 * n * n, diag);
}

/* Goes through C row by row: B streams. Each element of A's row takes N loads of B and N
 * of C. */
static void dgemm_run(struct kernel_share *share, uint64_t passes)
{
        uint64_t n = some(dgemm_n(share->parameters));
        double *a = share->buffer.addr, *b = a + n * n, *c = b + n * n;
        for (; passes > 0; passes--) {
                for (uint64_t i = 0; i < n; i++)
                        for (uint64_t k = 0; k < n; k++) {
                                double factor = a[i * n + k];
                                for (uint64_t j = 0; j < n; j++)
                                        c[i * n + j] += factor * b[k * n + j];
                        }
                __asm__ volatile("" ::: "memory");
        }
}

/* Lines: for matrices that fit the last cache, and are read once. */
static void dgemm_count(const struct kernel_parameters *parameters,
                        struct kernel_counts *counts)
{
        uint64_t n = dgemm_n(parameters), threads = parameters->threads;
        *counts = (struct kernel_counts){
            .accesses = n * n * n,
            .bytes = threads * 3 * n * n * sizeof(double),
            .loads = threads * (2 * n * n * n + n * n),
            .stores = threads * n * n * n,
            .lines_read = threads * 3 * lines(n * n),
            .lines_written = threads * lines(n * n),
            .flops = threads * 2 * n * n * n,
        };
}

const struct kernel kernel_dgemm = {
    .name = "dgemm",
    .summary = "Matrix times matrix, from memory (B20)",
    .takes = TAKES_SIZE | TAKES_PAGES,
    .defaults = {.size_bytes = 1 << 20, .pages = PAGES_HUGE},
    .check = dgemm_check,
    .prepare = dgemm_prepare,
    .flush = flush,
    .run = dgemm_run,
    .count = dgemm_count,
};
