/* SPDX-License-Identifier: MIT */
/* A variable's type is certain: the address gives the field. In a block, the allocation
 * and the instruction's pointer decide together. Without certainty the sample stays
 * unresolved, with the reason. */
#include "sample_type.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "site.h"
#include "type_by.h"

/* Learns about the blocks of STACK from a sample of one block at LOCATION. */
static void block_evidence_learn(struct sample_types *finder,
                                 const struct sample_location *location, uint32_t stack)
{
        const struct target *target = &location->target;
        const struct place *place = &finder->sweep->places.items[location->place];
        const struct place_value *pointed = &place_asks(place)->access.flow.place;
        struct block_type *blocks = &finder->blocks[stack];

        if (!instruction_points(place))
                return;
        bool record = type_kind(finder->types, pointed->type) == TYPE_STRUCT;

        blocks->used |= record;
        if (pointed->guessed)
                return;
        blocks->records |= record;
        blocks->seen |= block_type_relation(finder->types, blocks->type,
                                            target->offset_bytes, pointed);
        block_type_learn_items(blocks, finder->types, target->offset_bytes, pointed);
}

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
                return *type != TYPE_NONE;
        }
        if (target->kind != TARGET_VARIABLE)
                return false;
        const struct data_place *data =
            &finder->sweep->variables.items[target->index].data;

        *type = data->type;
        *offset = target->offset_bytes - data->start;
        return *type != TYPE_NONE;
}

/* The reason for a missing type outside of variables. The object gives a better one than
 * the instruction. */
static struct sample_type by_section(struct sample_types *finder,
                                     const struct sample_location *location)
{
        struct sample_type found = type_by_instruction(finder, location);

        if (found.reason == TYPED || location->target.kind != TARGET_VARIABLE)
                return found;
        const struct data_place *data =
            &finder->sweep->variables.items[location->target.index].data;

        switch (data->unnamed) {
        case DATA_CONSTANT:
                return type_left_open(UNTYPED_CONSTANT);
        case DATA_LINKAGE:
                return type_left_open(UNTYPED_LINKAGE);
        default:
                return found;
        }
}

/* Declared bytes, with FOUND as their type, may also be storage: a pointer to a structure
 * shows their content. An index that begins behind its pointer's target may come from
 * another object. */
static struct sample_type in_bytes(struct sample_types *finder,
                                   const struct sample_location *location,
                                   const struct sample_type *found)
{
        const struct place *place = &finder->sweep->places.items[location->place];

        if (!instruction_points(place))
                return *found;
        struct sample_type pointed = type_by_instruction(finder, location);

        if (pointed.reason != TYPED)
                return found->reason == TYPED ? *found : pointed;
        if (!pointed.field.name)
                return found->reason == UNTYPED_BYTES ? pointed : *found;
        if (place_asks(place)->access.flow.place.shifted)
                return found->reason == TYPED ? *found : type_left_open(UNTYPED_INDEX);
        return pointed;
}

/* A declaration is certain, regardless of the code that uses the bits. Bytes are the
 * exception: they hold numbers of all kinds. */
static struct sample_type in_variable(struct sample_types *finder,
                                      const struct sample_location *location,
                                      uint32_t type, uint64_t offset)
{
        static const struct type_access any;
        const struct place *place = &finder->sweep->places.items[location->place];
        const struct type_source variable = {TYPE_BY_VARIABLE, 0, TYPE_SOURCE_NO_PLACE};
        struct sample_type found =
            sample_field_at(finder, type, offset, instruction_access(place));
        struct sample_type declared = found.reason == UNTYPED_CONTRADICTED
                                          ? sample_field_at(finder, type, offset, &any)
                                          : found;

        declared = type_told(declared, variable);
        if (found.reason == UNTYPED_BYTES)
                return in_bytes(finder, location, &found);
        if (declared.reason != TYPED)
                return instruction_points(place) ? type_by_instruction(finder, location)
                                                 : declared;
        if (declared.field.shared || !type_is_byte(finder->types, declared.field.type))
                return declared;
        if (found.reason == UNTYPED_CONTRADICTED)
                return in_bytes(finder, location, &found);
        return declared.field.name ? declared : in_bytes(finder, location, &declared);
}

static struct sample_type find_type(struct sample_types *finder,
                                    const struct raw_sample *sample,
                                    const struct sample_location *location)
{
        uint64_t offset;
        uint32_t type;

        if (sweep_thread_answer(finder->sweep, location))
                return type_by_instruction(finder, location);
        if (!sample->has_addr)
                return type_left_open(UNTYPED_NO_ADDRESS);
        if (location->target.kind == TARGET_BLOCK)
                return type_by_block(finder, location);
        if (!object_type(finder, location, &type, &offset))
                return by_section(finder, location);
        return in_variable(finder, location, type, offset);
}

