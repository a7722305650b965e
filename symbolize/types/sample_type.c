/* SPDX-License-Identifier: MIT */
/* A variable's type is certain: the address says which field. In a block the
 * instruction's pointer decides, and an index that nothing proves must agree with the
 * addresses of all of the instruction's samples: some agree by chance. What is not
 * certain is left open, with the reason. */
#include "sample_type.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory_function.h"
#include "recursion.h"
#include "site.h"
#include "string_function.h"

const char *untyped_reason(enum untyped reason)
{
        static const char *const reasons[UNTYPED_COUNT] = {
            [UNTYPED_NO_ADDRESS] = "no data address",
            [UNTYPED_NO_DEBUG_INFO] = "no debug information",
            [UNTYPED_ASSEMBLER] = "function in assembler",
            [UNTYPED_NO_INSTRUCTION] = "instruction not found",
            [UNTYPED_NO_OPERAND] = "no memory operand",
            [UNTYPED_TOO_LARGE] = "function too large",
            [UNTYPED_NOT_DECODED] = "function not decoded",
            [UNTYPED_UNKNOWN_BASE] = "unknown base register",
            [UNTYPED_SAVED] = "saved register or return address",
            [UNTYPED_NO_VARIABLE] = "no variable there",
            [UNTYPED_SEVERAL] = "one of several variables",
            [UNTYPED_CONSTANT] = "constant without a name",
            [UNTYPED_LINKAGE] = "table of the linkers",
            [UNTYPED_INCOMPLETE] = "incomplete type",
            [UNTYPED_BYTES] = "bytes without a type",
            [UNTYPED_PADDING] = "padding",
            [UNTYPED_OUTSIDE] = "outside of the type",
            [UNTYPED_INDEX] = "index not proved",
            [UNTYPED_NO_DWZ] = "dwz file not found",
            [UNTYPED_CONTRADICTED] = "access to another kind of number",
            [UNTYPED_MERGED] = "function of several types",
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
        case FIELD_OTHER:
                return open_for(UNTYPED_CONTRADICTED);
        default:
                return open_for(UNTYPED_INCOMPLETE);
        }
        if (!result.field.shared &&
            type_only_bytes(finder->types, result.field.type, access))
                return open_for(UNTYPED_BYTES);
        result.type = finder->types->items[type].canonical;
        result.offset_bytes = offset;
        /* Fields whose bits are not used are not read beside another. */
        result.access_bytes = access->bits ? 0 : access->bytes;
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

/* Whether an access goes on behind a structure that is not known to have more after it:
 * it may be but the first member of what is really there. */
static bool leaves(const struct types *types, const struct place_value *place,
                   const struct type_access *access)
{
        const struct type *type = &types->items[place->type];

        return type->kind == TYPE_STRUCT && !access->vector &&
               !type_open_ended(types, place->type) &&
               place_offset(types, place) + access->bytes > type->size_bytes;
}

/* Whether PLACE is known but for an index that counts whole items of its type. */
static bool is_placed(const struct types *types, const struct place_value *place)
{
        uint64_t bytes = types->items[place->type].size_bytes;

        return !place->indexed ||
               (place->stride_bytes > 0 && bytes > 0 && place->stride_bytes % bytes == 0);
}

/* What the instruction at PLACE accesses behind a pointer, whichever sample it is. */
static struct sample_type pointee(struct sample_types *finder, uint32_t place)
{
        const struct flow_answer *flow =
            &place_asks(&finder->sweep->places[place])->access.flow;
        struct sample_type *known = &finder->pointees[place];

        if (known->reason == UNTYPED_COUNT) {
                *known = leaves(finder->types, &flow->place, &flow->access)
                             ? open_for(UNTYPED_OUTSIDE)
                             : field_at(finder, flow->place.type,
                                        place_offset(finder->types, &flow->place),
                                        &flow->access);
                if (known->reason == TYPED && !is_placed(finder->types, &flow->place))
                        known->access_bytes = 0;
        }
        return *known;
}

/* Whether the address can tell whether PLACE's index leads where it seems to: whole items
 * of the type fill the block. */
static bool is_tested(const struct sample_types *finder, const struct target *target,
                      const struct place_value *place)
{
        const struct types *types = finder->types;
        uint64_t bytes = size_of(types, place->type);

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
        return finder->refuted[location->place] ||
                       (place->guessed && target->kind != TARGET_BLOCK)
                   ? open_for(UNTYPED_INDEX)
                   : found;
}

/* Whether the address of a sample is not where its instruction's index seems to lead. */
static bool refutes(struct sample_types *finder, const struct sample_location *location)
{
        const struct flow_answer *flow =
            &place_asks(&finder->sweep->places[location->place])->access.flow;
        const struct place_value *place = &flow->place;
        const struct target *target = &location->target;

        if (place->type >= finder->types->count ||
            !(place->guessed || is_tested(finder, target, place)))
                return false;
        struct sample_type found = pointee(finder, location->place);

        return found.reason == TYPED &&
               !agrees(finder, place->type, target->offset_bytes, &flow->access, &found);
}

/* Whether the data is a library's own, such as its tables of letters. */
static bool own_data(const struct sweep *sweep, const struct place *place,
                     const struct target *target)
{
        return target->kind == TARGET_THREAD ||
               (target->kind == TARGET_VARIABLE &&
                sweep->variables[target->index].module == place->module);
}

/* Whether a copy that begins at PLACE, anywhere in a block of what is there, reads things
 * of one type only: there are no fields to tell apart. */
static bool uniform(const struct types *types, const struct place_value *place)
{
        enum type_kind kind = types->items[place->type].kind;

        return kind == TYPE_INTEGER || kind == TYPE_FLOAT || kind == TYPE_POINTER;
}

static enum memory_function function_at(const struct sample_types *finder, uint32_t place)
{
        const struct code_place *code = &finder->sweep->places[place].code;

        return memory_function(string_pool_text(finder->names, code->function));
}

/* In a function that copies or compares memory: by what its caller's pointer is to. The
 * address says how far behind that it reads, where the block has room for just one of
 * these. */
static struct sample_type by_argument(struct sample_types *finder,
                                      const struct sample_location *location)
{
        static const struct type_access any;
        const struct sweep *sweep = finder->sweep;
        const struct target *target = &location->target;
        enum memory_function function = function_at(finder, location->place);

        if (function == MEMORY_NONE || location->caller == RAW_NONE)
                return open_for(UNTYPED_ASSEMBLER);
        const struct place *caller = &sweep->places[location->caller];

        if (string_member(string_pool_text(finder->names, caller->code.function)) &&
            finder->character != TYPE_NONE)
                return (struct sample_type){.reason = TYPED, .type = finder->character};
        if (!place_asks(caller)->argument.asked ||
            place_asks(caller)->argument.flow.outcome != FLOW_FOUND ||
            place_asks(caller)->argument.flow.called != function)
                return open_for(UNTYPED_ASSEMBLER);
        const struct place_value *place = &place_asks(caller)->argument.flow.place;

        if (uniform(finder->types, place))
                return field_at(finder, place->type, 0, &any);
        if (target->kind != TARGET_BLOCK || place->indexed ||
            sweep->raw->allocations[target->index].size_bytes !=
                size_of(finder->types, place->type))
                return open_for(UNTYPED_INDEX);
        return field_at(finder, place->type, target->offset_bytes, &any);
}

/* In functions that the debug information does not describe. Those of the C library that
 * read texts read nothing else, whatever the processor's version of them is like. */
static struct sample_type by_function(struct sample_types *finder,
                                      const struct sample_location *location)
{
        const struct place *place = &finder->sweep->places[location->place];

        if (!site_in_c_library(finder->sweep, place) ||
            own_data(finder->sweep, place, &location->target))
                return open_for(place->code.assembler ? UNTYPED_ASSEMBLER
                                                      : UNTYPED_NO_DEBUG_INFO);
        struct sample_type found = by_argument(finder, location);

        if (found.reason == TYPED)
                return found;
        if (finder->character != TYPE_NONE &&
            string_function(string_pool_text(finder->names, place->code.function)))
                return (struct sample_type){.reason = TYPED, .type = finder->character};
        return open_for(place->code.assembler ? UNTYPED_ASSEMBLER
                                              : UNTYPED_NO_DEBUG_INFO);
}

static struct sample_type by_instruction(struct sample_types *finder,
                                         const struct sample_location *location)
{
        const struct place *place = &finder->sweep->places[location->place];
        const struct flow_answer *flow = &place_asks(place)->access.flow;

        if (!place_asks(place)->access.asked)
                return by_function(finder, location);
        switch (flow->outcome) {
        case FLOW_UNKNOWN_BASE:
                return open_for(flow->restores ? UNTYPED_SAVED : UNTYPED_UNKNOWN_BASE);
        case FLOW_NO_INSTRUCTION:
                return open_for(UNTYPED_NO_INSTRUCTION);
        case FLOW_NO_OPERAND:
                return open_for(UNTYPED_NO_OPERAND);
        case FLOW_TOO_LARGE:
                return open_for(UNTYPED_TOO_LARGE);
        case FLOW_NOT_DECODED:
                return open_for(UNTYPED_NOT_DECODED);
        default:
                break;
        }
        if (flow->restores && flow->variable.type == TYPE_NONE)
                return open_for(UNTYPED_SAVED);
        if (flow->place.kind == PLACE_POINTER)
                return by_pointer(finder, location, flow);
        if (flow->variable.type == TYPE_NONE)
                return open_for(flow->variable.name ? UNTYPED_SEVERAL
                                                    : UNTYPED_NO_VARIABLE);
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
                return *type != TYPE_NONE;
        }
        if (target->kind != TARGET_VARIABLE)
                return false;
        const struct data_place *data = &finder->sweep->variables[target->index].data;

        *type = data_type_for(data, finder->sweep->places[location->place].code.function);
        *offset = target->offset_bytes - data->start;
        return *type != TYPE_NONE;
}

