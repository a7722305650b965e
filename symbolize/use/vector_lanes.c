/* SPDX-License-Identifier: MIT */
/* If a loop uses a member of several neighbouring items, compilers load the items as a
 * vector and drop the rest by shuffles and blends with constants. Pieces of 4 bytes are
 * followed straight on through these; any other instruction uses them. */
#include "vector_lanes.h"

#include "decoded.h"
#include "number_shown.h"

enum { STEPS_LIMIT = 64, LANES = 8, HALF = 4, REGISTERS = 32 };

/* For each piece of a register which of the load it is, from 1 on; 0: none. */
struct lanes {
        uint8_t from[LANES];
};

struct watch {
        struct lanes registers[REGISTERS];
        const ZydisDecodedOperand *loaded; /* of the instruction itself; NULL: another */
        uint32_t used;                     /* a bit for each piece */
};

/* ---- operands ---- */

static int number_of(const ZydisDecodedOperand *operand)
{
        uint32_t bit = number_vector_bit(operand);

        return bit ? __builtin_ctz(bit) : -1;
}

static struct lanes lanes_of(const struct watch *watch,
                             const ZydisDecodedOperand *operand)
{
        int number = number_of(operand);
        struct lanes lanes = {{0}};

        if (number >= 0)
                lanes = watch->registers[number];
        for (uint8_t i = 0; operand == watch->loaded && i < operand->size / 32; i++)
                lanes.from[i] = i + 1;
        return lanes;
}

/* Uses the lowest COUNT of LANES. */
static void use_lanes(struct watch *watch, const struct lanes *lanes, int count)
{
        for (int i = 0; i < LANES && i < count; i++)
                if (lanes->from[i])
                        watch->used |= UINT32_C(1) << (lanes->from[i] - 1);
}

static bool is_live(const struct watch *watch)
{
        for (int i = 0; i < REGISTERS; i++)
                for (int j = 0; j < LANES; j++)
                        if (watch->registers[i].from[j])
                                return true;
        return false;
}

static void use_all(struct watch *watch)
{
        for (int i = 0; i < REGISTERS; i++)
                use_lanes(watch, &watch->registers[i], LANES);
}

/* ---- shuffles ---- */

/* Which pieces of A (0 to 3) and B (4 to 7) each half of a vector is made of. */
static struct lanes pick(const struct lanes *a, const struct lanes *b,
                         const uint8_t order[HALF])
{
        struct lanes picked;

        for (int i = 0; i < LANES; i++) {
                uint8_t at = order[i % HALF];

                picked.from[i] = (at < HALF ? a : b)->from[i / HALF * HALF + at % HALF];
        }
        return picked;
}

static struct lanes blend(const struct lanes *a, const struct lanes *b, uint64_t mask)
{
        struct lanes blended;

        for (int i = 0; i < LANES; i++)
                blended.from[i] = (mask >> i & 1 ? b : a)->from[i];
        return blended;
}

/* Each bit of MASK is of 8 bytes. */
static uint64_t doubled(uint64_t mask)
{
        uint64_t pieces = 0;

        for (int i = 0; i < LANES / 2; i++)
                pieces |= (mask >> i & 1) * UINT64_C(3) << 2 * i;
        return pieces;
}

#define BOTH(name)                                                                       \
        case ZYDIS_MNEMONIC_##name:                                                      \
        case ZYDIS_MNEMONIC_V##name

/* Makes *RESULT of A and B as MNEMONIC and CONSTANT say. False: it does not only move
 * pieces. */
