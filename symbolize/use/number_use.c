/* SPDX-License-Identifier: MIT */
/* The number is followed through copies in registers and on the stack, along a few ways
 * and a bounded number of instructions. Floating-point arithmetic decides, as its bits
 * are also tested as integers. It decides nothing if another way counts with an integer,
 * as in a union that several cases read. */
#include "number_use.h"

#include "number_shown.h"

enum {
        STEPS_LIMIT = 128,
        REAL_STEPS_LIMIT = 24, /* behind what counts with floating point */
        WAYS_LIMIT = 8,
        INTEGERS_LIMIT = 64
};

/* The vector registers that numbers are handed on in, as arguments and as results
 * (System V ABI, AMD64 supplement, figure 3.4). */
enum { ARGUMENTS = 0xff, RESULTS = 0x3 };

struct way {
        size_t step;
        struct number_held held;
        bool taken; /* an instruction has read it, so a call need not receive it */
        bool real;  /* it was counted with as one of floating point */
        bool whole; /* no program does that to bits of floating point */
        unsigned real_steps;
        uint64_t integers; /* a bit for each of INTEGER_STEPS that it was met at before */
};

struct use {
        const struct flow_code *code;
        const struct flow_step *load;
        struct number_fact shown;
        unsigned steps_left;
        struct way ways[WAYS_LIMIT];
        size_t way_count;
        /* Instructions that count with an integer, on ways with floating point and on
         * others. */
        size_t integer_steps[INTEGERS_LIMIT];
        size_t integer_count;
        uint64_t on_real, on_others;
        bool by_vector; /* it was loaded into a vector register */
        bool both; /* one way counts with it as either, or takes an integer's bits for
                    * floating point */
};

/* Notes that the instruction AT counts with an integer. */
static void meet_integer(struct use *use, struct way *way, size_t at)
{
        size_t i = 0;

        while (i < use->integer_count && use->integer_steps[i] != at)
                i++;
        if (i == INTEGERS_LIMIT)
                return;
        if (i == use->integer_count)
                use->integer_steps[use->integer_count++] = at;
        way->integers |= UINT64_C(1) << i;
}

/* The surer kind counts. */
static void take(struct use *use, struct way *way, size_t at,
                 const struct number_fact *fact)
{
        struct number_fact *shown = &use->shown;

        if (fact->number == NUMBER_ANY)
                return;
        if (fact->number >= NUMBER_FLOATS)
                way->real = true;
        else if (!way->real)
                meet_integer(use, way, at);
        if (fact->number > shown->number)
                shown->number = fact->number;
        shown->perhaps_float &= fact->perhaps_float;
        shown->perhaps_several &= fact->perhaps_several;
}

/* ---- copies ---- */

static bool copies(ZydisMnemonic mnemonic)
{
        switch (mnemonic) {
#define BOTH(name)                                                                       \
        case ZYDIS_MNEMONIC_##name:                                                      \
        case ZYDIS_MNEMONIC_V##name
                BOTH(MOVD)
                    : BOTH(MOVQ)
                    : BOTH(MOVAPS)
                    : BOTH(MOVAPD)
                    : BOTH(MOVDQA)
                    : BOTH(MOVSD)
                    : BOTH(MOVSS)
                    :
#undef BOTH
                      case ZYDIS_MNEMONIC_MOV : case ZYDIS_MNEMONIC_MOVZX
                    : case ZYDIS_MNEMONIC_MOVSX : case ZYDIS_MNEMONIC_MOVSXD
                    : case ZYDIS_MNEMONIC_CDQE : case ZYDIS_MNEMONIC_XCHG : return true;
        default:
                return false;
        }
}

/* Whether two operands are one register, as where it is set to zero. */
static bool reads_twice(const struct decoded *decoded)
{
        size_t last = decoded->instruction.operand_count_visible - (size_t)1;

        return decoded->operands[last].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               decoded->operands[last - 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               decoded->operands[last].reg.value == decoded->operands[last - 1].reg.value;
}

/* Whether the sign of a number of floating point is changed, which is one after it. */
static bool changes_sign(const struct decoded *decoded)
{
        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_ANDPS:
        case ZYDIS_MNEMONIC_ANDPD:
        case ZYDIS_MNEMONIC_XORPS:
        case ZYDIS_MNEMONIC_XORPD:
        case ZYDIS_MNEMONIC_VANDPS:
        case ZYDIS_MNEMONIC_VANDPD:
        case ZYDIS_MNEMONIC_VXORPS:
        case ZYDIS_MNEMONIC_VXORPD:
                return !reads_twice(decoded);
        default:
                return false;
        }
}

