/* SPDX-License-Identifier: MIT */
/* See loop_definitions.h. */
#include "loop_definitions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Larger loops are not followed: only generated code has so many instructions. */
enum { STEPS_LIMIT = 1 << 13 };

/* ---- the loop ---- */

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
        return 0;
}

void pattern_loop_free(struct pattern_loop *loop)
{
        if (loop->known)
                loop_body_free(&loop->body);
        free(loop->values);
        free(loop->first);
        *loop = (struct pattern_loop){.work = loop->work};
}

int pattern_loop_enter(struct pattern_loop *loop, const struct flow_code *code,
                       size_t entry, size_t block)
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
        if (!error && loop->values)
                loop->shortest = loop_body_shortest(&loop->body, block);
        if (error)
                pattern_loop_free(loop);
        return error;
}

/* ---- definitions ---- */

const struct instruction_values *loop_values_at(const struct pattern_loop *loop,
                                                size_t step)
{
        const size_t block = flow_code_block(loop->body.code, step);

        return &loop->values[loop->first[block] + step -
                             loop->body.code->blocks[block].first];
}

bool loop_is_slot(const struct pattern_loop *loop, size_t step)
{
        const struct instruction_values *values = loop_values_at(loop, step);

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

static bool defines(const struct loop_search *search, size_t step,
                    const struct instruction_values *values)
{
        if (search->subject.value != VALUE_MEMORY)
                return values->writes >> search->subject.value & 1;
        return values->writes_memory && loop_is_slot(search->loop, step) &&
               same_operand(search->loop, step, search->subject.step);
}

static void look_through(struct loop_search *search, size_t block)
{
        if (search->seen[block])
                return;
        search->seen[block] = true;
        search->blocks[search->count++] = block;
}

static void spend(struct loop_search *search, uint64_t work)
{
        search->work_left -= work < search->work_left ? work : search->work_left;
}

/* Looks also in what leads to BLOCK. To read an edge is less work than an instruction. */
static void look_before(struct loop_search *search, size_t block)
{
        const struct loop_body *body = &search->loop->body;

        spend(search, body->block_count / 8);
        for (size_t i = 0; i < body->block_count; i++) {
                const size_t *next = body->code->blocks[body->blocks[i]].next;

                if (next[0] == block || next[1] == block)
                        look_through(search, body->blocks[i]);
        }
}

/* Looks in BLOCK, backwards from before STEP, and then in the blocks before it. */
static void look_in(struct loop_search *search, size_t block, size_t step,
                    struct loop_definitions *found)
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

static void look_on(struct loop_search *search, struct loop_definitions *found)
{
        const struct flow_code *code = search->loop->body.code;

        for (size_t at = 0; at < search->count; at++) {
                const struct flow_block *block = &code->blocks[search->blocks[at]];

                look_in(search, search->blocks[at], block->first + block->count, found);
        }
        found->mixed |= search->reached_top && found->step != SIZE_MAX;
}

struct loop_definitions loop_definitions_of(struct loop_search *search,
                                            struct loop_subject subject, size_t step)
{
        struct loop_definitions found = {.step = SIZE_MAX};
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

int loop_search_begin(struct loop_search *search, struct pattern_loop *loop,
                      uint64_t work)
{
        const size_t blocks = loop->body.code->block_count + 1;

        *search = (struct loop_search){.loop = loop,
                                       .blocks = malloc(blocks * sizeof(size_t)),
                                       .seen = malloc(blocks * sizeof(bool)),
                                       .work_left = work};
        return search->blocks && search->seen ? 0 : -ENOMEM;
}

void loop_search_end(struct loop_search *search)
{
        free(search->blocks);
        free(search->seen);
}
