/* SPDX-License-Identifier: MIT */
/* A block has the type of its allocation if no sample shows more and the instruction's
 * pointer agrees. Otherwise the pointer's type counts, unless that contradicts the
 * allocation, or the pointer may lead to a member of another type. */

#include "rule.h"
#include "sample_evidence.h"
#include "type_untold.h"

/* The allocation decided on FOUND. */
static struct sample_type told_by_allocation(struct sample_type found,
                                             const struct block_type *holds)
{
        return type_told(found, (struct type_source){TYPE_BY_ALLOCATION, holds->pointer,
                                                     holds->place});
}

/* The field, if the block has the type of its allocation. */
static struct sample_type by_allocation(struct sample_types *finder,
                                        const struct sample_location *location,
                                        const struct block_type *holds)
{
        const struct target *target = &location->target;
        const struct place *place = &finder->sweep->places[location->place];
        uint64_t bytes = finder->sweep->raw->allocations[target->index].size_bytes;

        const struct place_value *pointed =
            instruction_points(place) ? &place_asks(place)->access.flow.place : NULL;

        if (holds->type == TYPE_NONE || holds->mixed ||
            !block_type_fills(finder->types, holds->type, bytes) ||
            !block_type_reaches(holds, finder->types, bytes, target->offset_bytes,
                                pointed, instruction_access(place)->vector) ||
            (pointed && !pointed->guessed &&
             !block_type_agrees(finder->types, holds->type, target->offset_bytes,
                                pointed)))
                return type_left_open(UNTYPED_UNKNOWN_BASE);
        const struct type_access access =
            pointed && type_same(finder->types, pointed->type, holds->type)
                ? instruction_counted_access(finder->types, place)
                : *instruction_access(place);

        return told_by_allocation(
            sample_field_at(
                finder, holds->type,
                block_type_offset(finder->types, holds->type, target->offset_bytes),
                &access),
            holds);
}

/* Characters excepted, which texts consist of. */
static bool is_number(const struct types *types, uint32_t type)
{
        return (types->items[type].kind == TYPE_INTEGER ||
                types->items[type].kind == TYPE_FLOAT) &&
               types->items[type].size_bytes > 1;
}

static bool is_pointer(const struct types *types, uint32_t type)
{
        return type < types->count && types->items[type].kind == TYPE_POINTER;
}

/* Numbers and pointers. */
static bool is_single(const struct types *types, uint32_t type)
{
        return is_number(types, type) || is_pointer(types, type);
}

static bool has_members(const struct types *types, uint32_t type)
{
        return types->items[type].kind == TYPE_STRUCT ||
               types->items[type].kind == TYPE_UNION;
}

/* Whether BLOCKS hold more than their allocated type, so that a pointer to a number may
 * lead to one of their members. A block of bytes or numbers may hold several arrays. */
static bool holds_members(const struct types *types, const struct block_type *blocks)
{
        return blocks->mixed && type_size(types, blocks->type) > 1 &&
               !is_number(types, blocks->type);
}

/* Whether nothing is known of BLOCKS that speaks against their being mere bytes. */
static bool is_texts(const struct types *types, const struct block_type *blocks)
{
        return !blocks->used && !blocks->records && !blocks->mixed &&
               (blocks->type == TYPE_NONE || type_size(types, blocks->type) <= 1);
}

/* Whether what FOUND says is only that a pointer to bytes was handed to a function that
 * copies or compares: such pointers are made of others. */
static bool copies_bytes(const struct sample_types *finder,
                         const struct sample_location *location,
                         const struct sample_type *found)
{
        const struct place *place = &finder->sweep->places[location->place];

        return !place_asks(place)->access.asked &&
               type_size(finder->types, found->type) == 1 &&
               memory_function_at(finder, location->place) != MEMORY_NONE;
}

/* Whether PLACE, INSIDE a block, is in a structure that begins before that. */
static bool begins_before(const struct types *types, uint64_t inside,
                          const struct place_value *place)
{
        return !place->indexed && types->items[place->type].kind == TYPE_STRUCT &&
               place_stays_inside(types, place) && inside < place_offset(types, place);
}

/* Whether the instruction's pointer, which led to FOUND, is to something else than the
 * block was allocated as, and that tells what lies there: the pointer was cast, is to the
 * head of a list instead of an entry, or was another one's in a function that the
 * compiler merged. Memory of bytes may hold anything. */
