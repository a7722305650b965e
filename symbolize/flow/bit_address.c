/* SPDX-License-Identifier: MIT */
/* Compilers count loops on between a load and the store behind it: constants that are
 * added to the base are followed. */
#include "bit_address.h"

bool bit_address_before(const struct bit_watch *watch, const struct instruction *load,
                        const struct instruction *later, int64_t *bytes)
{
        const struct memory_operand *left = &load->memory, *right = &later->memory;

        *bytes = (int64_t)((uint64_t)left->displacement - (uint64_t)right->displacement -
                           (uint64_t)watch->advanced);
        return !watch->moved && left->base == right->base &&
               left->index == right->index && left->scale == right->scale &&
               left->thread_local == right->thread_local;
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
