/* SPDX-License-Identifier: MIT */
/* Maps Zydis' operands to the few operations that matter for pointers. For any other
 * instruction, only the changed registers are known. */
#include "flow_instruction.h"

#include "decoded.h"

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

/* The number of the register whose lower half OPERAND is, else REGISTER_OTHER. */
static uint8_t half_register(const ZydisDecodedOperand *operand)
{
        return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                       ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_GPR32
                   ? instruction_register(operand->reg.value)
                   : REGISTER_OTHER;
}

/* NAME's bit in a mask of general registers; 0: another register. */
static uint32_t register_bit(ZydisRegister name)
{
        uint8_t number = instruction_register(name);

        return number < REGISTER_COUNT ? UINT32_C(1) << number : 0;
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

/* Whether the instruction moves the base of its operand, although Zydis names it. */
static bool moves_bases(const struct decoded *decoded)
{
        return decoded->instruction.meta.category == ZYDIS_CATEGORY_STRINGOP ||
               decoded->instruction.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

/* A write of a register's lower half clears the upper half: no address is so small. Zydis
 * does not name the result of a system call. */
static void set_written(struct instruction *result, const struct decoded *decoded)
{
        bool all = makes_number(decoded->instruction.mnemonic);

        if (decoded->instruction.meta.category == ZYDIS_CATEGORY_SYSCALL ||
            decoded->instruction.meta.category == ZYDIS_CATEGORY_INTERRUPT)
                result->written |= UINT32_C(1) << REGISTER_RAX;
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];

                if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && moves_bases(decoded))
                        result->written |= register_bit(operand->mem.base);
                if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
                    !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
                        continue;
                uint32_t bit = register_bit(operand->reg.value);

                result->written |= bit;
                if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
                        result->modified |= bit;
                if (operand->size == 32 || (all && operand->size == 64))
                        result->numbers |= bit;
        }
}

/* ---- memory ---- */

/* The memory operand of the instruction. An explicit operand comes before an implied one
 * (push, call), a read one before a written one (movs). NULL: none. */
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

/* Whether the instruction writes at RDI, too, besides the operand MEMORY (movs). */
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

/* Whether MNEMONIC converts one integer to floating point. Zydis takes 8 bytes for
 * two. */
static bool converts_one(ZydisMnemonic mnemonic)
{
        return mnemonic == ZYDIS_MNEMONIC_CVTSI2SS ||
               mnemonic == ZYDIS_MNEMONIC_VCVTSI2SS;
}

/* ---- operations ---- */

/* Sets OPERATION from register FROM to TO, with CONSTANT, if both registers are known. */
static void set(struct instruction *result, enum operation operation, uint8_t to,
                uint8_t from, int64_t constant)
{
        if (to >= REGISTER_COUNT || from >= REGISTER_COUNT)
                return;
        result->operation = operation;
        result->destination = to;
        result->source = from;
        result->immediate = constant;
}

static void set_move(struct instruction *result, const ZydisDecodedOperand *to,
                     const ZydisDecodedOperand *from)
{
        bool constant = from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        bool stores = to->type == ZYDIS_OPERAND_TYPE_MEMORY;
        uint8_t destination = whole_register(to), source = whole_register(from);

        if (constant && to->type == ZYDIS_OPERAND_TYPE_REGISTER && to->size >= 32) {
                result->operation = OPERATION_CONSTANT;
                result->destination = instruction_register(to->reg.value);
                result->immediate = to->size == 32 ? (int64_t)(uint32_t)from->imm.value.u
                                                   : from->imm.value.s;
        } else if (destination < REGISTER_COUNT && source < REGISTER_COUNT) {
                set(result, OPERATION_MOVE, destination, source, 0);
        } else if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
                set(result, OPERATION_LOAD, destination, destination, 0);
        } else if (stores && source < REGISTER_COUNT) {
                result->operation = OPERATION_STORE;
                result->source = source;
        } else if (stores && constant && to->size == 64) {
                result->operation = OPERATION_STORE_CONSTANT;
                result->immediate = from->imm.value.s;
        }
}

static void set_choice(struct instruction *result, const ZydisDecodedOperand *to,
                       const ZydisDecodedOperand *from)
{
        set_move(result, to, from);
        if (result->operation == OPERATION_MOVE)
                result->operation = OPERATION_CHOOSE;
        else if (result->operation == OPERATION_LOAD)
                result->operation = OPERATION_CHOOSE_LOAD;
}

