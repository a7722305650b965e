/* SPDX-License-Identifier: MIT */
/* Formats instructions with Zydis. Zydis prints Intel's first mnemonics; this file
 * replaces them by the mnemonics of binutils and perf. */
#include "disassembly.h"

#include <Zycore/Format.h>
#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "att_syntax.h"

/* Conditions at the end of j..., cmov... and set... */
static const struct {
        const char *zydis, *binutils;
} conditions[] = {{"z", "e"},   {"nz", "ne"}, {"nb", "ae"}, {"nbe", "a"},
                  {"nl", "ge"}, {"nle", "g"}, {"np", "np"}};

static bool has_vector_register(const ZydisDecodedInstruction *instruction,
                                const ZydisDecodedOperand *operands)
{
        for (size_t i = 0; i < instruction->operand_count_visible; i++) {
                if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
                        continue;
                ZydisRegisterClass kind = ZydisRegisterGetClass(operands[i].reg.value);
                if (kind == ZYDIS_REGCLASS_XMM || kind == ZYDIS_REGCLASS_YMM ||
                    kind == ZYDIS_REGCLASS_ZMM)
                        return true;
        }
        return false;
}

/* Removes Zydis's width letter from names of vector instructions: their registers show
 * the width. att_name adds the width of converted integers. */
static void drop_width(const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operands, char *mnemonic)
{
        const char *bare = ZydisMnemonicGetString(instruction->mnemonic);
        size_t length = bare ? strlen(bare) : 0;
        if (length && strncmp(mnemonic, bare, length) == 0 && mnemonic[length] &&
            !mnemonic[length + 1] && has_vector_register(instruction, operands))
                mnemonic[length] = '\0';
}

/* Does the same for conditions, in both syntaxes. MNEMONIC is Zydis's name. */
static void condition_name(const char *mnemonic, size_t length, char name[16])
{
        static const char *const families[] = {"cmov", "set", "j"};
        for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
                size_t stem = strlen(families[f]);
                if (length <= stem || strncmp(mnemonic, families[f], stem) != 0)
                        continue;
                for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
                        if (strlen(conditions[i].zydis) == length - stem &&
                            strncmp(mnemonic + stem, conditions[i].zydis,
                                    length - stem) == 0)
                                snprintf(name, 16, "%s%s", families[f],
                                         conditions[i].binutils);
        }
}

/* Prints registers of the x87 stack as "st(i)", and its top as "st" for an implied
 * operand. USER_DATA of CONTEXT: Zydis's function. */
static ZyanStatus print_register(const ZydisFormatter *formatter,
                                 ZydisFormatterBuffer *buffer,
                                 ZydisFormatterContext *context, ZydisRegister number)
{
        ZydisFormatterRegisterFunc original =
            *(const ZydisFormatterRegisterFunc *)context->user_data;
        if (ZydisRegisterGetClass(number) != ZYDIS_REGCLASS_X87)
                return original(formatter, buffer, context, number);
        ZyanString *string;
        ZyanStatus status = ZydisFormatterBufferAppend(buffer, ZYDIS_TOKEN_REGISTER);
        if (ZYAN_SUCCESS(status))
                status = ZydisFormatterBufferGetString(buffer, &string);
        if (!ZYAN_SUCCESS(status))
                return status;
        const char *percent = formatter->style == ZYDIS_FORMATTER_STYLE_ATT ? "%" : "";
        return context->operand->encoding == ZYDIS_OPERAND_ENCODING_NONE
                   ? ZyanStringAppendFormat(string, "%sst", percent)
                   : ZyanStringAppendFormat(string, "%sst(%d)", percent,
                                            ZydisRegisterGetId(number));
}

/* *REGISTERS is for print_register. */
static void prepare(ZydisFormatter *formatter, enum disassembly_style style,
                    ZydisFormatterRegisterFunc *registers)
{
        static const struct {
                ZydisFormatterProperty property;
                ZyanUPointer value;
        } properties[] = {
            {ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE},
            {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED},
            {ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED},
            {ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED},
            {ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED},
            {ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS, ZYDIS_SIGNEDNESS_UNSIGNED},
            {ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE}};
        ZydisFormatterInit(formatter, style == DISASSEMBLY_INTEL
                                          ? ZYDIS_FORMATTER_STYLE_INTEL
                                          : ZYDIS_FORMATTER_STYLE_ATT);
        for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
                ZydisFormatterSetProperty(formatter, properties[i].property,
                                          properties[i].value);
        if (style == DISASSEMBLY_INTEL)
                ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE,
                                          ZYAN_TRUE);
        const void *callback = (const void *)&print_register;
        ZydisFormatterSetHook(formatter, ZYDIS_FORMATTER_FUNC_PRINT_REGISTER, &callback);
        memcpy(registers, &callback, sizeof(callback));
}

/* Returns the prefix of a branch target: in AT&T's syntax "*" for an indirect target.
 * Removes the "0x" of a direct target. */