static bool is_of_another(const struct sample_types *finder,
                          const struct sample_location *location,
                          const struct block_type *holds, uint64_t block_bytes,
                          const struct sample_type *found)
{
        const struct types *types = finder->types;
        const struct place *place = &finder->sweep->places[location->place];
        const struct place_value *pointed = &place_asks(place)->access.flow.place;
        uint64_t inside = location->target.offset_bytes;

        if (!rule_applies("other-type") || !instruction_points(place) || pointed->guessed)
                return false;
        if (begins_before(types, inside, pointed))
                return true;
        return holds->type != TYPE_NONE && has_members(types, holds->type) &&
               block_type_fills(types, holds->type, block_bytes) &&
               block_type_reaches(holds, types, block_bytes, inside, NULL, false) &&
               !block_type_agrees(types, holds->type, inside, pointed) &&
               !type_untold(types, holds->type,
                            block_type_offset(types, holds->type, inside),
                            !found->field.shared && is_pointer(types, found->field.type));
}

/* Whether the pointer is to the first item of a block with one known item, and an index
 * leads behind it without proof. If the block's type is not known, an index that begins
 * there counts, too. */
static bool strays(const struct sample_types *finder,
                   const struct sample_location *location, const struct block_type *holds)
{
        const struct types *types = finder->types;
        const struct place *place = &finder->sweep->places[location->place];
        const struct place_value *pointed = &place_asks(place)->access.flow.place;

        if (!rule_applies("strays") || !instruction_points(place) ||
            !has_members(types, pointed->type))
                return false;
        uint64_t inside = location->target.offset_bytes;
        uint64_t start = inside - place_offset(types, pointed);

        if (!type_same(types, pointed->type, holds->type))
                return pointed->shifted &&
                       !block_type_has_item(holds, types, pointed->type, start);
        /* Among the bytes of a member it is not known to stay. */
        bool may_leave = pointed->unknown_index && !type_open_ended(types, pointed->type);

        if (may_leave)
                start = inside - block_type_offset(types, holds->type, inside);
        return (pointed->guessed || pointed->shifted || may_leave) &&
               inside >= type_size(types, holds->type) &&
               !block_type_has_item(holds, types, pointed->type, start);
}

/* Whether PLACE's index steps over whole records of BLOCKS, of which only the first is
 * known, while the instruction reads one number or pointer, SINGLE. */
static bool steps_over_records(const struct types *types, const struct block_type *blocks,
                               const struct place *place, uint32_t single)
{
        if (blocks->type == TYPE_NONE || !has_members(types, blocks->type) ||
            !instruction_points(place))
                return false;
        uint64_t record = type_size(types, blocks->type);
        uint64_t step = place_asks(place)->access.flow.place.stride_bytes;

        return record > type_size(types, single) && step > 0 && step % record == 0;
}

/* Whether the code counts with fewer bytes than the number TYPE at the pointer: a smaller
 * number may lie there. */
static bool is_less(const struct types *types, uint32_t type,
                    const struct type_access *access)
{
        return rule_applies("less") && access->bytes > 0 &&
               access->bytes < type_size(types, type) &&
               (access->number == NUMBER_LOW || access->number == NUMBER_INTEGER);
}

/* FOUND is a number or pointer in BLOCKS, by a pointer to its type. It may also be a
 * member, or something behind the pointer's target. */
static struct sample_type single_by_pointer(struct sample_types *finder,
                                            const struct sample_location *location,
                                            const struct block_type *holds,
                                            const struct sample_type *found)
{
        const struct place *place = &finder->sweep->places[location->place];

        if (holds->records || holds_members(finder->types, holds) ||
            steps_over_records(finder->types, holds, place, found->type))
                return type_left_open(UNTYPED_INDEX);
        return is_less(finder->types, found->type, instruction_access(place))
                   ? type_left_open(UNTYPED_CONTRADICTED)
                   : *found;
}

struct sample_type type_by_block(struct sample_types *finder,
                                 const struct sample_location *location)
{
        const struct raw_allocation *block =
            &finder->sweep->raw->allocations[location->target.index];
        struct sample_type found = type_by_instruction(finder, location);

        if (block->stack == RAW_NONE)
                return found;
        const struct block_type *holds = &finder->blocks[block->stack];
        struct sample_type there = by_allocation(finder, location, holds);

        if (there.reason == TYPED)
                return there;
        if (found.reason == TYPED &&
            is_of_another(finder, location, holds, block->size_bytes, &found))
                return type_left_open(UNTYPED_OTHER_TYPE);
        if (found.reason == TYPED && strays(finder, location, holds))
                return type_left_open(UNTYPED_INDEX);
        if (found.reason == TYPED && !is_texts(finder->types, holds) &&
            copies_bytes(finder, location, &found))
                return type_left_open(UNTYPED_BYTES);
        return found.reason == TYPED && is_single(finder->types, found.type)
                   ? single_by_pointer(finder, location, holds, &found)
                   : found;
}
