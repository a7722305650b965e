/* SPDX-License-Identifier: MIT */
/* Follows registers back to the instructions of the loop that define them (reaching
 * definitions). Memory at an address that the loop does not change counts as a register:
 * unoptimised code has its variables there. */
#include "address_pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instruction_values.h"

/* Larger loops are not followed. Nor is one access longer, or a function with all of its
 * accesses: only generated code takes so many instructions. */
enum {
        STEPS_LIMIT = 1 << 13,
        WORK_LIMIT = 1 << 20,
        FUNCTION_WORK_LIMIT = 1 << 26,
        DEPTH_LIMIT = 16
};

const char *address_pattern_name(enum pattern_kind kind)
{
        static const char *const names[] = {
            [PATTERN_NO_LOOP] = "no-loop",   [PATTERN_FIXED] = "fixed",
            [PATTERN_STRIDE] = "stride",     [PATTERN_COMPUTED] = "computed",
            [PATTERN_INDEX] = "index",       [PATTERN_CHAIN] = "chain",
            [PATTERN_BRANCHES] = "branches", [PATTERN_CALL] = "call"};

        return names[kind];
}

/* ---- the loop ---- */

/* Sorts the edges inside of the body by the block that they lead to. */
static int find_edges(struct pattern_loop *loop)
{
        const struct flow_code *code = loop->body.code;
        size_t *end = calloc(code->block_count + 2, sizeof(*end));

        loop->before = malloc((2 * loop->body.block_count + 1) * sizeof(*loop->before));
        loop->before_first = end;
        if (!loop->before || !end)
                return -ENOMEM;
        for (size_t i = 0; i < loop->body.block_count; i++)
                for (int n = 0; n < 2; n++) {
                        const size_t to = code->blocks[loop->body.blocks[i]].next[n];

                        if (to != SIZE_MAX)
                                end[to + 2]++;
                }
        for (size_t i = 2; i < code->block_count + 2; i++)
                end[i] += end[i - 1];
        for (size_t i = 0; i < loop->body.block_count; i++)
                for (int n = 0; n < 2; n++) {
                        const size_t to = code->blocks[loop->body.blocks[i]].next[n];

                        if (to != SIZE_MAX)
                                loop->before[end[to + 1]++] = loop->body.blocks[i];
                }
        return 0;
}

static int read_values(struct pattern_loop *loop)
{
        const struct flow_code *code = loop->body.code;
        size_t count = 0;

        for (size_t i = 0; i < loop->body.block_count; i++)
                count += code->blocks[loop->body.blocks[i]].count;
        if (count > STEPS_LIMIT)
                return 0;
        loop->first = calloc(code->block_count + 1, sizeof(*loop->first));
        loop->values = calloc(count + 1, sizeof(*loop->values));
        if (!loop->first || !loop->values)
                return -ENOMEM;
        count = 0;
        for (size_t i = 0; i < loop->body.block_count; i++) {
                const struct flow_block *block = &code->blocks[loop->body.blocks[i]];

                loop->first[loop->body.blocks[i]] = count;
                for (size_t k = 0; k < block->count; k++, count++) {
                        struct instruction_values *values = &loop->values[count];

                        if (!instruction_values_read(values, code,
                                                     &code->steps[block->first + k]))
                                values->unknown = true;
                        loop->written |= values->writes;
                }
        }
        return find_edges(loop);
}

void pattern_loop_free(struct pattern_loop *loop)
{
        if (loop->known)
                loop_body_free(&loop->body);
        free(loop->values);
        free(loop->first);
        free(loop->before);
        free(loop->before_first);
        *loop = (struct pattern_loop){.work = loop->work};
}

static int look_at(struct pattern_loop *loop, const struct flow_code *code, size_t entry,
                   size_t block)
{
        if (loop->known && loop->block == block)
                return 0;
        pattern_loop_free(loop);
        loop->known = true;
        loop->block = block;
        loop->work += LOOP_BODY_WORK * code->block_count;
        int error = loop_body_find(&loop->body, code, entry, block);

        if (!error && loop->body.header != SIZE_MAX)
                error = read_values(loop);
        if (error)
                pattern_loop_free(loop);
        return error;
}

/* ---- definitions ---- */

/* What may be defined: a register, or the memory operand of STEP. */
struct subject {
        uint8_t value;
        size_t step;
};

/* The instructions of the loop that define a subject. Of an iteration: the one that the
 * use is in, or the one before. */
struct definitions {
        size_t step; /* SIZE_MAX: none */
        bool before; /* it is of the iteration before */
        bool mixed;  /* several, or on some paths only */
};

