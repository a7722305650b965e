/* SPDX-License-Identifier: MIT */
/* If program units divide a block in different ways, its type is a union of all
 * divisions. Each unit's own division is kept beside it. */
#include "common_block.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"

/* More are left out: whose they are is not known. */
enum { VIEWS_LIMIT = 64 };

int common_blocks_begin(struct common_blocks *blocks, const struct common_block *block)
{
        if (array_reserve(&blocks->items, &blocks->capacity, blocks->count,
                          sizeof(*blocks->items)) < 0)
                return -ENOMEM;
        blocks->items[blocks->count] = *block;
        blocks->items[blocks->count].first_member = blocks->member_count;
        blocks->items[blocks->count++].member_count = 0;
        return 0;
}

int common_blocks_add(struct common_blocks *blocks, const struct common_member *member)
{
        if (array_reserve(&blocks->members, &blocks->member_capacity,
                          blocks->member_count, sizeof(*blocks->members)) < 0)
                return -ENOMEM;
        blocks->members[blocks->member_count++] = *member;
        blocks->items[blocks->count - 1].member_count++;
        return 0;
}

/* From where to where BLOCK's members lie; false: not known of all. */
static bool extent(const struct common_blocks *blocks, const struct common_block *block,
                   const struct types *types, uint64_t *low, uint64_t *high)
{
        *low = UINT64_MAX;
        *high = 0;
        for (size_t i = 0; i < block->member_count; i++) {
                const struct common_member *member =
                    &blocks->members[block->first_member + i];
                uint64_t end = member->vaddr + types->items[member->type].size_bytes;

                if (!member->placed || end < member->vaddr)
                        return false;
                *low = member->vaddr < *low ? member->vaddr : *low;
                *high = end > *high ? end : *high;
        }
        return *low < *high;
}

/* BLOCK as a structure of BYTES that begins at START. */
static int put_view(const struct common_blocks *blocks, const struct common_block *block,
                    struct types *types, struct string_pool *names, uint64_t start,
                    uint64_t bytes, uint32_t *id)
{
        const char *name = string_pool_text(names, block->name);
        struct member *members = calloc(block->member_count + 1, sizeof(*members));
        const struct type type = {
            .kind = TYPE_STRUCT,
            .name = string_pool_format(names, "common %s", name ? name : ""),
            .size_bytes = bytes,
            .member_count = (uint32_t)block->member_count};

        if (!members)
                return -ENOMEM;
        for (size_t i = 0; i < block->member_count; i++) {
                const struct common_member *member =
                    &blocks->members[block->first_member + i];

                members[i] = (struct member){.name = member->name,
                                             .type = member->type,
                                             .offset_bytes = member->vaddr - start};
        }
        int error = types_put(types, &type, members, id);

        free(members);
        return error;
}

/* Clears the types of FUNCTION's views, because one of its divisions is left out. */
static void leave_out(struct data_place *place, uint32_t function)
{
        place->views_left_out = true;
        for (uint32_t i = 0; i < place->view_count; i++)
                if (place->views[i].function == function)
                        place->views[i].type = TYPE_NONE;
}

static int add_view(struct data_place *place, uint32_t function, uint32_t type)
{
        for (uint32_t i = 0; i < place->view_count; i++)
                if (place->views[i].function == function && place->views[i].type == type)
                        return 0;
        if (!place->views)
                place->views = calloc(VIEWS_LIMIT, sizeof(*place->views));
        if (!place->views)
                return -ENOMEM;
        if (place->view_count < VIEWS_LIMIT)
                place->views[place->view_count++] = (struct data_view){function, type};
        else
                leave_out(place, function);
        return 0;
}

/* ---- places ---- */

/* Places in order of address, with the extent of their variables. ENDS: the variables
 * of a place and of all earlier places lie below it. STARTS: the variables of a place
 * and of all later places begin there or behind it. */
struct answered {
        struct data_place **places;
        size_t count;
        uint64_t *ends;
        uint64_t *starts;
};

static int answered_begin(struct answered *answered)
{
        size_t count = answered->count;

        answered->ends = malloc((count + 1) * sizeof(*answered->ends));
        answered->starts = malloc((count + 1) * sizeof(*answered->starts));
        if (!answered->ends || !answered->starts)
                return -ENOMEM;
        for (size_t i = 0; i < count; i++) {
                const struct data_place *place = answered->places[i];
                uint64_t end = place->variable ? place->start + place->size_bytes : 0;

                answered->ends[i] =
                    i > 0 && answered->ends[i - 1] > end ? answered->ends[i - 1] : end;
        }
        for (size_t i = count; i-- > 0;) {
                const struct data_place *place = answered->places[i];
                uint64_t start = place->variable ? place->start : UINT64_MAX;

                answered->starts[i] = i + 1 < count && answered->starts[i + 1] < start
                                          ? answered->starts[i + 1]
                                          : start;
        }
        return 0;
}

/* Assigns unassigned addresses from LOW up to HIGH to a variable. */
static void put_variable(struct answered *answered, uint64_t low, uint64_t high)
{
        for (size_t i = data_places_from(answered->places, answered->count, low);
             i < answered->count && answered->places[i]->vaddr < high; i++) {
                struct data_place *place = answered->places[i];

                if (!place->variable) {
                        place->start = low;
                        place->size_bytes = high - low;
                        place->variable = true;
                }
                if (answered->ends[i] < high)
                        answered->ends[i] = high;
                if (answered->starts[i] > low)
                        answered->starts[i] = low;
        }
}

