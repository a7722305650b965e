/* SPDX-License-Identifier: MIT */
/* Survey of arithmetic: the latency of results, in registers and through memory, and the
 * interval between independent divisions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "survey.h"

enum { REPEATED = 100 };

/* COUNT times a hundred STEPs, on numbers with all bits in use that neither grow nor
 * vanish. */
#define LOOP(NAME, STEP)                                                                 \
        static void NAME(uint64_t count)                                                 \
        {                                                                                \
                double x = 1.5, y = 1.5, z = 1.5, u = 1.5;                               \
                const double v = 2.718281828459045, one = 1.0000000000000002;            \
                uint64_t cell[2] = {0, 0}; /* for chains through memory */               \
                _Alignas(128) char lines[128];                                           \
                char *self = lines + 60; /* crosses a line boundary */                   \
                memcpy(self, &self, sizeof(self));                                       \
                __asm__ volatile("mov %[b], %%ecx\n\t1:\n\t.rept 100\n\t" STEP           \
                                 "\n\t.endr\n\t"                                         \
                                 "dec %[n]\n\tjnz 1b"                                    \
                                 : [n] "+r"(count), [x] "+x"(x), [y] "+x"(y),            \
                                   [z] "+x"(z), [u] "+x"(u), [s] "+r"(self)              \
                                 : [v] "x"(v), [one] "x"(one), [a] "r"(1u << 31),        \
                                   [b] "r"(12345u), [p] "r"(cell), [q] "r"(cell)         \
                                 : "rax", "rcx", "rdx", "cc", "memory");                 \
        }

LOOP(multiply, "imul %%rcx, %%rcx")
/* Divides 2^31 by the previous quotient, which alternates between two values. */
LOOP(divide, "mov %[a], %%eax\n\txor %%edx, %%edx\n\tdiv %%ecx\n\t"
             "mov %%eax, %%ecx")
LOOP(divide_apart, "mov %[a], %%eax\n\txor %%edx, %%edx\n\tdiv %[b]")
LOOP(float_add, "addsd %[v], %[x]")
LOOP(float_multiply, "mulsd %[one], %[x]")
LOOP(float_fma, "vfmadd213sd %[v], %[one], %[x]")
LOOP(float_divide, "divsd %[one], %[x]")
LOOP(float_sqrt_and_multiply, "sqrtsd %[x], %[x]\n\tmulsd %[v], %[x]")
LOOP(float_divide_apart, "divsd %[one], %[x]\n\tdivsd %[one], %[y]\n\t"
                         "divsd %[one], %[z]\n\tdivsd %[one], %[u]")

/* Chains through memory: with bytes, which no core renames, and with registers, with
 * equal or different address expressions in store and load. */
#define FOUR_ADDITIONS ".rept 4\n\tadd $1, %%rax\n\t.endr\n\t"
LOOP(forward_byte, "movzbl (%[p]), %%eax\n\tadd $1, %%eax\n\tmovb %%al, (%[p])")
LOOP(forward_alike, "mov (%[p]), %%rax\n\t" FOUR_ADDITIONS "mov %%rax, (%[p])")
LOOP(forward_unlike, "mov (%[q]), %%rax\n\t" FOUR_ADDITIONS "mov %%rax, (%[p])")
/* Stores a byte and loads more bytes: the load must wait until the store is in L1. */
LOOP(unforwarded, "movb %%al, (%[p])\n\tmov (%[p]), %%rax")
/* The next locked instruction waits for the one before. */
LOOP(locked, "lock addq $1, (%[p])")
/* Loads across a line boundary, from a place that holds its address. */
LOOP(split, "mov (%[s]), %[s]")
LOOP(forward_vector, "movups (%[p]), %[x]\n\tmovups %[x], (%[p])")

