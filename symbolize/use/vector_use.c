/* SPDX-License-Identifier: MIT */
/* Moves and shuffles are the same for all kinds of numbers; only arithmetic tells the
 * kind. It is looked for straight on, as loops run. */
#include "vector_use.h"

#include "decoded.h"
#include "number_shown.h"

enum { STEPS_LIMIT = 32 };

#define BOTH(name)                                                                       \
        case ZYDIS_MNEMONIC_##name:                                                      \
        case ZYDIS_MNEMONIC_V##name

static bool has_integers(const ZydisDecodedOperand *operand)
{
        return operand->element_type == ZYDIS_ELEMENT_TYPE_INT ||
               operand->element_type == ZYDIS_ELEMENT_TYPE_UINT;
}

/* The bytes of each of the integers in OPERAND that MNEMONIC counts with; 0: it does not.
 */
static uint32_t integer_bytes(ZydisMnemonic mnemonic, const ZydisDecodedOperand *operand)
{
        if (number_is_converted(mnemonic))
                return has_integers(operand) ? operand->element_size / 8U : 0;
        switch (mnemonic) {
                BOTH(PADDQ) : BOTH(PSUBQ) : return 8;
                BOTH(PADDD)
                    : BOTH(PSUBD)
                    : BOTH(PMULLD)
                    : BOTH(PMAXSD)
                    : BOTH(PMINSD)
                    : BOTH(PMAXUD)
                    : BOTH(PMINUD) : BOTH(PMOVSXDQ) : BOTH(PMOVZXDQ) : return 4;
                BOTH(PMOVSXWD)
                    : BOTH(PMOVSXWQ)
                    : BOTH(PMOVZXWD)
                    : BOTH(PMOVZXWQ) : BOTH(PMADDWD) : BOTH(PMULLW) : return 2;
                /* Without comparisons for equality: these fit any memory. */
                BOTH(PADDB)
                    : BOTH(PSUBB)
                    : BOTH(PADDUSB)
                    : BOTH(PSUBUSB)
                    : BOTH(PAVGB)
                    : BOTH(PMAXUB)
                    : BOTH(PMINUB)
                    : BOTH(PMAXSB)
                    : BOTH(PMINSB)
                    : BOTH(PCMPGTB)
                    : BOTH(PSADBW)
                    : BOTH(PMADDUBSW)
                    : BOTH(PUNPCKLBW)
                    : BOTH(PUNPCKHBW)
                    : BOTH(PMOVSXBW)
                    : BOTH(PMOVSXBD)
                    : BOTH(PMOVSXBQ)
                    : BOTH(PMOVZXBW) : BOTH(PMOVZXBD) : BOTH(PMOVZXBQ) : return 1;
        default:
                return 0;
        }
}

/* Takes what DECODED counts with in OPERAND. */
static bool take(const struct decoded *decoded, const ZydisDecodedOperand *operand,
                 struct type_access *access)
{
        ZydisMnemonic mnemonic = decoded->instruction.mnemonic;
        uint32_t bytes = integer_bytes(mnemonic, operand);

        if (bytes > 0) {
                access->number = NUMBER_LOW;
                access->item_bytes = bytes;
                access->perhaps_float = true;
                return true;
        }
        if (!number_is_real(decoded) || operand->element_size == 0)
                return false;
        access->number = NUMBER_FLOATS;
        access->perhaps_float = false;
        access->item_bytes = operand->element_size / 8;
        return true;
}

static bool moves(ZydisMnemonic mnemonic)
{
        switch (mnemonic) {
        case ZYDIS_MNEMONIC_VEXTRACTF128:
        case ZYDIS_MNEMONIC_VEXTRACTI128:
                return true;
                BOTH(MOVAPS)
                    : BOTH(MOVAPD)
                    : BOTH(MOVUPS)
                    : BOTH(MOVUPD)
                    : BOTH(MOVDQA) : BOTH(MOVDQU) : BOTH(LDDQU) : return true;
        default:
                return false;
        }
}

static bool reads(const ZydisDecodedOperand *operand, uint32_t held)
{
        return (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) &&
               (number_vector_bit(operand) & held);
}

/* Follows what HELD registers have. False: it counts with it, or nothing is known from
 * there on. */
static bool pass(const struct decoded *decoded, uint32_t *held,
                 struct type_access *access)
{
        const ZydisDecodedOperand *operands = decoded->operands;
        uint32_t before = *held;

        for (size_t i = 0; i < decoded->instruction.operand_count; i++)
                if (reads(&operands[i], before) && take(decoded, &operands[i], access))
                        return false;
        for (size_t i = 0; i < decoded->instruction.operand_count; i++)
                if (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
                        *held &= ~number_vector_bit(&operands[i]);
        if (moves(decoded->instruction.mnemonic) && reads(&operands[1], before))
                *held |= number_vector_bit(&operands[0]);
        return *held != 0;
}

void vector_use(const struct flow_code *code, size_t step, struct type_access *access)
{
        struct decoded decoded;
        uint32_t held = 0;

        if (!decoded_read(&decoded, code, &code->steps[step]))
                return;
        for (size_t i = 0; i < decoded.instruction.operand_count; i++)
                if (decoded.operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                    decoded.operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ &&
                    take(&decoded, &decoded.operands[i], access))
                        return;
        if (!moves(decoded.instruction.mnemonic))
                return;
        held = number_vector_bit(&decoded.operands[0]);
        for (size_t i = 1; i < STEPS_LIMIT && held != 0 && step + i < code->step_count;
             i++) {
                const struct flow_step *at = &code->steps[step + i];

                if (!flow_code_follows(code, step + i) ||
                    !decoded_read(&decoded, code, at) || !pass(&decoded, &held, access))
                        return;
                switch (at->instruction.operation) {
                case OPERATION_END:
                case OPERATION_JUMP:
                case OPERATION_JUMP_INDIRECT:
                case OPERATION_CALL:
                        return;
                default:
                        break;
                }
        }
}