struct search {
        struct pattern_loop *loop;
        size_t *blocks; /* to look through */
        size_t count;
        bool *seen; /* blocks */
        struct subject subject;
        bool reached_top;
        uint64_t work_left;
};

static const struct instruction_values *values_at(const struct pattern_loop *loop,
                                                  size_t step)
{
        const size_t block = flow_code_block(loop->body.code, step);

        return &loop->values[loop->first[block] + step -
                             loop->body.code->blocks[block].first];
}

/* Whether STEP accesses memory at an address that the loop does not change. */
static bool is_slot(const struct pattern_loop *loop, size_t step)
{
        const struct instruction_values *values = values_at(loop, step);

        return loop->body.code->steps[step].instruction.has_memory &&
               (values->reads_memory || values->writes_memory) &&
               !(values->address & loop->written);
}

static bool same_operand(const struct pattern_loop *loop, size_t a, size_t b)
{
        const struct memory_operand *x = &loop->body.code->steps[a].instruction.memory;
        const struct memory_operand *y = &loop->body.code->steps[b].instruction.memory;

        return x->base == y->base && x->index == y->index && x->scale == y->scale &&
               x->displacement == y->displacement && x->thread_local == y->thread_local;
}

static bool defines(const struct search *search, size_t step,
                    const struct instruction_values *values)
{
        if (search->subject.value != VALUE_MEMORY)
                return values->writes >> search->subject.value & 1;
        return values->writes_memory && is_slot(search->loop, step) &&
               same_operand(search->loop, step, search->subject.step);
}

static void look_through(struct search *search, size_t block)
{
        if (search->seen[block])
                return;
        search->seen[block] = true;
        search->blocks[search->count++] = block;
}

static void look_before(struct search *search, size_t block)
{
        const struct pattern_loop *loop = search->loop;

        for (size_t i = loop->before_first[block]; i < loop->before_first[block + 1]; i++)
                look_through(search, loop->before[i]);
}

static void spend(struct search *search, uint64_t work)
{
        search->work_left -= work < search->work_left ? work : search->work_left;
}

/* Looks in BLOCK, backwards from before STEP, and then in the blocks before it. */
static void look_in(struct search *search, size_t block, size_t step,
                    struct definitions *found)
{
        const struct pattern_loop *loop = search->loop;
        const size_t first = loop->body.code->blocks[block].first;
        const struct instruction_values *values = &loop->values[loop->first[block]];

        spend(search, step - first + 1);
        while (step-- > first) {
                if (!defines(search, step, &values[step - first]))
                        continue;
                found->mixed |= found->step != SIZE_MAX && found->step != step;
                found->step = step;
                return;
        }
        if (block == loop->body.header)
                search->reached_top = true;
        else
                look_before(search, block);
}

static void look_on(struct search *search, struct definitions *found)
{
        const struct flow_code *code = search->loop->body.code;

        for (size_t at = 0; at < search->count; at++) {
                const struct flow_block *block = &code->blocks[search->blocks[at]];

                look_in(search, search->blocks[at], block->first + block->count, found);
        }
        found->mixed |= search->reached_top && found->step != SIZE_MAX;
}

/* Finds what defines SUBJECT before STEP. */
static struct definitions definitions_of(struct search *search, struct subject subject,
                                         size_t step)
{
        struct definitions found = {.step = SIZE_MAX};
        const struct loop_body *body = &search->loop->body;

        search->subject = subject;
        for (int before = 0; before < 2; before++) {
                memset(search->seen, 0, body->code->block_count * sizeof(bool));
                search->count = 0;
                search->reached_top = false;
                if (before)
                        look_before(search, body->header);
                else
                        look_in(search, flow_code_block(body->code, step), step, &found);
                look_on(search, &found);
                found.before = before;
                if (found.step != SIZE_MAX || !search->reached_top)
                        break;
        }
        return found;
}

/* ---- what an address depends on ---- */

/* The instructions that an address depends on. */
struct sources {
        size_t *steps;
        size_t count;
        bool *met; /* by the number of the step from the function's first */
        bool mixed;
        bool unknown;
};

static void add_source(struct search *search, struct sources *sources,
                       struct subject subject, size_t step)
{
        if (search->work_left == 0)
                return;
        const struct definitions found = definitions_of(search, subject, step);

        sources->mixed |= found.mixed;
        if (found.step == SIZE_MAX || sources->met[found.step])
                return;
        sources->met[found.step] = true;
        sources->steps[sources->count++] = found.step;
}

static void add_registers(struct search *search, struct sources *sources, uint64_t mask,
                          size_t step)
{
        for (uint8_t value = 0; value < VALUE_REGISTERS; value++)
                if (mask >> value & 1)
                        add_source(search, sources, (struct subject){value, 0}, step);
}

