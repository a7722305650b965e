/* SPDX-License-Identifier: MIT */
/* Follows the number through copies in registers, up to the next branch. The first use
 * decides: floating-point arithmetic, a conversion or comparison of integers, or an
 * address. Programs do other integer operations with the bits of floating point, too. */
#include "number_use.h"

#include "instruction_values.h"

enum { STEPS_LIMIT = 32, POINTER_BYTES = 8 };

/* The location of the number. */
struct held {
        uint32_t bytes;
        bool in_memory; /* the instruction's memory operand reads it */
        uint64_t registers;
};

#define EITHER(name)           ZYDIS_MNEMONIC_##name, ZYDIS_MNEMONIC_V##name
#define SCALAR(name)           EITHER(name##SD), EITHER(name##SS)
#define ALL(name)              SCALAR(name), EITHER(name##PD), EITHER(name##PS)
#define LISTED(list, mnemonic) is_listed(list, sizeof(list) / sizeof(*(list)), mnemonic)

static bool is_listed(const ZydisMnemonic *list, size_t count, ZydisMnemonic mnemonic)
{
        for (size_t i = 0; i < count; i++)
                if (list[i] == mnemonic)
                        return true;
        return false;
}

/* ---- operands ---- */

static bool reads(const struct held *held, const ZydisDecodedOperand *operand)
{
        if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ))
                return false;
        switch (operand->type) {
        case ZYDIS_OPERAND_TYPE_REGISTER:
                return held->registers & instruction_value(operand->reg.value);
        case ZYDIS_OPERAND_TYPE_MEMORY:
                return held->in_memory && operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN;
        default:
                return false;
        }
}

/* The first operand of DECODED that reads the number; NULL: none does. */
static const ZydisDecodedOperand *reader(const struct held *held,
                                         const struct decoded *decoded)
{
        for (size_t i = 0; i < decoded->instruction.operand_count; i++)
                if (reads(held, &decoded->operands[i]))
                        return &decoded->operands[i];
        return NULL;
}

/* ---- evidence of an instruction ---- */

/* Whether it does floating-point arithmetic, not a move, shuffle or bit operation. */
static bool is_real(const struct decoded *decoded)
{
        static const ZydisMnemonic counting[] = {
            ALL(ADD),          ALL(SUB),         ALL(MUL),         ALL(DIV),
            ALL(MIN),          ALL(MAX),         ALL(SQRT),        ALL(CMP),
            SCALAR(COMI),      SCALAR(UCOMI),    ALL(ROUND),       EITHER(CVTSD2SS),
            EITHER(CVTSS2SD),  EITHER(CVTSD2SI), EITHER(CVTSS2SI), EITHER(CVTTSD2SI),
            EITHER(CVTTSS2SI), EITHER(CVTPS2PD), EITHER(CVTPD2PS)};

        switch (decoded->instruction.meta.category) {
        case ZYDIS_CATEGORY_VFMA:
                return true;
        case ZYDIS_CATEGORY_X87_ALU:
                return decoded->instruction.mnemonic != ZYDIS_MNEMONIC_FILD;
        default:
                return LISTED(counting, decoded->instruction.mnemonic);
        }
}

/* Notes that DECODED computes with one floating-point number or several. If several
 * operands read it, the surest decides. */
static void take_real(const struct decoded *decoded, const struct held *held,
                      struct type_access *access)
{
        access->perhaps_float = false;
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];
                uint32_t bytes = operand->element_size / 8U;

                if (!reads(held, operand) || bytes == 0 || bytes > access->bytes)
                        continue;
                if (access->vector)
                        access->item_bytes = bytes;
                if (access->number != NUMBER_FLOAT)
                        access->number = bytes == access->bytes && !access->vector
                                             ? NUMBER_FLOAT
                                             : NUMBER_FLOATS;
        }
}

/* A floating-point number as an address would be outside of any memory. */
static bool is_address(const struct decoded *decoded, const struct held *held)
{
        /* The index vector of a gather contains several numbers, not one. */
        const uint64_t general = held->registers & ((UINT64_C(1) << VALUE_VECTORS) - 1);

        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];

                if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
                    general & (instruction_value(operand->mem.base) |
                               instruction_value(operand->mem.index)))
                        return held->bytes == POINTER_BYTES &&
                               operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN;
        }
        return false;
}

/* Whether the instruction behind AT asks which of two compared numbers is less. Any bits
 * may be equal. */
static bool orders(const struct flow_code *code, size_t at)
{
        struct decoded next;

        return at + 1 < code->step_count && flow_code_follows(code, at + 1) &&
               decoded_read(&next, code, &code->steps[at + 1]) &&
               next.instruction.cpu_flags &&
               next.instruction.cpu_flags->tested &
                   (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF);
}

/* Notes if instruction AT compares or converts the whole integer in OPERAND. Programs do
 * that with parts of floating point, too. */