static void set_sum(struct instruction *result, const ZydisDecodedOperand *to,
                    const ZydisDecodedOperand *from, bool subtract)
{
        uint8_t destination = whole_register(to);

        if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
                set(result, OPERATION_ADD_CONSTANT, destination, destination,
                    subtract ? (int64_t)-from->imm.value.u : from->imm.value.s);
        else if (from->type == ZYDIS_OPERAND_TYPE_MEMORY && !subtract)
                set(result, OPERATION_ADD_LOAD, destination, destination, 0);
        else
                set(result, subtract ? OPERATION_SUBTRACT : OPERATION_ADD, destination,
                    whole_register(from), 0);
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

/* For instructions on integers of 4 bytes, and their extensions to 8 bytes. */
static void set_half_operation(struct instruction *result, const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        bool constant = second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        uint8_t to = half_register(first);

        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_MOV:
                set(result, OPERATION_ADD_HALF, to, half_register(second), 0);
                break;
        case ZYDIS_MNEMONIC_MOVSXD:
                set(result, OPERATION_ADD_HALF, whole_register(first),
                    half_register(second), 0);
                break;
        case ZYDIS_MNEMONIC_CDQE:
                set(result, OPERATION_ADD_HALF, REGISTER_RAX, REGISTER_RAX, 0);
                break;
        case ZYDIS_MNEMONIC_ADD:
                if (constant)
                        set(result, OPERATION_ADD_HALF, to, to,
                            (int32_t)second->imm.value.u);
                break;
        case ZYDIS_MNEMONIC_SUB:
                if (constant)
                        set(result, OPERATION_ADD_HALF, to, to,
                            -(int64_t)(int32_t)second->imm.value.u);
                break;
        case ZYDIS_MNEMONIC_INC:
                set(result, OPERATION_ADD_HALF, to, to, 1);
                break;
        case ZYDIS_MNEMONIC_DEC:
                set(result, OPERATION_ADD_HALF, to, to, -1);
                break;
        case ZYDIS_MNEMONIC_LEA:
                if (result->memory.index == REGISTER_NONE)
                        set(result, OPERATION_ADD_HALF, to, result->memory.base,
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
        bool constant = second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        uint8_t to = whole_register(first);
        uint8_t part = first->type == ZYDIS_OPERAND_TYPE_REGISTER
                           ? instruction_register(first->reg.value)
                           : REGISTER_OTHER;

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
        case ZYDIS_MNEMONIC_LEA:
                set(result, OPERATION_ADDRESS, to, to, 0);
                break;
        case ZYDIS_MNEMONIC_ADD:
                set_sum(result, first, second, false);
                break;
        case ZYDIS_MNEMONIC_SUB:
                set_sum(result, first, second, true);
                break;
        case ZYDIS_MNEMONIC_INC:
                set(result, OPERATION_ADD_CONSTANT, to, to, 1);
                break;
        case ZYDIS_MNEMONIC_DEC:
                set(result, OPERATION_ADD_CONSTANT, to, to, -1);
                break;
        case ZYDIS_MNEMONIC_SHL:
                if (constant)
                        set(result, OPERATION_SHIFT_LEFT, to, to, second->imm.value.s);
                break;
        case ZYDIS_MNEMONIC_IMUL:
                if (decoded->instruction.operand_count_visible == 3)
                        set(result, OPERATION_MULTIPLY, to, whole_register(second),
                            decoded->operands[2].imm.value.s);
                break;
        case ZYDIS_MNEMONIC_AND:
                if (constant && second->imm.value.s < 0)
                        set(result, OPERATION_ALIGN, to, to, 0);
                break;
        case ZYDIS_MNEMONIC_OR:
                if (constant && first->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    first->size >= 32)
                        set(result, OPERATION_OR_CONSTANT, part, part,
                            second->imm.value.s);
                break;
        case ZYDIS_MNEMONIC_XOR:
                if (first->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    second->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    first->reg.value == second->reg.value && first->size >= 32) {
                        set(result, OPERATION_CONSTANT, part, part, 0);
                        result->modified = 0; /* the old values do not matter */
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
        struct decoded decoded;

        if (!decoded_bytes(&decoded, bytes, count))
                return false;
        *instruction = (struct instruction){.length_bytes = decoded.instruction.length,
                                            .operation = OPERATION_OTHER,
                                            .destination = REGISTER_NONE,
                                            .source = REGISTER_NONE};
        set_written(instruction, &decoded);
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
