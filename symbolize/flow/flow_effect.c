/* SPDX-License-Identifier: MIT */
/* The transfer function: the targets of an operation's destination. Other writes make a
 * register or slot unknown. */
#include "flow_operand.h"
#include "flow_walk.h"

static void set(struct flow_state *state, uint8_t reg, const struct place_value *value)
{
        if (reg < REGISTER_COUNT)
                state->registers[reg] = *value;
}

/* The values that STEP writes to REGISTERS become unknown. */
static void forget(struct flow_state *state, uint32_t registers,
                   const struct flow_step *step)
{
        const struct instruction *instruction = &step->instruction;

        for (uint8_t i = 0; i < REGISTER_COUNT; i++) {
                if (registers >> i & 1) {
                        state->registers[i] = instruction->numbers >> i & 1
                                                  ? place_any_number
                                                  : place_unknown;
                        flow_state_written(state, i, step->vaddr,
                                           instruction->modified >> i & 1);
                }
                if ((registers >> i & 1) || (registers >> state->multiples[i].of & 1))
                        state->multiples[i].factor = 0;
        }
}

/* Records STEP as the provenance of VALUE's type, unless it already has one. */
static void take_origin(const struct flow_context *flow, const struct flow_step *step,
                        struct place_value *value)
{
        if (value->kind == PLACE_POINTER && value->origin == ORIGIN_NONE)
                value->origin = origin_of_step((size_t)(step - flow->code->steps));
}

/* ---- multiples of other registers ---- */

/* Compilers multiply by 5 as "x * 4 + x". A sum of unknown numbers alone would not show
 * the factor. */

static struct flow_multiple as_multiple(int64_t factor, uint8_t of)
{
        bool fits = factor <= INT32_MAX && factor >= INT32_MIN && of != REGISTER_RSP;

        return (struct flow_multiple){fits ? (int32_t)factor : 0, of};
}

/* The sum of A and SCALE times B, as a multiple of one register. */
static struct flow_multiple sum_multiple(const struct flow_state *state, uint8_t a,
                                         uint8_t b, int scale)
{
        struct flow_multiple sum = {0};

        if (a >= REGISTER_COUNT || b >= REGISTER_COUNT)
                return sum;
        /* Another register first: A is often the sum's destination. */
        const struct flow_multiple lefts[] = {state->multiples[a], {1, a}};
        const struct flow_multiple rights[] = {state->multiples[b], {1, b}};

        for (int i = 0; i < 4 && sum.factor == 0; i++) {
                const struct flow_multiple *left = &lefts[i / 2], *right = &rights[i % 2];

                if (left->factor != 0 && right->factor != 0 && left->of == right->of)
                        sum = as_multiple(left->factor + (int64_t)scale * right->factor,
                                          left->of);
        }
        return sum;
}

/* The same as a number; PLACE_UNREACHED: the sum depends on several registers. */
static struct place_value sum_number(const struct flow_state *state, uint8_t a, uint8_t b,
                                     int scale)
{
        struct flow_multiple sum = sum_multiple(state, a, b, scale);

        return sum.factor != 0 && place_is_number(&state->registers[sum.of])
                   ? place_multiply(&state->registers[sum.of], sum.factor)
                   : place_unreached;
}

/* The destination of INSTRUCTION as a multiple of a register that it does not change. */
static struct flow_multiple multiple_of(const struct flow_state *state,
                                        const struct instruction *instruction)
{
        const struct memory_operand *memory = &instruction->memory;
        uint8_t to = instruction->destination, from = instruction->source;
        struct flow_multiple made = {0};

        switch (instruction->operation) {
        case OPERATION_MOVE:
                made = as_multiple(1, from);
                break;
        case OPERATION_MULTIPLY:
                made = as_multiple(instruction->immediate, from);
                break;
        case OPERATION_ADD:
                made = sum_multiple(state, to, from, 1);
                break;
        case OPERATION_SUBTRACT:
                made = sum_multiple(state, to, from, -1);
                break;
        case OPERATION_SHIFT_LEFT:
                if (instruction->immediate >= 0 && instruction->immediate < 31)
                        made = as_multiple((int64_t)state->multiples[to].factor
                                               << instruction->immediate,
                                           state->multiples[to].of);
                break;
        case OPERATION_ADDRESS:
                if (memory->displacement != 0 || memory->thread_local)
                        break;
                made =
                    memory->base == REGISTER_NONE && memory->index < REGISTER_COUNT
                        ? as_multiple(memory->scale, memory->index)
                        : sum_multiple(state, memory->base, memory->index, memory->scale);
                break;
        default:
                break;
        }
        return made.of == to ? (struct flow_multiple){0} : made;
}

