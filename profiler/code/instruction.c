/* SPDX-License-Identifier: MIT */
/* Decoding by Zydis; its names of registers become the kernel's. */
#include "instruction.h"

#include <Zydis/Zydis.h>
#include <asm/perf_regs.h>

static const ZydisMachineMode mode = ZYDIS_MACHINE_MODE_LONG_64;

/* The kernel's number of the 64-bit register that REGISTER is, or is a part of. */
static int number_of(ZydisRegister reg)
{
        static const struct {
                ZydisRegister reg;
                int number;
        } numbers[] = {
            {ZYDIS_REGISTER_RAX, PERF_REG_X86_AX},
            {ZYDIS_REGISTER_RBX, PERF_REG_X86_BX},
            {ZYDIS_REGISTER_RCX, PERF_REG_X86_CX},
            {ZYDIS_REGISTER_RDX, PERF_REG_X86_DX},
            {ZYDIS_REGISTER_RSI, PERF_REG_X86_SI},
            {ZYDIS_REGISTER_RDI, PERF_REG_X86_DI},
            {ZYDIS_REGISTER_RBP, PERF_REG_X86_BP},
            {ZYDIS_REGISTER_RSP, PERF_REG_X86_SP},
            {ZYDIS_REGISTER_R8, PERF_REG_X86_R8},
            {ZYDIS_REGISTER_R9, PERF_REG_X86_R9},
            {ZYDIS_REGISTER_R10, PERF_REG_X86_R10},
            {ZYDIS_REGISTER_R11, PERF_REG_X86_R11},
            {ZYDIS_REGISTER_R12, PERF_REG_X86_R12},
            {ZYDIS_REGISTER_R13, PERF_REG_X86_R13},
            {ZYDIS_REGISTER_R14, PERF_REG_X86_R14},
            {ZYDIS_REGISTER_R15, PERF_REG_X86_R15},
        };
        ZydisRegister whole = ZydisRegisterGetLargestEnclosing(mode, reg);
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
                if (numbers[i].reg == whole)
                        return numbers[i].number;
        return INSTRUCTION_NO_REGISTER;
}

/* Returns the first memory operand with one of these ACTIONS. */
static const ZydisDecodedOperand *
operand_in_memory(const ZydisDecodedInstruction *decoded,
                  const ZydisDecodedOperand *operands, ZydisOperandActions actions)
{
        for (size_t i = 0; i < decoded->operand_count; i++)
                if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                    operands[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
                    operands[i].actions & actions)
                        return &operands[i];
        return NULL;
}

static bool writes(const ZydisDecodedInstruction *decoded,
                   const ZydisDecodedOperand *operands, int number)
{
        for (size_t i = 0;
             number != INSTRUCTION_NO_REGISTER && i < decoded->operand_count; i++)
                if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
                    number_of(operands[i].reg.value) == number)
                        return true;
        return false;
}

static bool is_prefetch(const ZydisDecodedInstruction *decoded)
{
        return decoded->meta.category == ZYDIS_CATEGORY_PREFETCH ||
               decoded->meta.category == ZYDIS_CATEGORY_WIDENOP;
}

static bool is_undefined(ZydisMnemonic mnemonic)
{
        return mnemonic == ZYDIS_MNEMONIC_UD0 || mnemonic == ZYDIS_MNEMONIC_UD1 ||
               mnemonic == ZYDIS_MNEMONIC_UD2 || mnemonic == ZYDIS_MNEMONIC_HLT;
}

static void describe_address(const ZydisDecodedInstruction *decoded,
                             const ZydisDecodedOperand *operands,
                             const ZydisDecodedOperand *accessed,
                             struct instruction *instruction)
{
        const ZydisDecodedOperandMem *mem = &accessed->mem;
        instruction->ip_relative = mem->base == ZYDIS_REGISTER_RIP;
        instruction->base = number_of(mem->base);
        instruction->index = number_of(mem->index);
        instruction->scale = mem->scale;
        instruction->displacement = mem->disp.has_displacement ? mem->disp.value : 0;
        bool base_known = mem->base == ZYDIS_REGISTER_NONE || instruction->ip_relative ||
                          instruction->base != INSTRUCTION_NO_REGISTER;
        bool index_known = mem->index == ZYDIS_REGISTER_NONE ||
                           instruction->index != INSTRUCTION_NO_REGISTER;
        /* The base of FS and GS is not sampled; gathers have many addresses. */
        bool flat = mem->segment != ZYDIS_REGISTER_FS &&
                    mem->segment != ZYDIS_REGISTER_GS &&
                    mem->type == ZYDIS_MEMOP_TYPE_MEM;
        instruction->address_stays = base_known && index_known && flat &&
                                     decoded->address_width == 64 &&
                                     !writes(decoded, operands, instruction->base) &&
                                     !writes(decoded, operands, instruction->index);
}