/* Whether debug information for the types of the place or the variable is missing. */
static bool lacks_types(const struct sweep *sweep, const struct sample_location *location)
{
        const struct module *modules = sweep->raw->modules;
        uint32_t code = sweep->places.items[location->place].module;
        uint32_t data = location->target.kind == TARGET_VARIABLE
                            ? sweep->variables.items[location->target.index].module
                            : RAW_NONE;

        return (code != RAW_NONE && modules[code].alt_missing) ||
               (data != RAW_NONE && modules[data].alt_missing);
}

/* Whether REASON may only mean that a type has not been read. */
static bool wants_types(enum untyped reason)
{
        switch (reason) {
        case UNTYPED_UNKNOWN_BASE:
        case UNTYPED_NO_VARIABLE:
        case UNTYPED_INCOMPLETE:
        case UNTYPED_PADDING:
        case UNTYPED_OUTSIDE:
        case UNTYPED_INDEX:
                return true;
        default:
                return false;
        }
}

struct sample_type sample_types_find(struct sample_types *finder,
                                     const struct raw_sample *sample,
                                     const struct sample_location *location)
{
        struct sample_type found = find_type(finder, sample, location);

        return wants_types(found.reason) && lacks_types(finder->sweep, location)
                   ? type_left_open(UNTYPED_NO_DWZ)
                   : found;
}

void sample_types_learn(struct sample_types *finder,
                        const struct sample_location *location, bool is_load)
{
        const struct target *target = &location->target;
        const struct place *place = &finder->sweep->places.items[location->place];

        if (target->kind != TARGET_BLOCK)
                return;
        if (instruction_points(place))
                instruction_learn(finder, location);
        uint32_t stack = finder->sweep->raw->allocations[target->index].stack;

        /* Loads of the C library are no evidence of a block's content: its allocator
         * reads its lists in free blocks, and its sort functions move items of any type.
         * Nor are stores: they initialise blocks in sizes that suit the compiler. */
        if (is_load && stack != RAW_NONE && !site_in_c_library(finder->sweep, place))
                block_evidence_learn(finder, location, stack);
}

static uint32_t character_type(const struct types *types, const struct string_pool *names)
{
        for (uint32_t i = 0; i < types->count; i++) {
                const char *name = string_pool_text(names, types->items[i].name);

                if (types->items[i].kind == TYPE_INTEGER &&
                    types->items[i].size_bytes == 1 && name && strcmp(name, "char") == 0)
                        return types->items[i].canonical;
        }
        return TYPE_NONE;
}

int sample_types_open(struct sample_types *sample_types, const struct sweep *sweep,
                      const struct types *types, struct string_pool *names)
{
        *sample_types = (struct sample_types){
            .sweep = sweep,
            .types = types,
            .names = names,
            .character = character_type(types, names),
            .blocks =
                malloc((sweep->raw->stack_count + 1) * sizeof(*sample_types->blocks)),
            .pointees =
                malloc((sweep->places.count + 1) * sizeof(*sample_types->pointees)),
            .elsewhere =
                calloc(sweep->places.count + 1, sizeof(*sample_types->elsewhere))};
        if (!sample_types->blocks || !sample_types->pointees || !sample_types->elsewhere)
                return -ENOMEM;
        for (size_t i = 0; i < sweep->places.count; i++)
                sample_types->pointees[i].reason = UNTYPED_COUNT;
        /* Each block at first has its allocation's type. */
        for (uint32_t i = 0; i < sweep->raw->stack_count; i++)
                sample_types->blocks[i] = block_type_of_allocation(sweep, types, i);
        return 0;
}

void sample_types_free(struct sample_types *sample_types)
{
        free(sample_types->blocks);
        free(sample_types->pointees);
        free(sample_types->elsewhere);
        *sample_types = (struct sample_types){0};
}

/* ---- at an offset of a known type ---- */

/* Names a field if the access fits it and it is more than bytes. */

struct sample_type type_left_open(enum untyped reason)
{
        return (struct sample_type){.reason = reason, .type = TYPE_NONE};
}

struct sample_type type_told(struct sample_type found, struct type_source source)
{
        if (found.reason == TYPED)
                found.source = source;
        return found;
}

/* Replaces an array by its item. */
static void take_item(const struct types *types, uint32_t *type, uint64_t *offset)
{
        while (*type < types->count && types->items[*type].kind == TYPE_ARRAY) {
                *type = types->items[*type].element;
                if (type_size(types, *type) > 0)
                        *offset %= type_size(types, *type);
        }
}

struct sample_type sample_field_at(struct sample_types *finder, uint32_t type,
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
                return type_left_open(UNTYPED_PADDING);
        case FIELD_BEYOND:
                return type_left_open(UNTYPED_OUTSIDE);
        case FIELD_OTHER:
                return type_left_open(UNTYPED_CONTRADICTED);
        default:
                return type_left_open(UNTYPED_INCOMPLETE);
        }
        if (!result.field.shared &&
            type_only_bytes(finder->types, result.field.type, access))
                return type_left_open(UNTYPED_BYTES);
        result.type = finder->types->items[type].canonical;
        result.offset_bytes = offset;
        result.access_bytes = access->bytes;
        return result;
}
