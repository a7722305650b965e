/* SPDX-License-Identifier: MIT */
/* A work list of the blocks whose in-state has changed, until it is empty. */
#include "flow_walk.h"

#include <errno.h>
#include <stdlib.h>

/* The limit is the average for a function. Each iteration can only reduce the knowledge
 * in a block's in-state, so the analysis ends. Hostile code could need very many
 * iterations. */
enum { VISITS_PER_BLOCK = 64 };

/* Names are not worth more work. */
enum { NAME_WORK_PER_STEP = 256 };

/* For long blocks, the distance in steps between cached states. */
enum { MARK_STEPS = 64 };

static void enqueue(struct flow_walk *walk, size_t block)
{
        if (walk->visits[block].queued)
                return;
        walk->visits[block].queued = true;
        walk->queue[walk->queue_count++] = block;
}

static void lead_to(struct flow_walk *walk, size_t block, const struct flow_state *state)
{
        if (block != SIZE_MAX &&
            flow_state_merge(walk->context, &walk->visits[block].entry, state))
                enqueue(walk, block);
}

static void begin(struct flow_walk *walk)
{
        Dwarf_Addr entry;
        struct flow_state state;

        flow_state_begin(&state);
        if (!die_entry_address(walk->context->reader->dwarf, walk->context->function,
                               &entry))
                return;
        size_t step = flow_code_at(walk->code, entry);

        if (step == SIZE_MAX)
                return;
        size_t block = flow_code_block(walk->code, step);

        if (walk->code->blocks[block].first != step)
                return;
        /* A parameter's location may be valid only at the first instruction. */
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                state.registers[i] = flow_state_called(walk->context, &state, i, entry);
        state.registers[REGISTER_RSP] =
            (struct place_value){.kind = PLACE_FRAME, .type = TYPE_NONE, .offset = -8};
        walk->code->blocks[block].orphan = false;
        walk->entry = block;
        walk->visits[block].entry = state;
        enqueue(walk, block);
}

/* A jump table leads to the blocks without other predecessors. Returns the work done. */
static size_t lead_to_orphans(struct flow_walk *walk, const struct flow_state *state)
{
        size_t work = walk->code->block_count / 64;

        for (size_t i = 0; i < walk->code->block_count; i++) {
                if (!walk->code->blocks[i].orphan)
                        continue;
                lead_to(walk, i, state);
                work++;
        }
        return work;
}

/* An exception may lead to blocks that no path reaches: nothing is known there. */
static void begin_orphans(struct flow_walk *walk)
{
        struct flow_state state;

        flow_state_begin(&state);
        for (size_t i = 0; i < walk->code->block_count; i++)
                if (walk->code->blocks[i].orphan && !walk->visits[i].entry.reached)
                        lead_to(walk, i, &state);
}

static void run_block(const struct flow_walk *walk, const struct flow_block *block,
                      struct flow_state *state)
{
        for (size_t i = 0; i < block->count; i++)
                flow_effect(walk->context, state, &walk->code->steps[block->first + i]);
}

static bool run_queue(struct flow_walk *walk, size_t *visits_left)
{
        while (walk->queue_count > 0) {
                size_t index = walk->queue[--walk->queue_count];
                const struct flow_block *block = &walk->code->blocks[index];
                struct flow_state state = walk->visits[index].entry;

                if (*visits_left == 0)
                        return false;
                --*visits_left;
                walk->visits[index].queued = false;
                run_block(walk, block, &state);
                lead_to(walk, block->next[0], &state);
                lead_to(walk, block->next[1], &state);
                if (block->indirect) {
                        size_t work = lead_to_orphans(walk, &state);

                        *visits_left -= work < *visits_left ? work : *visits_left;
                }
        }
        return true;
}

static bool run(struct flow_walk *walk)
{
        size_t visits_left = walk->code->block_count * VISITS_PER_BLOCK;

        begin(walk);
        if (!run_queue(walk, &visits_left))
                return false;
        begin_orphans(walk);
        return run_queue(walk, &visits_left);
}

int flow_walk_run(struct flow_walk *walk, const struct flow_context *context,
                  struct flow_code *code)
{
        *walk = (struct flow_walk){.context = context, .code = code, .entry = SIZE_MAX};
        walk->visits = calloc(code->block_count + 1, sizeof(*walk->visits));
        walk->queue = malloc((code->block_count + 1) * sizeof(*walk->queue));
        walk->names = calloc(1, sizeof(*walk->names) +
                                    code->step_count * sizeof(walk->names->of_step[0]));
        walk->marks =
            calloc(code->step_count / MARK_STEPS + 1, sizeof(struct flow_state *));
        if (!walk->visits || !walk->queue || !walk->names || !walk->marks)
                return -ENOMEM;
        walk->names->work_left = (uint64_t)code->step_count * NAME_WORK_PER_STEP;
        return run(walk) ? 0 : -E2BIG;
}

/* Without memory, the state is computed again. */
static void keep_mark(const struct flow_walk *walk, size_t step,
                      const struct flow_state *state)
{
        struct flow_state **mark = &walk->marks[step / MARK_STEPS];

        if (step % MARK_STEPS == 0 && !*mark && (*mark = malloc(sizeof(**mark))) != NULL)
                **mark = *state;
}

/* The last cached state behind FIRST and up to *STEP, set to its step; NULL: none. */
static const struct flow_state *last_mark(const struct flow_walk *walk, size_t first,
                                          size_t *step)
{
        for (size_t at = *step / MARK_STEPS * MARK_STEPS; at > first; at -= MARK_STEPS)
                if (walk->marks[at / MARK_STEPS]) {
                        *step = at;
                        return walk->marks[at / MARK_STEPS];
                }
        return NULL;
}

struct flow_state flow_walk_before(const struct flow_walk *walk, size_t step)
{
        size_t block = flow_code_block(walk->code, step);
        size_t at = step, first = walk->code->blocks[block].first;
        const struct flow_state *mark = last_mark(walk, first, &at);
        struct flow_state state = mark ? *mark : walk->visits[block].entry;

        if (!mark)
                at = first;
        if (!state.reached)
                flow_state_begin(&state);
        for (; at < step; at++) {
                if (at > first)
                        keep_mark(walk, at, &state);
                flow_effect(walk->context, &state, &walk->code->steps[at]);
        }
        return state;
}

void flow_walk_free(struct flow_walk *walk)
{
        free(walk->visits);
        free(walk->queue);
        free(walk->names);
        for (size_t i = 0; walk->marks && i <= walk->code->step_count / MARK_STEPS; i++)
                free(walk->marks[i]);
        free(walk->marks);
        *walk = (struct flow_walk){0};
}
