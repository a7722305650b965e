/* SPDX-License-Identifier: MIT */
/* The number is followed through copies in registers, up to the next branch: behind that,
 * each way may take it for another kind. The first instruction that counts with it
 * decides. Programs do nearly all integer operations on the bits of floating point, too.
 */
#include "number_use.h"

#include "instruction_values.h"

enum {
        STEPS_LIMIT = 32,
        FLAGS_LIMIT = 8, /* instructions that flags are looked for in */
        SMALL_BITS = 20, /* of constants that no bits of floating point are like */
        SHORT_BYTES = 2  /* no number of floating point has fewer than 4 */
};

/* The vector registers that numbers are handed on in, as arguments and as results
 * (System V ABI, AMD64 supplement, figure 3.4). */
static const uint64_t ARGUMENTS = UINT64_C(0xff) << VALUE_VECTORS,
                      RESULTS = UINT64_C(0x3) << VALUE_VECTORS;

/* Where the number is. */
struct held {
        uint32_t bytes;
        bool extended;  /* by bits of zero when it was read */
        bool in_memory; /* it is what the instruction's own operand reads */
        bool stored;    /* so a call need not receive it */
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

/* The constant that DECODED has at its end; NULL: none. */
static const ZydisDecodedOperand *constant_of(const struct decoded *decoded)
{
        size_t count = decoded->instruction.operand_count_visible;

        return count > 1 &&
                       decoded->operands[count - 1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE
                   ? &decoded->operands[count - 1]
                   : NULL;
}

/* ---- what an instruction shows ---- */

/* Whether it counts with numbers of floating point: not when it moves them or mixes them
 * with others, or changes their bits. */
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

/* What DECODED counts with is one number of floating point or several: where several
 * operands read it, the one that is surest. */
static void take_real(const struct decoded *decoded, const struct held *held,
                      struct type_access *access)
{
        access->perhaps_float = access->perhaps_several = false;
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

/* Few bytes that are used as an index may be some of the bits of floating point, in
 * sorting by digits and in tables by the exponent; more would lead out of any memory. */
static bool take_address(const struct decoded *decoded, const struct held *held,
                         struct type_access *access)
{
        /* The vector of indexes of a gather is no number but several. */
        const uint64_t general = held->registers & ((UINT64_C(1) << VALUE_VECTORS) - 1);

        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];

                if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
                    !(general & (instruction_value(operand->mem.base) |
                                 instruction_value(operand->mem.index))))
                        continue;
                access->number = held->bytes < 8 ? NUMBER_LOW : NUMBER_INTEGER;
                access->perhaps_float = operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
                                        held->bytes <= SHORT_BYTES;
                return true;
        }
        return false;
}

/* The flags that are asked for behind instruction AT, until they change. */
static ZydisAccessedFlagsMask flags_asked(const struct flow_code *code, size_t at)
{
        ZydisAccessedFlagsMask asked = 0;
        struct decoded decoded;

        for (int i = 0; i < FLAGS_LIMIT && ++at < code->step_count; i++) {
                if (!flow_code_follows(code, at) ||
                    !decoded_read(&decoded, code, &code->steps[at]))
                        break;
                const ZydisAccessedFlags *flags = decoded.instruction.cpu_flags;

                asked |= flags ? flags->tested : 0;
                if (code->steps[at].instruction.operation == OPERATION_CALL ||
                    code->steps[at].instruction.operation == OPERATION_JUMP ||
                    code->steps[at].instruction.operation == OPERATION_END ||
                    (flags &&
                     (flags->modified | flags->set_0 | flags->set_1 | flags->undefined)))
                        break;
        }
        return asked;
}

/* A comparison, whose flags ASKED are used, with CONSTANT (NULL: another number). Any
 * bits may be equal, and programs test the sign of floating point, too. */
static bool compares_integers(ZydisAccessedFlagsMask asked,
                              const ZydisDecodedOperand *constant, bool small)
{
        if (!constant)
                return asked & (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF);
        if (constant->imm.value.s == 0)
                return asked & ZYDIS_CPUFLAG_ZF;
        return small && (constant->imm.value.s != -1 || asked == ZYDIS_CPUFLAG_ZF);
}

/* The kind of integer that DECODED, instruction AT, counts with. Masks in registers are
 * of any bits. */
