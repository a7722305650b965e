/* SPDX-License-Identifier: MIT */
/* Survey of the core: its clocks, and the operations that it can overlap. */
#include <math.h>
#include <stdlib.h>

#include "core_clock.h"
#include "elapsed.h"
#include "survey.h"

/* ---- clocks ---- */

struct clocks {
        struct series core_ns, tsc_ns; /* per cycle, per tick */
};

static void visit_clocks(struct clocks *clocks)
{
        enum { ROUNDS = 32, REPEATS = 20000 };
        struct series core = {0}, tsc = {0};
        for (size_t i = 0; i < ROUNDS; i++) {
                double seconds = clock_seconds();
                uint64_t begin = clock_tsc();
                core_clock_additions(REPEATS);
                uint64_t ticks = clock_tsc() - begin;
                seconds = clock_seconds() - seconds;
                series_add(&core, seconds * 1e9 / (REPEATS * 100.0), UNDISTURBED);
                series_add(&tsc, seconds * 1e9 / (double)ticks, UNDISTURBED);
        }
        series_add(&clocks->core_ns, series_estimate(&core).value, UNDISTURBED);
        series_add(&clocks->tsc_ns, series_estimate(&tsc).value, UNDISTURBED);
}

static int clocks_sweep(struct survey *survey, void *state, struct diag *diag)
{
        (void)diag;
        survey_progress(survey, "clocks");
        for (size_t visit = 0; visit < survey->sweep_visits; visit++)
                visit_clocks(state);
        return 0;
}

static json_t *clocks_result(struct survey *survey, void *state)
{
        struct clocks *clocks = state;
        struct estimate core = survey_estimate(survey, &clocks->core_ns);
        double error = estimate_error(&core);
        survey->core_ghz = 1 / core.value;
        survey_noise(survey, error, "the core's clock");
        return json_pack("{s:f, s:f, s:o}", "tsc_ghz",
                         1 / series_estimate(&clocks->tsc_ns).value, "core_ghz",
                         survey->core_ghz, "error", survey_number(error));
}

const struct survey_part survey_clocks = {
    .key = "clocks",
    .state_bytes = sizeof(struct clocks),
    .sweep = clocks_sweep,
    .result = clocks_result,
};

/* ---- overlap ---- */

struct core {
        struct series gather_ns; /* per memory load, with others in parallel */
        struct series jump_ns, indirect_jump_ns;      /* per jump to the next line */
        struct series call_ns;                        /* with the return */
        struct series random_ns, never_ns, always_ns; /* per branch with this direction */
        struct series instruction_ns;                 /* per independent instruction */
};

/* COUNT times a hundred almost independent instructions for all kinds of execution units:
 * issue is the bottleneck, no unit is. No NOPs: some cores merge several. */
static void run_independent(uint64_t count)
{
        const uint64_t word = 0;
        __asm__ volatile("1:\n\t"
                         ".rept 10\n\t"
                         "add $1, %%rax\n\t"
                         "paddq %%xmm0, %%xmm1\n\t"
                         "add $1, %%rcx\n\t"
                         "mov %[word], %%r9\n\t"
                         "add $1, %%rdx\n\t"
                         "paddq %%xmm0, %%xmm2\n\t"
                         "mov %[word], %%r10\n\t"
                         "add $1, %%r8\n\t"
                         "paddq %%xmm0, %%xmm3\n\t"
                         "mov %[word], %%r11\n\t"
                         ".endr\n\t"
                         "dec %[n]\n\t"
                         "jnz 1b"
                         : [n] "+r"(count)
                         : [word] "m"(word)
                         : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm1", "xmm2",
                           "xmm3", "cc");
}

/* Predicted jumps, each to the next line, and calls of an empty function. The compiler
 * may use the space below the stack pointer. */
#define JUMPS_LOOP(NAME, STEP, BEHIND)                                                   \
        static void NAME(uint64_t count)                                                 \
        {                                                                                \
                __asm__ volatile("lea -128(%%rsp), %%rsp\n\t"                            \
                                 "1:\n\t.rept 16\n\t" STEP "\n\t.endr\n\t"               \
                                 "dec %[n]\n\tjnz 1b\n\t" BEHIND "\n\t"                  \
                                 "lea 128(%%rsp), %%rsp"                                 \
                                 : [n] "+r"(count)                                       \
                                 :                                                       \
                                 : "rax", "cc", "memory");                               \
        }

JUMPS_LOOP(run_jumps, "jmp 2f\n\t.p2align 6\n\t2:\n\tnop", "")
JUMPS_LOOP(run_indirect_jumps,
           "lea 2f(%%rip), %%rax\n\tjmp *%%rax\n\t.p2align 6\n\t2:\n\tnop", "")
JUMPS_LOOP(run_calls, "call 3f", "jmp 4f\n\t.p2align 6\n\t3: ret\n\t4:")

/* A loop with a branch on an unpredictable sign (a linear congruential generator, Knuth,
 * TAOCP 2, 3.3.4; another bit each time), or on a constant 0. No fence, unlike the kernel
 * branch: its wait would hide a part of the misprediction cost. */
