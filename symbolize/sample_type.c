/* SPDX-License-Identifier: MIT */
/* A variable's type is certain: the address says which field. In a block the
 * instruction's pointer decides, and an index that nothing proves must agree with the
 * address. What is not certain is left open, with the reason. */
#include "sample_type.h"

#include <errno.h>
#include <stdlib.h>

const char *untyped_reason(enum untyped reason)
{
        static const char *const reasons[UNTYPED_COUNT] = {
            [UNTYPED_NO_ADDRESS] = "no data address",
            [UNTYPED_NO_DEBUG_INFO] = "no debug information",
            [UNTYPED_NO_INSTRUCTION] = "instruction not found",
            [UNTYPED_NO_OPERAND] = "no memory operand",
            [UNTYPED_TOO_LARGE] = "function too large",
            [UNTYPED_UNKNOWN_BASE] = "unknown base register",
            [UNTYPED_SAVED] = "saved register or return address",
            [UNTYPED_NO_VARIABLE] = "no variable there",
            [UNTYPED_INCOMPLETE] = "incomplete type",
            [UNTYPED_BYTES] = "bytes without a type",
            [UNTYPED_PADDING] = "padding",
            [UNTYPED_OUTSIDE] = "outside of the type",
            [UNTYPED_INDEX] = "index not proved",
        };

        return reasons[reason];
}

static struct sample_type open_for(enum untyped reason)
{
        return (struct sample_type){.reason = reason, .type = TYPE_NONE};
}

static uint64_t size_of(const struct types *types, uint32_t type)
{
        return type < types->count ? types->items[type].size_bytes : 0;
}

/* Goes from arrays to their items. */
static void take_item(const struct types *types, uint32_t *type, uint64_t *offset)
{
        while (*type < types->count && types->items[*type].kind == TYPE_ARRAY) {
                *type = types->items[*type].element;
                if (size_of(types, *type) > 0)
                        *offset %= size_of(types, *type);
        }
}

/* Bytes may hold anything; more than one at a time is surely something else. */
static bool only_bytes(const struct types *types, uint32_t type,
                       const struct type_access *access)
{
        return types->items[type].kind == TYPE_INTEGER &&
               types->items[type].size_bytes == 1 && access->bytes > 1 && !access->vector;
}

static struct sample_type field_at(struct sample_types *finder, uint32_t type,
                                   uint64_t offset, const struct type_access *access)
{
        struct sample_type result = {.reason = TYPED};

        take_item(finder->types, &type, &offset);
        switch (type_field(finder->types, finder->names, type, offset, access,
                           &result.field)) {
        case FIELD_FOUND:
        case FIELD_WHOLE:
                break;
        case FIELD_PADDING:
                return open_for(UNTYPED_PADDING);
        case FIELD_BEYOND:
                return open_for(UNTYPED_OUTSIDE);
        default:
                return open_for(UNTYPED_INCOMPLETE);
        }
        if (!result.field.shared && only_bytes(finder->types, result.field.type, access))
                return open_for(UNTYPED_BYTES);
        result.type = finder->types->items[type].canonical;
        return result;
}

/* ---- by the instruction ---- */

/* Whether the address, INSIDE a block, is where FOUND lies when items of TYPE fill it. */
static bool agrees(struct sample_types *finder, uint32_t type, uint64_t inside,
                   const struct type_access *access, const struct sample_type *found)
{
        uint64_t bytes = size_of(finder->types, type);

        if (bytes > 0 && !type_open_ended(finder->types, type))
                inside %= bytes;
        struct sample_type there = field_at(finder, type, inside, access);

        return there.reason == TYPED && there.type == found->type &&
               there.field.name == found->field.name;
}

/* What the instruction at PLACE accesses behind a pointer, whichever sample it is. */
static struct sample_type pointee(struct sample_types *finder, uint32_t place)
{
        const struct flow_answer *flow = &finder->sweep->places[place].access.flow;
        struct sample_type *known = &finder->pointees[place];

        if (known->reason == UNTYPED_COUNT)
                *known =
                    field_at(finder, flow->place.type,
                             place_offset(finder->types, &flow->place), &flow->access);
        return *known;
}

static struct sample_type by_pointer(struct sample_types *finder,
                                     const struct sample_location *location,
                                     const struct flow_answer *flow)
{
        const struct place_value *place = &flow->place;
        const struct target *target = &location->target;
        struct sample_type found = pointee(finder, location->place);

        if (found.reason != TYPED || !place->guessed)
                return found;
        return target->kind == TARGET_BLOCK &&
                       agrees(finder, place->type, target->offset_bytes, &flow->access,
                              &found)
                   ? found
                   : open_for(UNTYPED_INDEX);
}