static bool shuffle(ZydisMnemonic mnemonic, uint64_t constant, const struct lanes *a,
                    const struct lanes *b, struct lanes *result)
{
        static const uint8_t low[] = {0, 4, 1, 5}, high[] = {2, 6, 3, 7},
                             low_pairs[] = {0, 1, 4, 5}, high_pairs[] = {2, 3, 6, 7},
                             high_to_low[] = {6, 7, 2, 3};
        const uint8_t by_constant[] = {constant & 3, constant >> 2 & 3,
                                       4 + (constant >> 4 & 3), 4 + (constant >> 6 & 3)};
        const uint8_t of_one[] = {4 + (constant & 3), 4 + (constant >> 2 & 3),
                                  4 + (constant >> 4 & 3), 4 + (constant >> 6 & 3)};

        switch (mnemonic) {
                BOTH(SHUFPS) : *result = pick(a, b, by_constant);
                return true;
                BOTH(PSHUFD)
                    : case ZYDIS_MNEMONIC_VPERMILPS : *result = pick(a, b, of_one);
                return true;
                BOTH(UNPCKLPS) : BOTH(PUNPCKLDQ) : *result = pick(a, b, low);
                return true;
                BOTH(UNPCKHPS) : BOTH(PUNPCKHDQ) : *result = pick(a, b, high);
                return true;
                BOTH(UNPCKLPD)
                    : BOTH(PUNPCKLQDQ) : BOTH(MOVLHPS) : *result = pick(a, b, low_pairs);
                return true;
                BOTH(UNPCKHPD) : BOTH(PUNPCKHQDQ) : *result = pick(a, b, high_pairs);
                return true;
                BOTH(MOVHLPS) : *result = pick(a, b, high_to_low);
                return true;
                BOTH(BLENDPS)
                    : case ZYDIS_MNEMONIC_VPBLENDD : *result = blend(a, b, constant);
                return true;
                BOTH(BLENDPD) : *result = blend(a, b, doubled(constant));
                return true;
        default:
                return false;
        }
}

#undef BOTH

/* Moves pieces to the low or high half of a register. */
static bool move_half(const struct decoded *decoded, const struct lanes *a,
                      const struct lanes *b, struct lanes *result)
{
        static const uint8_t to_low[] = {4, 5, 2, 3}, to_high[] = {0, 1, 4, 5},
                             one_to_low[] = {4, 1, 2, 3};
        bool moved = decoded->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;

        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_MOVLPS:
        case ZYDIS_MNEMONIC_MOVLPD:
        case ZYDIS_MNEMONIC_VMOVLPS:
        case ZYDIS_MNEMONIC_VMOVLPD:
                *result = pick(a, b, to_low);
                return true;
        case ZYDIS_MNEMONIC_MOVHPS:
        case ZYDIS_MNEMONIC_MOVHPD:
        case ZYDIS_MNEMONIC_VMOVHPS:
        case ZYDIS_MNEMONIC_VMOVHPD:
                *result = pick(a, b, to_high);
                return true;
        case ZYDIS_MNEMONIC_MOVSD:
        case ZYDIS_MNEMONIC_VMOVSD:
                *result = pick(a, b, to_low);
                return moved;
        case ZYDIS_MNEMONIC_MOVSS:
        case ZYDIS_MNEMONIC_VMOVSS:
                *result = pick(a, b, one_to_low);
                return moved;
        default:
                return false;
        }
}

static bool moves(ZydisMnemonic mnemonic)
{
        switch (mnemonic) {
        case ZYDIS_MNEMONIC_MOVAPS:
        case ZYDIS_MNEMONIC_MOVAPD:
        case ZYDIS_MNEMONIC_MOVUPS:
        case ZYDIS_MNEMONIC_MOVUPD:
        case ZYDIS_MNEMONIC_MOVDQA:
        case ZYDIS_MNEMONIC_MOVDQU:
        case ZYDIS_MNEMONIC_LDDQU:
        case ZYDIS_MNEMONIC_VMOVAPS:
        case ZYDIS_MNEMONIC_VMOVAPD:
        case ZYDIS_MNEMONIC_VMOVUPS:
        case ZYDIS_MNEMONIC_VMOVUPD:
        case ZYDIS_MNEMONIC_VMOVDQA:
        case ZYDIS_MNEMONIC_VMOVDQU:
        case ZYDIS_MNEMONIC_VLDDQU:
                return true;
        default:
                return false;
        }
}

/* ---- one instruction ---- */

static uint64_t constant_of(const struct decoded *decoded)
{
        size_t last = decoded->instruction.operand_count_visible - (size_t)1;

        return decoded->operands[last].type == ZYDIS_OPERAND_TYPE_IMMEDIATE
                   ? decoded->operands[last].imm.value.u
                   : 0;
}