static bool on_stack(const struct memory_operand *memory)
{
        return (memory->base == REGISTER_RSP || memory->base == REGISTER_RBP) &&
               memory->index == REGISTER_NONE && !memory->thread_local;
}

/* Whether OPERAND has the number from a general register, which compilers load integers
 * into: not numbers of floating point. */
static bool is_crossed(const struct number_held *held, const ZydisDecodedOperand *operand)
{
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
                return held->place_crossed;
        return !number_vector_bit(operand) || held->crossed & number_vector_bit(operand);
}

/* Whether OPERAND is a general register that got the number from the vector register
 * which it was loaded into: what counts with an integer there may do so with the bits of
 * either, as the other does. */
static bool is_crossed_back(const struct use *use, const ZydisDecodedOperand *operand)
{
        return use->by_vector && operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
               !number_vector_bit(operand);
}

/* Where a copy puts the number: OPERAND has it from then on. */
static void put(struct number_held *held, const struct flow_step *step,
                const ZydisDecodedOperand *operand, bool crossed)
{
        if (operand->size < held->bytes * 8)
                return;
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
                if (!on_stack(&step->instruction.memory))
                        return;
                held->in_memory = true;
                held->place_crossed = crossed;
                held->place = step->instruction.memory;
                return;
        }
        uint8_t number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
                             ? instruction_register(operand->reg.value)
                             : REGISTER_NONE;

        if (number < REGISTER_COUNT)
                held->general |= UINT32_C(1) << number;
        held->vector |= number_vector_bit(operand);
        held->crossed &= ~number_vector_bit(operand);
        if (crossed)
                held->crossed |= number_vector_bit(operand);
}