/* The memory operand's access, as far as its instruction has been decoded. */
static const struct type_access *access_at(const struct place *place)
{
        static const struct type_access not_known;

        return place_asks(place)->access.asked &&
                       (place_asks(place)->access.flow.outcome == FLOW_FOUND ||
                        place_asks(place)->access.flow.outcome == FLOW_UNKNOWN_BASE)
                   ? &place_asks(place)->access.flow.access
                   : &not_known;
}

static bool points(const struct place *place)
{
        return place_asks(place)->access.asked &&
               place_asks(place)->access.flow.outcome == FLOW_FOUND &&
               place_asks(place)->access.flow.place.kind == PLACE_POINTER;
}

/* ---- by the allocation ---- */

/* Characters excepted, which texts consist of. */
static bool is_number(const struct types *types, uint32_t type)
{
        return (types->items[type].kind == TYPE_INTEGER ||
                types->items[type].kind == TYPE_FLOAT) &&
               types->items[type].size_bytes > 1;
}

/* Whether samples are in functions that may copy or compare bytes: whether what is there
 * are bytes only, other samples tell. */
static bool has_calls(const struct sweep *sweep)
{
        for (size_t i = 0; i < sweep->place_count; i++)
                if (place_asks(&sweep->places[i])->argument.code)
                        return true;
        return false;
}

