/* SPDX-License-Identifier: MIT */
/* A block has the type of its allocation if no sample shows more and the instruction's
 * pointer agrees. Otherwise the pointer's type counts, unless the pointer may lead to a
 * member of another type. */
#include "type_by_block.h"

#include "inner_structure.h"
#include "rule.h"
#include "sample_field.h"
#include "type_by_function.h"
#include "type_by_instruction.h"

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

        if (holds->type == TYPE_NONE || block_type_mixed(holds) ||
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
        return block_type_mixed(blocks) && type_size(types, blocks->type) > 1 &&
               !is_number(types, blocks->type);
}

/* Whether nothing is known of BLOCKS that speaks against their being mere bytes. */
static bool is_texts(const struct types *types, const struct block_type *blocks)
{
        return !blocks->used && !blocks->records && !block_type_mixed(blocks) &&
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

/* How the instruction's pointer goes with its block, whose type is known; 0: not known.
 */
static unsigned relation_here(const struct sample_types *finder,
                              const struct sample_location *location,
                              const struct block_type *holds, uint64_t block_bytes)
{
        const struct place *place = &finder->sweep->places[location->place];

        if (holds->type == TYPE_NONE || !instruction_points(place) ||
            place_asks(place)->access.flow.place.guessed ||
            !block_type_fills(finder->types, holds->type, block_bytes))
                return 0;
        return block_type_relation(finder->types, holds->type,
                                   location->target.offset_bytes,
                                   &place_asks(place)->access.flow.place);
}

/* Whether the instruction's pointer is to a structure that begins with the block, which
 * was allocated as another, larger one and holds just that: the pointer may have been
 * cast to that in between, or the block be used as something else. */
static bool is_cast(const struct sample_types *finder,
                    const struct sample_location *location,
                    const struct block_type *holds, uint64_t block_bytes)
{
        const struct types *types = finder->types;
        const struct place *place = &finder->sweep->places[location->place];
        const struct place_value *pointed = &place_asks(place)->access.flow.place;

        return types->items[holds->type].kind == TYPE_STRUCT &&
               types->items[pointed->type].kind == TYPE_STRUCT &&
               block_bytes == type_size(types, holds->type) &&
               type_size(types, pointed->type) < block_bytes &&
               location->target.offset_bytes == place_offset(types, pointed);
}

/* The instruction's pointer, which led to FOUND, has another type than this block. Merged
 * functions have the types of one of them only. If the pointer met blocks of its type
 * before, it leads here to another type of that size. */
static struct sample_type by_merged(struct sample_types *finder,
                                    const struct sample_location *location,
                                    const struct block_type *holds, uint64_t block_bytes,
                                    const struct sample_type *found)
{
        unsigned relation = relation_here(finder, location, holds, block_bytes);
        unsigned seen = finder->relations[location->place];
        bool same_size = (relation & (BLOCK_REPLACES | BLOCK_BEHIND)) != 0;

        if (!rule_applies("merged-pointer"))
                return *found;
        if (relation & BLOCK_BEGINS && is_cast(finder, location, holds, block_bytes))
                return type_left_open(UNTYPED_OTHER_TYPE);
        if (seen & BLOCK_BETWEEN && holds->between)
                return *found; /* memory that several types are taken from */
        if (!(seen & BLOCK_IS && (same_size || relation & BLOCK_BEGINS)) &&
            !(seen & BLOCK_REPLACES && same_size))
                return *found;
        struct sample_type there =
            seen & BLOCK_IS && same_size && !block_type_mixed(holds)
                ? sample_field_at(
                      finder, holds->type,
                      block_type_offset(finder->types, holds->type,
                                        location->target.offset_bytes),
                      instruction_access(&finder->sweep->places[location->place]))
                : type_left_open(UNTYPED_OTHER_TYPE);

        return there.reason == TYPED ? told_by_allocation(there, holds)
                                     : type_left_open(UNTYPED_OTHER_TYPE);
}

/* The instruction's pointer, which led to FOUND, is to a structure that is not in the
 * block. It came from a pointer to a shared member: a list's head is taken for an entry's
 * link. If the block's type has that member there, the member was read. */
static struct sample_type by_member(struct sample_types *finder,
                                    const struct sample_location *location,
                                    const struct block_type *holds, uint64_t block_bytes,
                                    const struct sample_type *found)
{
        const struct types *types = finder->types;
        const struct place *place = &finder->sweep->places[location->place];
        const struct place_value *pointed = &place_asks(place)->access.flow.place;
        const struct type_access *access = instruction_access(place);
        uint64_t inside = location->target.offset_bytes;

        if (!rule_applies("shared-member") || !instruction_points(place) ||
            pointed->guessed)
                return *found;
        if (relation_here(finder, location, holds, block_bytes) &
                (BLOCK_BETWEEN | BLOCK_BEFORE) &&
            block_type_reaches(holds, types, block_bytes, inside, NULL, access->vector)) {
                uint64_t at = block_type_offset(types, holds->type, inside);
                struct sample_type there =
                    sample_field_at(finder, holds->type, at, access);

                if (inner_structure_shared(types, pointed->type,
                                           place_offset(types, pointed), holds->type, at))
                        return there.reason == TYPED ? told_by_allocation(there, holds)
                                                     : there;
                if (!inner_untold(types, holds->type, at,
                                  !found->field.shared &&
                                      is_pointer(types, found->field.type)))
                        return type_left_open(UNTYPED_OTHER_TYPE);
        }
        return finder->relations[location->place] & BLOCK_BEFORE && holds->before
                   ? type_left_open(UNTYPED_OTHER_TYPE)
                   : *found;
}

/* Whether a constant leads behind the pointer's target, in a block that holds more than
 * its type. */
static bool leads_behind(const struct sample_types *finder, const struct place *place,
                         const struct block_type *holds)
{
        return rule_applies("leads-behind") && holds->doubted &&
               instruction_points(place) &&
               !place_stays_inside(finder->types, &place_asks(place)->access.flow.place);
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
        if (found.reason == TYPED)
                found = by_member(finder, location, holds, block->size_bytes, &found);
        if (found.reason == TYPED)
                found = by_merged(finder, location, holds, block->size_bytes, &found);
        if (found.reason == TYPED &&
            leads_behind(finder, &finder->sweep->places[location->place], holds))
                return type_left_open(UNTYPED_CONTRADICTED);
        if (found.reason == TYPED && strays(finder, location, holds))
                return type_left_open(UNTYPED_INDEX);
        if (found.reason == TYPED && !is_texts(finder->types, holds) &&
            copies_bytes(finder, location, &found))
                return type_left_open(UNTYPED_BYTES);
        return found.reason == TYPED && is_single(finder->types, found.type)
                   ? single_by_pointer(finder, location, holds, &found)
                   : found;
}
