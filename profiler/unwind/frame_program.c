/* SPDX-License-Identifier: MIT */
/* Two tables list operands: one for call frame instructions, one for the operations in
 * their expressions. Unlisted opcodes are refused. */
#include "frame_program.h"

#include <dwarf.h>
#include <string.h>

#include "frame_entry.h"

/* Operands, at most three, in encoding order. */
enum operand { NONE, BYTE, HALF, WORD, LONG, ULEB, SLEB, REGISTER, EXPRESSION };
struct operands {
        bool known;
        uint8_t kinds[2]; /* enum operand */
};

#define OPERANDS(...)                                                                    \
        {                                                                                \
                true,                                                                    \
                {                                                                        \
                        __VA_ARGS__                                                      \
                }                                                                        \
        }

static const struct operands instructions[] = {
    [DW_CFA_nop] = OPERANDS(NONE),
    [DW_CFA_advance_loc1] = OPERANDS(BYTE),
    [DW_CFA_advance_loc2] = OPERANDS(HALF),
    [DW_CFA_advance_loc4] = OPERANDS(WORD),
    [DW_CFA_offset_extended] = OPERANDS(REGISTER, ULEB),
    [DW_CFA_restore_extended] = OPERANDS(REGISTER),
    [DW_CFA_undefined] = OPERANDS(REGISTER),
    [DW_CFA_same_value] = OPERANDS(REGISTER),
    [DW_CFA_register] = OPERANDS(REGISTER, REGISTER),
    [DW_CFA_remember_state] = OPERANDS(NONE),
    [DW_CFA_restore_state] = OPERANDS(NONE),
    [DW_CFA_def_cfa] = OPERANDS(REGISTER, ULEB),
    [DW_CFA_def_cfa_register] = OPERANDS(REGISTER),
    [DW_CFA_def_cfa_offset] = OPERANDS(ULEB),
    [DW_CFA_def_cfa_expression] = OPERANDS(EXPRESSION),
    [DW_CFA_expression] = OPERANDS(REGISTER, EXPRESSION),
    [DW_CFA_offset_extended_sf] = OPERANDS(REGISTER, SLEB),
    [DW_CFA_def_cfa_sf] = OPERANDS(REGISTER, SLEB),
    [DW_CFA_def_cfa_offset_sf] = OPERANDS(SLEB),
    [DW_CFA_val_expression] = OPERANDS(REGISTER, EXPRESSION),
    [DW_CFA_GNU_args_size] = OPERANDS(ULEB),
    [DW_CFA_GNU_negative_offset_extended] = OPERANDS(REGISTER, ULEB),
};

static const struct operands operations[] = {
    [DW_OP_deref] = OPERANDS(NONE),      [DW_OP_const1u] = OPERANDS(BYTE),
    [DW_OP_const1s] = OPERANDS(BYTE),    [DW_OP_const2u] = OPERANDS(HALF),
    [DW_OP_const2s] = OPERANDS(HALF),    [DW_OP_const4u] = OPERANDS(WORD),
    [DW_OP_const4s] = OPERANDS(WORD),    [DW_OP_const8u] = OPERANDS(LONG),
    [DW_OP_const8s] = OPERANDS(LONG),    [DW_OP_constu] = OPERANDS(ULEB),
    [DW_OP_consts] = OPERANDS(SLEB),     [DW_OP_dup] = OPERANDS(NONE),
    [DW_OP_drop] = OPERANDS(NONE),       [DW_OP_over] = OPERANDS(NONE),
    [DW_OP_pick] = OPERANDS(BYTE),       [DW_OP_swap] = OPERANDS(NONE),
    [DW_OP_rot] = OPERANDS(NONE),        [DW_OP_abs] = OPERANDS(NONE),
    [DW_OP_and] = OPERANDS(NONE),        [DW_OP_minus] = OPERANDS(NONE),
    [DW_OP_mul] = OPERANDS(NONE),        [DW_OP_neg] = OPERANDS(NONE),
    [DW_OP_not] = OPERANDS(NONE),        [DW_OP_or] = OPERANDS(NONE),
    [DW_OP_plus] = OPERANDS(NONE),       [DW_OP_plus_uconst] = OPERANDS(ULEB),
    [DW_OP_shl] = OPERANDS(NONE),        [DW_OP_shr] = OPERANDS(NONE),
    [DW_OP_shra] = OPERANDS(NONE),       [DW_OP_xor] = OPERANDS(NONE),
    [DW_OP_eq] = OPERANDS(NONE),         [DW_OP_ge] = OPERANDS(NONE),
    [DW_OP_gt] = OPERANDS(NONE),         [DW_OP_le] = OPERANDS(NONE),
    [DW_OP_lt] = OPERANDS(NONE),         [DW_OP_ne] = OPERANDS(NONE),
    [DW_OP_deref_size] = OPERANDS(BYTE), [DW_OP_nop] = OPERANDS(NONE),
};

