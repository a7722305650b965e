/* SPDX-License-Identifier: MIT */
/* Each value has a number; registers with one value have the same number. A value and a
 * constant share their number. */
#include "flow_ahead.h"

#include "callee.h"

enum { STEPS_AROUND = 32 };

struct numbered {
        uint32_t number;
        int64_t offset;
};

struct numbering {
        struct numbered registers[REGISTER_COUNT];
        uint32_t used;
};

static void begin(struct numbering *numbering)
{
        numbering->used = REGISTER_COUNT;
        for (uint32_t i = 0; i < REGISTER_COUNT; i++)
                numbering->registers[i] = (struct numbered){i, 0};
}

static struct numbered add(struct numbered value, int64_t constant)
{
        value.offset = (int64_t)((uint64_t)value.offset + (uint64_t)constant);
        return value;
}

/* Goes past INSTRUCTION. */
static void pass(struct numbering *numbering, const struct instruction *instruction)
{
        const struct memory_operand *memory = &instruction->memory;
        struct numbered value = {numbering->used++, 0};
        uint8_t to = instruction->destination, from = instruction->source;
        uint32_t written = instruction->written;

        if (instruction->operation == OPERATION_CALL)
                written |= CALL_CLOBBERED;
        if (instruction->operation == OPERATION_MOVE && from < REGISTER_COUNT)
                value = numbering->registers[from];
        else if (instruction->operation == OPERATION_ADD_CONSTANT && to < REGISTER_COUNT)
                value = add(numbering->registers[to], instruction->immediate);
        else if (instruction->operation == OPERATION_ADDRESS &&
                 memory->base < REGISTER_COUNT && memory->index == REGISTER_NONE &&
                 !memory->thread_local)
                value = add(numbering->registers[memory->base], memory->displacement);
        else
                to = REGISTER_NONE;
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                if (written >> i & 1)
                        numbering->registers[i] = (struct numbered){numbering->used++, 0};
        if (to < REGISTER_COUNT)
                numbering->registers[to] = value;
}

/* Whether PLACE, in a structure, has a member at DISPLACEMENT from it. */
static bool holds(const struct types *types, const struct place_value *place,
                  int64_t displacement)
{
        if (place->kind != PLACE_POINTER)
                return false;
        const struct type *type = &types->items[place->type];

        return (type->kind == TYPE_STRUCT || type->kind == TYPE_UNION) &&
               (uint64_t)place->offset + (uint64_t)displacement < type->size_bytes;
}

/* What VALUE points to by a variable of the registers at VADDR. */
static struct place_value named_there(const struct flow_context *flow,
                                      const struct numbering *numbering,
                                      const struct numbered *value, uint64_t vaddr,
                                      int64_t displacement)
{
        for (uint8_t i = 0; i < REGISTER_COUNT; i++) {
                const struct numbered *held = &numbering->registers[i];

                if (held->number != value->number)
                        continue;
                struct place_value place = flow_state_named(flow, i, vaddr);

                place = place_add_constant(
                    &place, (int64_t)((uint64_t)value->offset - (uint64_t)held->offset));
                if (holds(flow->input->reader->types, &place, displacement))
                        return place;
        }
        return place_unknown;
}

struct place_value flow_ahead(const struct flow_context *flow,
                              const struct flow_code *code, size_t step, uint8_t reg,
                              int64_t displacement)
{
        const struct flow_block *block = &code->blocks[flow_code_block(code, step)];
        size_t first = block->first, end = block->first + block->count;
        struct place_value place = place_unknown;
        struct numbering numbering;

        if (step - first > STEPS_AROUND)
                first = step - STEPS_AROUND;
        if (end - step > STEPS_AROUND)
                end = step + STEPS_AROUND;
        begin(&numbering);
        for (size_t i = first; i < step; i++)
                pass(&numbering, &code->steps[i].instruction);
        const struct numbered value = numbering.registers[reg];

        for (size_t i = step; i < end && place.kind == PLACE_UNKNOWN; i++) {
                place = named_there(flow, &numbering, &value, code->steps[i].vaddr,
                                    displacement);
                pass(&numbering, &code->steps[i].instruction);
        }
        return place;
}