static enum access_number integer_of(const struct flow_code *code, size_t at,
                                     const struct decoded *decoded)
{
        static const ZydisMnemonic counting[] = {
            ZYDIS_MNEMONIC_ADD,        ZYDIS_MNEMONIC_XADD,  ZYDIS_MNEMONIC_SUB,
            ZYDIS_MNEMONIC_INC,        ZYDIS_MNEMONIC_DEC,   ZYDIS_MNEMONIC_NEG,
            ZYDIS_MNEMONIC_IDIV,       ZYDIS_MNEMONIC_IMUL,  ZYDIS_MNEMONIC_FILD,
            EITHER(CVTSI2SD),          EITHER(CVTSI2SS),     ZYDIS_MNEMONIC_VCVTUSI2SD,
            ZYDIS_MNEMONIC_VCVTUSI2SS, ZYDIS_MNEMONIC_MOVSX, ZYDIS_MNEMONIC_MOVSXD,
            ZYDIS_MNEMONIC_CDQE,       ZYDIS_MNEMONIC_CQO,   ZYDIS_MNEMONIC_CDQ};
        static const ZydisMnemonic of_bits[] = {
            ZYDIS_MNEMONIC_NOT, ZYDIS_MNEMONIC_POPCNT, ZYDIS_MNEMONIC_TZCNT,
            ZYDIS_MNEMONIC_BSF, ZYDIS_MNEMONIC_BT,     ZYDIS_MNEMONIC_BTS,
            ZYDIS_MNEMONIC_BTR, ZYDIS_MNEMONIC_BTC};
        ZydisMnemonic mnemonic = decoded->instruction.mnemonic;
        const ZydisDecodedOperand *constant = constant_of(decoded);
        bool small = constant && constant->imm.value.s < INT64_C(1) << SMALL_BITS &&
                     constant->imm.value.s > -(INT64_C(1) << SMALL_BITS);

        switch (mnemonic) {
        case ZYDIS_MNEMONIC_SUB:
                if (constant || !(flags_asked(code, at) & ZYDIS_CPUFLAG_ZF))
                        break;
                __attribute__((fallthrough));
        case ZYDIS_MNEMONIC_CMP:
                return compares_integers(flags_asked(code, at), constant, small)
                           ? NUMBER_INTEGER
                           : NUMBER_ANY;
        case ZYDIS_MNEMONIC_TEST:
                if (decoded_reads_twice(decoded))
                        return flags_asked(code, at) & ZYDIS_CPUFLAG_ZF ? NUMBER_INTEGER
                                                                        : NUMBER_ANY;
                return small ? NUMBER_BITS : NUMBER_ANY;
        case ZYDIS_MNEMONIC_AND:
        case ZYDIS_MNEMONIC_OR:
        case ZYDIS_MNEMONIC_XOR:
        case ZYDIS_MNEMONIC_SHL:
                return small ? NUMBER_BITS : NUMBER_ANY;
        default:
                break;
        }
        if ((constant && !small) || decoded_reads_twice(decoded))
                return NUMBER_ANY;
        return LISTED(of_bits, mnemonic)    ? NUMBER_BITS
               : LISTED(counting, mnemonic) ? NUMBER_INTEGER
                                            : NUMBER_ANY;
}

/* The bytes of each of the integers of a vector that MNEMONIC counts with; 0: it does
 * not. Comparisons for equality are left out: these fit any memory. */