enum kind {
        MULTIPLY,
        DIVIDE,
        DIVIDE_APART,
        FLOAT_ADD,
        FLOAT_MULTIPLY,
        FLOAT_FMA,
        FLOAT_DIVIDE,
        FLOAT_SQRT_AND_MULTIPLY,
        FLOAT_DIVIDE_APART,
        FORWARD_BYTE,
        FORWARD_ALIKE,
        FORWARD_UNLIKE,
        FORWARD_VECTOR,
        UNFORWARDED,
        LOCKED,
        SPLIT,
        KINDS
};

static const struct {
        const char *key;
        void (*run)(uint64_t count);
        unsigned results; /* per step */
} kinds[KINDS] = {
    [MULTIPLY] = {"multiply_cycles", multiply, 1},
    [DIVIDE] = {"divide_cycles", divide, 1},
    [DIVIDE_APART] = {"divide_interval_cycles", divide_apart, 1},
    [FLOAT_ADD] = {"float_add_cycles", float_add, 1},
    [FLOAT_MULTIPLY] = {"float_multiply_cycles", float_multiply, 1},
    [FLOAT_FMA] = {"float_fma_cycles", float_fma, 1},
    [FLOAT_DIVIDE] = {"float_divide_cycles", float_divide, 1},
    [FLOAT_SQRT_AND_MULTIPLY] = {"float_sqrt_cycles", float_sqrt_and_multiply, 1},
    [FLOAT_DIVIDE_APART] = {"float_divide_interval_cycles", float_divide_apart, 4},
    [FORWARD_BYTE] = {"forward_byte_and_addition_cycles", forward_byte, 1},
    [FORWARD_ALIKE] = {"forward_alike_and_4_additions_cycles", forward_alike, 1},
    [FORWARD_UNLIKE] = {"forward_unlike_and_4_additions_cycles", forward_unlike, 1},
    [FORWARD_VECTOR] = {"forward_vector_cycles", forward_vector, 1},
    [UNFORWARDED] = {"unforwarded_cycles", unforwarded, 1},
    [LOCKED] = {"locked_cycles", locked, 1},
    [SPLIT] = {"split_load_cycles", split, 1},
};

struct arithmetic {
        struct series ns[KINDS];
};

static bool has_instruction(enum kind kind)
{
        return kind != FLOAT_FMA || __builtin_cpu_supports("fma");
}

static int arithmetic_sweep(struct survey *survey, void *state, struct diag *diag)
{
        struct arithmetic *arithmetic = state;
        (void)diag;
        survey_progress(survey, "arithmetic");
        for (size_t visit = 0; visit < survey->sweep_visits; visit++)
                for (enum kind kind = 0; kind < KINDS; kind++)
                        if (has_instruction(kind) &&
                            survey_wants(survey, &arithmetic->ns[kind], false))
                                survey_code(survey, kinds[kind].run,
                                            REPEATED * kinds[kind].results,
                                            &arithmetic->ns[kind]);
        return 0;
}

static json_t *arithmetic_result(struct survey *survey, void *state)
{
        struct arithmetic *arithmetic = state;
        struct estimate multiply = {0};
        double error = 0;
        json_t *json = json_object();
        for (enum kind kind = 0; kind < KINDS; kind++) {
                char name[64];
                if (!has_instruction(kind))
                        continue;
                struct estimate ns = survey_estimate(survey, &arithmetic->ns[kind]);
                struct estimate cycles = estimate_times(survey->core_ghz, &ns);
                if (kind == FLOAT_MULTIPLY)
                        multiply = cycles;
                if (kind == FLOAT_SQRT_AND_MULTIPLY)
                        cycles = estimate_sum(&cycles, -1, &multiply);
                snprintf(name, sizeof(name), "arithmetic.%s", kinds[kind].key);
                if (survey_add(survey, json, kinds[kind].key, name, cycles))
                        error = fmax(error, estimate_error(&cycles));
        }
        json_object_set_new(json, "error", survey_number(error));
        return json;
}

const struct survey_part survey_arithmetic = {
    .key = "arithmetic",
    .state_bytes = sizeof(struct arithmetic),
    .sweep = arithmetic_sweep,
    .result = arithmetic_result,
};
