/* SPDX-License-Identifier: MIT */
/* Data flow over the function's blocks until nothing changes. Where ways meet that do
 * not agree, nothing is known; so what is known holds on all of them. */
#include "flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"

enum {
        SLOTS = 24, /* spilled pointers per state; more are forgotten */
        CODE_BYTES_LIMIT = 1 << 20,
        BLOCKS_LIMIT = 1 << 15,
        VISITS_PER_BLOCK = 64
};

struct slot {
        int64_t offset; /* in the frame */
        struct place_value value;
};

struct state {
        struct place_value registers[REGISTER_COUNT];
        struct slot slots[SLOTS];
        uint32_t slot_count;
        bool reached;
};

struct step {
        uint64_t vaddr;
        struct instruction instruction;
};

struct block {
        size_t first; /* step */
        size_t count;
        size_t next[2]; /* blocks; SIZE_MAX: none */
        bool orphan;    /* nothing is seen to lead there */
        bool indirect;  /* ends in a jump to anywhere */
        bool queued;
};

struct flow {
        const struct flow_input *input;
        struct types *types;
        struct variables variables;
        struct step *steps;
        size_t step_count;
        size_t step_capacity;
        struct block *blocks;
        size_t block_count;
        struct state *entries; /* of each block */
        size_t *queue;
        size_t queue_count;
        bool has_absolute_addresses; /* the file is loaded where it says */
};

static const struct place_value unknown = {.kind = PLACE_UNKNOWN, .type = TYPE_NONE};

/* ---- values -------------------------------------------------------------------------
 */

static struct place_value pointer_to(uint32_t type, int64_t offset)
{
        return type == TYPE_NONE ? unknown
                                 : (struct place_value){.kind = PLACE_POINTER,
                                                        .type = type,
                                                        .offset = offset};
}

static bool in_frame(const struct place_value *value)
{
        return value->kind == PLACE_FRAME || value->kind == PLACE_ALIGNED;
}

