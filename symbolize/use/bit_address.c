/* SPDX-License-Identifier: MIT */
/* Compilers count loops on between a load and the store behind it: constants that are
 * added to the base are followed. */
#include "bit_address.h"

#include "callee.h"

enum { STEPS_BACK_LIMIT = 32 };

/* The register that STEP makes of another, *FROM, and a constant *BYTES;
 * REGISTER_COUNT: it does not. */
static uint8_t made_of(const struct instruction *step, uint8_t *from, int64_t *bytes)
{
        bool is_address =
            step->operation == OPERATION_ADDRESS && step->memory.index == REGISTER_NONE;

        *from = is_address ? step->memory.base : step->source;
        *bytes = is_address ? step->memory.displacement : 0;
        return (is_address || step->operation == OPERATION_MOVE) && *from < REGISTER_COUNT
                   ? step->destination
                   : REGISTER_COUNT;
}

/* What WATCH has of one value and its copies, after STEP. */
static void pass_copies(struct bit_watch *watch, const struct instruction *step)
{
        uint32_t written = step->written;
        uint8_t from, to;
        int64_t bytes;

        if (step->operation == OPERATION_CALL)
                written |= CALL_CLOBBERED;
        to = made_of(step, &from, &bytes);
        bool is_copy = to < REGISTER_COUNT && watch->copies >> from & 1;

        watch->copies &= ~written;
        if (is_copy) {
                watch->copies |= UINT32_C(1) << to;
                watch->behind[to] = watch->behind[from] + bytes;
        }
}

/* All copies that the base has at the end come from one value: the base's, or its
 * source's. They are followed from there. */
void bit_address_begin(struct bit_watch *watch, const struct flow_code *code, size_t step)
{
        uint8_t base = code->steps[step].instruction.memory.base, from;
        size_t first = code->blocks[flow_code_block(code, step)].first;
        int64_t bytes;

        watch->copies = base < REGISTER_COUNT ? UINT32_C(1) << base : 0;
        if (base >= REGISTER_COUNT)
                return;
        if (step - first > STEPS_BACK_LIMIT)
                first = step - STEPS_BACK_LIMIT;
        for (size_t at = first; at < step; at++) {
                const struct instruction *done = &code->steps[at].instruction;

                if (made_of(done, &from, &bytes) == base &&
                    !(watch->copies >> from & 1)) {
                        watch->copies = UINT32_C(1) << from;
                        watch->behind[from] = 0;
                }
                pass_copies(watch, done);
                if (!(watch->copies >> base & 1)) {
                        watch->copies = UINT32_C(1) << base;
                        watch->behind[base] = 0;
                }
        }
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                if (i != base)
                        watch->behind[i] -= watch->behind[base];
        watch->behind[base] = 0;
}

bool bit_address_before(const struct bit_watch *watch, const struct instruction *load,
                        const struct instruction *later, int64_t *bytes)
{
        const struct memory_operand *left = &load->memory, *right = &later->memory;
        bool is_copy = right->base != left->base && right->base < REGISTER_COUNT &&
                       watch->copies >> right->base & 1;

        *bytes =
            (int64_t)((uint64_t)left->displacement - (uint64_t)right->displacement -
                      (uint64_t)(is_copy ? watch->behind[right->base] : watch->advanced));
        return (is_copy || (left->base == right->base && !watch->moved)) &&
               left->index == right->index && left->scale == right->scale &&
               left->thread_local == right->thread_local;
}

bool bit_address_unclear(const struct bit_watch *watch, const struct instruction *load,
                         const struct instruction *later)
{
        const struct memory_operand *left = &load->memory, *right = &later->memory;
        int64_t apart =
            (int64_t)((uint64_t)left->displacement - (uint64_t)right->displacement);

        return left->base != right->base && left->base < REGISTER_COUNT &&
               right->base < REGISTER_COUNT && !(watch->copies >> right->base & 1) &&
               left->index < REGISTER_COUNT && left->index == right->index &&
               left->scale == right->scale && apart > -8 && apart < 8;
}

/* Whether DECODED adds the constant *BYTES to the register REG. */
static bool adds_constant(const struct decoded *decoded, uint8_t reg, int64_t *bytes)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];

        if (bit_register(first) != reg || first->size != 64)
                return false;
        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_ADD:
        case ZYDIS_MNEMONIC_SUB:
                if (second->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
                        return false;
                *bytes = decoded->instruction.mnemonic == ZYDIS_MNEMONIC_ADD
                             ? second->imm.value.s
                             : -second->imm.value.s;
                return true;
        case ZYDIS_MNEMONIC_LEA:
                *bytes = second->mem.disp.value;
                return instruction_register(second->mem.base) == reg &&
                       second->mem.base != ZYDIS_REGISTER_NONE &&
                       second->mem.index == ZYDIS_REGISTER_NONE;
        default:
                return false;
        }
}

void bit_address_change(struct bit_watch *watch, const struct instruction *load,
                        uint32_t written, const struct decoded *decoded)
{
        const struct memory_operand *memory = &load->memory;

        watch->copies &= ~written;
        if (memory->index < REGISTER_COUNT && written >> memory->index & 1)
                watch->copies = 0;
        for (uint8_t reg = 0; reg < REGISTER_COUNT; reg++) {
                int64_t bytes;

                if (!(written >> reg & 1) ||
                    (reg != memory->base && reg != memory->index))
                        continue;
                if (reg == memory->index || !adds_constant(decoded, reg, &bytes))
                        watch->moved = true;
                else
                        watch->advanced += bytes;
        }
}