static uint32_t item_bytes(ZydisMnemonic mnemonic)
{
#define PAIR(name, bytes)                                                                \
        {ZYDIS_MNEMONIC_##name, bytes},                                                  \
        {                                                                                \
                ZYDIS_MNEMONIC_V##name, bytes                                            \
        }
        static const struct {
                ZydisMnemonic mnemonic;
                uint8_t bytes;
        } counting[] = {
            PAIR(PADDQ, 8),     PAIR(PSUBQ, 8),    PAIR(PADDD, 4),     PAIR(PSUBD, 4),
            PAIR(PMULLD, 4),    PAIR(PMAXSD, 4),   PAIR(PMINSD, 4),    PAIR(PMAXUD, 4),
            PAIR(PMINUD, 4),    PAIR(PMOVSXDQ, 4), PAIR(PMOVZXDQ, 4),  PAIR(CVTDQ2PD, 4),
            PAIR(CVTDQ2PS, 4),  PAIR(PMOVSXWD, 2), PAIR(PMOVSXWQ, 2),  PAIR(PMOVZXWD, 2),
            PAIR(PMOVZXWQ, 2),  PAIR(PMADDWD, 2),  PAIR(PMULLW, 2),    PAIR(PADDB, 1),
            PAIR(PSUBB, 1),     PAIR(PADDUSB, 1),  PAIR(PSUBUSB, 1),   PAIR(PAVGB, 1),
            PAIR(PMAXUB, 1),    PAIR(PMINUB, 1),   PAIR(PMAXSB, 1),    PAIR(PMINSB, 1),
            PAIR(PCMPGTB, 1),   PAIR(PSADBW, 1),   PAIR(PMADDUBSW, 1), PAIR(PUNPCKLBW, 1),
            PAIR(PUNPCKHBW, 1), PAIR(PMOVSXBW, 1), PAIR(PMOVSXBD, 1),  PAIR(PMOVSXBQ, 1),
            PAIR(PMOVZXBW, 1),  PAIR(PMOVZXBD, 1), PAIR(PMOVZXBQ, 1)};
#undef PAIR

        for (size_t i = 0; i < sizeof(counting) / sizeof(*counting); i++)
                if (counting[i].mnemonic == mnemonic)
                        return counting[i].bytes;
        return 0;
}

/* Whether MNEMONIC shows that the code uses the whole integer. A program that cuts an
 * integer from a wider one mostly continues with the cut one. */
static bool as_wide(ZydisMnemonic mnemonic, const struct held *held)
{
        static const ZydisMnemonic whole[] = {
            EITHER(CVTSI2SD),          EITHER(CVTSI2SS),   ZYDIS_MNEMONIC_VCVTUSI2SD,
            ZYDIS_MNEMONIC_VCVTUSI2SS, ZYDIS_MNEMONIC_CMP, ZYDIS_MNEMONIC_FILD};

        switch (mnemonic) {
        case ZYDIS_MNEMONIC_MOVSX:
        case ZYDIS_MNEMONIC_MOVSXD:
        case ZYDIS_MNEMONIC_CDQE:
        case ZYDIS_MNEMONIC_TEST: /* whether it is zero */
                return true;
        default:
                return held->bytes == 8 ||
                       (!held->extended && held->bytes > SHORT_BYTES &&
                        LISTED(whole, mnemonic));
        }
}

/* Whether compilers do the same with several neighbours at once: they compare them with a
 * CONSTANT, or take some of their bits. */
static bool of_several(ZydisMnemonic mnemonic, const ZydisDecodedOperand *constant)
{
        return mnemonic == ZYDIS_MNEMONIC_AND || mnemonic == ZYDIS_MNEMONIC_TEST ||
               mnemonic == ZYDIS_MNEMONIC_NEG ||
               (constant &&
                (mnemonic == ZYDIS_MNEMONIC_SUB || mnemonic == ZYDIS_MNEMONIC_CMP));
}

/* The code counts with the integer in OPERAND. A comparison with more than 1 is of no
 * bits of floating point. */
static void take_integer(const struct flow_code *code, size_t at,
                         const struct decoded *decoded,
                         const ZydisDecodedOperand *operand, const struct held *held,
                         struct type_access *access)
{
        ZydisMnemonic mnemonic = decoded->instruction.mnemonic;
        const ZydisDecodedOperand *constant = constant_of(decoded);

        if (access->vector) {
                access->item_bytes = item_bytes(mnemonic);
                access->number = access->item_bytes > 0 ? NUMBER_LOW : NUMBER_ANY;
                access->perhaps_float = true;
                return;
        }
        access->number = integer_of(code, at, decoded);
        if (access->number == NUMBER_ANY)
                return;
        access->perhaps_several = of_several(mnemonic, constant);
        access->perhaps_float = mnemonic != ZYDIS_MNEMONIC_CMP || !constant ||
                                held->bytes <= SHORT_BYTES || constant->imm.value.s <= 1;
        if (access->number != NUMBER_INTEGER)
                return;
        if (operand->size < held->bytes * 8)
                access->number = NUMBER_BITS; /* only a part */
        else if (!as_wide(mnemonic, held))
                access->number = NUMBER_LOW;
}

/* ---- copies ---- */

/* Whether it takes one half of a vector. */
static bool halves(ZydisMnemonic mnemonic)
{
        return mnemonic == ZYDIS_MNEMONIC_VEXTRACTF128 ||
               mnemonic == ZYDIS_MNEMONIC_VEXTRACTI128;
}

/* Also where the sign of a number of floating point is changed, which is one after it. */
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

/* What DECODED copies of the number from FROM, and what it overwrites. A general register
 * that gets the number from a vector register, or the other way, has it as another kind.
 */
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
        held->stored |= from && to->type == ZYDIS_OPERAND_TYPE_MEMORY;
        if (!from || to->type != ZYDIS_OPERAND_TYPE_REGISTER ||
            (to->size < held->bytes * 8 && !halves(decoded->instruction.mnemonic)))
                return;
        target = instruction_value(to->reg.value);
        if (from->type == ZYDIS_OPERAND_TYPE_MEMORY ||
            !(instruction_value(from->reg.value) >> VALUE_VECTORS) ==
                !(target >> VALUE_VECTORS))
                held->registers |= target;
}

/* ---- the ways on ---- */

/* In vector registers only numbers of floating point are handed on, but as the members of
 * a small structure, too. */
static void hand_on(const struct held *held, uint64_t registers,
                    struct type_access *access)
{
        if (held->registers & registers && !held->stored && !access->vector)
                access->number = NUMBER_FLOATS;
}

/* Goes on over step number AT, which does not jump. False: it counts with the number, or
 * has the last of it. */
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

        if (take_address(&decoded, held, access))
                return false;
        if (from && !copies(&decoded)) {
                if (is_real(&decoded))
                        take_real(&decoded, held, access);
                else
                        take_integer(code, at, &decoded, from, held, access);
                return false;
        }
        copy(step, &decoded, from, held);
        held->extended |=
            held->in_memory && decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOVZX;
        held->in_memory = false;
        return held->registers != 0;
}

void number_use(const struct flow_code *code, size_t step, struct type_access *access)
{
        struct held held = {.bytes = access->bytes, .in_memory = true};

        for (int i = 0; i < STEPS_LIMIT && step < code->step_count; i++) {
                const struct instruction *instruction = &code->steps[step].instruction;

                switch (instruction->operation) {
                case OPERATION_CALL:
                        hand_on(&held, ARGUMENTS, access);
                        return;
                case OPERATION_END:
                        hand_on(&held, RESULTS, access);
                        return;
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
