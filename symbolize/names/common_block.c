/* SPDX-License-Identifier: MIT */
#include "common_block.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"

/* Only a hostile file has more places in more blocks. */
enum { STEPS_LIMIT = 100000000 };

int common_blocks_begin(struct common_blocks *blocks, uint32_t name)
{
        return PUSH(blocks, (struct common_block){.name = name,
                                                  .first_member = blocks->member_count});
}

int common_blocks_add(struct common_blocks *blocks, const struct common_member *member)
{
        if (APPEND(blocks->members, blocks->member_count, blocks->member_capacity,
                   *member) < 0)
                return -ENOMEM;
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
static int put_type(const struct common_blocks *blocks, const struct common_block *block,
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
        if (!error)
                *id = types->items[*id].canonical;
        return error;
}

static void leave_open(struct data_place *place)
{
        place->divided = true;
        place->type = TYPE_NONE;
}

/* Answers the places in BLOCK, or in a variable that it is a part of. */
static int answer_block(const struct common_blocks *blocks,
                        const struct common_block *block, struct types *types,
                        struct string_pool *names, struct data_place **places,
                        size_t count, size_t *steps)
{
        uint64_t low, high, start = UINT64_MAX;
        uint32_t type = TYPE_NONE;
        int error = 0;

        if (!extent(blocks, block, types, &low, &high))
                return 0;
        for (size_t i = data_places_from(places, count, low);
             i < count && places[i]->vaddr < high && !error; i++) {
                struct data_place *place = places[i];

                if (!place->variable) {
                        place->start = low;
                        place->size_bytes = high - low;
                        place->variable = true;
                }
                if (place->start > low || high - place->start > place->size_bytes ||
                    ++*steps > STEPS_LIMIT) {
                        leave_open(place);
                        continue;
                }
                if (place->start != start)
                        error = put_type(blocks, block, types, names, place->start,
                                         place->size_bytes, &type);
                start = place->start;
                place->name = block->name ? block->name : place->name;
                if (place->type == TYPE_NONE && !place->divided)
                        place->type = type;
                else if (place->type != type)
                        leave_open(place);
        }
        return error;
}

/* Whether BLOCK has the members that TYPE has. */
static bool divides_as(const struct common_blocks *blocks,
                       const struct common_block *block, const struct types *types,
                       uint32_t type)
{
        bool same = types->items[type].member_count == block->member_count;

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

/* Where the members of BLOCK are is not said: it may divide the places in another way. */
static void compare_unplaced(const struct common_blocks *blocks,
                             const struct common_block *block, const struct types *types,
                             struct data_place **places, size_t count, size_t *steps)
{
        *steps += count;
        for (size_t i = 0; i < count; i++)
                if (places[i]->type != TYPE_NONE && places[i]->name == block->name &&
                    !divides_as(blocks, block, types, places[i]->type))
                        leave_open(places[i]);
}

int common_blocks_answer(const struct common_blocks *blocks, struct types *types,
                         struct string_pool *names, struct data_place **places,
                         size_t count)
{
        size_t steps = 0;
        uint64_t low, high;
        int error = 0;

        for (size_t i = 0; i < blocks->count && !error && steps <= STEPS_LIMIT; i++)
                error = answer_block(blocks, &blocks->items[i], types, names, places,
                                     count, &steps);
        for (size_t i = 0; i < blocks->count && !error && steps <= STEPS_LIMIT; i++)
                if (!extent(blocks, &blocks->items[i], types, &low, &high))
                        compare_unplaced(blocks, &blocks->items[i], types, places, count,
                                         &steps);
        for (size_t i = 0; i < count && steps > STEPS_LIMIT; i++)
                leave_open(places[i]);
        return error;
}

void common_blocks_free(struct common_blocks *blocks)
{
        free(blocks->items);
        free(blocks->members);
        *blocks = (struct common_blocks){0};
}