/* Whether there are indexes: addresses tell whether they lead where they seem to. */
static bool has_indexes(const struct sweep *sweep)
{
        for (size_t i = 0; i < sweep->place_count; i++)
                if (points(&sweep->places[i]) &&
                    place_asks(&sweep->places[i])->access.flow.place.indexed)
                        return true;
        return false;
}

static void find_block_types(struct sample_types *finder)
{
        const struct raw *raw = finder->sweep->raw;

        finder->learns = has_calls(finder->sweep) || has_indexes(finder->sweep);
        for (size_t i = 0; i < raw->stack_count; i++)
                finder->blocks[i] = (struct block_type){.type = TYPE_NONE};
        /* Those that no sample met too: they are of the same objects. */
        for (size_t i = 0; i < raw->total_count; i++)
                if (raw->totals[i].stack != RAW_NONE)
                        finder->blocks[raw->totals[i].stack] = block_type_of_allocation(
                            finder->sweep, finder->types, raw->totals[i].stack);
        for (size_t i = 0; i < raw->allocation_count; i++) {
                uint32_t stack = raw->allocations[i].stack;

                if (stack == RAW_NONE)
                        continue;
                finder->blocks[stack] =
                    block_type_of_allocation(finder->sweep, finder->types, stack);
                finder->learns |= finder->blocks[stack].type != TYPE_NONE;
        }
}