/* The pieces of the load in the register that DECODED writes first, if it only moves
 * pieces. */
static bool follow(const struct watch *watch, const struct decoded *decoded,
                   struct lanes *result)
{
        const ZydisDecodedOperand *operands = decoded->operands;
        bool three = decoded->instruction.operand_count_visible > 2 &&
                     operands[2].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;

        if (decoded->instruction.operand_count_visible < 2 || number_of(&operands[0]) < 0)
                return false;
        struct lanes a = lanes_of(watch, &operands[three ? 1 : 0]);
        struct lanes b = lanes_of(watch, &operands[three ? 2 : 1]);

        if (moves(decoded->instruction.mnemonic)) {
                *result = b;
                return true;
        }
        return shuffle(decoded->instruction.mnemonic, constant_of(decoded), &a, &b,
                       result) ||
               move_half(decoded, &a, &b, result);
}

/* Whether a register is set to zero, by itself. */
static bool clears(const struct decoded *decoded)
{
        size_t last = decoded->instruction.operand_count_visible - (size_t)1;

        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_PXOR:
        case ZYDIS_MNEMONIC_XORPS:
        case ZYDIS_MNEMONIC_XORPD:
        case ZYDIS_MNEMONIC_VPXOR:
        case ZYDIS_MNEMONIC_VXORPS:
        case ZYDIS_MNEMONIC_VXORPD:
                return number_of(&decoded->operands[last]) >= 0 &&
                       number_of(&decoded->operands[last]) ==
                           number_of(&decoded->operands[last - 1]);
        default:
                return false;
        }
}

static void pass(struct watch *watch, const struct decoded *decoded)
{
        const ZydisDecodedOperand *operands = decoded->operands;
        struct lanes result = {{0}};
        bool followed = clears(decoded) || follow(watch, decoded, &result);

        for (size_t i = 0; i < decoded->instruction.operand_count && !followed; i++) {
                struct lanes lanes = lanes_of(watch, &operands[i]);

                if (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ)
                        use_lanes(watch, &lanes, (operands[i].size + 31) / 32);
        }
        for (size_t i = 0; i < decoded->instruction.operand_count; i++)
                if (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
                    number_of(&operands[i]) >= 0)
                        watch->registers[number_of(&operands[i])] =
                            i == 0 ? result : (struct lanes){{0}};
}

/* ---- straight on ---- */

static void follow_on(const struct flow_code *code, size_t step, struct watch *watch)
{
        struct decoded decoded;

        for (size_t i = 1; i < STEPS_LIMIT && is_live(watch); i++) {
                size_t at = step + i;

                if (at >= code->step_count || !flow_code_follows(code, at) ||
                    !decoded_read(&decoded, code, &code->steps[at]))
                        break;
                switch (code->steps[at].instruction.operation) {
                case OPERATION_BRANCH: /* the other way may use them */
                        use_all(watch);
                        break;
                case OPERATION_END:
                case OPERATION_JUMP:
                case OPERATION_JUMP_INDIRECT:
                case OPERATION_CALL:
                        use_all(watch);
                        return;
                default:
                        pass(watch, &decoded);
                }
        }
        use_all(watch);
}

void vector_lanes(const struct flow_code *code, size_t step, struct type_access *access)
{
        struct watch watch = {.used = 0};
        struct decoded decoded;
        uint32_t pieces = access->bytes / 4;

        if (pieces == 0 || pieces > LANES ||
            !decoded_read(&decoded, code, &code->steps[step]))
                return;
        for (size_t i = 0; i < decoded.instruction.operand_count; i++)
                if (decoded.operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                    decoded.operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ)
                        watch.loaded = &decoded.operands[i];
        if (!watch.loaded)
                return;
        pass(&watch, &decoded);
        watch.loaded = NULL;
        follow_on(code, step, &watch);
        if (watch.used == 0)
                return;
        uint32_t first = (uint32_t)__builtin_ctz(watch.used);
        uint32_t end = 32 - (uint32_t)__builtin_clz(watch.used);

        if (first == 0 && end == pieces)
                return;
        access->first_byte = first * 4;
        access->used_bytes = (end - first) * 4;
}
