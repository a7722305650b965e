/* SPDX-License-Identifier: MIT */
/* Decides by one instruction; comparisons also by the instruction that uses their flags.
 */
#include "number_shown.h"

enum {
        FLAGS_LIMIT = 8,      /* instructions that flags are looked for in */
        SMALL_BITS = 20,      /* of constants that no bits of floating point are like */
        SMALL_HALF_BITS = 16, /* of 4 bytes */
        FACTOR_BITS = 16,     /* above are the factors of hashes */
        ADDEND_BITS = 24,
        SHIFT_LIMIT = 8, /* larger shifts leave out the exponent */
        SHORT_BYTES = 2  /* no number of floating point has fewer than 4 */
};

static bool is_among(ZydisMnemonic mnemonic, const ZydisMnemonic *list, size_t count)
{
        for (size_t i = 0; i < count; i++)
                if (list[i] == mnemonic)
                        return true;
        return false;
}

#define EITHER(name)   ZYDIS_MNEMONIC_##name, ZYDIS_MNEMONIC_V##name
#define SCALAR(name)   EITHER(name##SD), EITHER(name##SS)
#define ALL(name)      SCALAR(name), EITHER(name##PD), EITHER(name##PS)
#define COUNT_OF(list) (sizeof(list) / sizeof(*(list)))

/* ---- operands ---- */

uint32_t number_vector_bit(const ZydisDecodedOperand *operand)
{
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
                return 0;
        switch (ZydisRegisterGetClass(operand->reg.value)) {
        case ZYDIS_REGCLASS_XMM:
        case ZYDIS_REGCLASS_YMM:
        case ZYDIS_REGCLASS_ZMM:
                return UINT32_C(1) << (ZydisRegisterGetId(operand->reg.value) & 31);
        default:
                return 0;
        }
}

static uint32_t general_bit(ZydisRegister name)
{
        uint8_t number = instruction_register(name);

        return number < REGISTER_COUNT ? UINT32_C(1) << number : 0;
}

static bool same_place(const struct memory_operand *a, const struct memory_operand *b)
{
        return a->base == b->base && a->index == b->index && a->scale == b->scale &&
               a->displacement == b->displacement && a->thread_local == b->thread_local;
}

bool number_in_operand(const struct number_held *held, const struct flow_step *step,
                       const ZydisDecodedOperand *operand)
{
        switch (operand->type) {
        case ZYDIS_OPERAND_TYPE_REGISTER:
                return (held->general & general_bit(operand->reg.value)) ||
                       (held->vector & number_vector_bit(operand));
        case ZYDIS_OPERAND_TYPE_MEMORY:
                return operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN && held->in_memory &&
                       step->instruction.has_memory &&
                       same_place(&held->place, &step->instruction.memory);
        default:
                return false;
        }
}

static bool is_register(const ZydisDecodedOperand *operand)
{
        return operand->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_immediate(const ZydisDecodedOperand *operand)
{
        return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool same_register(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
        return is_register(a) && is_register(b) && a->reg.value == b->reg.value;
}

/* Whether the magnitude of NUMBER is below 2^LIMIT. */
static bool is_small(int64_t number, unsigned limit)
{
        return number < (INT64_C(1) << limit) && number > -(INT64_C(1) << limit);
}

/* ---- floating point ---- */

bool number_is_real(const struct decoded *decoded)
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
                return is_among(decoded->instruction.mnemonic, counting,
                                COUNT_OF(counting));
        }
}

/* OPERAND, which is counted with, is one number or several. */
static enum access_number floating(const ZydisDecodedOperand *operand, uint32_t bytes)
{
        uint32_t element = operand->element_size / 8;

        if (element == bytes)
                return NUMBER_FLOAT;
        return element > 0 && element < bytes ? NUMBER_FLOATS : NUMBER_ANY;
}

/* ---- comparisons ---- */

/* The flags that are asked for behind instruction AT, until they change. */
static ZydisAccessedFlagsMask flags_asked(const struct flow_code *code, size_t at)
{
        ZydisAccessedFlagsMask asked = 0;

        for (int i = 0; i < FLAGS_LIMIT && ++at < code->step_count; i++) {
                const struct flow_step *step = &code->steps[at];
                struct decoded decoded;

                if (!flow_code_follows(code, at) || !decoded_read(&decoded, code, step))
                        break;
                const ZydisAccessedFlags *flags = decoded.instruction.cpu_flags;

                if (flags)
                        asked |= flags->tested;
                if (step->instruction.operation == OPERATION_CALL ||
                    step->instruction.operation == OPERATION_JUMP ||
                    step->instruction.operation == OPERATION_END ||
                    (flags &&
                     (flags->modified | flags->set_0 | flags->set_1 | flags->undefined)))
                        break;
        }
        return asked;
}

