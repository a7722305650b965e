/* SPDX-License-Identifier: MIT */
/* The bits that were read are followed through masks, shifts and copies in registers and
 * flags, along a few ways and a bounded number of instructions, until something uses
 * them. A word that is stored again where it came from uses the bits that were changed.
 */
#include "bit_use.h"

#include "callee.h"
#include "decoded.h"

enum { STEPS_LIMIT = 128, WAYS_LIMIT = 8 };

/* The registers that a call may get its arguments in, by their DWARF numbers (System V
 * ABI, AMD64 supplement, figure 3.4). */
enum { ARGUMENTS = 0x0336 };

/* Bits of the word in a register: bit n of the word is bit n + UP of the register. */
struct held {
        uint64_t bits;
        int up;
};

struct watch {
        struct held registers[REGISTER_COUNT];
        uint64_t flags; /* bits that they depend on */
        uint64_t sign;  /* those that the sign flag does, where it is a bit's copy */
        bool moved;     /* registers of the operand's address have changed */
};

struct use {
        const struct flow_code *code;
        const struct flow_step *load;
        uint64_t word; /* the mask of all of its bits */
        uint64_t used;
        unsigned steps_left;
        struct {
                size_t step;
                struct watch watch;
        } ways[WAYS_LIMIT];
        size_t way_count;
};

static uint64_t shifted(uint64_t bits, int up)
{
        if (up >= 64 || up <= -64)
                return 0;
        return up >= 0 ? bits << up : bits >> -up;
}