/* Whether STEP loads from an address that changes. */
static bool loads(const struct pattern_loop *loop, size_t step)
{
        return values_at(loop, step)->reads_memory && !is_slot(loop, step);
}

/* Finds all that the address of STEP depends on. */
static void find_sources(struct search *search, struct sources *sources, size_t step)
{
        const struct pattern_loop *loop = search->loop;

        memset(sources->met, 0, loop->body.code->step_count * sizeof(bool));
        sources->count = 0;
        sources->mixed = sources->unknown = false;
        add_registers(search, sources, values_at(loop, step)->address, step);
        for (size_t at = 0; at < sources->count; at++) {
                const size_t from = sources->steps[at];
                const struct instruction_values *values = values_at(loop, from);

                sources->unknown |= values->unknown;
                add_registers(search, sources, values->reads, from);
                if (values->reads_memory)
                        add_registers(search, sources, values->address, from);
                if (values->reads_memory && is_slot(loop, from))
                        add_source(search, sources, (struct subject){VALUE_MEMORY, from},
                                   from);
        }
}

/* ---- strides ---- */

static bool defined_once(struct search *search, struct value_term term, size_t step,
                         struct definitions *found)
{
        *found = definitions_of(search, (struct subject){term.value, step}, step);
        return !found->mixed;
}

/* Whether STEP's result is its own of the iteration before plus a constant, *SUM. */
static bool counts(struct search *search, size_t step, int64_t *sum)
{
        size_t at = step;
        int before = 0;

        *sum = 0;
        for (int i = 0; i < DEPTH_LIMIT; i++) {
                const struct instruction_values *values = values_at(search->loop, at);
                struct definitions found;

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

/* A longer stride is of a product that 32 bits do not hold. */
static bool is_stride(int64_t change)
{
        return change >= INT32_MIN && change <= INT32_MAX;
}

/* How much SUBJECT before STEP changes from iteration to iteration. False: not known. */
static bool change_of(struct search *search, struct value_term term, size_t step,
                      int depth, int64_t *change)
{
        struct definitions found;

        *change = 0;
        if (depth == 0 || !defined_once(search, term, step, &found))
                return false;
        if (found.step == SIZE_MAX || counts(search, found.step, change))
                return is_stride(*change);
        const struct instruction_values *values = values_at(search->loop, found.step);
        int64_t sum = 0;

        for (uint8_t i = 0; values->linear && i < values->term_count; i++) {
                if (!change_of(search, values->terms[i], found.step, depth - 1, change))
                        return false;
                sum += values->terms[i].factor * *change;
        }
        *change = sum;
        return values->linear && is_stride(sum);
}

static bool stride_of(struct search *search, size_t step, int64_t *stride)
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

static bool is_chain(struct search *search, const struct sources *sources,
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

static enum pattern_kind kind_of(struct search *search, struct sources *sources,
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

static int find(struct pattern_loop *loop, size_t step, struct address_pattern *pattern)
{
        const struct flow_code *code = loop->body.code;
        const size_t blocks = code->block_count + 1, steps = code->step_count + 1;
        struct search search = {.loop = loop,
                                .blocks = malloc(blocks * sizeof(size_t)),
                                .seen = malloc(blocks * sizeof(bool)),
                                .work_left = WORK_LIMIT};
        struct sources sources = {.steps = malloc(steps * sizeof(size_t)),
                                  .met = malloc(steps * sizeof(bool))};
        struct sources own = {.steps = malloc(steps * sizeof(size_t)),
                              .met = malloc(steps * sizeof(bool))};
        int error = -ENOMEM;

        if (search.blocks && search.seen && sources.steps && sources.met && own.steps &&
            own.met) {
                pattern->kind =
                    kind_of(&search, &sources, &own, step, &pattern->stride_bytes);
                pattern->instructions = loop_body_shortest(&loop->body, step);
                loop->work += WORK_LIMIT - search.work_left;
                error = 0;
        }
        free(search.blocks);
        free(search.seen);
        free(sources.steps);
        free(sources.met);
        free(own.steps);
        free(own.met);
        return error;
}

/* Whether loops may be unseen: a switch jumps by a table. */
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
        int error = look_at(loop, code, entry, flow_code_block(code, step));

        if (error)
                return error == -E2BIG ? 0 : error;
        if (loop->body.header == SIZE_MAX && !jumps_anywhere(code))
                pattern->kind = PATTERN_NO_LOOP;
        return loop->values ? find(loop, step, pattern) : 0;
}