/* A comparison with a constant. Programs test the sign of floating point, too, and a mask
 * may leave few bytes. */
static enum access_number compared(const struct flow_code *code, size_t at,
                                   int64_t constant, uint32_t bytes)
{
        ZydisAccessedFlagsMask asked;

        switch (constant) {
        case 0:
                asked = flags_asked(code, at);
                return asked & ZYDIS_CPUFLAG_ZF ? NUMBER_INTEGER : NUMBER_ANY;
        case -1:
                asked = flags_asked(code, at);
                return asked == ZYDIS_CPUFLAG_ZF ? NUMBER_INTEGER : NUMBER_ANY;
        default:
                if (bytes <= SHORT_BYTES)
                        return NUMBER_LOW;
                return is_small(constant, SMALL_BITS) ? NUMBER_INTEGER : NUMBER_ANY;
        }
}

/* A comparison with another number: for equality any bits are. */
static enum access_number compared_with_other(const struct flow_code *code, size_t at)
{
        return flags_asked(code, at) &
                       (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF)
                   ? NUMBER_INTEGER
                   : NUMBER_ANY;
}

/* ---- bits ---- */

/* The code takes, sets or turns the bits MASK in an operand of WIDTH bits. Bits of signs
 * and exponents decide nothing. */
static enum access_number masked(uint64_t mask, unsigned width, uint32_t bytes)
{
        unsigned limit = bytes == 4 ? SMALL_HALF_BITS : SMALL_BITS;

        if (width < 64)
                mask &= (UINT64_C(1) << width) - 1;
        if (bytes > SHORT_BYTES)
                return mask >> limit == 0 ? NUMBER_BITS : NUMBER_ANY;
        uint64_t sign = UINT64_C(1) << (bytes * 8 - 1);

        return mask == sign || mask == sign - 1 || (mask & 0x7f80) == 0x7f80
                   ? NUMBER_ANY
                   : NUMBER_BITS;
}

static enum access_number anded(const ZydisDecodedOperand *by, unsigned width,
                                uint32_t bytes)
{
        /* All but a few low bits. */
        if (by->imm.value.s < 0 && by->imm.value.s >= -SHIFT_LIMIT * 32)
                return NUMBER_BITS;
        return masked(by->imm.value.u, width, bytes);
}

/* ---- integers ---- */

static enum access_number multiplied(const struct decoded *decoded)
{
        switch (decoded->instruction.operand_count_visible) {
        case 3:
                return is_small(decoded->operands[2].imm.value.s, FACTOR_BITS)
                           ? NUMBER_INTEGER
                           : NUMBER_ANY;
        case 2: /* a factor of 64 bits would be in a register */
                return decoded->operands[0].size <= 32 ? NUMBER_INTEGER : NUMBER_ANY;
        default:
                return NUMBER_ANY;
        }
}

static enum access_number added(const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];

        if (is_immediate(second))
                return is_small(second->imm.value.s, ADDEND_BITS) ? NUMBER_INTEGER
                                                                  : NUMBER_ANY;
        return same_register(first, second) ? NUMBER_ANY : NUMBER_INTEGER;
}

/* A sum by an address (lea): twice the number removes the sign of floating point. */
static enum access_number summed(const ZydisDecodedOperand *operand)
{
        bool doubled =
            operand->mem.base == operand->mem.index ||
            (operand->mem.base == ZYDIS_REGISTER_NONE && operand->mem.scale == 2);

        return doubled || !is_small(operand->mem.disp.value, ADDEND_BITS)
                   ? NUMBER_ANY
                   : NUMBER_INTEGER;
}

static enum access_number shifted(const ZydisDecodedOperand *by, bool is_shifted)
{
        if (!is_immediate(by))
                return is_shifted ? NUMBER_ANY : NUMBER_INTEGER;
        return by->imm.value.u > 1 && by->imm.value.u <= SHIFT_LIMIT ? NUMBER_BITS
                                                                     : NUMBER_ANY;
}

static enum access_number bit_tested(const ZydisDecodedOperand *by, bool is_word)
{
        if (!is_word)
                return NUMBER_INTEGER;
        return !is_immediate(by) || by->imm.value.u < SMALL_HALF_BITS ? NUMBER_BITS
                                                                      : NUMBER_ANY;
}

