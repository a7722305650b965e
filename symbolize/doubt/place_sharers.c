/* SPDX-License-Identifier: MIT */
/* Variables are sorted by place, so overlapping ones are neighbours. The analysed code
 * shows where each is touched. */
#include "place_sharers.h"

#include <errno.h>
#include <stdlib.h>

#include "flow_effect.h"
#include "flow_operand.h"

const struct frame_variable *place_sharer_variable(const struct place_sharers *sharers,
                                                   const struct sharer *sharer)
{
        return &sharers->variables->frames[sharer->first];
}

/* ---- who shares ---- */

static uint64_t bytes_of(const struct place_sharers *sharers,
                         const struct frame_variable *variable)
{
        return sharers->walk->context->input->reader->types->items[variable->type]
            .size_bytes;
}

bool place_sharers_overlap(const struct place_sharers *sharers,
                           const struct frame_variable *a, const struct frame_variable *b)
{
        return a->in_frame == b->in_frame && (a->in_frame || a->reg == b->reg) &&
               ((uint64_t)b->offset - (uint64_t)a->offset < bytes_of(sharers, a) ||
                (uint64_t)a->offset - (uint64_t)b->offset < bytes_of(sharers, b));
}

/* The number of ranges of the variable whose first is number FIRST. */
static size_t ranges_from(const struct variables *variables, size_t first)
{
        size_t end = first + 1;

        while (end < variables->frame_count &&
               variables->frames[end].number == variables->frames[first].number)
                end++;
        return end - first;
}

/* By what their places count from, and then by these. */
static int compare_places(const void *left, const void *right)
{
        const struct frame_variable *a = *(const struct frame_variable *const *)left;
        const struct frame_variable *b = *(const struct frame_variable *const *)right;

        if (a->in_frame != b->in_frame)
                return a->in_frame - b->in_frame;
        if (!a->in_frame && a->reg != b->reg)
                return a->reg - b->reg;
        return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Calls EACH for the first range of every variable of LIST, COUNT in order of place, that
 * shares its place. */
static void visit_sharers(struct place_sharers *sharers, struct frame_variable **list,
                          size_t count,
                          void (*each)(struct place_sharers *, size_t first))
{
        size_t widest = 0;
        bool told = false;

        for (size_t i = 1; i < count; i++) {
                if (place_sharers_overlap(sharers, list[widest], list[i])) {
                        if (!told)
                                each(sharers,
                                     (size_t)(list[widest] - sharers->variables->frames));
                        each(sharers, (size_t)(list[i] - sharers->variables->frames));
                        told = true;
                        if ((uint64_t)list[i]->offset - (uint64_t)list[widest]->offset +
                                bytes_of(sharers, list[i]) <=
                            bytes_of(sharers, list[widest]))
                                continue;
                } else {
                        told = false;
                }
                widest = i;
        }
}

static void add_sharer(struct place_sharers *sharers, size_t first)
{
        if (sharers->count < SHARERS_LIMIT)
                sharers->items[sharers->count] = (struct sharer){
                    .first = first, .count = ranges_from(sharers->variables, first)};
        sharers->count++;
}

/* Leaves all variables that share a place unresolved. */
static void leave_open(struct place_sharers *sharers, size_t first)
{
        size_t count = ranges_from(sharers->variables, first);

        for (size_t i = first; i < first + count; i++)
                sharers->variables->frames[i].shared = true;
}

static int each_sharer(struct place_sharers *sharers,
                       void (*each)(struct place_sharers *, size_t first))
{
        struct variables *variables = sharers->variables;
        struct frame_variable **list = malloc((sharers->range_count + 1) * sizeof(*list));
        size_t count = 0;

        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < sharers->range_count; i += ranges_from(variables, i))
                if (variables->frames[i].scoped && !variables->frames[i].shared)
                        list[count++] = &variables->frames[i];
        if (count > 1)
                qsort(list, count, sizeof(*list), compare_places);
        visit_sharers(sharers, list, count, each);
        free(list);
        return 0;
}

/* ---- where they are touched ---- */

