/* SPDX-License-Identifier: MIT */
/* Judges an address by the instructions of the loop that define it. */
#include "address_pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Limits of the work for one access, and for all accesses of a function. Only generated
 * code reaches them. */
enum { WORK_LIMIT = 1 << 20, FUNCTION_WORK_LIMIT = 1 << 26, DEPTH_LIMIT = 16 };

const char *address_pattern_name(enum pattern_kind kind)
{
        static const char *const names[] = {
            [PATTERN_NO_LOOP] = "no-loop",   [PATTERN_FIXED] = "fixed",
            [PATTERN_STRIDE] = "stride",     [PATTERN_COMPUTED] = "computed",
            [PATTERN_INDEX] = "index",       [PATTERN_CHAIN] = "chain",
            [PATTERN_BRANCHES] = "branches", [PATTERN_CALL] = "call"};

        return names[kind];
}

/* ---- the sources of an address ---- */

/* The instructions that an address depends on. */
struct sources {
        size_t *steps;
        size_t count;
        bool *met; /* by step, from the function's first */
        bool mixed;
        bool unknown;
};

static void add_source(struct loop_search *search, struct sources *sources,
                       struct loop_subject subject, size_t step)
{
        if (search->work_left == 0)
                return;
        const struct loop_definitions found = loop_definitions_of(search, subject, step);

        sources->mixed |= found.mixed;
        if (found.step == SIZE_MAX || sources->met[found.step])
                return;
        sources->met[found.step] = true;
        sources->steps[sources->count++] = found.step;
}

static void add_registers(struct loop_search *search, struct sources *sources,
                          uint64_t mask, size_t step)
{
        for (uint8_t value = 0; value < VALUE_REGISTERS; value++)
                if (mask >> value & 1)
                        add_source(search, sources, (struct loop_subject){value, 0},
                                   step);
}

/* Whether STEP loads from an address that changes. */
static bool loads(const struct pattern_loop *loop, size_t step)
{
        return loop_values_at(loop, step)->reads_memory && !loop_is_slot(loop, step);
}

/* Finds all instructions that the address of STEP depends on. */
static void find_sources(struct loop_search *search, struct sources *sources, size_t step)
{
        const struct pattern_loop *loop = search->loop;

        memset(sources->met, 0, loop->body.code->step_count * sizeof(bool));
        sources->count = 0;
        sources->mixed = sources->unknown = false;
        add_registers(search, sources, loop_values_at(loop, step)->address, step);
        for (size_t at = 0; at < sources->count; at++) {
                const size_t from = sources->steps[at];
                const struct instruction_values *values = loop_values_at(loop, from);

                sources->unknown |= values->unknown;
                add_registers(search, sources, values->reads, from);
                if (values->reads_memory)
                        add_registers(search, sources, values->address, from);
                if (values->reads_memory && loop_is_slot(loop, from))
                        add_source(search, sources,
                                   (struct loop_subject){VALUE_MEMORY, from}, from);
        }
}

/* ---- strides ---- */

static bool defined_once(struct loop_search *search, struct value_term term, size_t step,
                         struct loop_definitions *found)
{
        *found =
            loop_definitions_of(search, (struct loop_subject){term.value, step}, step);
        return !found->mixed;
}

/* Whether STEP adds a constant, *SUM, to its result of the previous iteration. */
static bool counts(struct loop_search *search, size_t step, int64_t *sum)
{
        size_t at = step;
        int before = 0;

        *sum = 0;
        for (int i = 0; i < DEPTH_LIMIT; i++) {
                const struct instruction_values *values =
                    loop_values_at(search->loop, at);
                struct loop_definitions found;

                if (!values->linear || values->term_count != 1 ||
                    values->terms[0].factor != 1 ||
                    !defined_once(search, values->terms[0], at, &found) ||
                    found.step == SIZE_MAX)
                        return false;
                *sum += values->constant;
                before += found.before;
                at = found.step;
                if (at == step)
                        return before == 1;
        }
        return false;
}

/* Whether CHANGE fits into 32 bits. A product that overflows gives longer strides. */
static bool is_stride(int64_t change)
{
        return change >= INT32_MIN && change <= INT32_MAX;
}

