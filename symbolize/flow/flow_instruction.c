/* SPDX-License-Identifier: MIT */
/* Maps Zydis' operands to the few operations that matter for pointers. Any other
 * instruction still tells which registers it changes. */
#include "flow_instruction.h"

#include <Zydis/Zydis.h>

struct decoded {
        ZydisDecodedInstruction instruction;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* ---- registers ---- */

/* Zydis numbers them as the instruction set does; DWARF swaps some. */
uint8_t instruction_register(unsigned name)
{
        static const uint8_t dwarf[REGISTER_COUNT] = {0, 2, 1,  3,  7,  6,  4,  5,
                                                      8, 9, 10, 11, 12, 13, 14, 15};

        if (name == ZYDIS_REGISTER_NONE)
                return REGISTER_NONE;
        ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
                                                               (ZydisRegister)name);

        if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64)
                return REGISTER_OTHER;
        ZyanI8 id = ZydisRegisterGetId(whole);

        return id >= 0 && id < REGISTER_COUNT ? dwarf[id] : REGISTER_OTHER;
}

/* The number of a whole 64-bit register, else REGISTER_OTHER. */
static uint8_t whole_register(const ZydisDecodedOperand *operand)
{
        return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                       ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_GPR64
                   ? instruction_register(operand->reg.value)
                   : REGISTER_OTHER;
}

/* The number of the register that OPERAND is the lower half of, else REGISTER_OTHER. */
static uint8_t half_register(const ZydisDecodedOperand *operand)
{
        return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                       ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_GPR32
                   ? instruction_register(operand->reg.value)
                   : REGISTER_OTHER;
}

/* NAME's bit in a mask of registers; 0: not a general one. */
static uint32_t register_bit(ZydisRegister name)
{
        uint8_t number = instruction_register(name);

        return number < REGISTER_COUNT ? UINT32_C(1) << number : 0;
}

/* Zydis names the pointer registers of string instructions only as bases, for some of
 * them, and not the result of a system call. */
static uint32_t written_unnamed(const struct decoded *decoded)
{
        uint32_t written = 0;

        switch (decoded->instruction.meta.category) {
        case ZYDIS_CATEGORY_STRINGOP:
        case ZYDIS_CATEGORY_IOSTRINGOP:
                break;
        case ZYDIS_CATEGORY_SYSCALL:
        case ZYDIS_CATEGORY_INTERRUPT:
                return UINT32_C(1) << REGISTER_RAX;
        default:
                return 0;
        }
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];

                if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
                        written |= register_bit(operand->mem.base);
        }
        return written;
}

/* Whether MNEMONIC sets the whole register to a number. */
static bool makes_number(ZydisMnemonic mnemonic)
{
        switch (mnemonic) {
        case ZYDIS_MNEMONIC_MOVZX:
        case ZYDIS_MNEMONIC_MOVSX:
        case ZYDIS_MNEMONIC_MOVSXD:
        case ZYDIS_MNEMONIC_CDQE:
        case ZYDIS_MNEMONIC_CQO:
        case ZYDIS_MNEMONIC_DIV:
        case ZYDIS_MNEMONIC_IDIV:
        case ZYDIS_MNEMONIC_POPCNT:
        case ZYDIS_MNEMONIC_BSF:
        case ZYDIS_MNEMONIC_BSR:
        case ZYDIS_MNEMONIC_TZCNT:
        case ZYDIS_MNEMONIC_LZCNT:
        case ZYDIS_MNEMONIC_CVTTSD2SI:
        case ZYDIS_MNEMONIC_CVTTSS2SI:
                return true;
        default:
                return false;
        }
}

/* Registers that are written by half have zeros in the other: no address is so small. */
static uint32_t number_registers(const struct decoded *decoded)
{
        bool all = makes_number(decoded->instruction.mnemonic);
        uint32_t numbers = 0;

        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];

                if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
                    (operand->size == 32 || (all && operand->size == 64)))
                        numbers |= register_bit(operand->reg.value);
        }
        return numbers;
}

static uint32_t modified_registers(const struct decoded *decoded)
{
        uint32_t modified = 0;

        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];

                if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
                    operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
                        modified |= register_bit(operand->reg.value);
        }
        return modified;
}

static uint32_t written_registers(const struct decoded *decoded)
{
        uint32_t written = written_unnamed(decoded);

        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];

                if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
                        written |= register_bit(operand->reg.value);
        }
        return written;
}

/* ---- memory ---- */

/* The operand whose address the instruction is about: written out rather than implied
 * (push, call), read rather than written (movs). NULL: none. */