static struct operands operands_of_operation(uint8_t operation)
{
        if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31)
                return (struct operands)OPERANDS(NONE);
        if (operation >= DW_OP_breg0 && operation <= DW_OP_breg0 + FRAME_RETURN_REGISTER)
                return (struct operands)OPERANDS(SLEB);
        if (operation < sizeof(operations) / sizeof(*operations))
                return operations[operation];
        return (struct operands){false, {NONE}};
}

static struct operands operands_of_instruction(uint8_t instruction)
{
        uint8_t operation = instruction & 0xc0;
        if (operation == DW_CFA_advance_loc || operation == DW_CFA_restore)
                return (struct operands)OPERANDS(NONE);
        if (operation == DW_CFA_offset)
                return (struct operands)OPERANDS(ULEB);
        if (instruction < sizeof(instructions) / sizeof(*instructions))
                return instructions[instruction];
        return (struct operands){false, {NONE}};
}

static void skip_number(struct frame_bytes *bytes, enum operand kind)
{
        static const uint8_t sizes[] = {[BYTE] = 1, [HALF] = 2, [WORD] = 4, [LONG] = 8};
        if (kind == ULEB || kind == SLEB)
                (void)frame_uleb(bytes);
        else if (kind < sizeof(sizes))
                frame_skip(bytes, sizes[kind]);
}

static bool expression_is_sound(struct frame_bytes bytes)
{
        while (bytes.at < bytes.end) {
                struct operands operands =
                    operands_of_operation((uint8_t)frame_fixed(&bytes, 1));
                if (!operands.known)
                        return false;
                skip_number(&bytes, operands.kinds[0]);
        }
        return !bytes.overrun;
}

static bool skip_expression(struct frame_bytes *bytes)
{
        uint64_t length = frame_uleb(bytes);
        struct frame_bytes expression = *bytes;
        frame_skip(bytes, length);
        if (bytes->overrun)
                return false;
        expression.end = bytes->at;
        return expression_is_sound(expression);
}

/* Skips the instruction at BYTES. *IS_OURS: it affects only general registers and the
 * return address. */
static bool skip_instruction(struct frame_bytes *bytes, bool *is_ours)
{
        uint8_t instruction = (uint8_t)frame_fixed(bytes, 1);
        struct operands operands = operands_of_instruction(instruction);
        uint8_t operation = instruction & 0xc0;
        *is_ours = (operation != DW_CFA_offset && operation != DW_CFA_restore) ||
                   (instruction & 0x3f) <= FRAME_RETURN_REGISTER;
        bool sound = operands.known;
        for (size_t i = 0; sound && i < 2; i++) {
                if (operands.kinds[i] == REGISTER)
                        *is_ours &= frame_uleb(bytes) <= FRAME_RETURN_REGISTER;
                else if (operands.kinds[i] == EXPRESSION)
                        sound = skip_expression(bytes);
                else
                        skip_number(bytes, operands.kinds[i]);
        }
        /* The frame's own address cannot do without its register. */
        bool is_cfa = instruction == DW_CFA_def_cfa || instruction == DW_CFA_def_cfa_sf ||
                      instruction == DW_CFA_def_cfa_register;
        return sound && !bytes->overrun && (*is_ours || !is_cfa);
}

bool frame_program_copy(const uint8_t *start, const uint8_t *end, uint8_t *copy,
                        size_t *copied)
{
        struct frame_bytes bytes = {start, end, false};
        *copied = 0;
        while (bytes.at < bytes.end) {
                const uint8_t *instruction = bytes.at;
                bool is_ours;
                if (!skip_instruction(&bytes, &is_ours))
                        return false;
                if (!is_ours)
                        continue;
                memcpy(copy + *copied, instruction, (size_t)(bytes.at - instruction));
                *copied += (size_t)(bytes.at - instruction);
        }
        return true;
}