/* *CHANGE becomes the change of TERM before STEP in each iteration. False: not known. */
static bool change_of(struct loop_search *search, struct value_term term, size_t step,
                      int depth, int64_t *change)
{
        struct loop_definitions found;

        *change = 0;
        if (depth == 0 || !defined_once(search, term, step, &found))
                return false;
        if (found.step == SIZE_MAX || counts(search, found.step, change))
                return is_stride(*change);
        const struct instruction_values *values =
            loop_values_at(search->loop, found.step);
        int64_t sum = 0;

        for (uint8_t i = 0; values->linear && i < values->term_count; i++) {
                if (!change_of(search, values->terms[i], found.step, depth - 1, change))
                        return false;
                sum += values->terms[i].factor * *change;
        }
        *change = sum;
        return values->linear && is_stride(sum);
}

static bool stride_of(struct loop_search *search, size_t step, int64_t *stride)
{
        const struct memory_operand *memory =
            &search->loop->body.code->steps[step].instruction.memory;
        const struct value_term terms[] = {{memory->base, 1},
                                           {memory->index, memory->scale}};

        *stride = 0;
        for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
                int64_t change;

                if (terms[i].value == REGISTER_NONE)
                        continue;
                if (terms[i].value >= REGISTER_COUNT ||
                    !change_of(search, terms[i], step, DEPTH_LIMIT, &change))
                        return false;
                *stride += terms[i].factor * change;
        }
        return true;
}

/* ---- the pattern ---- */

static bool is_chain(struct loop_search *search, const struct sources *sources,
                     struct sources *own)
{
        for (size_t i = 0; i < sources->count; i++) {
                if (!loads(search->loop, sources->steps[i]))
                        continue;
                find_sources(search, own, sources->steps[i]);
                if (own->met[sources->steps[i]])
                        return true;
        }
        return false;
}

static enum pattern_kind kind_of(struct loop_search *search, struct sources *sources,
                                 struct sources *own, size_t step, int64_t *stride)
{
        bool index = false;

        find_sources(search, sources, step);
        for (size_t i = 0; i < sources->count; i++)
                index |= loads(search->loop, sources->steps[i]);
        if (is_chain(search, sources, own))
                return PATTERN_CHAIN;
        if (search->work_left == 0)
                return PATTERN_UNKNOWN;
        if (sources->unknown)
                return PATTERN_CALL;
        if (sources->mixed)
                return PATTERN_BRANCHES;
        if (index)
                return PATTERN_INDEX;
        if (!stride_of(search, step, stride))
                return PATTERN_COMPUTED;
        return *stride == 0 ? PATTERN_FIXED : PATTERN_STRIDE;
}

static int sources_begin(struct sources *sources, const struct flow_code *code)
{
        *sources =
            (struct sources){.steps = malloc((code->step_count + 1) * sizeof(size_t)),
                             .met = malloc((code->step_count + 1) * sizeof(bool))};
        return sources->steps && sources->met ? 0 : -ENOMEM;
}

static void sources_end(struct sources *sources)
{
        free(sources->steps);
        free(sources->met);
}

static int find(struct pattern_loop *loop, size_t step, struct address_pattern *pattern)
{
        struct loop_search search;
        struct sources sources = {0}, own = {0};
        int error = loop_search_begin(&search, loop, WORK_LIMIT);

        if (!error)
                error = sources_begin(&sources, loop->body.code);
        if (!error)
                error = sources_begin(&own, loop->body.code);
        if (!error) {
                pattern->kind =
                    kind_of(&search, &sources, &own, step, &pattern->stride_bytes);
                pattern->instructions = loop->shortest;
                loop->work += WORK_LIMIT - search.work_left;
        }
        sources_end(&own);
        sources_end(&sources);
        loop_search_end(&search);
        return error;
}

/* Whether loops may be hidden, because a switch jumps by a table. */
static bool jumps_anywhere(const struct flow_code *code)
{
        for (size_t i = 0; i < code->block_count; i++)
                if (code->blocks[i].indirect)
                        return true;
        return false;
}

int address_pattern_find(struct pattern_loop *loop, const struct flow_code *code,
                         size_t entry, size_t step, struct address_pattern *pattern)
{
        *pattern = (struct address_pattern){.kind = PATTERN_UNKNOWN};
        if (loop->work > FUNCTION_WORK_LIMIT)
                return 0;
        int error = pattern_loop_enter(loop, code, entry, flow_code_block(code, step));

        if (error)
                return error == -E2BIG ? 0 : error;
        if (loop->body.header == SIZE_MAX && !jumps_anywhere(code))
                pattern->kind = PATTERN_NO_LOOP;
        return loop->values ? find(loop, step, pattern) : 0;
}
