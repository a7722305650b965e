/* SPDX-License-Identifier: MIT */
/* Of each operation: what its destination points to afterwards. What an instruction
 * writes in a way that is not followed is forgotten. */
#include "flow_effect.h"

static void set(struct flow_state *state, uint8_t reg, const struct place_value *value)
{
        if (reg < REGISTER_COUNT)
                state->registers[reg] = *value;
}

static void forget(struct flow_state *state, uint32_t registers)
{
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                if (registers >> i & 1)
                        state->registers[i] = place_unknown;
}

/* Registers that a call need not preserve (System V ABI, AMD64 supplement, 3.2.1). */
static const uint32_t call_clobbered =
    1u << 0 | 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 0xfu << 8;

/* Registers of arguments, and of where a result in memory goes (the same). */
static const uint8_t arguments[] = {5, 4, 1, 2, 8, 9};

/* The variable whose descriptor is called; PLACE_UNKNOWN: that is no such call. The
 * function behind a descriptor finds the descriptor in RAX. */
static struct place_value described(const struct flow_context *flow,
                                    const struct flow_state *state,
                                    const struct instruction *instruction)
{
        const struct memory_operand *memory = &instruction->memory;

        return instruction->has_memory && memory->base == REGISTER_RAX &&
                       memory->index == REGISTER_NONE && memory->displacement == 0
                   ? flow_state_slot(flow, &state->registers[REGISTER_RAX],
                                     THREAD_SLOT_DESCRIPTOR)
                   : place_unknown;
}

static void step_call(const struct flow_context *flow, struct flow_state *state,
                      const struct flow_step *step)
{
        struct place_value variable = described(flow, state, &step->instruction);

        if (variable.kind != PLACE_UNKNOWN) { /* all other registers stay */
                set(state, REGISTER_RAX, &variable);
                return;
        }
        for (size_t i = 0; i < sizeof(arguments); i++)
                if (state->registers[arguments[i]].kind == PLACE_FRAME)
                        flow_state_hand_over(flow, state, &state->registers[arguments[i]],
                                             step->vaddr);
        uint64_t after = step->vaddr + step->instruction.length_bytes;
        uint32_t type = variables_call_type(flow->variables, after);

        /* Without optimisation compilers do not tell what is called where. */
        if (type == TYPE_NONE && step->instruction.target && flow->input->returns)
                type = flow->input->returns(flow->input->global_context,
                                            step->instruction.target);
        struct place_value result =
            flow_state_slot(flow, &state->registers[REGISTER_RDI], THREAD_SLOT_PAIR);

        if (result.kind == PLACE_UNKNOWN)
                result = place_pointer(type_pointee(flow->input->reader, type), 0);
        forget(state, call_clobbered);
        set(state, REGISTER_RAX, &result);
}

static void step_stack(const struct flow_context *flow, struct flow_state *state,
                       const struct flow_step *step)
{
        const struct instruction *instruction = &step->instruction;
        struct place_value *top = &state->registers[REGISTER_RSP], value = place_unknown;

        if (instruction->operation == OPERATION_PUSH) {
                if (instruction->source < REGISTER_COUNT)
                        value = flow_state_held(flow, state, instruction->source,
                                                step->vaddr);
                *top = place_add_constant(top, -8);
                flow_state_store(state, top, &value, 8);
        } else {
                value = flow_state_load(flow, state, top, step->vaddr);
                *top = place_add_constant(top, 8);
                forget(state, instruction->written & ~(1u << REGISTER_RSP));
                set(state, instruction->destination, &value);
        }
}

static struct place_value difference_of(const struct flow_context *flow,
                                        struct flow_state *state,
                                        const struct flow_step *step)
{
        const struct instruction *instruction = &step->instruction;
        struct place_value a =
            flow_state_held(flow, state, instruction->destination, step->vaddr);
        struct place_value b =
            flow_state_held(flow, state, instruction->source, step->vaddr);

        return place_subtract(flow->input->reader->types, &a, &b);
}

static struct place_value sum_of(const struct flow_context *flow,
                                 struct flow_state *state, const struct flow_step *step)
{
        const struct instruction *instruction = &step->instruction;
        struct place_value a =
            flow_state_held(flow, state, instruction->destination, step->vaddr);
        struct place_value b =
            flow_state_held(flow, state, instruction->source, step->vaddr);

        if (instruction->destination == instruction->source)
                return place_multiply(&a, 2);
        return place_add(flow->input->reader->types, &a, &b, 1);
}

