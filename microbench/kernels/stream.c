/* SPDX-License-Identifier: MIT */
/* The four STREAM kernels over double arrays, two elements per instruction (SSE2). A
 * written line is read first: triad reads three arrays and writes one. */
#include <emmintrin.h>
#include <errno.h>

#include "kernel.h"

enum { ARRAYS = 3, STEP = 2 };

static uint64_t elements_of(const struct kernel_parameters *parameters)
{
        const uint64_t line_elements = KERNEL_LINE_BYTES / sizeof(double);
        return kernel_part_bytes(parameters) / (ARRAYS * sizeof(double)) / line_elements *
               line_elements;
}

static int check(const struct kernel_parameters *parameters, struct diag *diag)
{
        if (elements_of(parameters) == 0)
                return diag_set(diag, -EINVAL, "STREAM needs at least %d bytes a thread",
                                ARRAYS * KERNEL_LINE_BYTES);
        return 0;
}

static int prepare(struct kernel_share *share, struct diag *diag)
{
        const struct kernel_parameters *parameters = share->parameters;
        uint64_t elements = elements_of(parameters);
        int rc = buffer_map(ARRAYS * elements * sizeof(double), parameters->pages,
                            parameters->node, &share->buffer, diag);
        double *values = share->buffer.addr;
        for (uint64_t i = 0; rc == 0 && i < ARRAYS * elements; i++)
                values[i] = 1;
        return rc;
}

static void copy(double *a, const double *b, const double *c, uint64_t elements)
{
        (void)c;
        for (uint64_t i = 0; i < elements; i += STEP)
                _mm_store_pd(a + i, _mm_load_pd(b + i));
}

static void scale(double *a, const double *b, const double *c, uint64_t elements)
{
        __m128d factor = _mm_set1_pd(0.5);
        (void)c;
        for (uint64_t i = 0; i < elements; i += STEP)
                _mm_store_pd(a + i, _mm_mul_pd(factor, _mm_load_pd(b + i)));
}

static void add(double *a, const double *b, const double *c, uint64_t elements)
{
        for (uint64_t i = 0; i < elements; i += STEP)
                _mm_store_pd(a + i, _mm_add_pd(_mm_load_pd(b + i), _mm_load_pd(c + i)));
}

static void triad(double *a, const double *b, const double *c, uint64_t elements)
{
        __m128d factor = _mm_set1_pd(0.5);
        for (uint64_t i = 0; i < elements; i += STEP)
                _mm_store_pd(a + i, _mm_add_pd(_mm_load_pd(b + i),
                                               _mm_mul_pd(factor, _mm_load_pd(c + i))));
}

typedef void stream_loop(double *a, const double *b, const double *c, uint64_t elements);

static inline void repeat(struct kernel_share *share, uint64_t passes, stream_loop *loop)
{
        uint64_t elements = elements_of(share->parameters);
        double *a = share->buffer.addr;
        for (; passes > 0; passes--) {
                loop(a, a + elements, a + 2 * elements, elements);
                __asm__ volatile("" ::: "memory");
        }
}

static inline void count(const struct kernel_parameters *parameters,
                         struct kernel_counts *counts, uint64_t arrays_read,
                         uint64_t flops)
{
        uint64_t elements = elements_of(parameters) * parameters->threads;
        uint64_t array_lines = elements * sizeof(double) / KERNEL_LINE_BYTES;
        *counts = (struct kernel_counts){
            .accesses = elements_of(parameters),
            .bytes = (arrays_read + 1) * elements * sizeof(double),
            .loads = arrays_read * elements / STEP,
            .stores = elements / STEP,
            .lines_read = (arrays_read + 1) * array_lines,
            .lines_written = array_lines,
            .flops = flops * elements,
        };
}

#define STREAM_KERNEL(loop, text, arrays_read, flops)                                    \
        static void run_##loop(struct kernel_share *share, uint64_t passes)              \
        {                                                                                \
                repeat(share, passes, loop);                                             \
        }                                                                                \
        static void count_##loop(const struct kernel_parameters *parameters,             \
                                 struct kernel_counts *counts)                           \
        {                                                                                \
                count(parameters, counts, arrays_read, flops);                           \
        }                                                                                \
        const struct kernel kernel_##loop = {                                            \
            .name = #loop,                                                               \
            .summary = text,                                                             \
            .takes = TAKES_SIZE | TAKES_PAGES,                                           \
            .defaults = {.size_bytes = 192 << 20, .pages = PAGES_HUGE},                  \
            .check = check,                                                              \
            .prepare = prepare,                                                          \
            .run = run_##loop,                                                           \
            .count = count_##loop,                                                       \
        }

STREAM_KERNEL(copy, "STREAM: a[i] = b[i]", 1, 0);
STREAM_KERNEL(scale, "STREAM: a[i] = s * b[i]", 1, 1);
STREAM_KERNEL(add, "STREAM: a[i] = b[i] + c[i]", 2, 1);
STREAM_KERNEL(triad, "STREAM: a[i] = b[i] + s * c[i]", 2, 2);