static const ZydisDecodedOperand *memory_of(const struct decoded *decoded)
{
        const ZydisDecodedOperand *found = NULL;
        int best = -1;

        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];

                if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
                        continue;
                int worth = (operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN) * 2 +
                            ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0);

                if (worth > best) {
                        best = worth;
                        found = operand;
                }
        }
        return found;
}

/* Whether it writes where RDI points, too, beside the operand MEMORY (movs). */
static bool copies_memory(const struct decoded *decoded,
                          const ZydisDecodedOperand *memory)
{
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];

                if (operand != memory && operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
                    operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
                    instruction_register(operand->mem.base) == REGISTER_RDI)
                        return true;
        }
        return false;
}

static void set_memory(struct instruction *result, const struct decoded *decoded,
                       const ZydisDecodedOperand *operand, uint64_t vaddr)
{
        struct memory_operand *memory = &result->memory;
        ZyanU64 absolute;

        result->has_memory = true;
        *memory = (struct memory_operand){
            .base = instruction_register(operand->mem.base),
            .index = instruction_register(operand->mem.index),
            .scale = operand->mem.scale,
            .thread_local = operand->mem.segment == ZYDIS_REGISTER_FS ||
                            operand->mem.segment == ZYDIS_REGISTER_GS,
            .displacement = operand->mem.disp.value};
        if (operand->mem.base == ZYDIS_REGISTER_RIP ||
            operand->mem.base == ZYDIS_REGISTER_EIP) {
                memory->base = REGISTER_NONE;
                if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&decoded->instruction, operand,
                                                          vaddr, &absolute)))
                        memory->displacement = (int64_t)absolute;
        }
        if (operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN)
                result->access_bytes = operand->size / 8;
        result->writes_memory = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

/* Whether MNEMONIC converts one integer to floating point; Zydis reports 8 bytes as two.
 */
static bool converts_one(ZydisMnemonic mnemonic)
{
        return mnemonic == ZYDIS_MNEMONIC_CVTSI2SS ||
               mnemonic == ZYDIS_MNEMONIC_VCVTSI2SS;
}

/* ---- operations ---- */

static void set_move(struct instruction *result, const ZydisDecodedOperand *to,
                     const ZydisDecodedOperand *from)
{
        uint8_t destination = whole_register(to);

        if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
            to->type == ZYDIS_OPERAND_TYPE_REGISTER && to->size >= 32) {
                result->operation = OPERATION_CONSTANT;
                result->destination = instruction_register(to->reg.value);
                result->immediate = to->size == 32 ? (int64_t)(uint32_t)from->imm.value.u
                                                   : from->imm.value.s;
        } else if (destination < REGISTER_COUNT &&
                   whole_register(from) < REGISTER_COUNT) {
                result->operation = OPERATION_MOVE;
                result->destination = destination;
                result->source = whole_register(from);
        } else if (destination < REGISTER_COUNT &&
                   from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
                result->operation = OPERATION_LOAD;
                result->destination = destination;
        } else if (to->type == ZYDIS_OPERAND_TYPE_MEMORY &&
                   whole_register(from) < REGISTER_COUNT) {
                result->operation = OPERATION_STORE;
                result->source = whole_register(from);
        } else if (to->type == ZYDIS_OPERAND_TYPE_MEMORY && to->size == 64 &&
                   from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
                result->operation = OPERATION_STORE_CONSTANT;
                result->immediate = from->imm.value.s;
        }
}

static void set_choice(struct instruction *result, const ZydisDecodedOperand *to,
                       const ZydisDecodedOperand *from)
{
        set_move(result, to, from);
        switch (result->operation) {
        case OPERATION_MOVE:
                result->operation = OPERATION_CHOOSE;
                break;
        case OPERATION_LOAD:
                result->operation = OPERATION_CHOOSE_LOAD;
                break;
        default:
                result->operation = OPERATION_OTHER;
                break;
        }
}

static void set_sum(struct instruction *result, const ZydisDecodedOperand *to,
                    const ZydisDecodedOperand *from, bool subtract)
{
        result->destination = whole_register(to);
        if (result->destination >= REGISTER_COUNT)
                return;
        if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
                result->operation = OPERATION_ADD_CONSTANT;
                result->immediate =
                    subtract ? (int64_t)-from->imm.value.u : from->imm.value.s;
        } else if (whole_register(from) < REGISTER_COUNT) {
                result->operation = subtract ? OPERATION_SUBTRACT : OPERATION_ADD;
                result->source = whole_register(from);
        } else if (!subtract && from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
                result->operation = OPERATION_ADD_LOAD;
        }
}

static void set_step(struct instruction *result, const ZydisDecodedOperand *to,
                     int64_t step)
{
        result->destination = whole_register(to);
        if (result->destination < REGISTER_COUNT) {
                result->operation = OPERATION_ADD_CONSTANT;
                result->immediate = step;
        }
}

