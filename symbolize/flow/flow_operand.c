/* SPDX-License-Identifier: MIT */
#include "flow_operand.h"

#include "type_field.h"

static struct place_value thread_local_at(uint64_t offset)
{
        return (struct place_value){.kind = PLACE_ADDRESS,
                                    .type = TYPE_NONE,
                                    .offset = (int64_t)(offset | ELF_THREAD_LOCAL)};
}

struct place_value flow_thread_slot(const struct flow_context *flow,
                                    const struct place_value *place,
                                    enum thread_slot_kind kind)
{
        const struct thread_slot *slot =
            place->kind == PLACE_ADDRESS && !place->indexed
                ? thread_slots_find(flow->slots, (uint64_t)place->offset, kind)
                : NULL;

        return slot ? thread_local_at(slot->offset) : place_unknown;
}

/* A program's variables lie directly below the thread pointer. An index there is only
 * reliable if no code adds a variable's offset. */
static struct place_value own_variable(const struct flow_context *flow,
                                       const struct place_value *place)
{
        uint64_t bytes = flow->file->thread_bytes;
        uint64_t offset = bytes + (uint64_t)place->offset;

        struct place_value own = *place;

        if (place->kind != PLACE_THREAD || offset >= bytes ||
            (place->indexed && !thread_slots_none(flow->slots)))
                return own;
        own.kind = PLACE_ADDRESS;
        own.offset = thread_local_at(offset).offset;
        return own;
}

struct place_value flow_sum(const struct flow_context *flow, const struct place_value *a,
                            const struct place_value *b, uint64_t scale)
{
        if (a->kind == PLACE_TABLE_WORD || b->kind == PLACE_TABLE_WORD)
                return place_unknown; /* perhaps a virtual base */
        return place_add(flow->types, a, b, scale);
}

/* BASE plus the index of STEP's operand. */
static struct place_value add_index(const struct flow_context *flow,
                                    struct flow_state *state,
                                    const struct flow_step *step,
                                    const struct place_value *base)
{
        const struct memory_operand *memory = &step->instruction.memory;
        struct place_value index = place_unknown, sum = *base;

        if (memory->index < REGISTER_COUNT)
                index = flow_state_held(flow, state, memory->index, step->vaddr);
        if (memory->index != REGISTER_NONE)
                sum = flow_sum(flow, base, &index, memory->scale ? memory->scale : 1);
        return sum;
}

/* The address of an operand relative to the thread pointer. A register may hold the
 * offset of a variable. */
static struct place_value thread_operand(const struct flow_context *flow,
                                         struct flow_state *state,
                                         const struct flow_step *step)
{
        const struct memory_operand *memory = &step->instruction.memory;
        const struct place_value thread_pointer = {.kind = PLACE_THREAD,
                                                   .type = TYPE_NONE};
        struct place_value place = thread_pointer;

        if (memory->base < REGISTER_COUNT)
                place = flow_state_held(flow, state, memory->base, step->vaddr);
        if (memory->base != REGISTER_NONE && !place_in_thread(&place))
                place = place_add(flow->types, &thread_pointer, &place, 1);
        place = place_add_constant(&place, memory->displacement);
        place = own_variable(flow, &place);
        return add_index(flow, state, step, &place);
}

static bool is_in(const struct register_variable *variable, uint8_t reg, uint64_t vaddr)
{
        return variable->reg == reg && vaddr >= variable->low && vaddr < variable->high;
}

/* The depth of inlined functions around the variables in REG at VADDR. */
static uint16_t level_of(const struct variables *variables, uint8_t reg, uint64_t vaddr)
{
        uint16_t level = 0;

        for (size_t i = 0; i < variables->value_count; i++) {
                const struct register_variable *variable = &variables->values[i];

                if (is_in(variable, reg, vaddr) && vaddr >= variable->inlined_low &&
                    vaddr < variable->inlined_high && variable->level > level)
                        level = variable->level;
        }
        return level;
}

/* BASE, the target of REG, as the target of another variable there. The address PLUS
 * bytes behind it is outside of BASE's structure, but inside a larger structure that
 * begins with BASE's. An inlined function has the base as its parameter, and its debug
 * information names the register further on. Such an access in the inlined function may
 * be to any larger structure. */
static struct place_value derived(const struct flow_context *flow, uint8_t reg,
                                  const struct place_value *base, int64_t plus,
                                  uint64_t vaddr)
{
        struct place_value found = *base;

        if (base->kind != PLACE_POINTER || base->indexed || base->guessed ||
            base->offset != 0 || !type_has_fields(flow->types, base->type) || plus < 0 ||
            (uint64_t)plus < type_size(flow->types, base->type))
                return found;
        uint16_t level = level_of(flow->variables, reg, vaddr);

        for (size_t i = 0; i < flow->variables->value_count; i++) {
                const struct register_variable *variable = &flow->variables->values[i];

                if (!is_in(variable, reg, vaddr) || variable->offset != 0 ||
                    variable->from_set || variable->pointed || variable->level < level)
                        continue;
                uint32_t type = type_pointee(flow->reader, variable->type);

                if (!type_has_fields(flow->types, type) ||
                    (uint64_t)plus >= type_size(flow->types, type) ||
                    !type_holds(flow->types, type, 0, base->type))
                        continue;
                if (found.type != base->type && !type_same(flow->types, found.type, type))
                        return *base;
                found = place_pointer(type, 0);
                found.origin = origin_of_variable(i);
        }
        return found;
}

struct place_value flow_operand(const struct flow_context *flow, struct flow_state *state,
                                const struct flow_step *step)
{
        const struct memory_operand *memory = &step->instruction.memory;
        struct place_value base = place_unknown;
        bool absolute = false;

        if (memory->thread_local)
                return thread_operand(flow, state, step);
        if (memory->base < REGISTER_COUNT) {
                base = flow_state_held(flow, state, memory->base, step->vaddr);
                base =
                    derived(flow, memory->base, &base, memory->displacement, step->vaddr);
        } else if (memory->base == REGISTER_NONE) {
                absolute = true;
        }
        if ((absolute && memory->index == REGISTER_NONE) ||
            (flow->has_absolute_addresses && place_is_number(&base) &&
             elf_file_segment(flow->file, (uint64_t)memory->displacement)))
                return (struct place_value){.kind = PLACE_ADDRESS,
                                            .indexed = !absolute ||
                                                       memory->index != REGISTER_NONE,
                                            .type = TYPE_NONE,
                                            .offset = memory->displacement};
        base = add_index(flow, state, step, &base);
        base = place_add_constant(&base, memory->displacement);
        return own_variable(flow, &base);
}

struct place_value flow_loaded_from(const struct flow_walk *walk, size_t at,
                                    struct flow_state *state)
{
        uint64_t work =
            at - walk->code->blocks[flow_code_block(walk->code, at)].first + 1;

        if (walk->names->work_left < work) {
                walk->names->work_left = 0;
                return place_unknown;
        }
        walk->names->work_left -= work;
        *state = flow_walk_before(walk, at);
        return flow_operand(walk->context, state, &walk->code->steps[at]);
}
