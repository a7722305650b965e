/* SPDX-License-Identifier: MIT */
/* Completes Zydis's AT&T syntax: size suffixes of mnemonics, and implied operands. */
#include "att_syntax.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Mnemonics with a size in AT&T's syntax, with unchanged operands. */
static const struct {
        ZydisMnemonic mnemonic;
        const char *name;
} att_names[] = {{ZYDIS_MNEMONIC_CBW, "cbtw"},  {ZYDIS_MNEMONIC_CWDE, "cwtl"},
                 {ZYDIS_MNEMONIC_CDQE, "cltq"}, {ZYDIS_MNEMONIC_CWD, "cwtd"},
                 {ZYDIS_MNEMONIC_CDQ, "cltd"},  {ZYDIS_MNEMONIC_CQO, "cqto"}};

/* Mnemonics whose memory operand has its size only in the suffix; Zydis leaves it
 * out. */
static const ZydisMnemonic sized[] = {
    ZYDIS_MNEMONIC_INC,       ZYDIS_MNEMONIC_DEC,       ZYDIS_MNEMONIC_NEG,
    ZYDIS_MNEMONIC_NOT,       ZYDIS_MNEMONIC_MUL,       ZYDIS_MNEMONIC_IMUL,
    ZYDIS_MNEMONIC_DIV,       ZYDIS_MNEMONIC_IDIV,      ZYDIS_MNEMONIC_ROL,
    ZYDIS_MNEMONIC_ROR,       ZYDIS_MNEMONIC_RCL,       ZYDIS_MNEMONIC_RCR,
    ZYDIS_MNEMONIC_SHL,       ZYDIS_MNEMONIC_SHR,       ZYDIS_MNEMONIC_SAR,
    ZYDIS_MNEMONIC_NOP,       ZYDIS_MNEMONIC_CVTSI2SD,  ZYDIS_MNEMONIC_CVTSI2SS,
    ZYDIS_MNEMONIC_VCVTSI2SD, ZYDIS_MNEMONIC_VCVTSI2SS, ZYDIS_MNEMONIC_VCVTUSI2SD,
    ZYDIS_MNEMONIC_VCVTUSI2SS};

/* The width of their source differs from the width of every register operand. */
static const ZydisMnemonic narrowing[] = {
    ZYDIS_MNEMONIC_VCVTPD2DQ, ZYDIS_MNEMONIC_VCVTTPD2DQ, ZYDIS_MNEMONIC_VCVTPD2PS,
    ZYDIS_MNEMONIC_VCVTPD2UDQ, ZYDIS_MNEMONIC_VCVTTPD2UDQ};

/* AT&T's assembler exchanges these mnemonics if st(i) is the destination; all its output
 * follows that error. */
static const struct {
        ZydisMnemonic mnemonic;
        const char *name;
} swapped[] = {{ZYDIS_MNEMONIC_FSUB, "fsubr"},   {ZYDIS_MNEMONIC_FSUBR, "fsub"},
               {ZYDIS_MNEMONIC_FDIV, "fdivr"},   {ZYDIS_MNEMONIC_FDIVR, "fdiv"},
               {ZYDIS_MNEMONIC_FSUBP, "fsubrp"}, {ZYDIS_MNEMONIC_FSUBRP, "fsubp"},
               {ZYDIS_MNEMONIC_FDIVP, "fdivrp"}, {ZYDIS_MNEMONIC_FDIVRP, "fdivp"}};

static char size_letter(ZyanU16 bits)
{
        return bits == 8 ? 'b' : bits == 16 ? 'w' : bits == 32 ? 'l' : 'q';
}

/* Returns the memory operand of INSTRUCTION; NULL: there is none. */
static const ZydisDecodedOperand *
memory_operand(const ZydisDecodedInstruction *instruction,
               const ZydisDecodedOperand *operands)
{
        for (size_t i = 0; i < instruction->operand_count_visible; i++)
                if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
                        return &operands[i];
        return NULL;
}