/* The C library's allocator reads its own lists in blocks that are nobody's any more, and
 * its sorting moves what it does not know: neither tells what blocks hold. */

/* Whether the pointer of an access that agrees with its block's type is to what is read:
 * behind that lies what only a cast knows of. */
static bool stays_inside(const struct types *types, const struct place_value *place)
{
        return place->indexed || (place->offset >= 0 &&
                                  (uint64_t)place->offset < size_of(types, place->type));
}

/* Whether an access shows that BLOCKS hold more than what they are allocated as. The bits
 * of floating point are counted with where they are made a hash of, too. */
static bool doubts(const struct sample_types *finder, const struct place *place,
                   const struct block_type *blocks, const struct raw_allocation *block,
                   uint64_t inside, unsigned relation)
{
        const struct types *types = finder->types;
        const struct type_access *access = access_at(place);

        if (access->number == NUMBER_ANY || blocks->type == TYPE_NONE ||
            !block_type_fills(types, blocks->type, block->size_bytes) ||
            !type_contradicted(types, blocks->type,
                               block_type_offset(types, blocks->type, inside), access))
                return false;
        return !(relation & BLOCK_AGREES) || access->number >= NUMBER_FLOATS ||
               !stays_inside(types, &place_asks(place)->access.flow.place);
}

static void learn_of_block(struct sample_types *finder,
                           const struct sample_location *location, uint32_t stack)
{
        const struct target *target = &location->target;
        const struct place *place = &finder->sweep->places[location->place];
        const struct place_value *pointed = &place_asks(place)->access.flow.place;
        struct block_type *blocks = &finder->blocks[stack];
        bool tells_type = points(place) && !pointed->guessed;
        unsigned relation = tells_type && blocks->type != TYPE_NONE
                                ? block_type_relation(finder->types, blocks->type,
                                                      target->offset_bytes, pointed)
                                : 0;

        finder->relations[location->place] |= (uint8_t)relation;
        if (doubts(finder, place, blocks, &finder->sweep->raw->allocations[target->index],
                   target->offset_bytes, relation))
                blocks->mixed = blocks->doubted = true;
        if (!points(place))
                return;
        blocks->used |= pointed->type != TYPE_NONE &&
                        finder->types->items[pointed->type].kind == TYPE_STRUCT;
        if (pointed->guessed)
                return;
        block_type_learn(blocks, finder->types, pointed, relation);
        finder->records[finder->groups[stack]] |= blocks->records;
}

void sample_types_learn(struct sample_types *finder,
                        const struct sample_location *location)
{
        const struct target *target = &location->target;
        const struct place *place = &finder->sweep->places[location->place];

        if (target->kind != TARGET_BLOCK)
                return;
        if (points(place) && !finder->refuted[location->place])
                finder->refuted[location->place] = refutes(finder, location);
        uint32_t stack = finder->sweep->raw->allocations[target->index].stack;

        if (stack != RAW_NONE && !site_in_c_library(finder->sweep, place))
                learn_of_block(finder, location, stack);
}

/* What lies there when the block is what it was allocated as. */
static struct sample_type by_allocation(struct sample_types *finder,
                                        const struct sample_location *location,
                                        const struct block_type *holds)
{
        const struct target *target = &location->target;
        const struct place *place = &finder->sweep->places[location->place];
        uint64_t bytes = finder->sweep->raw->allocations[target->index].size_bytes;

        if (holds->type == TYPE_NONE || block_type_mixed(holds) ||
            !block_type_fills(finder->types, holds->type, bytes) ||
            (points(place) && !place_asks(place)->access.flow.place.guessed &&
             !block_type_agrees(finder->types, holds->type, target->offset_bytes,
                                &place_asks(place)->access.flow.place)))
                return open_for(UNTYPED_UNKNOWN_BASE);
        return field_at(
            finder, holds->type,
            block_type_offset(finder->types, holds->type, target->offset_bytes),
            access_at(place));
}