/* The kind of number by the integer instruction AT; IS_FIRST: the number is its first
 * operand, not its second. */
static enum access_number by_operation(const struct flow_code *code, size_t at,
                                       const struct decoded *decoded, bool is_first,
                                       uint32_t bytes)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];

        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_SUB:
                return is_immediate(second) || !(flags_asked(code, at) & ZYDIS_CPUFLAG_ZF)
                           ? added(decoded)
                           : compared_with_other(code, at);
        case ZYDIS_MNEMONIC_ADD:
        case ZYDIS_MNEMONIC_XADD:
                return added(decoded);
        case ZYDIS_MNEMONIC_INC:
        case ZYDIS_MNEMONIC_DEC:
        case ZYDIS_MNEMONIC_NEG:
        case ZYDIS_MNEMONIC_IDIV:
        case ZYDIS_MNEMONIC_CVTSI2SD:
        case ZYDIS_MNEMONIC_CVTSI2SS:
        case ZYDIS_MNEMONIC_VCVTSI2SD:
        case ZYDIS_MNEMONIC_VCVTSI2SS:
        case ZYDIS_MNEMONIC_VCVTUSI2SD:
        case ZYDIS_MNEMONIC_VCVTUSI2SS:
        case ZYDIS_MNEMONIC_FILD:
        case ZYDIS_MNEMONIC_MOVSX:
        case ZYDIS_MNEMONIC_MOVSXD:
        case ZYDIS_MNEMONIC_CDQE:
                return NUMBER_INTEGER;
        case ZYDIS_MNEMONIC_CVTDQ2PD:
        case ZYDIS_MNEMONIC_VCVTDQ2PD:
        case ZYDIS_MNEMONIC_CVTDQ2PS:
        case ZYDIS_MNEMONIC_VCVTDQ2PS:
                return bytes == 4 ? NUMBER_INTEGER : NUMBER_ANY;
        case ZYDIS_MNEMONIC_IMUL:
                return multiplied(decoded);
        case ZYDIS_MNEMONIC_SHL:
        case ZYDIS_MNEMONIC_SHLX:
                return shifted(decoded->instruction.operand_count_visible == 3
                                   ? &decoded->operands[2]
                                   : second,
                               is_first ||
                                   decoded->instruction.mnemonic == ZYDIS_MNEMONIC_SHLX);
        case ZYDIS_MNEMONIC_AND:
        case ZYDIS_MNEMONIC_TEST:
                if (is_immediate(second))
                        return anded(second, first->size, bytes);
                return same_register(first, second) ? compared(code, at, 0, bytes)
                                                    : NUMBER_ANY;
        case ZYDIS_MNEMONIC_OR:
        case ZYDIS_MNEMONIC_XOR:
                return is_immediate(second)
                           ? masked(second->imm.value.u, first->size, bytes)
                           : NUMBER_ANY;
        case ZYDIS_MNEMONIC_NOT:
        case ZYDIS_MNEMONIC_POPCNT:
        case ZYDIS_MNEMONIC_TZCNT:
        case ZYDIS_MNEMONIC_BSF:
                return NUMBER_BITS;
        case ZYDIS_MNEMONIC_BT:
        case ZYDIS_MNEMONIC_BTS:
        case ZYDIS_MNEMONIC_BTR:
        case ZYDIS_MNEMONIC_BTC:
                return bit_tested(second, is_first);
        case ZYDIS_MNEMONIC_CMP:
                return is_immediate(second)
                           ? compared(code, at, second->imm.value.s, bytes)
                           : compared_with_other(code, at);
        default:
                return NUMBER_ANY;
        }
}

bool number_is_converted(ZydisMnemonic mnemonic)
{
        static const ZydisMnemonic converting[] = {
            EITHER(CVTSI2SD),          EITHER(CVTSI2SS),
            EITHER(CVTDQ2PD),          EITHER(CVTDQ2PS),
            ZYDIS_MNEMONIC_VCVTUSI2SD, ZYDIS_MNEMONIC_VCVTUSI2SS,
            ZYDIS_MNEMONIC_VCVTUDQ2PD, ZYDIS_MNEMONIC_VCVTUDQ2PS,
            ZYDIS_MNEMONIC_FILD};

        return is_among(mnemonic, converting, COUNT_OF(converting));
}

/* Whether MNEMONIC shows that the code uses the whole integer. A program that cuts an
 * integer from a wider one mostly continues with the cut one. */