static uint64_t low_bits(unsigned count)
{
        return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* ---- operands ---- */

static uint8_t register_of(const ZydisDecodedOperand *operand)
{
        return operand->type == ZYDIS_OPERAND_TYPE_REGISTER
                   ? instruction_register(operand->reg.value)
                   : REGISTER_NONE;
}

/* How far up in its register the operand begins: ah, bh, ch and dh do not at bit 0. */
static int begin_of(const ZydisDecodedOperand *operand)
{
        return operand->reg.value >= ZYDIS_REGISTER_AH &&
                       operand->reg.value <= ZYDIS_REGISTER_BH
                   ? 8
                   : 0;
}

static uint64_t mask_of(const ZydisDecodedOperand *operand)
{
        return low_bits(operand->size) << begin_of(operand);
}

/* The bits of the word that lie in MASK of the register. */
static uint64_t seen(const struct held *held, uint64_t mask)
{
        return held->bits & shifted(mask, -held->up);
}

static bool is_immediate(const ZydisDecodedOperand *operand)
{
        return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool same_register(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
        return a->type == ZYDIS_OPERAND_TYPE_REGISTER &&
               b->type == ZYDIS_OPERAND_TYPE_REGISTER && a->reg.value == b->reg.value;
}

/* ---- what is done to them ---- */

static void set_flags(struct watch *watch, const struct held *held, uint64_t mask,
                      bool has_sign)
{
        uint64_t top = mask & ~(mask >> 1);

        watch->flags = seen(held, mask);
        watch->sign = has_sign ? seen(held, top) : watch->flags;
}

/* A test of FIRST, which holds HELD, by SECOND: false when it is none. */
static bool test(struct watch *watch, ZydisMnemonic mnemonic,
                 const ZydisDecodedOperand *first, const ZydisDecodedOperand *second,
                 const struct held *held)
{
        int begin = first->type == ZYDIS_OPERAND_TYPE_REGISTER ? begin_of(first) : 0;
        uint64_t mask = low_bits(first->size) << begin;
        uint64_t top = (UINT64_C(1) << (first->size - 1)) << begin;

        if (!is_immediate(second)) {
                if (mnemonic != ZYDIS_MNEMONIC_TEST || !same_register(first, second))
                        return false;
                set_flags(watch, held, mask, true);
                return true;
        }
        uint64_t number = second->imm.value.u;

        switch (mnemonic) {
        case ZYDIS_MNEMONIC_TEST:
                watch->flags = seen(held, number << begin & mask);
                watch->sign = seen(held, number << begin & top);
                return true;
        case ZYDIS_MNEMONIC_CMP:
                set_flags(watch, held, mask, number == 0);
                return true;
        case ZYDIS_MNEMONIC_BT:
                watch->flags = seen(held, UINT64_C(1) << number % first->size);
                watch->sign = watch->flags;
                return true;
        default:
                return false;
        }
}

static void shift(struct held *held, ZydisMnemonic mnemonic, unsigned width,
                  unsigned count)
{
        uint64_t mask = low_bits(width);

        held->bits = seen(held, mask);
        if (mnemonic == ZYDIS_MNEMONIC_SHL) {
                held->up += (int)count;
                held->bits = seen(held, mask);
        } else {
                held->bits = seen(held, mask & ~low_bits(count));
                held->up -= (int)count;
        }
}

/* What changes the bits in a register by a constant: false when it is nothing of that. */
static bool change(struct watch *watch, const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        uint8_t number = register_of(first);

        if (number >= REGISTER_COUNT || !is_immediate(second))
                return false;
        struct held *held = &watch->registers[number];
        uint64_t mask = mask_of(first);
        uint64_t constant = second->imm.value.u << begin_of(first) & mask;
        uint64_t rest = first->size == 32 ? 0 : ~mask;

        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_AND:
                held->bits = seen(held, constant | rest);
                break;
        case ZYDIS_MNEMONIC_OR:
                held->bits = seen(held, (mask & ~constant) | rest);
                break;
        case ZYDIS_MNEMONIC_XOR:
                break;
        case ZYDIS_MNEMONIC_SHL:
        case ZYDIS_MNEMONIC_SHR:
        case ZYDIS_MNEMONIC_SAR:
                if (begin_of(first) != 0)
                        return false;
                shift(held, decoded->instruction.mnemonic, first->size,
                      (unsigned)second->imm.value.u & (first->size == 64 ? 63 : 31));
                break;
        default:
                return false;
        }
        set_flags(watch, held, mask, true);
        return true;
}

/* A copy, or a join with bits of something else. */
static bool copy(struct watch *watch, const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        uint8_t to = register_of(first), from = register_of(second);
        bool joins = false;

        bool joins_memory = to < REGISTER_COUNT && watch->registers[to].bits != 0 &&
                            second->type == ZYDIS_OPERAND_TYPE_MEMORY;

        if (to >= REGISTER_COUNT || (from >= REGISTER_COUNT && !joins_memory))
                return false;
        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_MOV:
        case ZYDIS_MNEMONIC_MOVZX:
        case ZYDIS_MNEMONIC_MOVSX:
        case ZYDIS_MNEMONIC_MOVSXD:
                break;
        case ZYDIS_MNEMONIC_AND:
        case ZYDIS_MNEMONIC_OR:
        case ZYDIS_MNEMONIC_XOR:
                joins = true;
                break;
        default:
                return false;
        }
        if (joins_memory) {
                if (joins)
                        set_flags(watch, &watch->registers[to], mask_of(first), true);
                return joins;
        }
        struct held held = watch->registers[from];

        if (joins && to == from && decoded->instruction.mnemonic == ZYDIS_MNEMONIC_XOR)
                held.bits = 0;
        else if (joins && watch->registers[to].bits != 0 && to != from) {
                if (held.bits != 0)
                        return false;
                held = watch->registers[to];
        } else {
                held.bits = seen(&held, mask_of(second));
                held.up -= begin_of(second);
        }
        if (begin_of(first) != 0 && held.bits != 0)
                return false;
        watch->registers[to] = held;
        if (joins)
                set_flags(watch, &held, mask_of(first), true);
        return true;
}

static bool same_place(const struct instruction *a, const struct instruction *b)
{
        const struct memory_operand *left = &a->memory, *right = &b->memory;

        return a->access_bytes == b->access_bytes && left->base == right->base &&
               left->index == right->index && left->scale == right->scale &&
               left->displacement == right->displacement &&
               left->thread_local == right->thread_local;
}