/* The letters after the name of an x87 instruction with OPERAND in memory. */
static const char *x87_letters(const char *name, const ZydisDecodedOperand *operand)
{
        bool integer = strncmp(name, "fi", 2) == 0;
        if (!integer && operand->element_type != ZYDIS_ELEMENT_TYPE_FLOAT32 &&
            operand->element_type != ZYDIS_ELEMENT_TYPE_FLOAT64 &&
            operand->element_type != ZYDIS_ELEMENT_TYPE_FLOAT80)
                return "";
        switch (operand->size) {
        case 16:
                return "s";
        case 32:
                return integer ? "l" : "s";
        case 64:
                return integer ? "ll" : "l";
        default:
                return "t";
        }
}

/* Appends the size suffix of the memory operand if nothing else determines the size. */
static void sized_name(const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operands, char name[16])
{
        const ZydisDecodedOperand *memory = memory_operand(instruction, operands);
        const char *bare = ZydisMnemonicGetString(instruction->mnemonic);
        if (!memory || !bare)
                return;
        if (instruction->meta.isa_ext == ZYDIS_ISA_EXT_X87)
                snprintf(name, 16, "%s%s", bare, x87_letters(bare, memory));
        /* One of two operands that are not a count is a register of that size. */
        if (instruction->mnemonic == ZYDIS_MNEMONIC_IMUL &&
            instruction->operand_count_visible > 1)
                return;
        for (size_t i = 0; i < sizeof(narrowing) / sizeof(narrowing[0]); i++)
                if (narrowing[i] == instruction->mnemonic)
                        snprintf(name, 16, "%s%s", bare,
                                 instruction->avx.vector_length == 128   ? "x"
                                 : instruction->avx.vector_length == 256 ? "y"
                                                                         : "");
        for (size_t i = 0; i < sizeof(sized) / sizeof(sized[0]); i++)
                if (sized[i] == instruction->mnemonic)
                        snprintf(name, 16, "%s%c", bare, size_letter(memory->size));
}

/* st(i) is the destination of instructions with these opcode bytes. */
static void swapped_name(const ZydisDecodedInstruction *instruction, char name[16])
{
        if ((instruction->opcode != 0xdc && instruction->opcode != 0xde) ||
            instruction->raw.modrm.mod != 3)
                return;
        for (size_t i = 0; i < sizeof(swapped) / sizeof(swapped[0]); i++)
                if (swapped[i].mnemonic == instruction->mnemonic)
                        snprintf(name, 16, "%s", swapped[i].name);
}

/* Implied operands of string instructions. Fields: the name, and the operands from left
 * to right. 'a' is the accumulator; 's' and 'd' are memory at rsi (rbx for xlat) and
 * rdi. */
static const struct string_instruction {
        ZydisMnemonic mnemonic;
        const char *name;
        char operands[3];
} string_instructions[] = {
    {ZYDIS_MNEMONIC_MOVSB, "movsb", "sd"}, {ZYDIS_MNEMONIC_MOVSW, "movsw", "sd"},
    {ZYDIS_MNEMONIC_MOVSD, "movsl", "sd"}, {ZYDIS_MNEMONIC_MOVSQ, "movsq", "sd"},
    {ZYDIS_MNEMONIC_CMPSB, "cmpsb", "ds"}, {ZYDIS_MNEMONIC_CMPSW, "cmpsw", "ds"},
    {ZYDIS_MNEMONIC_CMPSD, "cmpsl", "ds"}, {ZYDIS_MNEMONIC_CMPSQ, "cmpsq", "ds"},
    {ZYDIS_MNEMONIC_STOSB, "stos", "ad"},  {ZYDIS_MNEMONIC_STOSW, "stos", "ad"},
    {ZYDIS_MNEMONIC_STOSD, "stos", "ad"},  {ZYDIS_MNEMONIC_STOSQ, "stos", "ad"},
    {ZYDIS_MNEMONIC_LODSB, "lods", "sa"},  {ZYDIS_MNEMONIC_LODSW, "lods", "sa"},
    {ZYDIS_MNEMONIC_LODSD, "lods", "sa"},  {ZYDIS_MNEMONIC_LODSQ, "lods", "sa"},
    {ZYDIS_MNEMONIC_SCASB, "scas", "da"},  {ZYDIS_MNEMONIC_SCASW, "scas", "da"},
    {ZYDIS_MNEMONIC_SCASD, "scas", "da"},  {ZYDIS_MNEMONIC_SCASQ, "scas", "da"},
    {ZYDIS_MNEMONIC_XLAT, "xlat", "s"}};