static struct place_value address_of(const struct flow_context *flow,
                                     struct flow_state *state,
                                     const struct flow_step *step)
{
        const struct memory_operand *memory = &step->instruction.memory;
        struct place_value base;

        if (memory->base < REGISTER_COUNT && memory->base == memory->index) {
                base = flow_state_held(flow, state, memory->base, step->vaddr);
                base = place_multiply(&base, 1 + memory->scale);
                return place_add_constant(&base, memory->displacement);
        }
        if (memory->base == REGISTER_NONE && memory->index < REGISTER_COUNT &&
            memory->displacement == 0) {
                base = flow_state_held(flow, state, memory->index, step->vaddr);
                return place_multiply(&base, memory->scale);
        }
        return flow_state_operand(flow, state, step);
}

/* The destination's new value; the operations that only write memory or change the
 * stack pointer are elsewhere. */
static struct place_value result_of(const struct flow_context *flow,
                                    struct flow_state *state,
                                    const struct flow_step *step)
{
        const struct instruction *instruction = &step->instruction;
        struct place_value place, other;

        switch (instruction->operation) {
        case OPERATION_MOVE:
                return flow_state_held(flow, state, instruction->source, step->vaddr);
        case OPERATION_CHOOSE:
                place =
                    flow_state_held(flow, state, instruction->destination, step->vaddr);
                other = flow_state_held(flow, state, instruction->source, step->vaddr);
                return place_meet(flow->input->reader->types, &place, &other);
        case OPERATION_CONSTANT:
                return flow->has_absolute_addresses &&
                               elf_file_segment(flow->input->file,
                                                (uint64_t)instruction->immediate)
                           ? (struct place_value){.kind = PLACE_ADDRESS,
                                                  .type = TYPE_NONE,
                                                  .offset = instruction->immediate}
                           : place_number(0, instruction->immediate);
        case OPERATION_LOAD:
                place = flow_state_operand(flow, state, step);
                return flow_state_load(flow, state, &place, step->vaddr);
        case OPERATION_ADDRESS:
                return address_of(flow, state, step);
        case OPERATION_ADD:
                return sum_of(flow, state, step);
        case OPERATION_SUBTRACT:
                return difference_of(flow, state, step);
        case OPERATION_ADD_LOAD:
                other = flow_state_operand(flow, state, step);
                other = flow_state_load(flow, state, &other, step->vaddr);
                place =
                    flow_state_held(flow, state, instruction->destination, step->vaddr);
                return place_add(flow->input->reader->types, &place, &other, 1);
        case OPERATION_ADD_CONSTANT:
                place =
                    flow_state_held(flow, state, instruction->destination, step->vaddr);
                return place_add_constant(&place, instruction->immediate);
        case OPERATION_SHIFT_LEFT:
                place = state->registers[instruction->source];
                return instruction->immediate >= 0 && instruction->immediate < 31
                           ? place_multiply(&place, INT64_C(1) << instruction->immediate)
                           : place_unknown;
        case OPERATION_MULTIPLY:
                place = state->registers[instruction->source];
                return place_multiply(&place, instruction->immediate);
        case OPERATION_ALIGN:
                place = state->registers[instruction->destination];
                return place.kind == PLACE_FRAME
                           ? (struct place_value){.kind = PLACE_ALIGNED,
                                                  .type = TYPE_NONE}
                           : place_unknown;
        default:
                return place_unknown;
        }
}

void flow_effect(const struct flow_context *flow, struct flow_state *state,
                 const struct flow_step *step)
{
        const struct instruction *instruction = &step->instruction;
        struct place_value place, value;

        switch (instruction->operation) {
        case OPERATION_CALL:
                step_call(flow, state, step);
                return;
        case OPERATION_PUSH:
        case OPERATION_POP:
                step_stack(flow, state, step);
                return;
        case OPERATION_STORE:
                place = flow_state_operand(flow, state, step);
                value = flow_state_held(flow, state, instruction->source, step->vaddr);
                flow_state_store(state, &place, &value, 8);
                return;
        case OPERATION_OTHER:
                if (instruction->writes_memory) {
                        place = flow_state_operand(flow, state, step);
                        flow_state_store(state, &place, NULL, instruction->access_bytes);
                }
                forget(state, instruction->written);
                return;
        case OPERATION_NOTHING:
        case OPERATION_JUMP:
        case OPERATION_BRANCH:
        case OPERATION_JUMP_INDIRECT:
        case OPERATION_END:
                return;
        default:
                if (instruction->destination == REGISTER_RSP &&
                    instruction->operation == OPERATION_ALIGN)
                        state->slot_count = 0; /* those were of the frame above */
                value = result_of(flow, state, step);
                forget(state, instruction->written);
                set(state, instruction->destination, &value);
        }
}
