/* SPDX-License-Identifier: MIT */
/* A pointer to the first member of a type does not change the type of its block. */
#include "block_type.h"

#include "type_field.h"
#include "type_index.h"

enum { ITEM_BYTES_LIMIT = 8, PAGE_PART_BYTES = 512 };

/* Whether INNER, a structure, is only the beginning of OUTER. */
static bool begins_with(const struct types *types, uint32_t outer, uint32_t inner)
{
        return types->items[inner].kind == TYPE_STRUCT &&
               type_size(types, outer) > type_size(types, inner) &&
               type_holds(types, outer, 0, inner);
}

/* The place of the call on STACK that gives the type; RAW_NONE: none does. A function
 * that passes the block on does not know its caller's type, perhaps only its
 * beginning. */
static uint32_t telling_call(const struct sweep *sweep, const struct types *types,
                             uint32_t stack)
{
        uint32_t telling = RAW_NONE, type = TYPE_NONE;

        for (; stack != RAW_NONE; stack = sweep->raw->stacks[stack].parent) {
                uint32_t index = sweep->stack_places[stack];

                if (index == RAW_NONE ||
                    !place_asks(&sweep->places.items[index])->call.asked)
                        break;
                const struct flow_answer *call =
                    &place_asks(&sweep->places.items[index])->call.flow;

                if (call->place.kind == PLACE_POINTER &&
                    (telling == RAW_NONE || begins_with(types, call->place.type, type))) {
                        telling = index;
                        type = call->place.type;
                } else if (telling != RAW_NONE) {
                        break;
                }
                if (!call->returned)
                        break;
        }
        return telling;
}

struct block_type block_type_of_allocation(const struct sweep *sweep,
                                           const struct types *types, uint32_t stack)
{
        uint32_t place = telling_call(sweep, types, stack);

        if (place == RAW_NONE)
                return (struct block_type){
                    .type = TYPE_NONE, .place = RAW_NONE, .item = TYPE_NONE};
        const struct flow_answer *call =
            &place_asks(&sweep->places.items[place])->call.flow;
        uint32_t type = call->place.type;
        uint64_t bytes = type_size(types, type);
        bool fills_nothing = bytes == 0 && !type_open_ended(types, type);

        return (struct block_type){
            .type = fills_nothing ? TYPE_NONE : type,
            .pointer = call->pointer,
            .place = place,
            .item = TYPE_NONE,
            /* Several items, if the function asks for items of this size. */
            .step_bytes = call->item_bytes == bytes ? bytes : 0};
}

bool block_type_fills(const struct types *types, uint32_t type, uint64_t block_bytes)
{
        uint64_t bytes = type_size(types, type);

        if (bytes == 0 || bytes > block_bytes ||
            (types->items[type].kind == TYPE_INTEGER && bytes == 1))
                return false;
        return block_bytes % bytes == 0 || type_open_ended(types, type);
}

uint64_t block_type_offset(const struct types *types, uint32_t type, uint64_t inside)
{
        return type_open_ended(types, type) ? inside : inside % type_size(types, type);
}

/* Whether PLACE's index, in an array of TYPE, may lead to offset INSIDE of a block. */
static bool counts_in_array(const struct types *types, uint32_t type, uint64_t inside,
                            const struct place_value *place)
{
        uint64_t at = block_type_offset(types, type, inside);

        return place->indexed && place->stride_bytes > 0 && place->offset >= 0 &&
               type_same(types, type, place->type) && at >= (uint64_t)place->offset &&
               (at - (uint64_t)place->offset) % place->stride_bytes == 0;
}

static bool holds_at(const struct types *types, uint32_t type, uint64_t start,
                     uint32_t inner)
{
        return start <= INT64_MAX &&
               type_holds(types, type, block_type_offset(types, type, start), inner);
}

/* Whether PLACE, INSIDE a block of TYPE, points to the end of an array and accesses
 * memory before that end. */
static bool before_end(const struct types *types, uint32_t type, uint64_t inside,
                       const struct place_value *place)
{
        uint64_t bytes = type_size(types, place->type);

        return !place->indexed && place->offset < 0 && bytes > 0 &&
               holds_at(types, type, inside - (uint64_t)place->offset - bytes,
                        place->type);
}

bool block_type_agrees(const struct types *types, uint32_t type, uint64_t inside,
                       const struct place_value *place)
{
        if (place->type == TYPE_NONE)
                return false;
        if (counts_in_array(types, type, inside, place) ||
            before_end(types, type, inside, place))
                return true;
        /* The place may lie before the pointer's target: the offset is then negative. It
         * may also lie behind it, as a derived class does. */
        return holds_at(types, type, inside - place_offset(types, place), place->type) ||
               (!place->indexed &&
                holds_at(types, type, inside - (uint64_t)place->offset, place->type));
}