static struct sample_type by_instruction(struct sample_types *finder,
                                         const struct sample_location *location)
{
        const struct place *place = &finder->sweep->places[location->place];
        const struct flow_answer *flow = &place->access.flow;

        if (!place->access.asked)
                return open_for(UNTYPED_NO_DEBUG_INFO);
        switch (flow->outcome) {
        case FLOW_UNKNOWN_BASE:
                return open_for(flow->restores ? UNTYPED_SAVED : UNTYPED_UNKNOWN_BASE);
        case FLOW_NO_INSTRUCTION:
                return open_for(UNTYPED_NO_INSTRUCTION);
        case FLOW_NO_OPERAND:
                return open_for(UNTYPED_NO_OPERAND);
        case FLOW_TOO_LARGE:
                return open_for(UNTYPED_TOO_LARGE);
        default:
                break;
        }
        if (flow->restores && flow->variable.type == TYPE_NONE)
                return open_for(UNTYPED_SAVED);
        if (flow->place.kind == PLACE_POINTER)
                return by_pointer(finder, location, flow);
        if (flow->variable.type == TYPE_NONE)
                return open_for(UNTYPED_NO_VARIABLE);
        return flow->place.guessed
                   ? open_for(UNTYPED_INDEX)
                   : field_at(finder, flow->variable.type,
                              (uint64_t)flow->variable_offset, &flow->access);
}

/* ---- by the object ---- */

static bool object_type(const struct sample_types *finder,
                        const struct sample_location *location, uint32_t *type,
                        uint64_t *offset)
{
        const struct target *target = &location->target;

        if (target->kind == TARGET_STACK) {
                uint32_t place;
                const struct flow_answer *answer =
                    sweep_frame_answer(finder->sweep, location, &place);

                *type = answer ? answer->variable.type : TYPE_NONE;
                *offset = answer ? (uint64_t)answer->variable_offset : 0;
                return answer != NULL;
        }
        if (target->kind != TARGET_VARIABLE)
                return false;
        const struct data_place *data = &finder->sweep->variables[target->index].data;

        *type = data->type;
        *offset = target->offset_bytes - data->start;
        return data->type != TYPE_NONE;
}

/* The memory operand's access, as far as its instruction has been decoded. */
static const struct type_access *access_at(const struct place *place)
{
        static const struct type_access not_known;

        return place->access.asked && (place->access.flow.outcome == FLOW_FOUND ||
                                       place->access.flow.outcome == FLOW_UNKNOWN_BASE)
                   ? &place->access.flow.access
                   : &not_known;
}

static bool points(const struct place *place)
{
        return place->access.asked && place->access.flow.outcome == FLOW_FOUND &&
               place->access.flow.place.kind == PLACE_POINTER;
}

/* ---- by the allocation ---- */

/* The type that what STACK allocated was taken for: by the innermost function that does
 * not only hand it on. */
static uint32_t allocated_type(const struct sample_types *finder, uint32_t stack)
{
        const struct sweep *sweep = finder->sweep;

        for (; stack != RAW_NONE; stack = finder->sweep->raw->stacks[stack].parent) {
                uint32_t index = sweep->stack_places[stack];

                if (index == RAW_NONE || !sweep->places[index].call.asked)
                        return TYPE_NONE;
                const struct flow_answer *call = &sweep->places[index].call.flow;

                if (call->place.kind == PLACE_POINTER)
                        return call->place.type;
                if (!call->returned)
                        return TYPE_NONE;
        }
        return TYPE_NONE;
}

static bool fills(const struct types *types, uint32_t type, uint64_t block_bytes)
{
        uint64_t bytes = size_of(types, type);

        if (bytes == 0 || bytes > block_bytes ||
            (types->items[type].kind == TYPE_INTEGER && bytes == 1))
                return false;
        return block_bytes % bytes == 0 || type_open_ended(types, type);
}

/* Where in an item of TYPE a place INSIDE a block of such items is. */
static uint64_t item_offset(const struct types *types, uint32_t type, uint64_t inside)
{
        return type_open_ended(types, type) ? inside : inside % size_of(types, type);
}

/* Whether a firm pointer at PLACE can point into an item of TYPE, where the address is
 * INSIDE a block of these. */
static bool compatible(const struct types *types, uint32_t type, uint64_t inside,
                       const struct place_value *place)
{
        /* The place may lie before what the pointer is to: the offset is then negative.
         */
        uint64_t start = inside - place_offset(types, place);

        if (place->type == TYPE_NONE || start > INT64_MAX)
                return false;
        return type_holds(types, type, item_offset(types, type, start), place->type);
}