static bool as_wide(ZydisMnemonic mnemonic, const struct number_held *held)
{
        if (number_is_converted(mnemonic))
                return held->bytes == 8 || !held->extended;
        switch (mnemonic) {
        case ZYDIS_MNEMONIC_CMP:
                return held->bytes == 8 || !held->extended;
        case ZYDIS_MNEMONIC_MOVSX:
        case ZYDIS_MNEMONIC_MOVSXD:
        case ZYDIS_MNEMONIC_CDQE:
        case ZYDIS_MNEMONIC_TEST: /* whether it is zero */
                return true;
        default:
                return held->bytes == 8;
        }
}

/* Whether CONSTANT is a small number. Zero and negative values (NaN) are bits of floating
 * point, too, and below 1 means 0. */
static bool compares_with_small(const struct flow_code *code, size_t at, int64_t constant)
{
        return constant > 1 ||
               (constant == 1 && flags_asked(code, at) == ZYDIS_CPUFLAG_ZF);
}

/* Whether programs treat the bits of floating point, or a part of them, in the same way.
 * They count with such bits, shift, mask, extend and order them. This serves hashes,
 * rounding, steps to the next number, distances, sorting, tests for zero and logarithms.
 */
static bool perhaps_float(const struct flow_code *code, size_t at,
                          const struct decoded *decoded, const struct number_held *held)
{
        return decoded->instruction.mnemonic != ZYDIS_MNEMONIC_CMP ||
               held->bytes <= SHORT_BYTES || !is_immediate(&decoded->operands[1]) ||
               !compares_with_small(code, at, decoded->operands[1].imm.value.s);
}

/* Whether it asks for the equality with a constant, which compilers ask of neighbours at
 * once, as well as for some of their bits. */
static bool asks_equality(const struct flow_code *code, size_t at,
                          const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        ZydisAccessedFlagsMask below = ZYDIS_CPUFLAG_ZF;

        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_AND:
                return is_immediate(second);
        case ZYDIS_MNEMONIC_TEST:
                if (!is_immediate(second) && !same_register(first, second))
                        return false;
                break;
        case ZYDIS_MNEMONIC_SUB:
        case ZYDIS_MNEMONIC_CMP:
                if (!is_immediate(second))
                        return false;
                if (second->imm.value.s == 1) /* whether it is below 1 */
                        below = ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_CF;
                break;
        case ZYDIS_MNEMONIC_NEG:
                below = ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_CF;
                break;
        default:
                return false;
        }
        ZydisAccessedFlagsMask asked = flags_asked(code, at);

        return asked != 0 && (asked & ~below) == 0;
}

/* Few bytes that are used as an index may be some of the bits of floating point, in
 * sorting by digits and in tables by the exponent; more would lead out of any memory. */
static bool is_address(const struct decoded *decoded, const struct number_held *held,
                       struct number_fact *fact)
{
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];

                if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
                    !(held->general &
                      (general_bit(operand->mem.base) | general_bit(operand->mem.index))))
                        continue;
                bool is_sum = operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN;

                fact->number = is_sum ? summed(operand) : NUMBER_INTEGER;
                fact->perhaps_float = is_sum || held->bytes <= SHORT_BYTES;
                if (fact->number == NUMBER_INTEGER && held->bytes < 8)
                        fact->number = NUMBER_LOW;
                return true;
        }
        return false;
}

struct number_fact number_shown(const struct flow_code *code, size_t at,
                                const struct decoded *decoded,
                                const struct number_held *held)
{
        const struct flow_step *step = &code->steps[at];
        struct number_fact fact = {NUMBER_ANY, true, false};

        if (is_address(decoded, held, &fact))
                return fact;
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];

                if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) ||
                    !number_in_operand(held, step, operand))
                        continue;
                if (number_is_real(decoded)) {
                        enum access_number real = floating(operand, held->bytes);

                        fact.number = real > fact.number ? real : fact.number;
                        fact.perhaps_float = false;
                        continue;
                }
                fact.number = by_operation(code, at, decoded, i == 0, held->bytes);
                fact.perhaps_float = true;
                fact.perhaps_several = asks_equality(code, at, decoded);
                if (fact.number != NUMBER_INTEGER)
                        return fact;
                if (operand->size < held->bytes * 8) { /* only a part */
                        fact.number = NUMBER_BITS;
                        return fact;
                }
                if (!as_wide(decoded->instruction.mnemonic, held))
                        fact.number = NUMBER_LOW;
                fact.perhaps_float = perhaps_float(code, at, decoded, held);
                return fact;
        }
        return fact;
}
