/* SPDX-License-Identifier: MIT */
/* Compilers set all bits but a field's in a number that they join to a word by a mask. */
#include "bit_ones.h"

/* Of ah, bh, ch and dh nothing is known. */
uint64_t bit_ones(const struct bit_watch *watch, const ZydisDecodedOperand *operand)
{
        uint64_t mask = bit_mask(operand);
        uint8_t name = bit_register(operand);

        if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
                return operand->imm.value.u; /* extended */
        return name < REGISTER_COUNT && mask & 1 ? watch->ones[name] & mask : 0;
}

static uint64_t shifted(uint64_t ones, const struct bit_watch *watch,
                        const ZydisDecodedOperand *by, bool up)
{
        uint64_t count = 0;

        if (!bit_number(watch, by, 8, &count) || count >= 64)
                return 0;
        return bit_shifted(ones, up ? (int)count : -(int)count);
}

uint64_t bit_ones_after(const struct bit_watch *watch, const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        uint64_t mask = bit_mask(first), before = bit_ones(watch, first);

        if (bit_register(first) >= REGISTER_COUNT || first->size < 32)
                return 0;
        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_MOV:
        case ZYDIS_MNEMONIC_MOVZX:
                return bit_ones(watch, second) & mask;
        case ZYDIS_MNEMONIC_OR:
                return (before | bit_ones(watch, second)) & mask;
        case ZYDIS_MNEMONIC_AND:
                return before & bit_ones(watch, second) & mask;
        case ZYDIS_MNEMONIC_NOT:
                return mask & ~bit_nonzero(&watch->registers[bit_register(first)]);
        case ZYDIS_MNEMONIC_SHL:
                return shifted(before, watch, second, true) & mask;
        case ZYDIS_MNEMONIC_SHR:
                return shifted(before, watch, second, false);
        default:
                return 0;
        }
}