static void set_product(struct instruction *result, const ZydisDecodedOperand *to,
                        const ZydisDecodedOperand *from,
                        const ZydisDecodedOperand *factor)
{
        if (whole_register(to) >= REGISTER_COUNT ||
            whole_register(from) >= REGISTER_COUNT ||
            factor->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
                return;
        result->operation = OPERATION_MULTIPLY;
        result->destination = whole_register(to);
        result->source = whole_register(from);
        result->immediate = factor->imm.value.s;
}

static void set_jump(struct instruction *result, const struct decoded *decoded,
                     enum operation direct, enum operation indirect, uint64_t vaddr)
{
        const ZydisDecodedOperand *to = &decoded->operands[0];
        ZyanU64 target;

        result->operation = indirect;
        if (to->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && to->imm.is_relative &&
            ZYAN_SUCCESS(
                ZydisCalcAbsoluteAddress(&decoded->instruction, to, vaddr, &target))) {
                result->operation = direct;
                result->target = target;
        }
}

/* The number of the register that OPERAND is the lowest byte of, else REGISTER_OTHER. */
static uint8_t lowest_byte(const ZydisDecodedOperand *operand)
{
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
            ZydisRegisterGetClass(operand->reg.value) != ZYDIS_REGCLASS_GPR8)
                return REGISTER_OTHER;
        switch (operand->reg.value) {
        case ZYDIS_REGISTER_AH:
        case ZYDIS_REGISTER_BH:
        case ZYDIS_REGISTER_CH:
        case ZYDIS_REGISTER_DH:
                return REGISTER_OTHER;
        default:
                return instruction_register(operand->reg.value);
        }
}

static void set_truth(struct instruction *result, const ZydisDecodedOperand *to)
{
        result->destination = lowest_byte(to);
        if (result->destination < REGISTER_COUNT)
                result->operation = OPERATION_TRUTH;
}

static void set_extension(struct instruction *result, const ZydisDecodedOperand *to,
                          const ZydisDecodedOperand *from)
{
        if (to->type != ZYDIS_OPERAND_TYPE_REGISTER || to->size < 32 ||
            lowest_byte(from) >= REGISTER_COUNT)
                return;
        result->operation = OPERATION_EXTEND;
        result->destination = instruction_register(to->reg.value);
        result->source = lowest_byte(from);
}

static void set_half(struct instruction *result, uint8_t to, uint8_t from,
                     int64_t constant)
{
        if (to >= REGISTER_COUNT || from >= REGISTER_COUNT)
                return;
        result->operation = OPERATION_ADD_HALF;
        result->destination = to;
        result->source = from;
        result->immediate = constant;
}

/* Of instructions for integers of 4 bytes, and what extends these. */
static void set_half_operation(struct instruction *result, const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        bool constant = second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        uint8_t to = half_register(first);

        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_MOV:
                set_half(result, to, half_register(second), 0);
                break;
        case ZYDIS_MNEMONIC_MOVSXD:
                set_half(result, whole_register(first), half_register(second), 0);
                break;
        case ZYDIS_MNEMONIC_CDQE:
                set_half(result, REGISTER_RAX, REGISTER_RAX, 0);
                break;
        case ZYDIS_MNEMONIC_ADD:
                if (constant)
                        set_half(result, to, to, (int32_t)second->imm.value.u);
                break;
        case ZYDIS_MNEMONIC_SUB:
                if (constant)
                        set_half(result, to, to, -(int64_t)(int32_t)second->imm.value.u);
                break;
        case ZYDIS_MNEMONIC_INC:
                set_half(result, to, to, 1);
                break;
        case ZYDIS_MNEMONIC_DEC:
                set_half(result, to, to, -1);
                break;
        case ZYDIS_MNEMONIC_LEA:
                if (result->memory.index == REGISTER_NONE)
                        set_half(result, to, result->memory.base,
                                 result->memory.displacement);
                break;
        default:
                break;
        }
}

