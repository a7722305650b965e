/* SPDX-License-Identifier: MIT */
/* A block has the type of its allocation if no sample shows more and the instruction's
 * pointer agrees. Otherwise the pointer's type counts, unless the pointer may lead to a
 * member of another type. */
#include "rule.h"
#include "type_by.h"

/* A sample in a block. */
struct here {
        struct sample_types *finder;
        const struct types *types;
        uint32_t place;                    /* of the sweep */
        const struct place_value *pointed; /* by the instruction; NULL: not known */
        const struct type_access *access;
        const struct block_type *holds; /* facts about all blocks of its stack */
        uint64_t bytes;                 /* of the block */
        uint64_t inside;                /* the offset in the block */
        uint32_t type;                  /* the allocated type */
};

/* FOUND, with the allocation as its evidence if it is a type. */
static struct sample_type told_by_allocation(const struct here *here,
                                             struct sample_type found)
{
        return type_told(found,
                         (struct type_source){TYPE_BY_ALLOCATION, here->holds->pointer,
                                              here->holds->place});
}

/* The field of the block's allocated type. */
static struct sample_type allocated_field(const struct here *here,
                                          const struct type_access *access)
{
        uint64_t offset = block_type_offset(here->types, here->type, here->inside);

        return told_by_allocation(
            here, sample_field_at(here->finder, here->type, offset, access));
}

/* The field, if the block has the type of its allocation. */
static struct sample_type by_allocation(const struct here *here)
{
        const struct place_value *pointed = here->pointed;

        if (here->type == TYPE_NONE || block_type_mixed(here->holds) ||
            !block_type_fills(here->types, here->type, here->bytes) ||
            !block_type_reaches(here->holds, here->types, here->bytes, here->inside,
                                pointed, here->access->vector) ||
            (pointed && !pointed->guessed &&
             !block_type_agrees(here->types, here->type, here->inside, pointed)))
                return type_left_open(UNTYPED_UNKNOWN_BASE);
        const struct type_access access =
            pointed && type_same(here->types, pointed->type, here->type)
                ? instruction_counted_access(
                      here->types, &here->finder->sweep->places.items[here->place])
                : *here->access;

        return allocated_field(here, &access);
}

/* Whether TYPE is a number, but not a character of a text. */
static bool is_number(const struct types *types, uint32_t type)
{
        return type_is_single(types, type) && type_kind(types, type) != TYPE_POINTER &&
               type_size(types, type) > 1;
}

/* Whether the block holds more than its allocated type. A pointer to a number may then
 * lead to a member. A block of bytes or numbers may hold several arrays. */
static bool holds_members(const struct here *here)
{
        return block_type_mixed(here->holds) && type_size(here->types, here->type) > 1 &&
               !is_number(here->types, here->type);
}

/* Whether no evidence contradicts that the block contains only bytes. */
static bool is_texts(const struct here *here)
{
        return !here->holds->used && !here->holds->records &&
               !block_type_mixed(here->holds) && type_size(here->types, here->type) <= 1;
}

/* Whether FOUND's only evidence is a pointer to bytes passed to a function that copies or
 * compares: programs make such pointers from others. */
static bool copies_bytes(const struct here *here, const struct sample_type *found)
{
        return !place_asks(&here->finder->sweep->places.items[here->place])
                    ->access.asked &&
               type_size(here->types, found->type) == 1 &&
               memory_function_at(here->finder, here->place) != MEMORY_NONE;
}

/* Whether the instruction's pointer is to a smaller structure at the beginning of a block
 * that holds one larger structure. The pointer may have been cast in between, or the
 * program uses the block for another purpose. */
static bool is_cast(const struct here *here)
{
        const struct place_value *pointed = here->pointed;

        return pointed && !pointed->guessed &&
               type_kind(here->types, here->type) == TYPE_STRUCT &&
               type_kind(here->types, pointed->type) == TYPE_STRUCT &&
               here->bytes == type_size(here->types, here->type) &&
               type_size(here->types, pointed->type) < here->bytes &&
               here->inside == place_offset(here->types, pointed) &&
               !block_type_agrees(here->types, here->type, here->inside, pointed);
}

/* Whether the pointer is to the first item of a block with one known item, and an
 * unproved index leads behind it. If the block's type is unknown, an index that begins
 * there counts, too. */
static bool strays(const struct here *here)
{
        const struct types *types = here->types;
        const struct place_value *pointed = here->pointed;

        if (!rule_applies("strays") || !pointed || !type_has_fields(types, pointed->type))
                return false;
        uint64_t start = here->inside - place_offset(types, pointed);

        if (!type_same(types, pointed->type, here->type))
                return pointed->shifted &&
                       !block_type_has_item(here->holds, types, pointed->type, start);
        /* It may leave the bytes of a member. */
        bool may_leave = pointed->unknown_index && !type_open_ended(types, pointed->type);

        if (may_leave)
                start = here->inside - block_type_offset(types, here->type, here->inside);
        return (pointed->guessed || pointed->shifted || may_leave) &&
               here->inside >= type_size(types, here->type) &&
               !block_type_has_item(here->holds, types, pointed->type, start);
}

/* The reason to doubt FOUND, the field at the instruction's pointer; TYPED: none. A
 * number or pointer may also be a member, or something behind the pointer's target. */
static enum untyped doubt_in_block(const struct here *here,
                                   const struct sample_type *found)
{
        if (strays(here))
                return UNTYPED_INDEX;
        if (!is_texts(here) && copies_bytes(here, found))
                return UNTYPED_BYTES;
        if (!is_number(here->types, found->type) &&
            type_kind(here->types, found->type) != TYPE_POINTER)
                return TYPED;
        if (here->holds->records || holds_members(here))
                return UNTYPED_INDEX;
        /* A smaller number may lie there. */
        return here->access->bytes > 0 &&
                       here->access->bytes < type_size(here->types, found->type)
                   ? UNTYPED_CONTRADICTED
                   : TYPED;
}

struct sample_type type_by_block(struct sample_types *finder,
                                 const struct sample_location *location)
{
        const struct raw_allocation *block =
            &finder->sweep->raw->allocations[location->target.index];
        const struct place *place = &finder->sweep->places.items[location->place];
        struct sample_type found = type_by_instruction(finder, location);

        if (block->stack == RAW_NONE)
                return found;
        const struct here here = {.finder = finder,
                                  .types = finder->types,
                                  .place = location->place,
                                  .pointed = instruction_points(place)
                                                 ? &place_asks(place)->access.flow.place
                                                 : NULL,
                                  .access = instruction_access(place),
                                  .holds = &finder->blocks[block->stack],
                                  .bytes = block->size_bytes,
                                  .inside = location->target.offset_bytes,
                                  .type = finder->blocks[block->stack].type};
        struct sample_type there = by_allocation(&here);

        if (there.reason == TYPED)
                return there;
        if (found.reason != TYPED)
                return found;
        if (is_cast(&here))
                return type_left_open(UNTYPED_OTHER_TYPE);
        enum untyped doubt = doubt_in_block(&here, &found);

        return doubt == TYPED ? found : type_left_open(doubt);
}
