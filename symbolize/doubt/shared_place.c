/* SPDX-License-Identifier: MIT */
/* Variables of one function have its name before theirs once: "f::a|b". */
#include "shared_place.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "type_field.h"

enum { VARIABLES_LIMIT = 8, PAIRS_AT_MOST = 1 << 20 };

/* ---- who shares ---- */

static bool same_base(const struct frame_variable *a, const struct frame_variable *b)
{
        return a->in_frame == b->in_frame && (a->in_frame || a->reg == b->reg);
}

/* By what their places count from, and then by these. */
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

/* Marks those of LIST, COUNT in order of place, that have bytes in common with another.
 * Where there are too many to compare, all may. */
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

/* ---- all that may be there ---- */

struct several {
        const struct frame_variable *items[VARIABLES_LIMIT];
        size_t count;
        bool too_many;
        bool apart; /* they do not begin at one place */
};

static void add(struct several *several, const struct frame_variable *variable)
{
        for (size_t i = 0; i < several->count; i++)
                if (several->items[i]->number == variable->number ||
                    variables_called_same(several->items[i], variable))
                        return;
        several->too_many |= several->count == VARIABLES_LIMIT;
        if (!several->too_many)
                several->items[several->count++] = variable;
}

/* In the order of the source. */
static void sort(struct several *several)
{
        for (size_t i = 1; i < several->count; i++)
                for (size_t at = i; at > 0 && several->items[at]->number <
                                                  several->items[at - 1]->number;
                     at--) {
                        const struct frame_variable *later = several->items[at - 1];

                        several->items[at - 1] = several->items[at];
                        several->items[at] = later;
                }
}

/* "first|second"; QUALIFIED: each with its function. 0 where that is not known. */
static uint32_t join_names(const struct flow_context *flow, const struct several *several,
                           bool qualified)
{
        struct string_pool *names = flow->reader->names;
        uint32_t outer = die_put_name(flow->reader->dwarf, names, flow->function);

        uint32_t joined = 0;

        for (size_t i = 0; i < several->count; i++) {
                const struct frame_variable *variable = several->items[i];
                const char *before = string_pool_text(names, joined);
                const char *function = string_pool_text(
                    names, variable->inlined ? variable->inlined : outer);
                const char *name = string_pool_text(names, variable->name);

                if (!name || (qualified && !function))
                        return 0;
                joined = string_pool_format(names, "%s%s%s%s%s", before ? before : "",
                                            before ? "|" : "", qualified ? function : "",
                                            qualified ? "::" : "", name);
        }
        return joined;
}

/* VARIABLE, the first of SEVERAL, becomes their common part. (Inlined at -O3, gcc 12
 * takes the items for uninitialized.) */
static __attribute__((noinline)) void take_common(const struct types *types,
                                                  const struct several *several,
                                                  struct frame_variable *variable)
{
        for (size_t i = 1; i < several->count; i++) {
                const struct frame_variable *other = several->items[i];

                variable->qualified |= other->inlined != variable->inlined;
                if (variable->type != TYPE_NONE &&
                    types->items[other->type].canonical !=
                        types->items[variable->type].canonical)
                        variable->type = TYPE_NONE;
        }
}

bool shared_place_variable(const struct flow_context *flow,
                           const struct flow_state *state,
                           const struct place_value *place, uint64_t vaddr,
                           struct frame_variable *variable, int64_t *offset)
{
        const struct frame_variable *owner = NULL; /* whose block it is */
        struct several several = {.count = 0};
        int64_t inside = 0;

        for (size_t i = 0; i < flow->variables->frames.count; i++) {
                const struct frame_variable *at = &flow->variables->frames.items[i];

                bool is_there = vaddr >= at->low && vaddr < at->high;

                if ((!is_there && !at->shares) ||
                    !flow_state_in(flow, state, place, at, &inside))
                        continue;
                add(&several, at);
                if (is_there && !at->shared)
                        owner = at;
                several.apart |= inside != *offset && several.count > 1;
                *offset = inside;
        }
        if (!owner || several.count < 2 || several.too_many)
                return false;
        sort(&several);
        *variable = *several.items[0];
        variable->level = owner->level;
        variable->line = owner->line;
        if (several.apart)
                variable->type = TYPE_NONE;
        take_common(flow->types, &several, variable);
        variable->name = join_names(flow, &several, variable->qualified);
        return variable->name != 0;
}

/* ---- registers ---- */

/* If one pointer is cast to two structures, the code may use either. A variable of an
 * inner block hides the outer one's; an inlined function has its own variables. */

enum { RIVALS_AT_MOST = 1 << 16 };

/* Whether A and B are pointers to structures of which neither begins with the other. */
static bool are_rivals(struct type_reader *reader, uint32_t a, uint32_t b)
{
        const struct types *types = reader->types;

        if (type_same(types, a, b))
                return false;
        uint32_t x = type_pointee(reader, a), y = type_pointee(reader, b);

        return type_has_fields(types, x) && type_has_fields(types, y) &&
               !type_same(types, x, y) && type_unlike(types, x, y);
}

static void widen(struct register_variable *variable, uint64_t low, uint64_t high)
{
        if (variable->rival_low == variable->rival_high) {
                variable->rival_low = low;
                variable->rival_high = high;
                return;
        }
        if (low < variable->rival_low)
                variable->rival_low = low;
        if (high > variable->rival_high)
                variable->rival_high = high;
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

/* LIST from FIRST on was not compared completely: any variable there may have a rival. */
static void leave_open(struct register_variable **list, size_t count, size_t first)
{
        for (size_t i = first; i < count; i++) {
                if ((i == 0 || !same_place(list[i - 1], list[i])) &&
                    (i + 1 == count || !same_place(list[i], list[i + 1])))
                        continue;
                list[i]->rival_low = list[i]->low;
                list[i]->rival_high = list[i]->high;
        }
}

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
        for (size_t i = 0; i < count; i++) {
                for (size_t j = i + 1; j < count && same_place(list[i], list[j]) &&
                                       list[j]->low < list[i]->high;
                     j++, pairs_left--) {
                        if (pairs_left == 0) {
                                leave_open(list, count, i);
                                count = 0;
                                break;
                        }
                        uint64_t high =
                            list[j]->high < list[i]->high ? list[j]->high : list[i]->high;

                        if (!are_rivals(reader, list[i]->type, list[j]->type))
                                continue;
                        widen(list[i], list[j]->low, high);
                        widen(list[j], list[j]->low, high);
                }
        }
        free(list);
        return reader->error;
}