/* Registers of arguments. The first also has the address of a result in memory. */
static const uint8_t arguments[] = {5, 4, 1, 2, 8, 9};

/* The variable whose descriptor the call is for; PLACE_UNKNOWN: another call. The
 * function behind a descriptor finds the descriptor in RAX. */
static struct place_value described(const struct flow_context *flow,
                                    const struct flow_state *state,
                                    const struct instruction *instruction)
{
        const struct memory_operand *memory = &instruction->memory;

        return instruction->has_memory && memory->base == REGISTER_RAX &&
                       memory->index == REGISTER_NONE && memory->displacement == 0
                   ? flow_thread_slot(flow, &state->registers[REGISTER_RAX],
                                      THREAD_SLOT_DESCRIPTOR)
                   : place_unknown;
}

static void step_call(const struct flow_context *flow, struct flow_state *state,
                      const struct flow_step *step)
{
        struct place_value variable = described(flow, state, &step->instruction);

        if (variable.kind != PLACE_UNKNOWN) { /* all other registers stay */
                forget(state, 1u << REGISTER_RAX, step);
                set(state, REGISTER_RAX, &variable);
                return;
        }
        flow_state_forget_written(flow, state);
        for (size_t i = 0; i < sizeof(arguments); i++)
                if (state->registers[arguments[i]].kind == PLACE_FRAME)
                        flow_state_hand_over(flow, state, &state->registers[arguments[i]],
                                             step->vaddr);
        uint64_t after = step->vaddr + step->instruction.length_bytes;
        const struct call_result *call = variables_call(flow->variables, after);
        uint32_t type = call ? call->type : TYPE_NONE;

        /* Without optimisation compilers do not describe calls. */
        if (type == TYPE_NONE && step->instruction.target)
                type = globals_return_type(flow->globals, step->instruction.target);
        if (type != TYPE_NONE && step->instruction.target &&
            globals_folded(flow->globals, step->instruction.target))
                type = TYPE_NONE;
        struct place_value result =
            flow_thread_slot(flow, &state->registers[REGISTER_RDI], THREAD_SLOT_PAIR);

        if (result.kind == PLACE_UNKNOWN)
                result = place_pointer(type_pointee(flow->reader, type), 0);
        take_origin(flow, step, &result);
        forget(state, CALL_CLOBBERED, step);
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
                else if (instruction->source == REGISTER_NONE)
                        value = place_number(0, instruction->immediate);
                *top = place_add_constant(top, -8);
                flow_state_store(flow, state, top, &value, 8);
        } else {
                value = flow_state_load(flow, state, top, step->vaddr);
                take_origin(flow, step, &value);
                *top = place_add_constant(top, 8);
                forget(state, instruction->written & ~(1u << REGISTER_RSP), step);
                set(state, instruction->destination, &value);
        }
}

/* The value of REG before STEP. */
static struct place_value held(const struct flow_context *flow, struct flow_state *state,
                               uint8_t reg, const struct flow_step *step)
{
        return flow_state_held(flow, state, reg, step->vaddr);
}

/* The destination plus SIGN times the source. */
static struct place_value sum_of(const struct flow_context *flow,
                                 struct flow_state *state, const struct flow_step *step,
                                 int sign)
{
        uint8_t to = step->instruction.destination, from = step->instruction.source;
        struct place_value a = held(flow, state, to, step);
        struct place_value b = held(flow, state, from, step);
        struct place_value number = sum_number(state, to, from, sign);

        if (number.kind != PLACE_UNREACHED)
                return number;
        return sign > 0 ? flow_sum(flow, &a, &b, 1) : place_subtract(flow->types, &a, &b);
}