/* The word is stored where it came from: what is not the same any more is meant. */
static bool store(struct use *use, struct watch *watch, const struct flow_step *step,
                  const struct decoded *decoded)
{
        uint8_t from = register_of(&decoded->operands[1]);

        if (decoded->instruction.mnemonic != ZYDIS_MNEMONIC_MOV ||
            decoded->operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
            from >= REGISTER_COUNT || watch->registers[from].bits == 0 ||
            watch->registers[from].up != 0 || watch->moved ||
            !same_place(&step->instruction, &use->load->instruction))
                return false;
        use->used |= use->word & ~watch->registers[from].bits;
        watch->registers[from].bits = 0;
        return true;
}

/* Whatever else reads registers uses what they hold. */
static void read_all(struct use *use, const struct watch *watch,
                     const struct decoded *decoded)
{
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];
                uint8_t number = register_of(operand);

                if (number < REGISTER_COUNT &&
                    operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
                        use->used |= seen(&watch->registers[number], mask_of(operand));
                if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
                        continue;
                uint8_t base = instruction_register(operand->mem.base);
                uint8_t index = instruction_register(operand->mem.index);

                if (base < REGISTER_COUNT)
                        use->used |= watch->registers[base].bits;
                if (index < REGISTER_COUNT)
                        use->used |= watch->registers[index].bits;
        }
}

static void forget_written(struct watch *watch, uint32_t written)
{
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                if (written >> i & 1)
                        watch->registers[i].bits = 0;
}

static void read_flags(struct use *use, const struct watch *watch,
                       const struct decoded *decoded)
{
        const ZydisAccessedFlags *flags = decoded->instruction.cpu_flags;

        if (flags && flags->tested)
                use->used |=
                    flags->tested == ZYDIS_CPUFLAG_SF ? watch->sign : watch->flags;
}

static void pass(struct use *use, struct watch *watch, const struct flow_step *step)
{
        const struct instruction *load = &use->load->instruction;
        struct decoded decoded;

        if (!decoded_read(&decoded, use->code, step)) {
                use->used = use->word;
                return;
        }
        const ZydisDecodedOperand *first = &decoded.operands[0];
        const ZydisAccessedFlags *flags = decoded.instruction.cpu_flags;
        uint8_t number = register_of(first);
        const struct watch before = *watch;

        read_flags(use, watch, &decoded);
        if (flags && (flags->modified | flags->set_0 | flags->set_1 | flags->undefined))
                watch->flags = watch->sign = 0;
        bool followed = (number < REGISTER_COUNT &&
                         test(watch, decoded.instruction.mnemonic, first,
                              &decoded.operands[1], &watch->registers[number])) ||
                        change(watch, &decoded) || copy(watch, &decoded) ||
                        store(use, watch, step, &decoded) ||
                        decoded.instruction.mnemonic == ZYDIS_MNEMONIC_NOT;

        if (!followed) {
                read_all(use, &before, &decoded);
                forget_written(watch, step->instruction.written);
        }
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                watch->moved |= step->instruction.written >> i & 1 &&
                                (i == load->memory.base || i == load->memory.index);
}

/* ---- the ways on ---- */

static bool watches(const struct watch *watch)
{
        for (int i = 0; i < REGISTER_COUNT; i++)
                if (watch->registers[i].bits != 0)
                        return true;
        return watch->flags != 0;
}

static void fork_way(struct use *use, const struct watch *watch, uint64_t target)
{
        size_t step = flow_code_at(use->code, target);

        if (step == SIZE_MAX || use->way_count == WAYS_LIMIT)
                return;
        use->ways[use->way_count].step = step;
        use->ways[use->way_count++].watch = *watch;
}

/* What goes to another function in the register NUMBER, or is left there: a part of the
 * word was taken out of it to be used. */
static void hand_on(struct use *use, const struct watch *watch, int number)
{
        uint64_t bits = watch->registers[number].bits;

        if (bits != use->word || use->used == 0)
                use->used |= bits;
}

static void call(struct use *use, struct watch *watch)
{
        for (int i = 0; i < REGISTER_COUNT; i++)
                if (ARGUMENTS >> i & 1)
                        hand_on(use, watch, i);
        forget_written(watch, CALL_CLOBBERED);
        watch->flags = watch->sign = 0;
}