static int mark_inside(struct place_sharers *sharers)
{
        const struct flow_code *code = sharers->walk->code;

        for (size_t i = 0; i < sharers->count; i++) {
                struct sharer *sharer = &sharers->items[i];

                sharer->steps = calloc(code->step_count + 1, 1);
                if (!sharer->steps)
                        return -ENOMEM;
                for (size_t r = 0; r < sharer->count; r++) {
                        const struct frame_variable *range =
                            &sharers->variables->frames[sharer->first + r];

                        for (size_t at = flow_code_from(code, range->low);
                             at < code->step_count && code->steps[at].vaddr < range->high;
                             at++)
                                sharer->steps[at] |= SHARER_INSIDE;
                }
        }
        return 0;
}

/* An inlined function's parameter is written before the code that counts as that
 * function's, in code that is in no such block. */
static void touch_before(struct place_sharers *sharers, const struct flow_state *state,
                         const struct place_value *place)
{
        struct sharer *only = NULL;
        int64_t offset;

        for (size_t i = 0; i < sharers->count; i++) {
                struct sharer *sharer = &sharers->items[i];
                const struct frame_variable *variable =
                    place_sharer_variable(sharers, sharer);

                if (!variable->parameter || !flow_state_in(sharers->walk->context, state,
                                                           place, variable, &offset))
                        continue;
                if (only) /* it may be the other's */
                        return;
                only = sharer;
        }
        if (only)
                only->touched = true;
}

static void touch(struct place_sharers *sharers, const struct flow_state *state,
                  const struct place_value *place, size_t step)
{
        bool owned = false;
        int64_t offset;

        if (!place_in_frame(place))
                return;
        for (size_t i = 0; i < sharers->count; i++) {
                const struct sharer *sharer = &sharers->items[i];

                if (!(sharer->steps[step] & SHARER_INSIDE))
                        continue;
                owned = true;
                if (flow_state_in(sharers->walk->context, state, place,
                                  place_sharer_variable(sharers, sharer), &offset))
                        sharer->steps[step] |= SHARER_TOUCHED;
        }
        if (!owned)
                touch_before(sharers, state, place);
}

/* What STEP reads or writes, or hands to the function that it calls. */
static void touch_by(struct place_sharers *sharers, struct flow_state *state, size_t step)
{
        static const uint8_t arguments[] = {REGISTER_RDI, REGISTER_RSI, 1, 2, 8, 9};
        const struct flow_context *flow = sharers->walk->context;
        const struct flow_step *at = &sharers->walk->code->steps[step];

        if (at->instruction.has_memory && at->instruction.access_bytes > 0) {
                struct place_value place = flow_operand(flow, state, at);

                touch(sharers, state, &place, step);
        }
        for (size_t i = 0;
             i < sizeof(arguments) && at->instruction.operation == OPERATION_CALL; i++)
                touch(sharers, state, &state->registers[arguments[i]], step);
}

static void mark_touched(struct place_sharers *sharers)
{
        const struct flow_walk *walk = sharers->walk;

        for (size_t b = 0; b < walk->code->block_count; b++) {
                const struct flow_block *block = &walk->code->blocks[b];
                struct flow_state state = walk->visits[b].entry;

                for (size_t i = 0; i < block->count && state.reached; i++) {
                        touch_by(sharers, &state, block->first + i);
                        flow_effect(walk->context, &state,
                                    &walk->code->steps[block->first + i]);
                }
        }
}

/* ---- all ---- */

int place_sharers_find(struct place_sharers *sharers)
{
        sharers->count = 0;
        sharers->range_count = sharers->variables->frame_count;
        return each_sharer(sharers, add_sharer);
}

int place_sharers_leave_open(struct place_sharers *sharers)
{
        return each_sharer(sharers, leave_open);
}

int place_sharers_mark(struct place_sharers *sharers)
{
        int error = mark_inside(sharers);

        if (!error)
                mark_touched(sharers);
        return error;
}

void place_sharers_free(struct place_sharers *sharers)
{
        for (size_t i = 0; i < sharers->count && i < SHARERS_LIMIT; i++)
                free(sharers->items[i].steps);
}
