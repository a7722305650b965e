/* SPDX-License-Identifier: MIT */
/* Zydis gives all operands, also the hidden ones. */
#include "instruction_values.h"

#define BIT(value) (UINT64_C(1) << (value))

static const uint64_t VECTORS = UINT64_C(0xffffffff) << VALUE_VECTORS;

/* VALUE_REGISTERS: another kind of register, or none. */
static uint8_t number_of(ZydisRegister name)
{
        const uint8_t general = instruction_register(name);

        if (general < REGISTER_COUNT)
                return general;
        switch (ZydisRegisterGetClass(name)) {
        case ZYDIS_REGCLASS_XMM:
        case ZYDIS_REGCLASS_YMM:
        case ZYDIS_REGCLASS_ZMM:
                return (uint8_t)(VALUE_VECTORS + (ZydisRegisterGetId(name) & 31));
        case ZYDIS_REGCLASS_FLAGS:
                return VALUE_FLAGS;
        default:
                return VALUE_REGISTERS;
        }
}

uint64_t instruction_value(ZydisRegister name)
{
        const uint8_t number = number_of(name);

        return number < VALUE_REGISTERS ? BIT(number) : 0;
}

static bool moves_stack(const struct decoded *decoded)
{
        switch (decoded->instruction.meta.category) {
        case ZYDIS_CATEGORY_PUSH:
        case ZYDIS_CATEGORY_POP:
        case ZYDIS_CATEGORY_CALL:
        case ZYDIS_CATEGORY_RET:
                return true;
        default:
                return false;
        }
}

static void add_register(struct instruction_values *values,
                         const ZydisDecodedOperand *operand)
{
        const uint64_t bit = instruction_value(operand->reg.value);
        /* Parts of the register keep their value: a write of one or two bytes, or a
         * conditional one. */
        const bool part = (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) ||
                          (instruction_register(operand->reg.value) < REGISTER_COUNT &&
                           operand->size < 32);

        if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) ||
            (part && (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)))
                values->reads |= bit;
        if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
                values->writes |= bit;
}

static void add_memory(struct instruction_values *values,
                       const ZydisDecodedOperand *operand)
{
        const uint64_t bits =
            instruction_value(operand->mem.base) | instruction_value(operand->mem.index);

        if (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
                values->reads |= bits;
                return;
        }
        values->address |= bits;
        values->reads_memory |= (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
        values->writes_memory |=
            (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

/* Whether the instruction combines a register with itself to clear it. */
static bool clears(const struct decoded *decoded)
{
        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_XOR:
        case ZYDIS_MNEMONIC_SUB:
        case ZYDIS_MNEMONIC_PXOR:
        case ZYDIS_MNEMONIC_VPXOR:
        case ZYDIS_MNEMONIC_XORPS:
        case ZYDIS_MNEMONIC_VXORPS:
        case ZYDIS_MNEMONIC_XORPD:
        case ZYDIS_MNEMONIC_VXORPD:
                return decoded_reads_twice(decoded);
        default:
                return false;
        }
}

/* ---- linear results ---- */

static void add_term(struct instruction_values *values, uint8_t value, int64_t factor)
{
        if (value >= VALUE_FLAGS && value != VALUE_MEMORY)
                values->linear = false;
        else if (values->term_count == sizeof(values->terms) / sizeof(values->terms[0]))
                values->linear = false;
        else
                values->terms[values->term_count++] = (struct value_term){value, factor};
}

static void add_operand(struct instruction_values *values,
                        const ZydisDecodedOperand *operand, int64_t factor)
{
        switch (operand->type) {
        case ZYDIS_OPERAND_TYPE_REGISTER:
                add_term(values, number_of(operand->reg.value), factor);
                break;
        case ZYDIS_OPERAND_TYPE_MEMORY:
                add_term(values, VALUE_MEMORY, factor);
                break;
        case ZYDIS_OPERAND_TYPE_IMMEDIATE:
                values->constant += factor * operand->imm.value.s;
                break;
        default:
                values->linear = false;
        }
}

static void add_address(struct instruction_values *values,
                        const ZydisDecodedOperand *operand)
{
        if (operand->mem.base != ZYDIS_REGISTER_NONE)
                add_term(values, number_of(operand->mem.base), 1);
        if (operand->mem.index != ZYDIS_REGISTER_NONE)
                add_term(values, number_of(operand->mem.index), operand->mem.scale);
        values->constant += operand->mem.disp.value;
}

/* Adds a shift by a constant, or a product with one. */
static void add_product(struct instruction_values *values, const struct decoded *decoded)
{
        const ZydisDecodedOperand *operands = decoded->operands;
        const size_t count = decoded->instruction.operand_count_visible;
        const bool shifts = decoded->instruction.mnemonic == ZYDIS_MNEMONIC_SHL;

        values->linear = count == (shifts ? 2 : 3) &&
                         operands[count - 1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                         (!shifts || operands[1].imm.value.u < 32);
        if (values->linear)
                add_operand(values, &operands[count - 2],
                            shifts ? INT64_C(1) << operands[1].imm.value.u
                                   : operands[2].imm.value.s);
}

static void find_terms(struct instruction_values *values, const struct decoded *decoded)
{
        const ZydisDecodedOperand *operands = decoded->operands;

        values->linear = true;
        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_MOV:
        case ZYDIS_MNEMONIC_MOVSXD:
                add_operand(values, &operands[1], 1);
                break;
        case ZYDIS_MNEMONIC_LEA:
                add_address(values, &operands[1]);
                break;
        case ZYDIS_MNEMONIC_ADD:
        case ZYDIS_MNEMONIC_SUB:
                add_operand(values, &operands[0], 1);
                add_operand(values, &operands[1],
                            decoded->instruction.mnemonic == ZYDIS_MNEMONIC_SUB ? -1 : 1);
                break;
        case ZYDIS_MNEMONIC_INC:
        case ZYDIS_MNEMONIC_DEC:
                add_operand(values, &operands[0], 1);
                values->constant =
                    decoded->instruction.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
                break;
        case ZYDIS_MNEMONIC_CDQE:
                add_term(values, REGISTER_RAX, 1);
                break;
        case ZYDIS_MNEMONIC_SHL:
        case ZYDIS_MNEMONIC_IMUL:
                add_product(values, decoded);
                break;
        default:
                values->linear = false;
        }
        /* A write of a part of a register is not linear. */
        values->linear &= operands[0].size >= 32;
}

bool instruction_values_read(struct instruction_values *values,
                             const struct flow_code *code, const struct flow_step *step)
{
        struct decoded decoded;

        *values = (struct instruction_values){0};
        if (!decoded_read(&decoded, code, step))
                return false;
        const bool stack = moves_stack(&decoded);

        for (size_t i = 0; i < decoded.instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded.operands[i];
                const bool hidden =
                    operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

                /* Calls and pushes restore the stack pointer. */
                if (stack && hidden)
                        continue;
                if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
                        add_register(values, operand);
                else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
                        add_memory(values, operand);
        }
        values->unknown = stack || step->instruction.operation == OPERATION_POP;
        values->writes |= step->instruction.written & ~BIT(REGISTER_RSP);
        if (step->instruction.operation == OPERATION_CALL)
                values->writes |= CALL_CLOBBERED | VECTORS | BIT(VALUE_FLAGS);
        if (clears(&decoded))
                values->reads = 0;
        else
                find_terms(values, &decoded);
        return true;
}
