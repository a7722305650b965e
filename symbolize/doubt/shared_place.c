/* SPDX-License-Identifier: MIT */
#include "shared_place.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "type_field.h"

enum { PAIRS_AT_MOST = 1 << 20 };

/* ---- overlapping variables ---- */

static bool same_base(const struct frame_variable *a, const struct frame_variable *b)
{
        return a->in_frame == b->in_frame && (a->in_frame || a->reg == b->reg);
}

/* Sorts by the base of their addresses, then by offset. */
static int compare_places(const void *left, const void *right)
{
        const struct frame_variable *a = *(const struct frame_variable *const *)left;
        const struct frame_variable *b = *(const struct frame_variable *const *)right;

        COMPARE(a->in_frame, b->in_frame);
        if (!a->in_frame)
                COMPARE(a->reg, b->reg);
        COMPARE(a->offset, b->offset);
        return 0;
}

/* LIST contains COUNT variables in the order of their offsets. Marks each variable that
 * overlaps another one. Beyond PAIRS_AT_MOST pairs it marks overlapping neighbours
 * without a comparison. */
static void mark_sharers(const struct types *types, struct frame_variable **list,
                         size_t count)
{
        size_t pairs_left = PAIRS_AT_MOST;

        for (size_t i = 0; i < count; i++)
                for (size_t j = i + 1;
                     j < count && same_base(list[i], list[j]) &&
                     (uint64_t)list[j]->offset - (uint64_t)list[i]->offset <
                         types->items[list[i]->type].size_bytes;
                     j++) {
                        if (pairs_left > 0)
                                pairs_left--;
                        if (list[i]->number != list[j]->number &&
                            (pairs_left == 0 || !variables_called_same(list[i], list[j])))
                                list[i]->shares = list[j]->shares = true;
                        if (pairs_left == 0)
                                break;
                }
}

int shared_places_find(struct variables *variables, const struct types *types)
{
        struct frame_variable **list =
            malloc((variables->frames.count + 1) * sizeof(struct frame_variable *));
        size_t count = 0;

        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < variables->frames.count; i++)
                if (variables->frames.items[i].scoped)
                        list[count++] = &variables->frames.items[i];
        SORT(list, count, compare_places);
        mark_sharers(types, list, count);
        free(list);
        return 0;
}

/* ---- all variables at a place ---- */

bool shared_place_variable(const struct flow_context *flow,
                           const struct flow_state *state,
                           const struct place_value *place, uint64_t vaddr,
                           struct frame_variable *variable, int64_t *offset)
{
        const struct frame_variable *first = NULL;
        bool is_owned = false; /* a block with code has such a variable */
        int64_t inside;

        for (size_t i = 0; i < flow->variables->frames.count; i++) {
                const struct frame_variable *at = &flow->variables->frames.items[i];
                bool is_there = vaddr >= at->low && vaddr < at->high;

                if ((!is_there && !at->shares) ||
                    !flow_state_in(flow, state, place, at, &inside))
                        continue;
                is_owned |= is_there && !at->shared;
                if (first &&
                    (inside != *offset || flow->types->items[at->type].canonical !=
                                              flow->types->items[first->type].canonical))
                        return false;
                first = first ? first : at;
                *offset = inside;
        }
        if (!is_owned)
                return false;
        *variable = (struct frame_variable){.type = first->type};
        return true;
}

/* ---- registers ---- */

/* If one pointer is cast to two structures, the code may use either. Scopes separate
 * variables: an inner block's variable hides the outer one, and each inlined function has
 * other variables. */

enum { RIVALS_AT_MOST = 1 << 16 };

/* Whether A and B point to two structures and neither structure begins with the other. */
static bool are_rivals(struct type_reader *reader, uint32_t a, uint32_t b)
{
        const struct types *types = reader->types;

        if (type_same(types, a, b))
                return false;
        uint32_t x = type_pointee(reader, a), y = type_pointee(reader, b);

        return type_has_fields(types, x) && type_has_fields(types, y) &&
               !type_same(types, x, y) && type_unlike(types, x, y);
}

static int compare_registers(const void *left, const void *right)
{
        const struct register_variable *a = *(struct register_variable *const *)left;
        const struct register_variable *b = *(struct register_variable *const *)right;

        COMPARE(a->block, b->block);
        COMPARE(a->reg, b->reg);
        COMPARE(a->offset, b->offset);
        COMPARE(a->low, b->low);
        return 0;
}

static bool same_place(const struct register_variable *a,
                       const struct register_variable *b)
{
        return a->block == b->block && a->reg == b->reg && a->offset == b->offset;
}

/* If there are too many to compare, all count as aliasing. */
int rival_variables_find(struct variables *variables, struct type_reader *reader)
{
        struct register_variable **list =
            malloc((variables->value_count + 1) * sizeof(struct register_variable *));
        size_t count = 0, pairs_left = RIVALS_AT_MOST;

        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < variables->value_count; i++)
                if (!variables->values[i].from_set)
                        list[count++] = &variables->values[i];
        SORT(list, count, compare_registers);
        for (size_t i = 0; i < count; i++)
                for (size_t j = i + 1; j < count && same_place(list[i], list[j]) &&
                                       list[j]->low < list[i]->high;
                     j++) {
                        if (pairs_left > 0)
                                pairs_left--;
                        if (pairs_left == 0 ||
                            are_rivals(reader, list[i]->type, list[j]->type))
                                list[i]->rival = list[j]->rival = true;
                        if (pairs_left == 0)
                                break;
                }
        free(list);
        return reader->error;
}