/* Vector instructions share the mnemonics movsd and cmpsd. */
static const struct string_instruction *
string_instruction(const ZydisDecodedInstruction *instruction)
{
        if (instruction->meta.category != ZYDIS_CATEGORY_STRINGOP &&
            instruction->mnemonic != ZYDIS_MNEMONIC_XLAT)
                return NULL;
        for (size_t i = 0;
             i < sizeof(string_instructions) / sizeof(string_instructions[0]); i++)
                if (string_instructions[i].mnemonic == instruction->mnemonic)
                        return &string_instructions[i];
        return NULL;
}

static bool is_kind(const ZydisDecodedOperand *operand, char kind)
{
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
                return kind == (operand->mem.base == ZYDIS_REGISTER_RDI ||
                                        operand->mem.base == ZYDIS_REGISTER_EDI
                                    ? 'd'
                                    : 's');
        return kind == 'a' && operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
               ZydisRegisterGetId(operand->reg.value) == 0 &&
               ZydisRegisterGetClass(operand->reg.value) != ZYDIS_REGCLASS_FLAGS;
}

void att_string_operands(const ZydisDecodedInstruction *instruction,
                         const ZydisDecodedOperand *operands, char *text, size_t bytes)
{
        const struct string_instruction *string = string_instruction(instruction);
        size_t at = 0;
        *text = '\0';
        for (const char *kind = string ? string->operands : ""; *kind; kind++) {
                const ZydisDecodedOperand *operand = operands;
                const ZydisDecodedOperand *end = operands + instruction->operand_count;
                while (operand < end && !is_kind(operand, *kind))
                        operand++;
                if (operand == end)
                        continue;
                const char *comma = at ? "," : "";
                if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
                        at +=
                            (size_t)snprintf(text + at, bytes - at, "%s%%%s", comma,
                                             ZydisRegisterGetString(operand->reg.value));
                else
                        at += (size_t)snprintf(
                            text + at, bytes - at, "%s%%%s:(%%%s)", comma,
                            ZydisRegisterGetString(operand->mem.segment),
                            ZydisRegisterGetString(operand->mem.base));
        }
}

void att_name(const ZydisDecodedInstruction *instruction,
              const ZydisDecodedOperand *operands, char name[16])
{
        *name = '\0';
        switch (instruction->mnemonic) {
        case ZYDIS_MNEMONIC_MOVZX:
        case ZYDIS_MNEMONIC_MOVSX:
        case ZYDIS_MNEMONIC_MOVSXD:
                snprintf(name, 16, "mov%c%c%c",
                         instruction->mnemonic == ZYDIS_MNEMONIC_MOVZX ? 'z' : 's',
                         size_letter(operands[1].size), size_letter(operands[0].size));
                return;
        default:
                break;
        }
        sized_name(instruction, operands, name);
        swapped_name(instruction, name);
        const struct string_instruction *string = string_instruction(instruction);
        if (string)
                snprintf(name, 16, "%s", string->name);
        for (size_t i = 0; i < sizeof(att_names) / sizeof(att_names[0]); i++)
                if (att_names[i].mnemonic == instruction->mnemonic)
                        snprintf(name, 16, "%s", att_names[i].name);
}