/* Numbers and pointers. */
static bool is_single(const struct types *types, uint32_t type)
{
        return is_number(types, type) || types->items[type].kind == TYPE_POINTER;
}

/* Whether BLOCKS hold more than what they are allocated as, whose members pointers to
 * singles may be to. What is allocated as bytes or numbers may hold arrays of several
 * kinds of these, one behind the other. */
static bool holds_members(const struct types *types, const struct block_type *blocks)
{
        return block_type_mixed(blocks) && size_of(types, blocks->type) > 1 &&
               !is_number(types, blocks->type);
}

/* Whether nothing is known of BLOCKS that speaks against their being mere bytes. */
static bool is_texts(const struct types *types, const struct block_type *blocks)
{
        return !blocks->used && !blocks->records && !block_type_mixed(blocks) &&
               (blocks->type == TYPE_NONE || size_of(types, blocks->type) <= 1);
}

/* Whether what FOUND says is only that a pointer to bytes was handed to a function that
 * copies or compares: such pointers are made of others. */
static bool copies_bytes(const struct sample_types *finder,
                         const struct sample_location *location,
                         const struct sample_type *found)
{
        const struct place *place = &finder->sweep->places[location->place];

        return !place_asks(place)->access.asked &&
               size_of(finder->types, found->type) == 1 &&
               function_at(finder, location->place) != MEMORY_NONE;
}

/* How the instruction's pointer goes with its block, whose type is known; 0: not known.
 */
static unsigned relation_here(const struct sample_types *finder,
                              const struct sample_location *location,
                              const struct block_type *holds, uint64_t block_bytes)
{
        const struct place *place = &finder->sweep->places[location->place];

        if (holds->type == TYPE_NONE || !points(place) ||
            place_asks(place)->access.flow.place.guessed ||
            !block_type_fills(finder->types, holds->type, block_bytes))
                return 0;
        return block_type_relation(finder->types, holds->type,
                                   location->target.offset_bytes,
                                   &place_asks(place)->access.flow.place);
}

/* Where the instruction's pointer, which makes FOUND of the sample, is another type's in
 * this block: functions of the same instructions are merged, and debug information has
 * the types of one of these. In blocks of a type that it met, too, they are of another of
 * its size. */
static struct sample_type by_merged(struct sample_types *finder,
                                    const struct sample_location *location,
                                    const struct block_type *holds, uint64_t block_bytes,
                                    const struct sample_type *found)
{
        unsigned relation = relation_here(finder, location, holds, block_bytes);
        unsigned seen = finder->relations[location->place];
        bool same_size = (relation & (BLOCK_REPLACES | BLOCK_BEHIND)) != 0;

        if (!(seen & BLOCK_IS && (same_size || relation & BLOCK_BEGINS)) &&
            !(seen & BLOCK_REPLACES && same_size))
                return *found;
        struct sample_type there =
            seen & BLOCK_IS && same_size && !block_type_mixed(holds)
                ? field_at(finder, holds->type,
                           block_type_offset(finder->types, holds->type,
                                             location->target.offset_bytes),
                           access_at(&finder->sweep->places[location->place]))
                : open_for(UNTYPED_MERGED);

        return there.reason == TYPED ? there : open_for(UNTYPED_MERGED);
}

/* Whether a place that a constant leads to, from what the pointer is to to behind it, is
 * in a block of which an access shows that it holds more than it seems to. */
static bool leads_behind(const struct sample_types *finder, const struct place *place,
                         const struct block_type *holds)
{
        return holds->doubted && points(place) &&
               !stays_inside(finder->types, &place_asks(place)->access.flow.place);
}