static uint64_t distance(int64_t a, int64_t b)
{
        return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static bool repeats(const struct flow *flow, const struct place_value *value,
                    uint64_t stride)
{
        return type_repeats(flow->types, value->type, (uint64_t)value->offset, stride);
}

static uint64_t common_factor(uint64_t a, uint64_t b)
{
        while (b) {
                uint64_t rest = a % b;

                a = b;
                b = rest;
        }
        return a;
}

/* ---- numbers: REMAINDER plus a multiple of MODULUS; 0: exactly that, 1: any ---- */

static uint64_t modulus(const struct place_value *value)
{
        return value->kind == PLACE_NUMBER ? value->stride_bytes : 1;
}

static int64_t remainder_of(const struct place_value *value)
{
        return value->kind == PLACE_NUMBER ? value->offset : 0;
}

/* Numbers that are too large to be indexes are not followed. */
static struct place_value number(uint64_t mod, int64_t rest)
{
        if (mod == 1 || mod > INT32_MAX || rest > INT32_MAX || rest < INT32_MIN)
                return unknown;
        if (mod > 0) {
                rest %= (int64_t)mod;
                rest += rest < 0 ? (int64_t)mod : 0;
        }
        return (struct place_value){
            .kind = PLACE_NUMBER, .type = TYPE_NONE, .offset = rest, .stride_bytes = mod};
}

static struct place_value multiply(const struct place_value *value, int64_t by)
{
        if (by <= 0 || by > INT32_MAX)
                return unknown;
        return number(modulus(value) * (uint64_t)by, remainder_of(value) * by);
}

static struct place_value meet_numbers(const struct place_value *a,
                                       const struct place_value *b)
{
        int64_t x = remainder_of(a), y = remainder_of(b);

        return number(
            common_factor(common_factor(modulus(a), modulus(b)), distance(x, y)), x);
}

/* No pointer that is NULL is ever followed. */
static bool is_null(const struct place_value *value)
{
        return value->kind == PLACE_NUMBER && value->stride_bytes == 0 &&
               value->offset == 0;
}

static bool is_number(const struct place_value *value)
{
        return value->kind == PLACE_NUMBER || value->kind == PLACE_UNKNOWN;
}

/* ---- ways that meet, and sums ---- */

static struct place_value meet(const struct flow *flow, const struct place_value *a,
                               const struct place_value *b)
{
        struct place_value result = *a;

        if (a->kind == PLACE_UNREACHED)
                return *b;
        if (b->kind == PLACE_UNREACHED)
                return *a;
        if (a->kind == PLACE_NUMBER && b->kind == PLACE_NUMBER)
                return meet_numbers(a, b);
        if (is_null(a) && b->kind == PLACE_POINTER)
                return *b;
        if (is_null(b) && a->kind == PLACE_POINTER)
                return *a;
        if (a->kind != b->kind || a->type != b->type)
                return unknown;
        result.indexed |= b->indexed;
        result.guessed |= b->guessed;
        if (in_frame(a) || a->kind == PLACE_ADDRESS) {
                uint64_t apart = distance(a->offset, b->offset);

                result.indexed |= apart != 0; /* a step of a loop */
                result.stride_bytes =
                    common_factor(common_factor(a->stride_bytes, b->stride_bytes), apart);
                return result;
        }
        if (a->offset == b->offset)
                return result;
        if (a->kind != PLACE_POINTER || !repeats(flow, a, distance(a->offset, b->offset)))
                return unknown;
        result.indexed = true;
        return result;
}

static struct place_value add_constant(const struct place_value *value, int64_t constant)
{
        struct place_value result = *value;

        if (value->kind == PLACE_UNKNOWN || value->kind == PLACE_UNREACHED)
                return *value;
        result.offset = (int64_t)((uint64_t)value->offset + (uint64_t)constant);
        return value->kind == PLACE_NUMBER ? number(value->stride_bytes, result.offset)
                                           : result;
}

/* VALUE, an address, plus the number INDEX. */
static struct place_value add_index(const struct flow *flow,
                                    const struct place_value *value,
                                    const struct place_value *index)
{
        struct place_value result = add_constant(value, remainder_of(index));
        uint64_t stride = modulus(index);

        if (stride == 0)
                return result;
        result.indexed = true;
        if (value->kind == PLACE_POINTER)
                result.guessed |= !repeats(flow, &result, stride);
        else
                result.stride_bytes = common_factor(value->stride_bytes, stride);
        return result;
}

static struct place_value add_values(const struct flow *flow, const struct place_value *a,
                                     const struct place_value *b, uint64_t scale)
{
        if (!is_number(b)) {
                const struct place_value *swapped = a;

                if (scale != 1 || !is_number(a))
                        return unknown;
                a = b;
                b = swapped;
        }
        struct place_value index = multiply(b, (int64_t)scale);

        if (is_number(a))
                return number(common_factor(modulus(a), modulus(&index)),
                              remainder_of(a) + remainder_of(&index));
        return a->kind == PLACE_THREAD || a->kind == PLACE_RESULT
                   ? unknown
                   : add_index(flow, a, &index);
}

/* ---- what a register holds
 * ---------------------------------------------------------------- */

static struct place_value from_variable(const struct flow *flow, uint8_t reg,
                                        uint64_t vaddr)
{
        const struct register_variable *variable =
            variables_in_register(&flow->variables, reg, vaddr);

        return variable ? pointer_to(type_pointee(flow->input->reader, variable->type),
                                     (int64_t)(0 - (uint64_t)variable->offset))
                        : unknown;
}

static bool has_fields(const struct flow *flow, const struct place_value *value)
{
        return value->kind == PLACE_POINTER &&
               (flow->types->items[value->type].kind == TYPE_STRUCT ||
                flow->types->items[value->type].kind == TYPE_UNION);
}

/* The variable's type is what the author calls it, but not when that says less: void,
 * or a part of what is already known to be there. */
static struct place_value held(const struct flow *flow, struct state *state, uint8_t reg,
                               uint64_t vaddr)
{
        struct place_value *value = &state->registers[reg];
        struct place_value named = from_variable(flow, reg, vaddr);

        if (named.kind != PLACE_POINTER || value->kind == PLACE_RESULT)
                return *value;
        if (value->kind == PLACE_POINTER || in_frame(value) ||
            value->kind == PLACE_ADDRESS) {
                bool known_around = value->kind != PLACE_POINTER ||
                                    (!value->guessed && named.offset == 0 &&
                                     type_holds(flow->types, value->type,
                                                (uint64_t)value->offset, named.type));

                if (!has_fields(flow, &named) || known_around)
                        return *value;
        }
        *value = named;
        return named;
}

static struct place_value operand_place(const struct flow *flow, struct state *state,
                                        const struct step *step)
{
        const struct memory_operand *memory = &step->instruction.memory;
        struct place_value base = unknown, index;
        bool absolute = false;

        if (memory->thread_local)
                return memory->base == REGISTER_NONE && memory->index == REGISTER_NONE
                           ? (struct place_value){.kind = PLACE_THREAD,
                                                  .type = TYPE_NONE,
                                                  .offset = memory->displacement}
                           : unknown;
        if (memory->base < REGISTER_COUNT) {
                base = held(flow, state, memory->base, step->vaddr);
        } else if (memory->base == REGISTER_NONE) {
                absolute = true;
        }
        if ((absolute && memory->index == REGISTER_NONE) ||
            (flow->has_absolute_addresses && is_number(&base) &&
             elf_file_segment(flow->input->file, (uint64_t)memory->displacement)))
                return (struct place_value){.kind = PLACE_ADDRESS,
                                            .indexed = !absolute ||
                                                       memory->index != REGISTER_NONE,
                                            .type = TYPE_NONE,
                                            .offset = memory->displacement};
        if (memory->index != REGISTER_NONE) {
                index = memory->index < REGISTER_COUNT
                            ? held(flow, state, memory->index, step->vaddr)
                            : unknown;
                base = add_values(flow, &base, &index, memory->scale ? memory->scale : 1);
        }
        return add_constant(&base, memory->displacement);
}

/* ---- memory
 * ------------------------------------------------------------------------------- */

static const struct frame_variable *frame_variable_at(const struct flow *flow,
                                                      struct state *state,
                                                      const struct place_value *place,
                                                      uint64_t vaddr, int64_t *offset)
{
        const struct frame_variable *best = NULL;

        for (size_t i = 0; i < flow->variables.frame_count; i++) {
                const struct frame_variable *variable = &flow->variables.frames[i];
                int64_t start = variable->offset;

                if (vaddr < variable->low || vaddr >= variable->high)
                        continue;
                if (variable->in_frame
                        ? place->kind != PLACE_FRAME
                        : state->registers[variable->reg].kind != place->kind)
                        continue;
                if (!variable->in_frame)
                        start =
                            (int64_t)((uint64_t)start +
                                      (uint64_t)state->registers[variable->reg].offset);
                uint64_t inside = (uint64_t)place->offset - (uint64_t)start;

                if (inside >= flow->types->items[variable->type].size_bytes)
                        continue;
                if (best) /* two share the place: which of them lives is not known */
                        return NULL;
                best = variable;
                *offset = (int64_t)inside;
        }
        return best;
}

static struct slot *find_slot(struct state *state, int64_t offset)
{
        for (uint32_t i = 0; i < state->slot_count; i++)
                if (state->slots[i].offset == offset)
                        return &state->slots[i];
        return NULL;
}

static void drop_slots(struct state *state, int64_t offset, uint64_t bytes)
{
        for (uint32_t i = 0; i < state->slot_count;) {
                uint64_t behind = (uint64_t)state->slots[i].offset - (uint64_t)offset;

                if (behind < bytes || 0 - behind < 8)
                        state->slots[i] = state->slots[--state->slot_count];
                else
                        i++;
        }
}

static void put_slot(struct state *state, int64_t offset, const struct place_value *value)
{
        drop_slots(state, offset, 8);
        if (value->kind == PLACE_UNKNOWN)
                return;
        if (state->slot_count == SLOTS) /* the oldest goes */
                memmove(state->slots, state->slots + 1,
                        (--state->slot_count) * sizeof(*state->slots));
        state->slots[state->slot_count++] = (struct slot){offset, *value};
}

static const struct type_access pointer_access = {.bytes = 8};

/* What a pointer of the type at OFFSET in TYPE points to. */
static struct place_value pointed_to(const struct flow *flow, uint32_t type,
                                     uint64_t offset)
{
        uint32_t part = type_part(flow->types, type, offset, &pointer_access);

        return pointer_to(type_pointee(flow->input->reader, part), 0);
}

uint64_t place_offset(const struct types *types, const struct place_value *place)
{
        const struct type *type = &types->items[place->type];
        bool repeated =
            place->indexed || (type->kind != TYPE_STRUCT && type->kind != TYPE_UNION);

        if (!repeated || type->size_bytes == 0 || type->size_bytes > INT64_MAX ||
            type_open_ended(types, place->type))
                return (uint64_t)place->offset;
        int64_t rest = place->offset % (int64_t)type->size_bytes;

        return (uint64_t)(rest < 0 ? rest + (int64_t)type->size_bytes : rest);
}

static struct place_value load(const struct flow *flow, struct state *state,
                               const struct place_value *place, uint64_t vaddr)
{
        uint64_t offset = 0;
        int64_t in_variable;

        switch (place->kind) {
        case PLACE_POINTER:
                if (place->guessed)
                        return unknown;
                return pointed_to(flow, place->type, place_offset(flow->types, place));
        case PLACE_FRAME:
        case PLACE_ALIGNED: {
                const struct slot *slot =
                    place->indexed ? NULL : find_slot(state, place->offset);

                if (slot)
                        return slot->value;
                const struct frame_variable *variable =
                    frame_variable_at(flow, state, place, vaddr, &in_variable);

                return variable ? pointed_to(flow, variable->type, (uint64_t)in_variable)
                                : unknown;
        }
        case PLACE_ADDRESS: {
                uint32_t type =
                    flow->input->global
                        ? flow->input->global(flow->input->global_context,
                                              (uint64_t)place->offset, &offset)
                        : TYPE_NONE;

                return type == TYPE_NONE ? unknown : pointed_to(flow, type, offset);
        }
        default:
                return unknown;
        }
}

static void store(struct state *state, const struct place_value *place,
                  const struct place_value *value, uint64_t bytes)
{
        if (!in_frame(place) || place->indexed)
                return;
        if (value)
                put_slot(state, place->offset, value);
        else
                drop_slots(state, place->offset, bytes);
}

/* ---- one instruction
 * ------------------------------------------------------------------------ */

static void set(struct state *state, uint8_t reg, const struct place_value *value)
{
        if (reg < REGISTER_COUNT)
                state->registers[reg] = *value;
}

static void forget(struct state *state, uint32_t registers)
{
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                if (registers >> i & 1)
                        state->registers[i] = unknown;
}

/* Registers that a call need not preserve (System V ABI, AMD64 supplement, 3.2.1). */
static const uint32_t call_clobbered =
    1u << 0 | 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 0xfu << 8;

static void step_call(const struct flow *flow, struct state *state,
                      const struct step *step)
{
        uint64_t after = step->vaddr + step->instruction.length_bytes;
        uint32_t type = variables_call_type(&flow->variables, after);
        struct place_value result =
            pointer_to(type_pointee(flow->input->reader, type), 0);

        forget(state, call_clobbered);
        set(state, REGISTER_RAX, &result);
}

static void step_stack(const struct flow *flow, struct state *state,
                       const struct step *step)
{
        const struct instruction *instruction = &step->instruction;
        struct place_value *top = &state->registers[REGISTER_RSP], value = unknown;

        if (instruction->operation == OPERATION_PUSH) {
                if (instruction->source < REGISTER_COUNT)
                        value = held(flow, state, instruction->source, step->vaddr);
                *top = add_constant(top, -8);
                store(state, top, &value, 8);
        } else {
                value = load(flow, state, top, step->vaddr);
                *top = add_constant(top, 8);
                forget(state, instruction->written & ~(1u << REGISTER_RSP));
                set(state, instruction->destination, &value);
        }
}

static struct place_value sum_of(const struct flow *flow, struct state *state,
                                 const struct step *step)
{
        const struct instruction *instruction = &step->instruction;
        struct place_value a = held(flow, state, instruction->destination, step->vaddr);
        struct place_value b = held(flow, state, instruction->source, step->vaddr);

        if (instruction->destination == instruction->source)
                return multiply(&a, 2);
        return add_values(flow, &a, &b, 1);
}

static struct place_value address_of(const struct flow *flow, struct state *state,
                                     const struct step *step)
{
        const struct memory_operand *memory = &step->instruction.memory;
        struct place_value base;

        if (memory->base < REGISTER_COUNT && memory->base == memory->index) {
                base = held(flow, state, memory->base, step->vaddr);
                base = multiply(&base, 1 + memory->scale);
                return add_constant(&base, memory->displacement);
        }
        if (memory->base == REGISTER_NONE && memory->index < REGISTER_COUNT &&
            memory->displacement == 0) {
                base = held(flow, state, memory->index, step->vaddr);
                return multiply(&base, memory->scale);
        }
        return operand_place(flow, state, step);
}

/* The destination's new value; the operations that only write memory or change the
 * stack pointer are elsewhere. */
static struct place_value result_of(const struct flow *flow, struct state *state,
                                    const struct step *step)
{
        const struct instruction *instruction = &step->instruction;
        struct place_value place, other;

        switch (instruction->operation) {
        case OPERATION_MOVE:
                return held(flow, state, instruction->source, step->vaddr);
        case OPERATION_CHOOSE:
                place = held(flow, state, instruction->destination, step->vaddr);
                other = held(flow, state, instruction->source, step->vaddr);
                return meet(flow, &place, &other);
        case OPERATION_CONSTANT:
                return flow->has_absolute_addresses &&
                               elf_file_segment(flow->input->file,
                                                (uint64_t)instruction->immediate)
                           ? (struct place_value){.kind = PLACE_ADDRESS,
                                                  .type = TYPE_NONE,
                                                  .offset = instruction->immediate}
                           : number(0, instruction->immediate);
        case OPERATION_LOAD:
                place = operand_place(flow, state, step);
                return load(flow, state, &place, step->vaddr);
        case OPERATION_ADDRESS:
                return address_of(flow, state, step);
        case OPERATION_ADD:
                return sum_of(flow, state, step);
        case OPERATION_ADD_CONSTANT:
                place = held(flow, state, instruction->destination, step->vaddr);
                return add_constant(&place, instruction->immediate);
        case OPERATION_SHIFT_LEFT:
                place = state->registers[instruction->source];
                return instruction->immediate >= 0 && instruction->immediate < 31
                           ? multiply(&place, INT64_C(1) << instruction->immediate)
                           : unknown;
        case OPERATION_MULTIPLY:
                place = state->registers[instruction->source];
                return multiply(&place, instruction->immediate);
        case OPERATION_ALIGN:
                place = state->registers[instruction->destination];
                return place.kind == PLACE_FRAME
                           ? (struct place_value){.kind = PLACE_ALIGNED,
                                                  .type = TYPE_NONE}
                           : unknown;
        default:
                return unknown;
        }
}

static void run_step(const struct flow *flow, struct state *state,
                     const struct step *step)
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
                place = operand_place(flow, state, step);
                value = held(flow, state, instruction->source, step->vaddr);
                store(state, &place, &value, 8);
                return;
        case OPERATION_OTHER:
                if (instruction->writes_memory) {
                        place = operand_place(flow, state, step);
                        store(state, &place, NULL, instruction->access_bytes);
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

/* ---- the function's blocks
 * ------------------------------------------------------------------- */

static int add_step(struct flow *flow, uint64_t vaddr,
                    const struct instruction *instruction)
{
        if (flow->step_count * sizeof(*flow->steps) > CODE_BYTES_LIMIT * 24ul)
                return -E2BIG;
        if (array_reserve(&flow->steps, &flow->step_capacity, flow->step_count,
                          sizeof(*flow->steps)) < 0)
                return -ENOMEM;
        flow->steps[flow->step_count++] = (struct step){vaddr, *instruction};
        return 0;
}

/* The COUNT bytes of CODE are at VADDR; what is no instruction ends them. */
static int decode(struct flow *flow, const uint8_t *code, size_t count, uint64_t vaddr)
{
        struct instruction instruction;
        int error = 0;

        for (size_t at = 0; at < count && !error; at += instruction.length_bytes) {
                if (!instruction_decode(&instruction, code + at, count - at, vaddr + at))
                        return 0;
                error = add_step(flow, vaddr + at, &instruction);
        }
        return error == -ENOMEM ? error : 0;
}

static int decode_range(void *context, uint64_t low, uint64_t high)
{
        struct flow *flow = context;
        const struct elf_file *file = flow->input->file;
        const struct elf_segment *segment = elf_file_segment(file, low);

        if (!segment || !(segment->flags & PF_X) || high < low ||
            high - low > CODE_BYTES_LIMIT || low - segment->vaddr >= segment->file_bytes)
                return 0;
        uint64_t left = segment->file_bytes - (low - segment->vaddr);
        size_t count = high - low < left ? high - low : left;
        uint8_t *code = malloc(count + 1);

        if (!code)
                return -ENOMEM;
        ssize_t got = pread(file->fd, code, count,
                            (off_t)(segment->offset_bytes + (low - segment->vaddr)));
        int error = got > 0 ? decode(flow, code, (size_t)got, low) : 0;

        free(code);
        return error;
}

static int compare_steps(const void *left, const void *right)
{
        const struct step *a = left, *b = right;

        return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* The number of the first step at VADDR or after. */
static size_t step_from(const struct flow *flow, uint64_t vaddr)
{
        size_t low = 0, high = flow->step_count;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (flow->steps[middle].vaddr < vaddr)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static size_t step_at(const struct flow *flow, uint64_t vaddr)
{
        size_t at = step_from(flow, vaddr);

        return at < flow->step_count && flow->steps[at].vaddr == vaddr ? at : SIZE_MAX;
}

static bool follows(const struct flow *flow, size_t step)
{
        return step > 0 && flow->steps[step - 1].vaddr +
                                   flow->steps[step - 1].instruction.length_bytes ==
                               flow->steps[step].vaddr;
}

static bool leaves(enum operation operation)
{
        return operation == OPERATION_JUMP || operation == OPERATION_JUMP_INDIRECT ||
               operation == OPERATION_END;
}

/* Marks where blocks begin: at 0, after jumps and where they lead. */
static void mark_leaders(const struct flow *flow, bool *leaders)
{
        for (size_t i = 0; i < flow->step_count; i++) {
                const struct instruction *instruction = &flow->steps[i].instruction;
                bool jumps = instruction->operation == OPERATION_JUMP ||
                             instruction->operation == OPERATION_BRANCH;
                size_t target = jumps ? step_at(flow, instruction->target) : SIZE_MAX;

                if (target != SIZE_MAX)
                        leaders[target] = true;
                if (i + 1 < flow->step_count && (jumps || leaves(instruction->operation)))
                        leaders[i + 1] = true;
                if (!follows(flow, i))
                        leaders[i] = true;
        }
}

static int make_blocks(struct flow *flow, const bool *leaders)
{
        size_t count = 0;

        for (size_t i = 0; i < flow->step_count; i++)
                count += leaders[i];
        if (count > BLOCKS_LIMIT)
                return -E2BIG;
        flow->blocks = calloc(count + 1, sizeof(*flow->blocks));
        flow->entries = calloc(count + 1, sizeof(*flow->entries));
        flow->queue = malloc((count + 1) * sizeof(*flow->queue));
        if (!flow->blocks || !flow->entries || !flow->queue)
                return -ENOMEM;
        for (size_t i = 0; i < flow->step_count; i++) {
                if (leaders[i])
                        flow->blocks[flow->block_count++] = (struct block){
                            .first = i,
                            /* What fills the gap before a jump's target is never run. */
                            .orphan = flow->steps[i].instruction.operation !=
                                      OPERATION_NOTHING};
                flow->blocks[flow->block_count - 1].count++;
        }
        return 0;
}

static size_t block_of(const struct flow *flow, size_t step)
{
        size_t low = 0, high = flow->block_count;

        while (high - low > 1) {
                size_t middle = low + (high - low) / 2;

                if (flow->blocks[middle].first <= step)
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

static void connect_blocks(struct flow *flow)
{
        for (size_t i = 0; i < flow->block_count; i++) {
                struct block *block = &flow->blocks[i];
                size_t last = block->first + block->count - 1;
                const struct instruction *instruction = &flow->steps[last].instruction;
                size_t target = SIZE_MAX;

                if (instruction->operation == OPERATION_JUMP ||
                    instruction->operation == OPERATION_BRANCH)
                        target = step_at(flow, instruction->target);
                block->indirect = instruction->operation == OPERATION_JUMP_INDIRECT;
                block->next[0] = target == SIZE_MAX ? SIZE_MAX : block_of(flow, target);
                block->next[1] = !leaves(instruction->operation) &&
                                         last + 1 < flow->step_count &&
                                         follows(flow, last + 1)
                                     ? i + 1
                                     : SIZE_MAX;
                for (int n = 0; n < 2; n++)
                        if (block->next[n] != SIZE_MAX)
                                flow->blocks[block->next[n]].orphan = false;
        }
}

static int read_code(struct flow *flow)
{
        int error = die_ranges(flow->input->reader->dwarf, flow->input->function,
                               decode_range, flow);

        if (error == -ENOMEM)
                return error;
        if (flow->step_count > 1)
                qsort(flow->steps, flow->step_count, sizeof(*flow->steps), compare_steps);
        bool *leaders = calloc(flow->step_count + 1, sizeof(*leaders));

        if (!leaders)
                return -ENOMEM;
        mark_leaders(flow, leaders);
        error = make_blocks(flow, leaders);
        free(leaders);
        if (!error)
                connect_blocks(flow);
        return error;
}

/* ---- until nothing changes
 * --------------------------------------------------------------------- */

static bool same_value(const struct place_value *a, const struct place_value *b)
{
        return a->kind == b->kind && a->type == b->type && a->offset == b->offset &&
               a->indexed == b->indexed && a->guessed == b->guessed &&
               a->stride_bytes == b->stride_bytes;
}

/* Adds what comes from one more way; returns whether that changed anything. */
static bool merge(const struct flow *flow, struct state *into, const struct state *from)
{
        bool changed = false;

        if (!into->reached) {
                *into = *from;
                return true;
        }
        for (int i = 0; i < REGISTER_COUNT; i++) {
                struct place_value value =
                    meet(flow, &into->registers[i], &from->registers[i]);

                changed |= !same_value(&value, &into->registers[i]);
                into->registers[i] = value;
        }
        for (uint32_t i = 0; i < into->slot_count;) {
                const struct slot *other =
                    find_slot((struct state *)from, into->slots[i].offset);
                struct place_value value =
                    other ? meet(flow, &into->slots[i].value, &other->value) : unknown;

                if (same_value(&value, &into->slots[i].value)) {
                        i++;
                        continue;
                }
                changed = true;
                if (value.kind == PLACE_UNKNOWN)
                        into->slots[i] = into->slots[--into->slot_count];
                else
                        into->slots[i++].value = value;
        }
        return changed;
}

static void enqueue(struct flow *flow, size_t block)
{
        if (flow->blocks[block].queued)
                return;
        flow->blocks[block].queued = true;
        flow->queue[flow->queue_count++] = block;
}

static void lead_to(struct flow *flow, size_t block, const struct state *state)
{
        if (block != SIZE_MAX && merge(flow, &flow->entries[block], state))
                enqueue(flow, block);
}

static void begin(struct flow *flow)
{
        Dwarf_Addr entry;
        struct state state = {.reached = true};

        for (int i = 0; i < REGISTER_COUNT; i++)
                state.registers[i] = unknown;
        if (dwarf_entrypc(flow->input->function, &entry) != 0)
                return;
        size_t step = step_at(flow, entry);

        if (step == SIZE_MAX)
                return;
        size_t block = block_of(flow, step);

        if (flow->blocks[block].first != step)
                return;
        state.registers[REGISTER_RSP] =
            (struct place_value){.kind = PLACE_FRAME, .type = TYPE_NONE, .offset = -8};
        flow->blocks[block].orphan = false;
        flow->entries[block] = state;
        enqueue(flow, block);
}

/* A jump table leads where nothing else is seen to. Returns how much work that was. */
static size_t lead_to_orphans(struct flow *flow, const struct state *state)
{
        size_t work = flow->block_count / 64;

        for (size_t i = 0; i < flow->block_count; i++) {
                if (!flow->blocks[i].orphan)
                        continue;
                lead_to(flow, i, state);
                work++;
        }
        return work;
}

/* Where nothing leads at all, an exception may: nothing is known there. */
static void begin_orphans(struct flow *flow)
{
        struct state state = {.reached = true};

        for (int i = 0; i < REGISTER_COUNT; i++)
                state.registers[i] = unknown;
        for (size_t i = 0; i < flow->block_count; i++)
                if (flow->blocks[i].orphan && !flow->entries[i].reached)
                        lead_to(flow, i, &state);
}

static void run_block(const struct flow *flow, size_t index, struct state *state)
{
        const struct block *block = &flow->blocks[index];

        for (size_t i = 0; i < block->count; i++)
                run_step(flow, state, &flow->steps[block->first + i]);
}

static bool run_queue(struct flow *flow, size_t *visits_left)
{
        while (flow->queue_count > 0) {
                size_t index = flow->queue[--flow->queue_count];
                struct block *block = &flow->blocks[index];
                struct state state = flow->entries[index];

                if (*visits_left == 0)
                        return false;
                --*visits_left;
                block->queued = false;
                run_block(flow, index, &state);
                lead_to(flow, block->next[0], &state);
                lead_to(flow, block->next[1], &state);
                if (block->indirect) {
                        size_t work = lead_to_orphans(flow, &state);

                        *visits_left -= work < *visits_left ? work : *visits_left;
                }
        }
        return true;
}

static bool run(struct flow *flow)
{
        size_t visits_left = flow->block_count * VISITS_PER_BLOCK;

        begin(flow);
        if (!run_queue(flow, &visits_left))
                return false;
        begin_orphans(flow);
        return run_queue(flow, &visits_left);
}

/* ---- answers
 * -------------------------------------------------------------------------------------
 */

static void answer_operand(struct flow *flow, struct state *state,
                           const struct step *step, struct flow_answer *answer)
{
        const struct instruction *instruction = &step->instruction;

        answer->variable.type = TYPE_NONE;
        answer->access = (struct type_access){.bytes = instruction->access_bytes,
                                              .floating = instruction->floating,
                                              .vector = instruction->vector};
        if (!instruction->has_memory || instruction->access_bytes == 0) {
                answer->outcome = FLOW_NO_OPERAND;
                return;
        }
        answer->restores = instruction->operation == OPERATION_POP ||
                           instruction->operation == OPERATION_END;
        answer->place = operand_place(flow, state, step);
        answer->outcome = is_number(&answer->place) ? FLOW_UNKNOWN_BASE : FLOW_FOUND;
        if (!in_frame(&answer->place))
                return;
        const struct frame_variable *variable = frame_variable_at(
            flow, state, &answer->place, step->vaddr, &answer->variable_offset);

        if (!variable)
                return;
        answer->variable = *variable;
        answer->place.guessed =
            answer->place.indexed &&
            !type_repeats(flow->types, variable->type, (uint64_t)answer->variable_offset,
                          answer->place.stride_bytes);
}

/* ---- what a call returned ---- */

enum { RESULT_STEPS = 512, RESULT_WAYS = 4 };

/* Ways that a pointer is followed on, and what it was seen to be. */
struct pursuit {
        struct {
                size_t step;
                struct state state;
        } ways[RESULT_WAYS];
        size_t way_count;
        size_t steps_left;
        uint32_t type; /* the largest so far; TYPE_NONE: none */
        bool returned;
};

static bool is_result(const struct place_value *value)
{
        return value->kind == PLACE_RESULT && value->offset == 0;
}

static void consider(const struct flow *flow, struct pursuit *pursuit, uint32_t type)
{
        if (type == TYPE_NONE || flow->types->items[type].kind == TYPE_OPAQUE)
                return;
        if (pursuit->type == TYPE_NONE ||
            flow->types->items[type].size_bytes >
                flow->types->items[pursuit->type].size_bytes)
                pursuit->type = type;
}

static void consider_variables(const struct flow *flow, struct pursuit *pursuit,
                               const struct state *state, uint64_t vaddr)
{
        for (uint8_t i = 0; i < REGISTER_COUNT; i++) {
                if (!is_result(&state->registers[i]))
                        continue;
                struct place_value named = from_variable(flow, i, vaddr);

                if (named.kind == PLACE_POINTER && named.offset == 0)
                        consider(flow, pursuit, named.type);
        }
}

static void consider_store(const struct flow *flow, struct pursuit *pursuit,
                           struct state *state, const struct step *step)
{
        if (step->instruction.operation != OPERATION_STORE ||
            !is_result(&state->registers[step->instruction.source]))
                return;
        struct place_value place = operand_place(flow, state, step);
        struct state without_slots = *state;

        without_slots.slot_count = 0;
        struct place_value there = load(flow, &without_slots, &place, step->vaddr);

        if (there.kind == PLACE_POINTER)
                consider(flow, pursuit, there.type);
}

static void fork_way(const struct flow *flow, struct pursuit *pursuit,
                     const struct state *state, uint64_t target)
{
        size_t step = step_at(flow, target);

        if (step == SIZE_MAX || pursuit->way_count == RESULT_WAYS)
                return;
        pursuit->ways[pursuit->way_count].step = step;
        pursuit->ways[pursuit->way_count++].state = *state;
}

static bool has_result(const struct state *state)
{
        for (int i = 0; i < REGISTER_COUNT; i++)
                if (state->registers[i].kind == PLACE_RESULT)
                        return true;
        for (uint32_t i = 0; i < state->slot_count; i++)
                if (state->slots[i].value.kind == PLACE_RESULT)
                        return true;
        return false;
}

static void pursue(const struct flow *flow, struct pursuit *pursuit, struct state *state,
                   size_t at)
{
        while (at < flow->step_count && pursuit->steps_left > 0 && has_result(state)) {
                const struct step *step = &flow->steps[at];
                const struct instruction *instruction = &step->instruction;

                pursuit->steps_left--;
                consider_variables(flow, pursuit, state, step->vaddr);
                consider_store(flow, pursuit, state, step);
                switch (instruction->operation) {
                case OPERATION_END:
                        if (is_result(&state->registers[REGISTER_RAX]))
                                pursuit->returned = true;
                        return;
                case OPERATION_JUMP_INDIRECT:
                        return;
                case OPERATION_JUMP:
                        at = step_at(flow, instruction->target);
                        continue;
                case OPERATION_BRANCH:
                        fork_way(flow, pursuit, state, instruction->target);
                        break;
                default:
                        run_step(flow, state, step);
                        break;
                }
                if (++at < flow->step_count && !follows(flow, at))
                        return;
        }
}

static void answer_call(const struct flow *flow, struct state *state, size_t at,
                        struct flow_answer *answer)
{
        struct pursuit *pursuit = calloc(1, sizeof(*pursuit));

        answer->variable.type = TYPE_NONE;
        answer->place = unknown;
        if (!pursuit || flow->steps[at].instruction.operation != OPERATION_CALL)
                goto out;
        *pursuit = (struct pursuit){.steps_left = RESULT_STEPS, .type = TYPE_NONE};
        run_step(flow, state, &flow->steps[at]);
        consider(flow, pursuit,
                 state->registers[REGISTER_RAX].kind == PLACE_POINTER
                     ? state->registers[REGISTER_RAX].type
                     : TYPE_NONE);
        state->registers[REGISTER_RAX] =
            (struct place_value){.kind = PLACE_RESULT, .type = TYPE_NONE};
        pursue(flow, pursuit, state, at + 1);
        while (pursuit->way_count > 0) {
                struct state other = pursuit->ways[--pursuit->way_count].state;

                pursue(flow, pursuit, &other, pursuit->ways[pursuit->way_count].step);
        }
        if (pursuit->returned)
                consider(flow, pursuit,
                         type_pointee(flow->input->reader,
                                      type_of_variable(flow->input->reader,
                                                       flow->input->function)));
        answer->outcome = FLOW_FOUND;
        answer->returned = pursuit->returned;
        answer->place = pointer_to(pursuit->type, 0);
out:
        free(pursuit);
}

static void answer_frame(const struct flow *flow, struct state *state,
                         const struct step *step, struct flow_answer *answer)
{
        const struct place_value place = {
            .kind = PLACE_FRAME, .type = TYPE_NONE, .offset = answer->cfa_offset_bytes};
        const struct frame_variable *variable =
            frame_variable_at(flow, state, &place, step->vaddr, &answer->variable_offset);

        answer->outcome = FLOW_FOUND;
        answer->place = place;
        answer->variable.type = TYPE_NONE;
        if (variable)
                answer->variable = *variable;
}

/* The step that VADDR lies in, SIZE_MAX: none. */
static size_t step_around(const struct flow *flow, uint64_t vaddr)
{
        size_t at = step_from(flow, vaddr);

        if (at < flow->step_count && flow->steps[at].vaddr == vaddr)
                return at;
        return at > 0 && vaddr - flow->steps[at - 1].vaddr <
                             flow->steps[at - 1].instruction.length_bytes
                   ? at - 1
                   : SIZE_MAX;
}

static void answer_all(struct flow *flow, struct flow_answer *answers, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                size_t step = answers[i].question == FLOW_OPERAND
                                  ? step_at(flow, answers[i].vaddr)
                                  : step_around(flow, answers[i].vaddr);

                answers[i].outcome = FLOW_NO_INSTRUCTION;
                if (step == SIZE_MAX)
                        continue;
                size_t block = block_of(flow, step);
                struct state state = flow->entries[block];

                if (!state.reached)
                        memset(&state, 0, sizeof(state));
                for (size_t at = flow->blocks[block].first; at < step; at++)
                        run_step(flow, &state, &flow->steps[at]);
                if (answers[i].question == FLOW_RESULT)
                        answer_call(flow, &state, step, &answers[i]);
                else if (answers[i].question == FLOW_FRAME)
                        answer_frame(flow, &state, &flow->steps[step], &answers[i]);
                else
                        answer_operand(flow, &state, &flow->steps[step], &answers[i]);
        }
}

static void refuse_all(struct flow_answer *answers, size_t count)
{
        for (size_t i = 0; i < count; i++)
                answers[i].outcome = FLOW_TOO_LARGE;
}

int flow_function(const struct flow_input *input, struct flow_answer *answers,
                  size_t count)
{
        struct flow flow = {.input = input, .types = input->reader->types};
        int error;

        flow.has_absolute_addresses =
            input->file->segment_count > 0 && input->file->segments[0].vaddr >= 65536;
        error = variables_read(&flow.variables, input->reader, input->function);
        if (!error)
                error = read_code(&flow);
        if (error == -E2BIG || (!error && !run(&flow))) {
                refuse_all(answers, count);
                error = 0;
        } else if (!error) {
                answer_all(&flow, answers, count);
        }
        variables_free(&flow.variables);
        free(flow.steps);
        free(flow.blocks);
        free(flow.entries);
        free(flow.queue);
        return error ? error : input->reader->error;
}