/* What the blocks of a stack hold, from all samples in them. */
struct block_type {
        uint32_t type; /* TYPE_NONE: not known */
        bool mixed;    /* samples show that something else is there too */
        bool records;  /* samples show that there are structures */
};

static bool is_record(const struct types *types, uint32_t type)
{
        return types->items[type].kind == TYPE_STRUCT;
}

/* Characters excepted, which texts consist of. */
static bool is_number(const struct types *types, uint32_t type)
{
        return (types->items[type].kind == TYPE_INTEGER ||
                types->items[type].kind == TYPE_FLOAT) &&
               types->items[type].size_bytes > 1;
}

static void find_block_types(struct sample_types *finder)
{
        const struct raw *raw = finder->sweep->raw;

        for (size_t i = 0; i < raw->stack_count; i++)
                finder->blocks[i] = (struct block_type){.type = TYPE_NONE};
        for (size_t i = 0; i < raw->allocation_count; i++) {
                uint32_t stack = raw->allocations[i].stack;

                if (stack == RAW_NONE)
                        continue;
                finder->blocks[stack].type = allocated_type(finder, stack);
                finder->learns |= finder->blocks[stack].type != TYPE_NONE;
        }
}

void sample_types_learn(struct sample_types *finder,
                        const struct sample_location *location)
{
        const struct target *target = &location->target;
        const struct place *place = &finder->sweep->places[location->place];

        if (target->kind != TARGET_BLOCK || !points(place) ||
            place->access.flow.place.guessed)
                return;
        uint32_t stack = finder->sweep->raw->allocations[target->index].stack;
        uint32_t pointed = place->access.flow.place.type;

        if (stack != RAW_NONE && pointed != TYPE_NONE)
                finder->blocks[stack].records |= is_record(finder->types, pointed);
        if (stack != RAW_NONE && finder->blocks[stack].type != TYPE_NONE &&
            !compatible(finder->types, finder->blocks[stack].type, target->offset_bytes,
                        &place->access.flow.place))
                finder->blocks[stack].mixed = true;
}

static struct sample_type by_block(struct sample_types *finder,
                                   const struct sample_location *location)
{
        const struct target *target = &location->target;
        const struct raw_allocation *block =
            &finder->sweep->raw->allocations[target->index];
        struct sample_type found = by_instruction(finder, location);

        if (block->stack == RAW_NONE)
                return found;
        const struct block_type *holds = &finder->blocks[block->stack];

        if (holds->type != TYPE_NONE && !holds->mixed &&
            fills(finder->types, holds->type, block->size_bytes)) {
                struct sample_type there = field_at(
                    finder, holds->type,
                    item_offset(finder->types, holds->type, target->offset_bytes),
                    access_at(&finder->sweep->places[location->place]));

                if (there.reason == TYPED)
                        return there;
        }
        /* A pointer to a number may be one to a member. */
        return found.reason == TYPED && is_number(finder->types, found.type) &&
                       (holds->records || holds->mixed)
                   ? open_for(UNTYPED_INDEX)
                   : found;
}

struct sample_type sample_types_find(struct sample_types *finder,
                                     const struct raw_sample *sample,
                                     const struct sample_location *location)
{
        const struct place *place = &finder->sweep->places[location->place];
        uint64_t offset;
        uint32_t type;

        if (!sample->has_addr)
                return open_for(UNTYPED_NO_ADDRESS);
        if (sweep_thread_answer(finder->sweep, location))
                return by_instruction(finder, location);
        if (location->target.kind == TARGET_BLOCK)
                return by_block(finder, location);
        if (!object_type(finder, location, &type, &offset))
                return by_instruction(finder, location);
        struct sample_type found = field_at(finder, type, offset, access_at(place));

        return found.reason == TYPED || !points(place) ? found
                                                       : by_instruction(finder, location);
}

int sample_types_open(struct sample_types *sample_types, const struct sweep *sweep,
                      const struct types *types, struct string_pool *names)
{
        *sample_types = (struct sample_types){
            .sweep = sweep,
            .types = types,
            .names = names,
            .blocks =
                malloc((sweep->raw->stack_count + 1) * sizeof(*sample_types->blocks)),
            .pointees =
                malloc((sweep->place_count + 1) * sizeof(*sample_types->pointees))};
        if (!sample_types->blocks || !sample_types->pointees)
                return -ENOMEM;
        for (size_t i = 0; i < sweep->place_count; i++)
                sample_types->pointees[i].reason = UNTYPED_COUNT;
        find_block_types(sample_types);
        return 0;
}

void sample_types_free(struct sample_types *sample_types)
{
        free(sample_types->blocks);
        free(sample_types->pointees);
        *sample_types = (struct sample_types){0};
}
