/* SPDX-License-Identifier: MIT */
/* The first instruction that reads the register decides, on one way that leads on. */
#include "number_use.h"

#include "decoded.h"

enum { STEPS_LIMIT = 64 };

/* The registers that numbers are handed on in, as arguments and as results (System V ABI,
 * AMD64 supplement, figure 3.4). */
enum { ARGUMENTS = 0xff, RESULTS = 0x3 };

static bool is_among(ZydisMnemonic mnemonic, const ZydisMnemonic *list, size_t count)
{
        for (size_t i = 0; i < count; i++)
                if (list[i] == mnemonic)
                        return true;
        return false;
}

#define EITHER(name) ZYDIS_MNEMONIC_##name, ZYDIS_MNEMONIC_V##name
#define BOTH(name)   EITHER(name##SD), EITHER(name##SS)

static bool moves_number(const struct decoded *decoded)
{
        static const ZydisMnemonic moves[] = {BOTH(MOV), EITHER(MOVD), EITHER(MOVQ)};

        return is_among(decoded->instruction.mnemonic, moves,
                        sizeof(moves) / sizeof(*moves));
}

static bool copies_register(const struct decoded *decoded)
{
        static const ZydisMnemonic copies[] = {EITHER(MOVAPS), EITHER(MOVAPD),
                                               EITHER(MOVDQA)};

        return decoded->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               is_among(decoded->instruction.mnemonic, copies,
                        sizeof(copies) / sizeof(*copies));
}

/* Whether single numbers of floating point are counted with: not those that are moved or
 * mixed with others, nor those whose bits are changed. */
static bool counts(const struct decoded *decoded)
{
        static const ZydisMnemonic counting[] = {
            BOTH(ADD),        BOTH(SUB),        BOTH(MUL),        BOTH(DIV),
            BOTH(MIN),        BOTH(MAX),        BOTH(SQRT),       BOTH(CMP),
            BOTH(COMI),       BOTH(UCOMI),      BOTH(ROUND),      EITHER(CVTSD2SS),
            EITHER(CVTSS2SD), EITHER(CVTSD2SI), EITHER(CVTSS2SI), EITHER(CVTTSD2SI),
            EITHER(CVTTSS2SI)};

        return decoded->instruction.meta.category == ZYDIS_CATEGORY_VFMA ||
               is_among(decoded->instruction.mnemonic, counting,
                        sizeof(counting) / sizeof(*counting));
}

/* Of the mask of vector registers the bit that OPERAND is; 0: it is none of them. */
static uint32_t register_bit(const ZydisDecodedOperand *operand)
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

static uint32_t registers(const struct decoded *decoded, ZydisOperandActions actions)
{
        uint32_t mask = 0;

        for (size_t i = 0; i < decoded->instruction.operand_count; i++)
                if (decoded->operands[i].actions & actions)
                        mask |= register_bit(&decoded->operands[i]);
        return mask;
}

/* Goes past STEP; whether that shows what the number in the registers *HELD is, or leaves
 * none of it: then *USE is the answer. */
static bool pass(const struct flow_code *code, const struct flow_step *step,
                 uint32_t *held, enum number_use *use)
{
        struct decoded decoded;

        *use = NUMBER_OPEN;
        if (!decoded_read(&decoded, code, step))
                return true;
        uint32_t read = registers(&decoded, ZYDIS_OPERAND_ACTION_MASK_READ) & *held;
        uint32_t written = registers(&decoded, ZYDIS_OPERAND_ACTION_MASK_WRITE);

        if (copies_register(&decoded)) {
                *held = read ? *held | written : *held & ~written;
                return *held == 0;
        }
        if (read && counts(&decoded))
                *use = NUMBER_FLOATING;
        *held &= ~written;
        return read || *held == 0;
}

static enum number_use follow(const struct flow_code *code, size_t at, uint32_t held)
{
        for (int i = 0; i < STEPS_LIMIT && at < code->step_count; i++) {
                const struct flow_step *step = &code->steps[at];
                enum number_use use;

                switch (step->instruction.operation) {
                case OPERATION_CALL:
                        return held & ARGUMENTS ? NUMBER_FLOATING : NUMBER_OPEN;
                case OPERATION_END:
                        return held & RESULTS ? NUMBER_FLOATING : NUMBER_OPEN;
                case OPERATION_JUMP_INDIRECT:
                        return NUMBER_OPEN;
                case OPERATION_JUMP:
                        at = flow_code_at(code, step->instruction.target);
                        continue;
                default:
                        if (pass(code, step, &held, &use))
                                return use;
                        break;
                }
                if (++at < code->step_count && !flow_code_follows(code, at))
                        break;
        }
        return NUMBER_OPEN;
}

enum number_use number_use(const struct flow_code *code, size_t step)
{
        struct decoded decoded;

        if (!code->steps[step].instruction.has_memory ||
            !decoded_read(&decoded, code, &code->steps[step]) || !moves_number(&decoded))
                return NUMBER_OTHER;
        uint32_t held = register_bit(&decoded.operands[0]);

        /* What is stored was a vector register's, whatever it is. */
        if (held == 0)
                return register_bit(&decoded.operands[1]) ? NUMBER_OPEN : NUMBER_OTHER;
        return step + 1 < code->step_count && flow_code_follows(code, step + 1)
                   ? follow(code, step + 1, held)
                   : NUMBER_OPEN;
}