static void follow(struct use *use, struct watch *watch, size_t at)
{
        while (at < use->code->step_count && use->steps_left > 0 &&
               use->used != use->word && watches(watch)) {
                const struct flow_step *step = &use->code->steps[at];

                if (step == use->load)
                        return;
                use->steps_left--;
                switch (step->instruction.operation) {
                case OPERATION_END:
                        hand_on(use, watch, REGISTER_RAX);
                        return;
                case OPERATION_JUMP:
                        at = flow_code_at(use->code, step->instruction.target);
                        continue;
                case OPERATION_CALL:
                        call(use, watch);
                        break;
                case OPERATION_BRANCH:
                        pass(use, watch, step);
                        fork_way(use, watch, step->instruction.target);
                        break;
                case OPERATION_JUMP_INDIRECT:
                        pass(use, watch, step);
                        return;
                default:
                        pass(use, watch, step);
                        break;
                }
                if (++at < use->code->step_count && !flow_code_follows(use->code, at))
                        return;
        }
}

/* ---- the instruction itself ---- */

/* Changes the word in memory by a constant, or tests it. */
static bool begin_constant(struct use *use, const struct decoded *decoded,
                           struct watch *watch)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        const struct held word = {use->word, 0};

        if (!is_immediate(second) || first->type != ZYDIS_OPERAND_TYPE_MEMORY)
                return false;
        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_AND:
                use->used = use->word & ~second->imm.value.u;
                return true;
        case ZYDIS_MNEMONIC_OR:
        case ZYDIS_MNEMONIC_XOR:
                use->used = use->word & second->imm.value.u;
                return true;
        case ZYDIS_MNEMONIC_BTS:
        case ZYDIS_MNEMONIC_BTR:
        case ZYDIS_MNEMONIC_BTC:
                use->used = UINT64_C(1) << second->imm.value.u % first->size;
                return true;
        default:
                return test(watch, decoded->instruction.mnemonic, first, second, &word);
        }
}

static bool begin_register(const struct use *use, const struct decoded *decoded,
                           struct watch *watch)
{
        uint8_t to = register_of(&decoded->operands[0]);

        if (to >= REGISTER_COUNT || begin_of(&decoded->operands[0]) != 0 ||
            decoded->operands[1].type != ZYDIS_OPERAND_TYPE_MEMORY)
                return false;
        watch->registers[to] = (struct held){use->word, 0};
        watch->moved = to == use->load->instruction.memory.base ||
                       to == use->load->instruction.memory.index;
        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_AND:
        case ZYDIS_MNEMONIC_OR:
        case ZYDIS_MNEMONIC_XOR:
                watch->flags = watch->sign = use->word;
                return true;
        case ZYDIS_MNEMONIC_MOV:
        case ZYDIS_MNEMONIC_MOVZX:
        case ZYDIS_MNEMONIC_MOVSX:
        case ZYDIS_MNEMONIC_MOVSXD:
                return true;
        default:
                return false;
        }
}

uint64_t bit_use(const struct flow_code *code, size_t step)
{
        const struct instruction *instruction = &code->steps[step].instruction;
        struct use use = {.code = code,
                          .load = &code->steps[step],
                          .word = low_bits(instruction->access_bytes * 8),
                          .steps_left = STEPS_LIMIT};
        struct watch watch = {0};
        struct decoded decoded;

        if (!instruction->has_memory || instruction->access_bytes == 0 ||
            instruction->access_bytes > 8 || instruction->floating ||
            instruction->vector || !decoded_read(&decoded, code, use.load) ||
            (!begin_constant(&use, &decoded, &watch) &&
             !begin_register(&use, &decoded, &watch)))
                return 0;
        if (step + 1 < code->step_count && flow_code_follows(code, step + 1))
                follow(&use, &watch, step + 1);
        while (use.way_count > 0) {
                struct watch other = use.ways[--use.way_count].watch;

                follow(&use, &other, use.ways[use.way_count].step);
        }
        return use.used == use.word ? 0 : use.used;
}