/* Of HELD, what STEP changes is not the number any more. */
static void forget_changed(struct number_held *held, const struct flow_step *step,
                           const struct decoded *decoded)
{
        const struct instruction *instruction = &step->instruction;

        held->general &= ~instruction->written;
        for (size_t i = 0; i < decoded->instruction.operand_count; i++)
                if (decoded->operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
                        held->vector &= ~number_vector_bit(&decoded->operands[i]);
        if (!held->in_memory)
                return;
        if (instruction->written >> held->place.base & 1)
                held->in_memory = false;
        if (instruction->writes_memory && on_stack(&instruction->memory) &&
            instruction->memory.base == held->place.base &&
            instruction->memory.displacement < held->place.displacement + held->bytes &&
            held->place.displacement <
                instruction->memory.displacement + (int64_t)instruction->access_bytes)
                held->in_memory = false;
}

static bool reads(const struct number_held *held, const struct flow_step *step,
                  const ZydisDecodedOperand *operand)
{
        return operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ &&
               number_in_operand(held, step, operand);
}

static void pass(struct use *use, struct way *way, size_t at)
{
        const struct flow_step *step = &use->code->steps[at];
        const struct number_held before = way->held;
        struct decoded decoded;

        if (!decoded_read(&decoded, use->code, step)) {
                way->held = (struct number_held){.bytes = before.bytes};
                return;
        }
        const ZydisDecodedOperand *operands = decoded.operands;
        ZydisMnemonic mnemonic = decoded.instruction.mnemonic;
        size_t from = SIZE_MAX;

        bool any_crossed = false, crossed_back = false;

        for (size_t i = decoded.instruction.operand_count; i-- > 0;)
                if (reads(&before, step, &operands[i])) {
                        from = i;
                        any_crossed |= is_crossed(&before, &operands[i]);
                        crossed_back |= is_crossed_back(use, &operands[i]);
                }
        struct number_fact fact = number_shown(use->code, at, &decoded, &before);

        use->both |= fact.number >= NUMBER_FLOATS && any_crossed;

        way->whole |=
            fact.number != NUMBER_ANY && fact.number < NUMBER_FLOATS &&
            (!fact.perhaps_float || number_is_converted(mnemonic) || crossed_back);
        take(use, way, at, &fact);
        forget_changed(&way->held, step, &decoded);
        if (from == SIZE_MAX)
                return;
        bool whole = operands[from].size >= before.bytes * 8;
        bool crossed = is_crossed(&before, &operands[from]);

        if (decoded.instruction.meta.category == ZYDIS_CATEGORY_CMOV ||
            (changes_sign(&decoded) && number_vector_bit(&operands[0]))) {
                put(&way->held, step, &operands[0], crossed);
        } else if (copies(mnemonic) && whole) {
                put(&way->held, step, &operands[from == 0 ? 1 : 0], crossed);
                way->taken |= operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
        } else {
                way->taken = true;
        }
}

/* ---- the ways on ---- */

static bool is_held(const struct number_held *held)
{
        return held->general != 0 || held->vector != 0 || held->in_memory;
}

static void fork_way(struct use *use, const struct way *way, uint64_t target)
{
        size_t step = flow_code_at(use->code, target);

        if (step == SIZE_MAX || use->way_count == WAYS_LIMIT)
                return;
        use->ways[use->way_count] = *way;
        use->ways[use->way_count++].step = step;
}

/* In vector registers only numbers of floating point are handed on, but as the members of
 * a small structure, too. */
static void hand_on(struct use *use, struct way *way, uint32_t registers)
{
        static const struct number_fact floats = {.number = NUMBER_FLOATS};

        if (way->held.vector & registers && !way->taken) {
                use->both |= (way->held.vector & registers & ~way->held.crossed) == 0;
                take(use, way, way->step, &floats);
        }
}

static void call(struct use *use, struct way *way)
{
        bool in_memory = way->held.in_memory;

        pass(use, way, way->step);
        hand_on(use, way, ARGUMENTS);
        way->held.general &= ~(uint32_t)CALL_CLOBBERED;
        way->held.vector = 0;
        way->held.in_memory = in_memory; /* the stack is as before afterwards */
}

static void follow_on(struct use *use, struct way *way)
{
        const struct flow_code *code = use->code;

        while (way->step < code->step_count && use->steps_left > 0 &&
               is_held(&way->held)) {
                const struct flow_step *step = &code->steps[way->step];

                if (step == use->load ||
                    (way->real && use->shown.number == NUMBER_FLOAT &&
                     way->real_steps++ == REAL_STEPS_LIMIT))
                        return;
                use->steps_left--;
                switch (step->instruction.operation) {
                case OPERATION_END:
                        hand_on(use, way, RESULTS);
                        return;
                case OPERATION_JUMP:
                        way->step = flow_code_at(code, step->instruction.target);
                        if (way->step == SIZE_MAX)
                                hand_on(use, way, ARGUMENTS);
                        continue;
                case OPERATION_CALL:
                        call(use, way);
                        break;
                case OPERATION_JUMP_INDIRECT:
                        pass(use, way, way->step);
                        return;
                case OPERATION_BRANCH:
                        fork_way(use, way, step->instruction.target);
                        break;
                case OPERATION_NOTHING: /* though it may have operands */
                        break;
                default:
                        pass(use, way, way->step);
                        break;
                }
                if (++way->step < code->step_count && !flow_code_follows(code, way->step))
                        return;
        }
}

static void follow(struct use *use, struct way *way)
{
        follow_on(use, way);
        *(way->real ? &use->on_real : &use->on_others) |= way->integers;
        use->both |= way->real && way->whole;
}

static bool begins_extended(const struct flow_code *code, size_t step)
{
        struct decoded decoded;

        return decoded_read(&decoded, code, &code->steps[step]) &&
               decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOVZX;
}

void number_use(const struct flow_code *code, size_t step, struct type_access *access)
{
        const struct instruction *load = &code->steps[step].instruction;
        struct use use = {.code = code,
                          .load = &code->steps[step],
                          .shown = {NUMBER_ANY, true, true},
                          .steps_left = STEPS_LIMIT};
        struct way way = {.step = step + 1,
                          .held = {.bytes = load->access_bytes,
                                   .in_memory = true,
                                   .place = load->memory}};

        if (!load->has_memory || load->access_bytes == 0 || load->vector)
                return;
        way.held.extended = begins_extended(code, step);
        pass(&use, &way, step);
        /* Where it was read it is another sample's. */
        if (!on_stack(&load->memory))
                way.held.in_memory = false;
        use.by_vector = way.held.vector != 0;
        way.taken = false;
        if (way.step < code->step_count && flow_code_follows(code, way.step))
                follow(&use, &way);
        while (use.way_count > 0) {
                struct way other = use.ways[--use.way_count];

                follow(&use, &other);
        }
        if (use.shown.number >= NUMBER_FLOATS &&
            (use.both || (use.on_others & ~use.on_real)))
                return;
        access->number = use.shown.number;
        if (access->number >= NUMBER_FLOATS)
                return;
        access->perhaps_float = use.shown.perhaps_float;
        access->perhaps_several = use.shown.perhaps_several;
}
