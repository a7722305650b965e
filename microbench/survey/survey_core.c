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
        struct estimate core = series_estimate(&clocks->core_ns);
        survey->core_ghz = 1 / core.value;
        survey_noise(survey, estimate_error(&core), "the core's clock");
        return json_pack("{s:f, s:f, s:o}", "tsc_ghz",
                         1 / series_estimate(&clocks->tsc_ns).value, "core_ghz",
                         survey->core_ghz, "error", survey_number(estimate_error(&core)));
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
        if (survey_wants(survey, &core->instruction_ns, false))
                survey_code(survey, run_independent, INSTRUCTIONS, &core->instruction_ns);
        visit_branches(survey, core);
        return survey->reaches_memory && survey_wants(survey, &core->gather_ns, true)
                   ? visit_gather(survey, core, diag)
                   : 0;
}

void survey_misses_at_once(struct survey *survey, const struct series *gather_ns,
                           json_t *core)
{
        static const char name[] = "the misses outstanding at once";
        struct estimate gather = survey_shortest(survey, gather_ns);
        if (isnan(survey->idle_ns) || !survey_trusts(survey, gather_ns, name))
                return;
        survey_noise(survey, estimate_error(&gather), "%s", name);
        json_object_set_new(
            core, "outstanding_misses",
            json_real(fmin(32, fmax(1, round(survey->idle_ns / gather.value)))));
        json_object_set_new(core, "gather_ns", json_real(gather.value));
}

/* Adds the shortest of SERIES in cycles, for the preset host. */
static void add_cycles(struct survey *survey, json_t *json, const char *key,
                       const char *name, const struct series *series)
{
        if (survey_trusts(survey, series, name))
                json_object_set_new(
                    json, key,
                    json_real(survey_shortest(survey, series).value * survey->core_ghz));
}

static void add_branches(struct survey *survey, const struct core *core, json_t *json)
{
        add_cycles(survey, json, "jump_cycles", "jumps", &core->jump_ns);
        add_cycles(survey, json, "indirect_jump_cycles", "indirect jumps",
                   &core->indirect_jump_ns);
        add_cycles(survey, json, "call_cycles", "calls", &core->call_ns);
        static const char name[] = "what a wrong prediction costs";
        if (!survey_trusts(survey, &core->random_ns, name) ||
            !survey_trusts(survey, &core->never_ns, name) ||
            !survey_trusts(survey, &core->always_ns, name))
                return;
        /* Half of the random branches are taken, half are mispredicted. Only after a
         * misprediction does the next number wait for the test, which takes a cycle. */
        const double test_cycles = 1;
        double right_ns = (survey_shortest(survey, &core->never_ns).value +
                           survey_shortest(survey, &core->always_ns).value) /
                          2;
        double wrong_ns =
            2 * (survey_shortest(survey, &core->random_ns).value - right_ns);
        double cycles = wrong_ns * survey->core_ghz - test_cycles;
        if (cycles > 0)
                json_object_set_new(json, "mispredict_cycles", json_real(cycles));
        else
                survey_leave_out(survey,
                                 "%s (random branches took no longer than others)", name);
}

static json_t *core_result(struct survey *survey, void *state)
{
        struct core *core = state;
        double cycles =
            survey_shortest(survey, &core->instruction_ns).value * survey->core_ghz;
        json_t *json = json_object();
        if (survey_trusts(survey, &core->instruction_ns, "the instructions a cycle"))
                json_object_set_new(json, "issue_width",
                                    json_real(fmin(16, fmax(1, round(1 / cycles)))));
        add_branches(survey, core, json);
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
