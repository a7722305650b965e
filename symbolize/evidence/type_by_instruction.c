/* SPDX-License-Identifier: MIT */
/* A pointer's type gives the type of the accessed memory. An unproved index must agree
 * with the addresses of all samples of the instruction, because some agree by chance. */

#include "type_by.h"
#include "type_field.h"
#include "type_index.h"

const struct type_access *instruction_access(const struct place *place)
{
        static const struct type_access not_known;

        const struct access *access = &place_asks(place)->access;

        return access->asked && (access->flow.outcome == FLOW_FOUND ||
                                 access->flow.outcome == FLOW_UNKNOWN_BASE)
                   ? &access->flow.access
                   : &not_known;
}

bool instruction_points(const struct place *place)
{
        const struct access *access = &place_asks(place)->access;

        return access->asked && access->flow.outcome == FLOW_FOUND &&
               access->flow.place.kind == PLACE_POINTER;
}

struct type_access instruction_counted_access(const struct types *types,
                                              const struct place *place)
{
        const struct place_value *pointed = &place_asks(place)->access.flow.place;
        struct type_access access = *instruction_access(place);

        if (pointed->strided && !pointed->guessed && !pointed->unknown_index &&
            !type_counts(pointed->stride_bytes, type_size(types, pointed->type)))
                access.step_bytes = pointed->stride_bytes;
        return access;
}

/* Whether FOUND lies at the address, INSIDE a block, if items of TYPE fill the block. */
static bool agrees(struct sample_types *finder, uint32_t type, uint64_t inside,
                   const struct type_access *access, const struct sample_type *found)
{
        uint64_t bytes = type_size(finder->types, type);

        if (bytes > 0 && !type_open_ended(finder->types, type))
                inside %= bytes;
        struct sample_type there = sample_field_at(finder, type, inside, access);

        return there.reason == TYPED && there.type == found->type &&
               there.field.name == found->field.name;
}

/* Whether PLACE is known except for an index that counts whole items of its type. */
static bool is_placed(const struct types *types, const struct place_value *place)
{
        uint64_t bytes = types->items[place->type].size_bytes;

        return !place->indexed ||
               (place->stride_bytes > 0 && bytes > 0 && place->stride_bytes % bytes == 0);
}

/* The field that the instruction accesses by its pointer, the same for all its
 * samples. */
static struct sample_type pointee(struct sample_types *finder, uint32_t place)
{
        const struct flow_answer *flow =
            &place_asks(&finder->sweep->places.items[place])->access.flow;
        const struct type_access access = instruction_counted_access(
            finder->types, &finder->sweep->places.items[place]);
        struct sample_type *known = &finder->pointees[place];

        if (known->reason == UNTYPED_COUNT) {
                *known =
                    sample_field_at(finder, flow->place.type,
                                    place_offset(finder->types, &flow->place), &access);
                if (known->reason == TYPED && !is_placed(finder->types, &flow->place))
                        known->access_bytes = 0;
        }
        return *known;
}

/* Whether the address can confirm PLACE's index: whole items fill the block. */
static bool is_tested(const struct sample_types *finder, const struct target *target,
                      const struct place_value *place)
{
        const struct types *types = finder->types;
        uint64_t bytes = type_size(types, place->type);

        return target->kind == TARGET_BLOCK && !is_placed(types, place) &&
               types->items[place->type].kind == TYPE_STRUCT && bytes > 0 &&
               !type_open_ended(types, place->type) &&
               finder->sweep->raw->allocations[target->index].size_bytes % bytes == 0;
}

static struct sample_type by_pointer(struct sample_types *finder,
                                     const struct sample_location *location,
                                     const struct flow_answer *flow)
{
        const struct place_value *place = &flow->place;
        const struct target *target = &location->target;
        struct sample_type found = pointee(finder, location->place);

        if (found.reason != TYPED)
                return found;
        return (finder->elsewhere[location->place] && !found.field.named) ||
                       (place->guessed && !found.field.named &&
                        target->kind != TARGET_BLOCK)
                   ? type_left_open(UNTYPED_INDEX)
                   : type_told(found,
                               (struct type_source){TYPE_BY_INSTRUCTION, flow->pointer,
                                                    TYPE_SOURCE_NO_PLACE});
}

void instruction_learn(struct sample_types *finder,
                       const struct sample_location *location)
{
        const struct flow_answer *flow =
            &place_asks(&finder->sweep->places.items[location->place])->access.flow;
        const struct place_value *place = &flow->place;
        const struct target *target = &location->target;

        if (place->type >= finder->types->count || finder->elsewhere[location->place] ||
            (!place->guessed && !is_tested(finder, target, place)))
                return;
        const struct type_access access = instruction_counted_access(
            finder->types, &finder->sweep->places.items[location->place]);
        struct sample_type found = pointee(finder, location->place);

        finder->elsewhere[location->place] =
            found.reason == TYPED &&
            !agrees(finder, place->type, target->offset_bytes, &access, &found);
}

struct sample_type type_by_instruction(struct sample_types *finder,
                                       const struct sample_location *location)
{
        const struct place *place = &finder->sweep->places.items[location->place];
        const struct flow_answer *flow = &place_asks(place)->access.flow;

        if (!place_asks(place)->access.asked)
                return type_by_function(finder, location);
        switch (flow->outcome) {
        case FLOW_UNKNOWN_BASE:
                return type_left_open(flow->folded     ? UNTYPED_MERGED
                                      : flow->restores ? UNTYPED_SAVED
                                                       : UNTYPED_UNKNOWN_BASE);
        case FLOW_NO_INSTRUCTION:
                return type_left_open(UNTYPED_NO_INSTRUCTION);
        case FLOW_NO_OPERAND:
                return type_left_open(UNTYPED_NO_OPERAND);
        case FLOW_TOO_LARGE:
                return type_left_open(UNTYPED_TOO_LARGE);
        case FLOW_NOT_DECODED:
                return type_left_open(UNTYPED_NOT_DECODED);
        default:
                break;
        }
        if (flow->restores && flow->variable.type == TYPE_NONE)
                return type_left_open(UNTYPED_SAVED);
        if (flow->place.kind == PLACE_POINTER)
                return by_pointer(finder, location, flow);
        if (flow->variable.type == TYPE_NONE)
                return type_left_open(UNTYPED_NO_VARIABLE);
        const struct sample_type found = sample_field_at(
            finder, flow->variable.type, (uint64_t)flow->variable_offset, &flow->access);

        return flow->place.guessed && !found.field.named
                   ? type_left_open(UNTYPED_INDEX)
                   : type_told(found, (struct type_source){TYPE_BY_VARIABLE, 0,
                                                           TYPE_SOURCE_NO_PLACE});
}