static struct place_value address_of(const struct flow_context *flow,
                                     struct flow_state *state,
                                     const struct flow_step *step)
{
        const struct memory_operand *memory = &step->instruction.memory;
        struct place_value sum;

        if (memory->base == REGISTER_NONE && memory->index < REGISTER_COUNT &&
            memory->displacement == 0) {
                sum = held(flow, state, memory->index, step);
                return place_multiply(&sum, memory->scale);
        }
        sum = memory->thread_local
                  ? place_unreached
                  : sum_number(state, memory->base, memory->index, memory->scale);
        return sum.kind == PLACE_UNREACHED
                   ? flow_operand(flow, state, step)
                   : place_add_constant(&sum, memory->displacement);
}

/* The value at STEP's operand. From a null base, an index of items leads nowhere. */
static struct place_value loaded_by(const struct flow_context *flow,
                                    struct flow_state *state,
                                    const struct flow_step *step)
{
        const struct memory_operand *memory = &step->instruction.memory;
        struct place_value place = flow_operand(flow, state, step);

        if (!flow->has_absolute_addresses && !memory->thread_local &&
            memory->base < REGISTER_COUNT && memory->scale > 1 &&
            place_is_null(&state->registers[memory->base]))
                return place_unreached;
        struct place_value value = flow_state_load(flow, state, &place, step->vaddr);

        take_origin(flow, step, &value);
        return value;
}

/* Whether PLACE is before its pointer's target, in a structure around it. */
static bool is_before(const struct place_value *place)
{
        return place->kind == PLACE_POINTER && !place->indexed && place->offset < 0;
}

/* A or B, by a conditional move. A cast that keeps the null pointer makes one point
 * before a member and the other at it. The distance between them is then no stride of a
 * loop. */
static struct place_value chosen(const struct flow_context *flow,
                                 const struct place_value *a, const struct place_value *b)
{
        bool apart = a->kind == PLACE_POINTER && b->kind == PLACE_POINTER &&
                     a->offset != b->offset;

        return apart && (is_before(a) || is_before(b)) ? place_unknown
                                                       : place_meet(flow->types, a, b);
}

/* The destination's new value. Other functions handle operations that only write memory
 * or change the stack pointer. */
static struct place_value result_of(const struct flow_context *flow,
                                    struct flow_state *state,
                                    const struct flow_step *step)
{
        const struct instruction *instruction = &step->instruction;
        const int64_t constant = instruction->immediate;
        uint8_t to = instruction->destination, from = instruction->source;
        struct place_value place, other;

        switch (instruction->operation) {
        case OPERATION_MOVE:
                return held(flow, state, from, step);
        case OPERATION_CHOOSE:
                place = held(flow, state, to, step);
                other = held(flow, state, from, step);
                return chosen(flow, &place, &other);
        case OPERATION_CHOOSE_LOAD:
                place = held(flow, state, to, step);
                other = loaded_by(flow, state, step);
                return chosen(flow, &place, &other);
        case OPERATION_CONSTANT:
                return flow->has_absolute_addresses &&
                               elf_file_segment(flow->file, (uint64_t)constant)
                           ? (struct place_value){.kind = PLACE_ADDRESS,
                                                  .type = TYPE_NONE,
                                                  .offset = constant}
                           : place_number(0, constant);
        case OPERATION_LOAD:
                return loaded_by(flow, state, step);
        case OPERATION_ADDRESS:
                return address_of(flow, state, step);
        case OPERATION_ADD:
                return sum_of(flow, state, step, 1);
        case OPERATION_SUBTRACT:
                return sum_of(flow, state, step, -1);
        case OPERATION_ADD_LOAD:
                other = loaded_by(flow, state, step);
                place = held(flow, state, to, step);
                return flow_sum(flow, &place, &other, 1);
        case OPERATION_ADD_CONSTANT:
                place = held(flow, state, to, step);
                return place_add_constant(&place, constant);
        case OPERATION_OR_CONSTANT:
                return place_or(&state->registers[to], constant);
        case OPERATION_ADD_HALF:
                return place_half(&state->registers[from], constant);
        case OPERATION_SHIFT_LEFT:
                place = state->registers[from];
                return constant >= 0 && constant < 31
                           ? place_multiply(&place, INT64_C(1) << constant)
                           : place_unknown;
        case OPERATION_MULTIPLY:
                place = state->registers[from];
                return place_multiply(&place, constant);
        case OPERATION_ALIGN:
                place = state->registers[to];
                return place.kind == PLACE_FRAME
                           ? (struct place_value){.kind = PLACE_ALIGNED,
                                                  .type = TYPE_NONE}
                           : place_unknown;
        default:
                return place_unknown;
        }
}