#define BRANCH_LOOP(NAME, TEST, JUMP)                                                    \
        static void NAME(uint64_t count)                                                 \
        {                                                                                \
                const uint64_t factor = UINT64_C(6364136223846793005), zero = 0;         \
                uint64_t drawn = clock_tsc();                                            \
                __asm__ volatile(".p2align 6\n1:\n\t"                                    \
                                 "imul %[factor], %[drawn]\n\tadd $1, %[drawn]\n\t"      \
                                 "test " TEST ", %[drawn]\n\t" JUMP " 2f\n\tnop\n2:\n\t" \
                                 "dec %[n]\n\tjnz 1b"                                    \
                                 : [n] "+r"(count), [drawn] "+r"(drawn)                  \
                                 : [factor] "r"(factor), [zero] "r"(zero)                \
                                 : "cc");                                                \
        }

BRANCH_LOOP(run_random_branches, "%[drawn]", "js")
BRANCH_LOOP(run_branches_never_taken, "%[zero]", "jnz")
BRANCH_LOOP(run_branches_always_taken, "%[zero]", "jz")

static void visit_branches(struct survey *survey, struct core *core)
{
        enum { REPEATED = 16 };
        const struct {
                void (*run)(uint64_t count);
                double units;
                struct series *series;
        } loops[] = {
            {run_jumps, REPEATED, &core->jump_ns},
            {run_indirect_jumps, REPEATED, &core->indirect_jump_ns},
            {run_calls, REPEATED, &core->call_ns},
            {run_random_branches, 1, &core->random_ns},
            {run_branches_never_taken, 1, &core->never_ns},
            {run_branches_always_taken, 1, &core->always_ns},
        };
        for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
                if (survey_wants(survey, loops[i].series, false))
                        survey_code(survey, loops[i].run, loops[i].units,
                                    loops[i].series);
}

static int visit_gather(struct survey *survey, struct core *core, struct diag *diag)
{
        enum { ROUNDS = 3 };
        struct kernel_parameters parameters = kernel_gather.defaults;
        struct kernel_counts counts;
        parameters.size_bytes = survey->data_bytes;
        parameters.threads = 1;
        parameters.passes = 1;
        parameters.node = -1;
        kernel_gather.count(&parameters, &counts);
        struct visit visit;
        int rc = survey_rounds(survey, &kernel_gather, &parameters, ROUNDS,
                               (double)counts.accesses, &visit, diag);
        if (rc == 0)
                series_add(&core->gather_ns, visit.value, visit.disturbance);
        return rc;
}

static int core_sweep(struct survey *survey, void *state, struct diag *diag)
{
        enum { INSTRUCTIONS = 102 }; /* per repeat */
        struct core *core = state;
        survey_progress(survey, "the core");
        for (size_t visit = 0; visit < survey->sweep_visits; visit++) {
                if (survey_wants(survey, &core->instruction_ns, false))
                        survey_code(survey, run_independent, INSTRUCTIONS,
                                    &core->instruction_ns);
                visit_branches(survey, core);
        }
        return survey->reaches_memory && survey_wants(survey, &core->gather_ns, true)
                   ? visit_gather(survey, core, diag)
                   : 0;
}

void survey_misses_at_once(struct survey *survey, const struct series *gather_ns,
                           json_t *core)
{
        struct estimate gather = survey_estimate(survey, gather_ns);
        struct estimate misses = estimate_quotient(&survey->idle, &gather);
        double count = survey_known(survey, &misses, "the misses outstanding at once");
        if (isnan(count))
                return;
        json_object_set_new(core, "outstanding_misses",
                            json_real(fmin(32, fmax(1, round(count)))));
        json_object_set_new(core, "gather_ns", json_real(gather.value));
}

/* The time of SERIES in cycles. */
static struct estimate cycles_of(struct survey *survey, const struct series *series)
{
        struct estimate ns = survey_estimate(survey, series);
        return estimate_times(survey->core_ghz, &ns);
}

/* Half of the random branches are taken, half are mispredicted. Only after a
 * misprediction does the next number wait for the test, which takes a cycle. */
static void add_misprediction(struct survey *survey, const struct core *core,
                              json_t *json)
{
        const struct estimate test_cycle = {1, 1, 1, 1, 1, SERIES_MAX, UNDISTURBED};
        struct estimate random = cycles_of(survey, &core->random_ns);
        struct estimate never = cycles_of(survey, &core->never_ns);
        struct estimate always = cycles_of(survey, &core->always_ns);
        struct estimate right = estimate_sum(&never, 1, &always);
        struct estimate both = estimate_times(2, &random);
        struct estimate wrong = estimate_sum(&both, -1, &right);
        survey_add(survey, json, "mispredict_cycles", "what a wrong prediction costs",
                   estimate_sum(&wrong, -1, &test_cycle));
}

static json_t *core_result(struct survey *survey, void *state)
{
        struct core *core = state;
        struct estimate cycles = cycles_of(survey, &core->instruction_ns);
        json_t *json = json_object();
        double width = 1 / survey_known(survey, &cycles, "the instructions a cycle");
        if (!isnan(width))
                json_object_set_new(json, "issue_width",
                                    json_real(fmin(16, fmax(1, round(width)))));
        survey_add(survey, json, "jump_cycles", "jumps",
                   cycles_of(survey, &core->jump_ns));
        survey_add(survey, json, "indirect_jump_cycles", "indirect jumps",
                   cycles_of(survey, &core->indirect_jump_ns));
        survey_add(survey, json, "call_cycles", "calls",
                   cycles_of(survey, &core->call_ns));
        add_misprediction(survey, core, json);
        if (survey->reaches_memory)
                survey_misses_at_once(survey, &core->gather_ns, json);
        return json;
}

const struct survey_part survey_core = {
    .key = "core",
    .state_bytes = sizeof(struct core),
    .sweep = core_sweep,
    .result = core_result,
};