static void describe(const ZydisDecodedInstruction *decoded,
                     const ZydisDecodedOperand *operands, struct instruction *instruction)
{
        const ZydisDecodedOperand *loaded =
            operand_in_memory(decoded, operands, ZYDIS_OPERAND_ACTION_MASK_READ);
        const ZydisDecodedOperand *stored =
            operand_in_memory(decoded, operands, ZYDIS_OPERAND_ACTION_MASK_WRITE);
        ZydisInstructionCategory category = decoded->meta.category;
        instruction->continues =
            category != ZYDIS_CATEGORY_UNCOND_BR && category != ZYDIS_CATEGORY_RET &&
            category != ZYDIS_CATEGORY_CALL && category != ZYDIS_CATEGORY_INTERRUPT &&
            !is_undefined(decoded->mnemonic);
        instruction->nop = decoded->mnemonic == ZYDIS_MNEMONIC_NOP;
        instruction->base = instruction->index = INSTRUCTION_NO_REGISTER;
        instruction->loads = loaded && !is_prefetch(decoded);
        instruction->stores = !loaded && stored && !is_prefetch(decoded);
        if (instruction->loads || instruction->stores)
                describe_address(decoded, operands, loaded ? loaded : stored,
                                 instruction);
}

bool instruction_last(const uint8_t *code, size_t length, struct instruction *instruction)
{
        ZydisDecoder decoder;
        ZydisDecodedInstruction decoded;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        ZydisDecoderInit(&decoder, mode, ZYDIS_STACK_WIDTH_64);
        *instruction = (struct instruction){0};
        size_t at = 0;
        while (at < length) {
                if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, length - at,
                                                         &decoded, operands)))
                        return false;
                instruction->offset = at;
                at += decoded.length;
        }
        if (length == 0)
                return false;
        instruction->length = decoded.length;
        describe(&decoded, operands, instruction);
        return true;
}

bool instruction_repeated(const uint8_t *code, size_t length,
                          struct instruction *instruction)
{
        const ZydisInstructionAttributes repeats =
            ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
        ZydisDecoder decoder;
        ZydisDecodedInstruction decoded;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        ZydisDecoderInit(&decoder, mode, ZYDIS_STACK_WIDTH_64);
        *instruction = (struct instruction){0};
        if (!ZYAN_SUCCESS(
                ZydisDecoderDecodeFull(&decoder, code, length, &decoded, operands)) ||
            !(decoded.attributes & repeats))
                return false;
        instruction->length = decoded.length;
        describe(&decoded, operands, instruction);
        instruction->address_stays = instruction->base != INSTRUCTION_NO_REGISTER;
        return true;
}

/* 0: no instruction begins at CODE. */
static size_t length_of(const ZydisDecoder *decoder, const uint8_t *code, size_t length)
{
        ZydisDecodedInstruction decoded;
        return ZYAN_SUCCESS(
                   ZydisDecoderDecodeInstruction(decoder, NULL, code, length, &decoded))
                   ? decoded.length
                   : 0;
}

/* Elects the last instruction's start from LENGTH decoding starts. The starts in the
 * first half vote. The winner needs three of four votes, and half of the starts must
 * vote. Returns LENGTH without a winner. LAST: for each start, where the last
 * instruction begins; LENGTH: nowhere. */
static size_t elected(const uint8_t *last, size_t length)
{
        uint8_t votes[INSTRUCTION_BEFORE_BYTES + 1] = {0};
        size_t arrived = 0, best = length;
        for (size_t at = 0; at < length / 2; at++) {
                if (last[at] == length)
                        continue;
                arrived++;
                votes[last[at]]++;
                if (best == length || votes[last[at]] > votes[best])
                        best = last[at];
        }
        return 4 * arrived >= length / 2 && best < length &&
                       4 * votes[best] >= 3 * arrived
                   ? best
                   : length;
}

bool instruction_before(const uint8_t *code, size_t length,
                        struct instruction *instruction)
{
        uint8_t last[INSTRUCTION_BEFORE_BYTES];
        ZydisDecoder decoder;
        if (length > INSTRUCTION_BEFORE_BYTES) {
                code += length - INSTRUCTION_BEFORE_BYTES;
                length = INSTRUCTION_BEFORE_BYTES;
        }
        ZydisDecoderInit(&decoder, mode, ZYDIS_STACK_WIDTH_64);
        for (size_t at = length; at-- > 0;) {
                size_t next = at + length_of(&decoder, code + at, length - at);
                last[at] = (uint8_t)(next == at       ? length
                                     : next == length ? at
                                                      : last[next]);
        }
        size_t begin = elected(last, length);
        return begin < length &&
               instruction_last(code + begin, length - begin, instruction);
}

bool instruction_address(const struct instruction *instruction, uint64_t ip,
                         instruction_register read_register, const void *context,
                         uint64_t *address)
{
        if ((!instruction->loads && !instruction->stores) || !instruction->address_stays)
                return false;
        uint64_t base = instruction->ip_relative ? ip + instruction->length : 0;
        uint64_t index = 0;
        if (instruction->base != INSTRUCTION_NO_REGISTER &&
            !read_register(context, (unsigned)instruction->base, &base))
                return false;
        if (instruction->index != INSTRUCTION_NO_REGISTER &&
            !read_register(context, (unsigned)instruction->index, &index))
                return false;
        *address =
            base + index * instruction->scale + (uint64_t)instruction->displacement;
        return true;
}