static void set_operation(struct instruction *result, const struct decoded *decoded,
                          uint64_t vaddr)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];

        switch (decoded->instruction.meta.category) {
        case ZYDIS_CATEGORY_CALL:
                set_jump(result, decoded, OPERATION_CALL, OPERATION_CALL, vaddr);
                return;
        case ZYDIS_CATEGORY_UNCOND_BR:
                set_jump(result, decoded, OPERATION_JUMP, OPERATION_JUMP_INDIRECT, vaddr);
                return;
        case ZYDIS_CATEGORY_COND_BR:
                set_jump(result, decoded, OPERATION_BRANCH, OPERATION_OTHER, vaddr);
                return;
        case ZYDIS_CATEGORY_RET:
                result->operation = OPERATION_END;
                return;
        case ZYDIS_CATEGORY_NOP:
        case ZYDIS_CATEGORY_WIDENOP:
                result->operation = OPERATION_NOTHING;
                return;
        case ZYDIS_CATEGORY_SETCC:
                set_truth(result, first);
                return;
        case ZYDIS_CATEGORY_CMOV:
                set_choice(result, first, second);
                return;
        default:
                break;
        }
        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_MOV:
                set_move(result, first, second);
                break;
        case ZYDIS_MNEMONIC_MOVZX:
                set_extension(result, first, second);
                break;
        case ZYDIS_MNEMONIC_LEA:
                result->destination = whole_register(first);
                if (result->destination < REGISTER_COUNT)
                        result->operation = OPERATION_ADDRESS;
                break;
        case ZYDIS_MNEMONIC_ADD:
                set_sum(result, first, second, false);
                break;
        case ZYDIS_MNEMONIC_SUB:
                set_sum(result, first, second, true);
                break;
        case ZYDIS_MNEMONIC_INC:
                set_step(result, first, 1);
                break;
        case ZYDIS_MNEMONIC_DEC:
                set_step(result, first, -1);
                break;
        case ZYDIS_MNEMONIC_SHL:
                set_product(result, first, first, second);
                if (result->operation == OPERATION_MULTIPLY)
                        result->operation = OPERATION_SHIFT_LEFT;
                break;
        case ZYDIS_MNEMONIC_IMUL:
                if (decoded->instruction.operand_count_visible == 3)
                        set_product(result, first, second, &decoded->operands[2]);
                break;
        case ZYDIS_MNEMONIC_AND:
                result->destination = whole_register(first);
                if (result->destination < REGISTER_COUNT &&
                    second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                    second->imm.value.s < 0)
                        result->operation = OPERATION_ALIGN;
                break;
        case ZYDIS_MNEMONIC_OR:
                result->destination = instruction_register(first->reg.value);
                if (first->type == ZYDIS_OPERAND_TYPE_REGISTER && first->size >= 32 &&
                    result->destination < REGISTER_COUNT &&
                    second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
                        result->operation = OPERATION_OR_CONSTANT;
                        result->immediate = second->imm.value.s;
                }
                break;
        case ZYDIS_MNEMONIC_XOR:
                if (first->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    second->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    first->reg.value == second->reg.value && first->size >= 32) {
                        result->operation = OPERATION_CONSTANT;
                        result->destination = instruction_register(first->reg.value);
                        result->modified = 0; /* it is made of nothing */
                }
                break;
        case ZYDIS_MNEMONIC_PUSH:
                result->operation = OPERATION_PUSH;
                result->source = whole_register(first);
                if (first->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
                        result->source = REGISTER_NONE;
                        result->immediate = first->imm.value.s;
                }
                break;
        case ZYDIS_MNEMONIC_POP:
                result->operation = OPERATION_POP;
                result->destination = whole_register(first);
                break;
        case ZYDIS_MNEMONIC_UD2:
        case ZYDIS_MNEMONIC_HLT:
        case ZYDIS_MNEMONIC_INT3:
                result->operation = OPERATION_END;
                break;
        default:
                break;
        }
}

bool instruction_decode(struct instruction *instruction, const uint8_t *bytes,
                        size_t count, uint64_t vaddr)
{
        const ZydisInstructionAttributes repeating =
            ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
        ZydisDecoder decoder;
        struct decoded decoded;

        if (ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
                                         ZYDIS_STACK_WIDTH_64)) ||
            ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, count,
                                               &decoded.instruction, decoded.operands)))
                return false;
        *instruction = (struct instruction){.length_bytes = decoded.instruction.length,
                                            .operation = OPERATION_OTHER,
                                            .destination = REGISTER_NONE,
                                            .source = REGISTER_NONE,
                                            .written = written_registers(&decoded),
                                            .modified = modified_registers(&decoded),
                                            .numbers = number_registers(&decoded)};
        const ZydisDecodedOperand *memory = memory_of(&decoded);

        if (memory) {
                set_memory(instruction, &decoded, memory, vaddr);
                instruction->vector = memory->element_count > 1 &&
                                      !converts_one(decoded.instruction.mnemonic);
                instruction->copies = copies_memory(&decoded, memory);
                instruction->repeated = (decoded.instruction.attributes & repeating) != 0;
        }
        set_operation(instruction, &decoded, vaddr);
        if (instruction->operation == OPERATION_OTHER)
                set_half_operation(instruction, &decoded);
        return true;
}