/* Adds BLOCK to the places that lie in it, or in a variable that it is a part of. */
static int answer_block(const struct common_blocks *blocks,
                        const struct common_block *block, struct types *types,
                        struct string_pool *names, struct answered *answered)
{
        uint64_t low, high, start = UINT64_MAX;
        uint32_t type = TYPE_NONE;
        int error = 0;

        if (!extent(blocks, block, types, &low, &high))
                return 0;
        put_variable(answered, low, high);
        size_t from = data_places_from(answered->places, answered->count, low),
               to = data_places_from(answered->places, answered->count, high);

        while (from > 0 && answered->ends[from - 1] > low)
                from--;
        while (to < answered->count && answered->starts[to] <= low)
                to++;
        for (size_t i = from; i < to && !error; i++) {
                struct data_place *place = answered->places[i];

                if (!place->variable || place->start > low ||
                    high - place->start > place->size_bytes)
                        continue;
                if (place->start != start)
                        error = put_view(blocks, block, types, names, place->start,
                                         place->size_bytes, &type);
                start = place->start;
                place->name = block->name ? block->name : place->name;
                if (!error)
                        error = add_view(place, block->function,
                                         types->items[type].canonical);
        }
        return error;
}

/* ---- blocks whose members have no location ---- */

/* Whether BLOCK has the members that TYPE has. */
static bool divides_as(const struct common_blocks *blocks,
                       const struct common_block *block, const struct types *types,
                       uint32_t type)
{
        bool same =
            type != TYPE_NONE && types->items[type].member_count == block->member_count;

        for (size_t i = 0; same && i < block->member_count; i++) {
                const struct common_member *member =
                    &blocks->members[block->first_member + i];
                const struct member *other =
                    &types->members[types->items[type].first_member + i];

                same = member->name == other->name &&
                       types->items[member->type].canonical ==
                           types->items[other->type].canonical;
        }
        return same;
}

static int compare_places(const void *left, const void *right)
{
        const struct data_place *a = *(struct data_place *const *)left;
        const struct data_place *b = *(struct data_place *const *)right;

        if (a->name != b->name)
                return a->name < b->name ? -1 : 1;
        return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* BLOCK is divided as in another program unit, or it is not known how. NAMED are the
 * COUNT places in blocks, by name. */
static int answer_unplaced(const struct common_blocks *blocks,
                           const struct common_block *block, const struct types *types,
                           struct data_place *const *named, size_t count)
{
        size_t low = 0, high = count;
        int error = 0;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (named[middle]->name < block->name)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (; low < count && named[low]->name == block->name && !error; low++) {
                struct data_place *place = named[low];
                uint32_t type = TYPE_NONE;

                for (uint32_t v = 0; v < place->view_count && type == TYPE_NONE; v++)
                        if (divides_as(blocks, block, types, place->views[v].type))
                                type = place->views[v].type;
                error = add_view(place, block->function, type);
        }
        return error;
}

static int answer_all_unplaced(const struct common_blocks *blocks,
                               const struct types *types, const struct answered *answered)
{
        struct data_place **named = malloc((answered->count + 1) * sizeof(*named));
        uint64_t low, high;
        size_t count = 0;
        int error = 0;

        if (!named)
                return -ENOMEM;
        for (size_t i = 0; i < answered->count; i++)
                if (answered->places[i]->view_count > 0)
                        named[count++] = answered->places[i];
        if (count > 1)
                qsort(named, count, sizeof(*named), compare_places);
        for (size_t i = 0; i < blocks->count && !error; i++)
                if (!extent(blocks, &blocks->items[i], types, &low, &high))
                        error = answer_unplaced(blocks, &blocks->items[i], types, named,
                                                count);
        free(named);
        return error;
}

/* ---- all ---- */

/* The union of PLACE's views, or the only one; none where it would lack some. */
static int join_views(struct data_place *place, struct types *types)
{
        struct member members[VIEWS_LIMIT] = {{.type = TYPE_NONE}};
        uint32_t count = 0;

        place->type = TYPE_NONE;
        if (place->views_left_out)
                return 0;
        for (uint32_t i = 0; i < place->view_count; i++) {
                uint32_t at = 0;

                while (at < count && members[at].type != place->views[i].type)
                        at++;
                if (at == count && place->views[i].type != TYPE_NONE)
                        members[count++] = (struct member){.type = place->views[i].type};
        }
        place->type = members[0].type;
        if (count <= 1)
                return 0;
        const struct type joined = {.kind = TYPE_UNION,
                                    .name = types->items[place->type].name,
                                    .size_bytes = place->size_bytes,
                                    .member_count = count};

        return types_put(types, &joined, members, &place->type);
}

int common_blocks_answer(const struct common_blocks *blocks, struct types *types,
                         struct string_pool *names, struct data_place **places,
                         size_t count)
{
        struct answered answered = {.places = places, .count = count};
        int error = blocks->count > 0 ? answered_begin(&answered) : 0;

        for (size_t i = 0; i < blocks->count && !error; i++)
                error = answer_block(blocks, &blocks->items[i], types, names, &answered);
        if (blocks->count > 0 && !error)
                error = answer_all_unplaced(blocks, types, &answered);
        for (size_t i = 0; i < count && !error; i++)
                if (places[i]->view_count > 0)
                        error = join_views(places[i], types);
        free(answered.ends);
        free(answered.starts);
        return error;
}

void common_blocks_free(struct common_blocks *blocks)
{
        free(blocks->items);
        free(blocks->members);
        *blocks = (struct common_blocks){0};
}