/* The number of bytes that an instruction writes at its operand, if known. */
static uint64_t written_bytes(const struct flow_state *state,
                              const struct instruction *instruction)
{
        const struct place_value *count = &state->registers[REGISTER_RCX];

        if (!instruction->repeated)
                return instruction->access_bytes;
        return count->kind == PLACE_NUMBER && count->stride_bytes == 0 &&
                       count->offset >= 0 && count->offset <= INT32_MAX
                   ? (uint64_t)count->offset * instruction->access_bytes
                   : INT64_MAX;
}

static void write_memory(const struct flow_context *flow, struct flow_state *state,
                         const struct flow_step *step)
{
        const struct instruction *instruction = &step->instruction;
        uint64_t bytes = written_bytes(state, instruction);
        struct place_value place;

        if (instruction->writes_memory) {
                place = flow_operand(flow, state, step);
                flow_state_store(flow, state, &place, NULL, bytes);
        }
        if (instruction->copies) {
                place = flow_state_held(flow, state, REGISTER_RDI, step->vaddr);
                flow_state_store(flow, state, &place, NULL, bytes);
        }
}

/* Whether INSTRUCTION computes the frame's address, not a variable's in it. */
static bool holds_frame(const struct instruction *instruction)
{
        return instruction->destination == REGISTER_RSP ||
               (instruction->destination == REGISTER_RBP &&
                instruction->source == REGISTER_RSP &&
                instruction->operation == OPERATION_MOVE);
}

void flow_effect(const struct flow_context *flow, struct flow_state *state,
                 const struct flow_step *step)
{
        const struct instruction *instruction = &step->instruction;
        struct place_value place, value;
        struct flow_multiple multiple;

        /* A variable's range may end at this instruction, which reads its register. */
        if (instruction->has_memory && instruction->memory.base < REGISTER_COUNT &&
            place_says_nothing(&state->registers[instruction->memory.base]))
                flow_state_held(flow, state, instruction->memory.base, step->vaddr);
        switch (instruction->operation) {
        case OPERATION_CALL:
                step_call(flow, state, step);
                return;
        case OPERATION_PUSH:
        case OPERATION_POP:
                step_stack(flow, state, step);
                return;
        case OPERATION_STORE:
                place = flow_operand(flow, state, step);
                value = flow_state_held(flow, state, instruction->source, step->vaddr);
                flow_state_store(flow, state, &place, &value, 8);
                if (instruction->source == REGISTER_RSP)
                        flow_state_expose(flow, state, &value, step->vaddr);
                return;
        case OPERATION_STORE_CONSTANT:
                place = flow_operand(flow, state, step);
                value = place_number(0, instruction->immediate);
                flow_state_store(flow, state, &place, &value, 8);
                return;
        case OPERATION_OTHER:
                write_memory(flow, state, step);
                forget(state, instruction->written, step);
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
                        state->frame.count = 0; /* they belong to the frame above */
                value = result_of(flow, state, step);
                multiple = multiple_of(state, instruction);
                forget(state, instruction->written, step);
                set(state, instruction->destination, &value);
                if (!holds_frame(instruction))
                        flow_state_expose(flow, state, &value, step->vaddr);
                if (instruction->destination < REGISTER_COUNT)
                        state->multiples[instruction->destination] = multiple;
        }
}
