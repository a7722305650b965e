/* SPDX-License-Identifier: MIT */
/* Goes back from load to load to a variable. Uses at each load the state that holds on
 * all paths to it. */
#include "pointer_name.h"

#include "flow_operand.h"
#include "type_field.h"

enum { LOADS_LIMIT = 8 };

static const struct type_access pointer_access = {.bytes = 8, .number = NUMBER_INTEGER};

static const char *text_of(const struct flow_walk *walk, uint32_t name)
{
        return string_pool_text(walk->context->reader->names, name);
}

/* The name of the field at OFFSET of BASE, a TYPE; ARROW stands before the field. */
static uint32_t part_name(const struct flow_walk *walk, uint32_t base, const char *arrow,
                          uint32_t type, uint64_t offset)
{
        const struct type_reader *reader = walk->context->reader;
        struct field field;

        if (!base)
                return 0;
        switch (type_field(reader->types, reader->names, type, offset, &pointer_access,
                           &field)) {
        case FIELD_FOUND:
                break;
        case FIELD_WHOLE:
                return base;
        default:
                return 0;
        }
        const char *name = text_of(walk, field.name);

        return name ? string_pool_format(reader->names, "%s%s%s", text_of(walk, base),
                                         *name == '[' ? "" : arrow, name)
                    : 0;
}

/* The name of the field at PLACE, in the target of the pointer BASE. */
static uint32_t pointee_name(const struct flow_walk *walk, uint32_t base,
                             const struct place_value *place)
{
        const struct type_reader *reader = walk->context->reader;
        const struct types *types = reader->types;
        struct place_value settled = place_settled(types, place, sizeof(uint64_t));
        uint64_t bytes = type_size(types, place->type);
        bool items = settled.indexed && bytes > 0 && settled.stride_bytes % bytes == 0;

        if (!base || settled.guessed || !place_stays_inside(types, &settled))
                return 0;
        if (types->items[place->type].kind == TYPE_POINTER)
                return string_pool_format(reader->names, settled.indexed ? "%s[]" : "*%s",
                                          text_of(walk, base));
        if (items)
                base = string_pool_format(reader->names, "%s[]", text_of(walk, base));
        return part_name(walk, base, items ? "." : "->", place->type,
                         place_offset(types, &settled));
}

/* The name of the field at PLACE, whose address is known except for an index. If PLACE is
 * behind a pointer, BASE is the pointer's name. */
static uint32_t stored_there(const struct flow_walk *walk, const struct flow_state *state,
                             const struct place_value *place, uint64_t vaddr,
                             uint32_t base)
{
        const struct flow_context *flow = walk->context;
        uint64_t offset;
        int64_t inside;
        uint32_t type;

        switch (place->kind) {
        case PLACE_POINTER:
                return pointee_name(walk, base, place);
        case PLACE_FRAME:
        case PLACE_ALIGNED: {
                if (place->indexed)
                        return 0;
                const struct frame_variable *variable =
                    flow_state_variable(walk->context, state, place, vaddr, &inside);

                return variable ? part_name(walk, variable->name, ".", variable->type,
                                            (uint64_t)inside)
                                : 0;
        }
        case PLACE_ADDRESS:
                type = globals_type(flow->globals, (uint64_t)place->offset, &offset);
                return type == TYPE_NONE ||
                               !place_stays_in(flow->types, place, type, offset)
                           ? 0
                           : part_name(
                                 walk,
                                 globals_name(flow->globals, (uint64_t)place->offset),
                                 ".", type, offset);
        default:
                return 0;
        }
}

static struct flow_name origin_name(const struct flow_walk *walk, origin from,
                                    uint8_t loads_left);

/* The name of the field or variable at PLACE. */
static struct flow_name stored_name(const struct flow_walk *walk,
                                    const struct flow_state *state,
                                    const struct place_value *place, uint64_t vaddr,
                                    uint8_t loads_left)
{
        struct flow_name stored = {.known = true};

        if (place->kind == PLACE_POINTER) {
                stored = origin_name(walk, place->origin, loads_left);
                if (!stored.name)
                        return stored;
        }
        stored.name = stored_there(walk, state, place, vaddr, stored.name);
        return stored;
}

/* The name of the result of the call before AFTER, of the function at TARGET (0: not
 * known). */
static uint32_t call_name(const struct flow_walk *walk, uint64_t target, uint64_t after)
{
        const struct flow_context *flow = walk->context;
        const struct call_result *call = variables_call(flow->variables, after);
        uint32_t name = call ? call->name : 0;

        if (!name && target)
                name = globals_function_name(flow->globals, target);
        return name ? string_pool_format(flow->reader->names, "%s()", text_of(walk, name))
                    : 0;
}

/* The name of the pointer that step number AT loads. */
static struct flow_name loaded_name(const struct flow_walk *walk, size_t at,
                                    uint8_t loads_left)
{
        struct flow_state state;
        struct place_value place = flow_loaded_from(walk, at, &state);

        if (walk->names->work_left == 0)
                return (struct flow_name){0};
        struct flow_name loaded = stored_name(
            walk, &state, &place, walk->code->steps[at].vaddr, loads_left - 1);

        loaded.loads++;
        return loaded;
}

/* Unknown if the path has more than LOADS_LEFT loads, or the limit on work is reached. */
static struct flow_name origin_name(const struct flow_walk *walk, origin from,
                                    uint8_t loads_left)
{
        const struct variables *variables = walk->context->variables;
        struct flow_name found = {.known = true};

        if (origin_is_variable(from)) {
                found.name = variables->values[from - ORIGIN_FIRST_VARIABLE].name;
                return found;
        }
        if (!origin_is_step(from))
                return found;
        size_t at = from - ORIGIN_FIRST_STEP;
        const struct flow_step *step = &walk->code->steps[at];
        struct flow_name *kept = &walk->names->of_step[at];

        if (kept->known && kept->loads <= loads_left)
                return *kept;
        if (kept->known || loads_left == 0)
                return (struct flow_name){0};
        if (step->instruction.operation == OPERATION_CALL)
                found.name = call_name(walk, step->instruction.target,
                                       step->vaddr + step->instruction.length_bytes);
        else if (step->instruction.has_memory)
                found = loaded_name(walk, at, loads_left);
        if (!found.known && loads_left == LOADS_LIMIT)
                found = (struct flow_name){.known = true};
        *kept = found;
        return found;
}

uint32_t pointer_name(const struct flow_walk *walk, const struct place_value *pointer)
{
        return pointer->kind == PLACE_POINTER
                   ? origin_name(walk, pointer->origin, LOADS_LIMIT).name
                   : 0;
}

uint32_t pointer_name_stored(const struct flow_walk *walk, const struct flow_state *state,
                             const struct place_value *place, uint64_t vaddr)
{
        return stored_name(walk, state, place, vaddr, LOADS_LIMIT).name;
}

uint32_t pointer_name_returned(const struct flow_walk *walk)
{
        const struct flow_context *flow = walk->context;
        uint32_t name =
            die_put_name(flow->reader->dwarf, flow->reader->names, flow->function);

        return name ? string_pool_format(flow->reader->names, "%s()", text_of(walk, name))
                    : 0;
}