static void take_integer(const struct flow_code *code, size_t at,
                         const struct decoded *decoded,
                         const ZydisDecodedOperand *operand, const struct held *held,
                         struct type_access *access)
{
        static const ZydisMnemonic single[] = {
            EITHER(CVTSI2SD),          EITHER(CVTSI2SS),    ZYDIS_MNEMONIC_VCVTUSI2SD,
            ZYDIS_MNEMONIC_VCVTUSI2SS, ZYDIS_MNEMONIC_FILD, ZYDIS_MNEMONIC_MOVSXD};
        static const ZydisMnemonic words[] = {EITHER(CVTDQ2PD), EITHER(CVTDQ2PS)};
        static const ZydisMnemonic bytes[] = {
            EITHER(PADDB),     EITHER(PSADBW),    EITHER(PCMPGTB),  EITHER(PUNPCKLBW),
            EITHER(PUNPCKHBW), EITHER(PMADDUBSW), EITHER(PMOVSXBW), EITHER(PMOVZXBW),
            EITHER(PMOVSXBD),  EITHER(PMOVZXBD),  EITHER(PMOVSXBQ), EITHER(PMOVZXBQ)};
        ZydisMnemonic mnemonic = decoded->instruction.mnemonic;

        if (access->vector)
                access->item_bytes = LISTED(words, mnemonic)   ? sizeof(uint32_t)
                                     : LISTED(bytes, mnemonic) ? 1
                                                               : 0;
        if (access->vector ? access->item_bytes == 0
                           : operand->size < held->bytes * 8 ||
                                 !(LISTED(single, mnemonic) ||
                                   (mnemonic == ZYDIS_MNEMONIC_CMP && held->bytes > 2 &&
                                    orders(code, at))))
                return;
        access->number = NUMBER_INTEGER;
        access->perhaps_float = true;
}

/* ---- copies ---- */

/* Whether it takes one half of a vector. */
static bool halves(ZydisMnemonic mnemonic)
{
        return mnemonic == ZYDIS_MNEMONIC_VEXTRACTF128 ||
               mnemonic == ZYDIS_MNEMONIC_VEXTRACTI128;
}

/* Whether DECODED copies the number. A changed sign of a floating-point number counts as
 * a copy, too. */
static bool copies(const struct decoded *decoded)
{
        static const ZydisMnemonic moves[] = {
            ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_MOVZX, EITHER(MOVD),   EITHER(ANDPS),
            EITHER(ANDPD),      EITHER(XORPS),        EITHER(XORPD),  EITHER(MOVQ),
            EITHER(MOVAPS),     EITHER(MOVAPD),       EITHER(MOVUPS), EITHER(MOVUPD),
            EITHER(MOVDQA),     EITHER(LDDQU),        EITHER(MOVDQU), EITHER(MOVSD),
            EITHER(MOVSS)};

        return decoded->instruction.meta.category == ZYDIS_CATEGORY_CMOV ||
               halves(decoded->instruction.mnemonic) ||
               (LISTED(moves, decoded->instruction.mnemonic) &&
                !decoded_reads_twice(decoded));
}

/* Applies the copy and the overwrites of DECODED to the registers that hold the number.
 * FROM is the operand that reads it. A number copied between a general register and a
 * vector register counts as another kind. */
static void copy(const struct flow_step *step, const struct decoded *decoded,
                 const ZydisDecodedOperand *from, struct held *held)
{
        const ZydisDecodedOperand *to = &decoded->operands[0];
        uint64_t overwritten = step->instruction.written, target = 0;

        for (size_t i = 0; i < decoded->instruction.operand_count; i++)
                if (decoded->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    decoded->operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
                        overwritten |= instruction_value(decoded->operands[i].reg.value);
        held->registers &= ~overwritten;
        if (!from || to->type != ZYDIS_OPERAND_TYPE_REGISTER ||
            (to->size < held->bytes * 8 && !halves(decoded->instruction.mnemonic)))
                return;
        target = instruction_value(to->reg.value);
        if (from->type == ZYDIS_OPERAND_TYPE_MEMORY ||
            !(instruction_value(from->reg.value) >> VALUE_VECTORS) ==
                !(target >> VALUE_VECTORS))
                held->registers |= target;
}

/* ---- following instructions ---- */

/* Continues over step number AT, which does not jump. False: it uses the number, or
 * overwrites the last copy. */
static bool pass(const struct flow_code *code, size_t at, struct held *held,
                 struct type_access *access)
{
        const struct flow_step *step = &code->steps[at];
        struct decoded decoded;

        if (step->instruction.operation == OPERATION_NOTHING)
                return true;
        if (!decoded_read(&decoded, code, step))
                return false;
        const ZydisDecodedOperand *from = reader(held, &decoded);

        if (is_address(&decoded, held)) {
                access->number = NUMBER_INTEGER;
                return false;
        }
        if (from && !copies(&decoded)) {
                if (is_real(&decoded))
                        take_real(&decoded, held, access);
                else
                        take_integer(code, at, &decoded, from, held, access);
                return false;
        }
        copy(step, &decoded, from, held);
        held->in_memory = false;
        return held->registers != 0;
}

void number_use(const struct flow_code *code, size_t step, struct type_access *access)
{
        struct held held = {.bytes = access->bytes, .in_memory = true};

        for (int i = 0; i < STEPS_LIMIT && step < code->step_count; i++) {
                switch (code->steps[step].instruction.operation) {
                case OPERATION_CALL:
                case OPERATION_END:
                case OPERATION_BRANCH:
                case OPERATION_JUMP_INDIRECT:
                        return;
                case OPERATION_JUMP:
                        break;
                default:
                        if (!pass(code, step, &held, access))
                                return;
                }
                step = flow_code_next(code, step);
        }
}