static const char *branch_operand(const ZydisDecodedInstruction *instruction,
                                  const ZydisDecodedOperand *operand,
                                  enum disassembly_style style, const char **text)
{
        bool branch = instruction->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
                      instruction->meta.category == ZYDIS_CATEGORY_COND_BR ||
                      instruction->meta.category == ZYDIS_CATEGORY_CALL;
        if (!branch || instruction->operand_count_visible != 1)
                return "";
        if (operand->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
                return style == DISASSEMBLY_ATT ? "*" : "";
        if (strncmp(*text, "0x", 2) == 0)
                *text += 2;
        return "";
}

/* Aligns the operands in a column. Removes blanks after commas and before braces. */
static void lay_out(const char *name, const char *star, const char *operands, char *text)
{
        size_t at = (size_t)snprintf(text, DISASSEMBLY_TEXT_BYTES,
                                     *operands ? "%-6s %s" : "%s", name, star);
        for (; *operands && at + 1 < DISASSEMBLY_TEXT_BYTES; operands++)
                if (*operands != ' ' || (operands[-1] != ',' && operands[1] != '{'))
                        text[at++] = *operands;
        text[at] = '\0';
}

/* Where the mnemonic begins in TEXT, after prefixes. */
static size_t mnemonic_offset(const char *text)
{
        static const char *const prefixes[] = {"lock ",     "rep ",    "repe ",
                                               "repne ",    "bnd ",    "xacquire ",
                                               "xrelease ", "notrack "};
        size_t offset = 0, i = 0;
        while (i < sizeof(prefixes) / sizeof(prefixes[0])) {
                size_t length = strlen(prefixes[i]);
                bool is_there = strncmp(text + offset, prefixes[i], length) == 0;
                offset += is_there ? length : 0;
                i = is_there ? 0 : i + 1; /* others may follow, in any order */
        }
        return offset;
}

/* An immediate of 64 bits, or an address of as many. */
static bool is_long_move(const ZydisDecodedInstruction *instruction)
{
        return instruction->mnemonic == ZYDIS_MNEMONIC_MOV &&
               (instruction->raw.imm[0].size == 64 ||
                (instruction->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
                 instruction->opcode >= 0xa0 && instruction->opcode <= 0xa3));
}

/* Replaces Zydis's name of INSTRUCTION, which TEXT is, by binutils'. */
static void rename_mnemonic(const ZydisDecodedInstruction *instruction,
                            const ZydisDecodedOperand *operands,
                            enum disassembly_style style, char *text, size_t bytes)
{
        char name[16] = "";
        if (style == DISASSEMBLY_ATT) {
                drop_width(instruction, operands, text);
                att_name(instruction, operands, name);
        }
        if (is_long_move(instruction))
                snprintf(name, sizeof(name), "movabs");
        condition_name(text, strlen(text), name);
        if (*name)
                snprintf(text, bytes, "%s", name);
}

/* Adds a displacement of 0 to OPERANDS if it is encoded. */
static void add_zero(const ZydisDecodedInstruction *instruction,
                     enum disassembly_style style, char *operands, size_t bytes)
{
        size_t at = strcspn(operands, style == DISASSEMBLY_ATT ? "(" : "]");
        const char *zero = style == DISASSEMBLY_ATT ? "0x0" : "+0x0";
        size_t length = strlen(operands), added = strlen(zero);
        if (!instruction->raw.disp.size || instruction->raw.disp.value || !operands[at] ||
            length + added >= bytes)
                return;
        memmove(operands + at + added, operands + at, length + 1 - at);
        memcpy(operands + at, zero, added);
}

size_t disassembly_text(const uint8_t *code, size_t length, uint64_t address,
                        enum disassembly_style style, char text[DISASSEMBLY_TEXT_BYTES])
{
        ZydisDecoder decoder;
        ZydisDecodedInstruction instruction;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        ZydisFormatter formatter;
        ZydisFormatterRegisterFunc registers;
        char formatted[DISASSEMBLY_TEXT_BYTES / 2], name[DISASSEMBLY_TEXT_BYTES / 2];
        char hidden[DISASSEMBLY_TEXT_BYTES / 2] = "";
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        prepare(&formatter, style, &registers);
        if (!ZYAN_SUCCESS(
                ZydisDecoderDecodeFull(&decoder, code, length, &instruction, operands)))
                return 0;
        if (instruction.mnemonic == ZYDIS_MNEMONIC_NOP)
                instruction.operand_count_visible = /* without the register */
                    instruction.operand_count_visible > 0;
        if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
                &formatter, &instruction, operands, instruction.operand_count_visible,
                formatted, sizeof(formatted), address, &registers)))
                return 0;
        add_zero(&instruction, style, formatted, sizeof(formatted));
        size_t mnemonic = mnemonic_offset(formatted);
        size_t end = mnemonic + strcspn(formatted + mnemonic, " ");
        memcpy(name, formatted, end);
        name[end] = '\0';
        rename_mnemonic(&instruction, operands, style, name + mnemonic,
                        sizeof(name) - mnemonic);
        const char *at = formatted + end + (formatted[end] == ' ');
        if (style == DISASSEMBLY_ATT)
                att_string_operands(&instruction, operands, hidden, sizeof(hidden));
        if (*hidden)
                at = hidden;
        const char *star = branch_operand(&instruction, operands, style, &at);
        lay_out(name, star, at, text);
        return instruction.length;
}

const char *disassembly_extension(const uint8_t *code, size_t length,
                                  char mnemonic[DISASSEMBLY_TEXT_BYTES])
{
        ZydisDecoder decoder;
        ZydisDecodedInstruction instruction;
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, length,
                                                        &instruction)))
                return NULL;
        snprintf(mnemonic, DISASSEMBLY_TEXT_BYTES, "%s",
                 ZydisMnemonicGetString(instruction.mnemonic));
        return ZydisISASetGetString(instruction.meta.isa_set);
}