unsigned block_type_relation(const struct types *types, uint32_t type, uint64_t inside,
                             const struct place_value *place)
{
        uint64_t bytes = type_size(types, type);

        if (type == TYPE_NONE || block_type_agrees(types, type, inside, place))
                return 0;
        uint64_t start = inside - place_offset(types, place);

        if (place->type == TYPE_NONE || start > INT64_MAX || bytes == 0 ||
            start % bytes != 0)
                return BLOCK_DIFFERS;
        if (type_same(types, type, place->type))
                return 0; /* in another item of the type */
        if (type_size(types, place->type) != bytes ||
            types->items[type].kind != TYPE_STRUCT ||
            types->items[place->type].kind != TYPE_STRUCT)
                return BLOCK_DIFFERS;
        return start == bytes ? BLOCK_BEHIND : BLOCK_REPLACES;
}

/* Whether PLACE's index, if any, counts whole items of BYTES. An index over bytes of a
 * member may lead far behind the item. */
static bool counts_items(const struct place_value *place, uint64_t bytes)
{
        return !place->indexed || (!place->unknown_index && place->stride_bytes > 0 &&
                                   place->stride_bytes % bytes == 0);
}

/* The start of the item that PLACE points to, at INSIDE of a block that is aligned to
 * such items. 0: it may be the first, or there is none. */
static uint64_t later_item(const struct types *types, uint64_t inside,
                           const struct place_value *place)
{
        uint64_t bytes = type_size(types, place->type);

        if (place->shifted || bytes == 0 || type_open_ended(types, place->type) ||
            !counts_items(place, bytes))
                return 0;
        uint64_t start = inside - place_offset(types, place);

        return start <= INT64_MAX && start % bytes == 0 ? start : 0;
}

/* The distance between items that PLACE and its item at START show. An index with the
 * stride of one item leads to the items between, too. */
static uint64_t step_told(const struct types *types, uint64_t start,
                          const struct place_value *place)
{
        uint64_t bytes = type_size(types, place->type);

        return place->indexed && place->stride_bytes == bytes ? bytes : start;
}

void block_type_learn_items(struct block_type *blocks, const struct types *types,
                            uint64_t inside, const struct place_value *place)
{
        uint64_t start = place->type == TYPE_NONE ? 0 : later_item(types, inside, place);

        if (start == 0)
                return;
        if (type_same(types, blocks->type, place->type)) {
                blocks->step_bytes =
                    common_factor(blocks->step_bytes, step_told(types, start, place));
        } else if (blocks->item == TYPE_NONE ||
                   type_same(types, blocks->item, place->type)) {
                blocks->item = place->type;
                blocks->item_step_bytes = common_factor(blocks->item_step_bytes, start);
        }
}

bool block_type_has_item(const struct block_type *blocks, const struct types *types,
                         uint32_t type, uint64_t start)
{
        uint64_t step = 0;

        if (type_same(types, blocks->type, type))
                step = blocks->step_bytes;
        else if (type_same(types, blocks->item, type))
                step = blocks->item_step_bytes;
        return step > 0 && start % step == 0;
}

/* Whether the size of a block shows that it ends with an array: the bytes behind its
 * header are a multiple of the item size. Sizes that any block may have show nothing:
 * small items, multiples of a part of a page. */
static bool ends_with_items(uint64_t block_bytes, uint64_t header_bytes,
                            uint64_t array_offset, uint64_t item_bytes)
{
        return item_bytes > ITEM_BYTES_LIMIT && block_bytes % PAGE_PART_BYTES != 0 &&
               ((block_bytes - array_offset) % item_bytes == 0 ||
                (block_bytes - header_bytes) % item_bytes == 0);
}

/* Whether PLACE leads to the items of ITEM_BYTES behind each other that begin at OFFSET
 * in its type. An index with another stride may go from block to block, or anywhere. */
static bool leads_to_items(const struct place_value *place, uint64_t offset,
                           uint64_t item_bytes, bool vector)
{
        if (!place->guessed)
                return place->offset >= 0 && (uint64_t)place->offset >= offset;
        return place->strided && item_bytes > 0 &&
               (vector ? place->stride_bytes % item_bytes == 0
                       : place->stride_bytes == item_bytes);
}

bool block_type_reaches(const struct block_type *blocks, const struct types *types,
                        uint64_t block_bytes, uint64_t inside,
                        const struct place_value *place, bool vector)
{
        uint64_t bytes = type_size(types, blocks->type), offset;
        enum type_kind kind = types->items[blocks->type].kind;
        uint32_t item;

        if (inside < bytes || (kind != TYPE_STRUCT && kind != TYPE_UNION))
                return true;
        if (!type_open_array(types, blocks->type, &offset, &item))
                return block_type_has_item(blocks, types, blocks->type,
                                           inside - inside % bytes);
        uint64_t item_bytes = type_size(types, item);

        if (place && leads_to_items(place, offset, item_bytes, vector))
                return true;
        return ends_with_items(block_bytes, bytes, offset, item_bytes);
}

bool block_type_mixed(const struct block_type *blocks)
{
        return blocks->seen & BLOCK_DIFFERS ||
               (blocks->seen & BLOCK_BEHIND && !(blocks->seen & BLOCK_REPLACES));
}