static struct sample_type by_block(struct sample_types *finder,
                                   const struct sample_location *location)
{
        const struct raw_allocation *block =
            &finder->sweep->raw->allocations[location->target.index];
        struct sample_type found = by_instruction(finder, location);

        if (block->stack == RAW_NONE)
                return found;
        const struct block_type *holds = &finder->blocks[block->stack];
        struct sample_type there = by_allocation(finder, location, holds);

        if (there.reason == TYPED)
                return there;
        if (found.reason == TYPED)
                found = by_merged(finder, location, holds, block->size_bytes, &found);
        if (found.reason == TYPED &&
            leads_behind(finder, &finder->sweep->places[location->place], holds))
                return open_for(UNTYPED_CONTRADICTED);
        if (found.reason == TYPED && !is_texts(finder->types, holds) &&
            copies_bytes(finder, location, &found))
                return open_for(UNTYPED_ASSEMBLER);
        return found.reason == TYPED && is_single(finder->types, found.type) &&
                       (finder->records[finder->groups[block->stack]] ||
                        holds_members(finder->types, holds))
                   ? open_for(UNTYPED_INDEX)
                   : found;
}

/* Why, where no variable is, there is no type: the object says it better than the
 * instruction. */
static struct sample_type by_section(struct sample_types *finder,
                                     const struct sample_location *location)
{
        struct sample_type found = by_instruction(finder, location);

        if (found.reason == TYPED || location->target.kind != TARGET_VARIABLE)
                return found;
        const struct data_place *data =
            &finder->sweep->variables[location->target.index].data;

        if (data->views_left_out)
                return open_for(UNTYPED_SEVERAL);
        switch (data->unnamed) {
        case DATA_CONSTANT:
                return open_for(UNTYPED_CONSTANT);
        case DATA_LINKAGE:
                return open_for(UNTYPED_LINKAGE);
        default:
                return found;
        }
}

static struct sample_type find_type(struct sample_types *finder,
                                    const struct raw_sample *sample,
                                    const struct sample_location *location)
{
        const struct place *place = &finder->sweep->places[location->place];
        uint64_t offset;
        uint32_t type;

        if (sweep_thread_answer(finder->sweep, location))
                return by_instruction(finder, location);
        if (!sample->has_addr)
                return open_for(UNTYPED_NO_ADDRESS);
        if (location->target.kind == TARGET_BLOCK)
                return by_block(finder, location);
        if (!object_type(finder, location, &type, &offset))
                return by_section(finder, location);
        /* What is declared is so, whatever its bits are used for. */
        static const struct type_access any;
        struct sample_type found = field_at(finder, type, offset, access_at(place));

        if (found.reason == UNTYPED_CONTRADICTED)
                found = field_at(finder, type, offset, &any);

        return found.reason == TYPED || !points(place) ? found
                                                       : by_instruction(finder, location);
}

/* Whether a part of the types is not there that the place or the variable may have. */
static bool lacks_types(const struct sweep *sweep, const struct sample_location *location)
{
        const struct module *modules = sweep->raw->modules;
        uint32_t code = sweep->places[location->place].module;
        uint32_t data = location->target.kind == TARGET_VARIABLE
                            ? sweep->variables[location->target.index].module
                            : RAW_NONE;

        return (code != RAW_NONE && modules[code].alt_missing) ||
               (data != RAW_NONE && modules[data].alt_missing);
}

/* Whether REASON may be no more than that a type has not been read. */
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
                   ? open_for(UNTYPED_NO_DWZ)
                   : found;
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
                malloc((sweep->place_count + 1) * sizeof(*sample_types->pointees)),
            .groups =
                malloc((sweep->raw->stack_count + 1) * sizeof(*sample_types->groups)),
            .records =
                calloc(sweep->raw->stack_count + 1, sizeof(*sample_types->records)),
            .relations = calloc(sweep->place_count + 1, sizeof(*sample_types->relations)),
            .refuted = calloc(sweep->place_count + 1, sizeof(*sample_types->refuted))};
        if (!sample_types->blocks || !sample_types->pointees || !sample_types->groups ||
            !sample_types->records || !sample_types->relations ||
            !sample_types->refuted || recursion_groups(sweep, sample_types->groups) < 0)
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
        free(sample_types->groups);
        free(sample_types->records);
        free(sample_types->relations);
        free(sample_types->refuted);
        *sample_types = (struct sample_types){0};
}
