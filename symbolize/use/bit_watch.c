/* SPDX-License-Identifier: MIT */
/* Bits are followed as long as masks and shifts by known numbers, copies and joins are
 * all that is done to them. */
#include "bit_watch.h"

#include <string.h>

#include "bit_ones.h"

void bit_watch_begin(struct bit_watch *watch)
{
        *watch = (struct bit_watch){0};
        for (int i = 0; i < REGISTER_COUNT; i++)
                watch->registers[i].other = UINT64_MAX;
}

bool bit_watch_same(const struct bit_watch *a, const struct bit_watch *b)
{
        for (int i = 0; i < REGISTER_COUNT; i++)
                if (!bit_same(&a->registers[i], &b->registers[i]) ||
                    a->ones[i] != b->ones[i] ||
                    (a->known >> i & 1 && a->numbers[i] != b->numbers[i]))
                        return false;
        return a->flags == b->flags && a->sign == b->sign && a->below == b->below &&
               a->above == b->above && a->whole == b->whole && a->moved == b->moved &&
               a->advanced == b->advanced && a->copies == b->copies &&
               a->partly == b->partly && a->fresh == b->fresh && a->tested == b->tested &&
               a->stored == b->stored && a->known == b->known;
}

/* ---- operands ---- */

uint8_t bit_register(const ZydisDecodedOperand *operand)
{
        return operand->type == ZYDIS_OPERAND_TYPE_REGISTER
                   ? instruction_register(operand->reg.value)
                   : REGISTER_NONE;
}

/* How far up in its register the operand begins: ah, bh, ch and dh do not at bit 0. */
static int begin_of(const ZydisDecodedOperand *operand)
{
        return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                       operand->reg.value >= ZYDIS_REGISTER_AH &&
                       operand->reg.value <= ZYDIS_REGISTER_BH
                   ? 8
                   : 0;
}

uint64_t bit_mask(const ZydisDecodedOperand *operand)
{
        return bit_low(operand->size) << begin_of(operand);
}

/* Numbers of 32 bits are extended to 64 in one way or the other. */
bool bit_number(const struct bit_watch *watch, const ZydisDecodedOperand *operand,
                unsigned width, uint64_t *number)
{
        uint8_t name = bit_register(operand);

        if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
                *number = operand->imm.value.u;
                return true;
        }
        if (name >= REGISTER_COUNT || !(watch->known >> name & 1) ||
            begin_of(operand) != 0 ||
            (width > 32 && watch->numbers[name] >> 31 == bit_low(33)))
                return false;
        *number = watch->numbers[name];
        return true;
}

static bool same_register(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
        return a->type == ZYDIS_OPERAND_TYPE_REGISTER &&
               b->type == ZYDIS_OPERAND_TYPE_REGISTER && a->reg.value == b->reg.value;
}

/* ---- content of registers ---- */

uint64_t bit_watch_nonzero(const struct bit_watch *watch,
                           const ZydisDecodedOperand *operand, unsigned width)
{
        uint8_t name = bit_register(operand);

        if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
                return operand->imm.value.u & bit_low(width);
        if (name >= REGISTER_COUNT)
                return bit_low(width);
        return (bit_nonzero(&watch->registers[name]) & bit_mask(operand)) >>
               begin_of(operand);
}

void bit_watch_forget(struct bit_watch *watch, uint32_t written)
{
        static const struct bit_held nothing = {.other = UINT64_MAX};

        watch->known &= ~written;
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                if (written >> i & 1) {
                        watch->registers[i] = nothing;
                        watch->ones[i] = 0;
                }
}

/* The bits of OPERAND, which DECODED writes, that may be other than zero then. */
static uint64_t may_be_set(const struct decoded *decoded,
                           const ZydisDecodedOperand *operand)
{
        if (decoded->instruction.meta.category == ZYDIS_CATEGORY_SETCC)
                return bit_mask(operand) & (UINT64_C(1) << begin_of(operand));
        if (decoded->instruction.mnemonic == ZYDIS_MNEMONIC_MOVZX)
                return bit_low(decoded->operands[1].size);
        return bit_mask(operand);
}

void bit_watch_write(struct bit_watch *watch, const struct decoded *decoded,
                     uint32_t written)
{
        uint64_t kept[REGISTER_COUNT] = {0}, other[REGISTER_COUNT];

        memset(other, 0xff, sizeof(other));
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];
                uint8_t number = bit_register(operand);

                if (number >= REGISTER_COUNT)
                        continue;
                if (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) {
                        kept[number] = UINT64_MAX;
                } else if (operand->actions & ZYDIS_OPERAND_ACTION_WRITE) {
                        kept[number] = operand->size < 32 ? ~bit_mask(operand) : 0;
                        other[number] = may_be_set(decoded, operand);
                }
        }
        watch->known &= ~written;
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                if (written >> i & 1) {
                        bit_keep(&watch->registers[i], kept[i]);
                        watch->registers[i].other |= other[i];
                        watch->ones[i] = 0;
                }
}

/* ---- flags ---- */

void bit_watch_flags(struct bit_watch *watch, uint64_t bits, uint64_t sign)
{
        watch->flags = watch->below = watch->above = bits;
        watch->sign = sign;
        watch->whole = false;
}

static void set_flags(struct bit_watch *watch, const struct bit_held *held, uint64_t mask)
{
        bit_watch_flags(watch, bit_seen(held, mask), bit_seen(held, mask & ~(mask >> 1)));
        watch->whole = bit_seen_whole(held, mask, watch->word);
}

/* Whether anything is above ...0111 the lowest bits do not tell, nor whether it is below
 * ...1000. */
static void compare(struct bit_watch *watch, const struct bit_held *held, uint64_t mask,
                    uint64_t number)
{
        uint64_t all = bit_seen(held, mask);
        unsigned ones = ~number ? (unsigned)__builtin_ctzll(~number) : 0;
        unsigned zeros = number ? (unsigned)__builtin_ctzll(number) : 0;

        bit_watch_flags(watch, all,
                        number == 0 ? bit_seen(held, mask & ~(mask >> 1)) : all);
        watch->whole = bit_seen_whole(held, mask, watch->word);
        watch->above = bit_seen(held, mask & ~bit_low(ones));
        watch->below = bit_seen(held, mask & ~bit_low(zeros));
}

bool bit_watch_test(struct bit_watch *watch, ZydisMnemonic mnemonic,
                    const ZydisDecodedOperand *first, const ZydisDecodedOperand *second,
                    const struct bit_held *held)
{
        int begin = begin_of(first);
        uint64_t mask = bit_mask(first);
        uint64_t number = 0;

        if (mnemonic == ZYDIS_MNEMONIC_TEST && same_register(first, second)) {
                set_flags(watch, held, mask);
                return true;
        }
        if (!bit_number(watch, second, first->size, &number))
                return false;
        switch (mnemonic) {
        case ZYDIS_MNEMONIC_TEST: {
                struct bit_held tested = *held;

                bit_keep(&tested, number << begin);
                set_flags(watch, &tested, mask);
                return true;
        }
        case ZYDIS_MNEMONIC_CMP:
                if (begin == 0)
                        compare(watch, held, mask, number);
                else
                        bit_watch_flags(watch, bit_seen(held, mask),
                                        bit_seen(held, mask));
                return true;
        case ZYDIS_MNEMONIC_BT: {
                uint64_t bit = bit_seen(held, UINT64_C(1) << number % first->size);

                bit_watch_flags(watch, bit, bit);
                return true;
        }
        default:
                return false;
        }
}

/* ---- operations ---- */

/* How far an operand of WIDTH bits is shifted by NUMBER. */
static unsigned shift_count(unsigned width, uint64_t number)
{
        return (unsigned)number & (width == 64 ? 63 : 31);
}

static bool shift(struct bit_held *held, ZydisMnemonic mnemonic, unsigned width,
                  uint64_t number)
{
        unsigned count = shift_count(width, number);

        return mnemonic == ZYDIS_MNEMONIC_SHL
                   ? bit_shift_up(held, width, count)
                   : bit_shift_down(held, width, count, mnemonic == ZYDIS_MNEMONIC_SAR);
}

static bool change(struct bit_watch *watch, const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        uint8_t name = bit_register(first);
        uint64_t number = 0;

        if (name >= REGISTER_COUNT || !bit_number(watch, second, first->size, &number))
                return false;
        struct bit_held *held = &watch->registers[name];
        uint64_t mask = bit_mask(first);
        uint64_t rest = first->size == 32 ? 0 : ~mask;
        uint64_t before = bit_seen(held, mask);
        bool is_shift = false;

        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_AND:
                bit_keep(held, (number << begin_of(first) & mask) | rest);
                break;
        case ZYDIS_MNEMONIC_OR:
                bit_keep(held, (mask & ~(number << begin_of(first))) | rest);
                held->other |= number << begin_of(first) & mask;
                break;
        case ZYDIS_MNEMONIC_XOR:
                bit_keep(held, mask | rest);
                held->other |= number << begin_of(first) & mask;
                break;
        case ZYDIS_MNEMONIC_SHL:
        case ZYDIS_MNEMONIC_SHR:
        case ZYDIS_MNEMONIC_SAR:
                if (begin_of(first) != 0 ||
                    !shift(held, decoded->instruction.mnemonic, first->size, number))
                        return false;
                is_shift = true;
                break;
        default:
                return false;
        }
        watch->known &= ~(UINT32_C(1) << name);
        set_flags(watch, held, mask);
        if (is_shift) /* the carry is the bit shifted out */
                watch->below = watch->above = before;
        return true;
}

static bool is_join(ZydisMnemonic mnemonic)
{
        return mnemonic == ZYDIS_MNEMONIC_AND || mnemonic == ZYDIS_MNEMONIC_OR ||
               mnemonic == ZYDIS_MNEMONIC_XOR;
}

/* The bits in MASK of a register that holds HELD which may be others afterwards, when one
 * that holds ADDED is joined to it, with ones in ONES. */
static uint64_t changed_by_join(ZydisMnemonic mnemonic, const struct bit_held *held,
                                const struct bit_held *added, uint64_t ones,
                                uint64_t mask)
{
        switch (mnemonic) {
        case ZYDIS_MNEMONIC_XOR:
                return bit_nonzero(held) & bit_nonzero(added) & mask;
        case ZYDIS_MNEMONIC_AND:
                return bit_nonzero(held) & mask & ~ones;
        default:
                return 0;
        }
}

static bool invert(struct bit_watch *watch, const struct decoded *decoded)
{
        uint8_t name = bit_register(&decoded->operands[0]);

        if (decoded->instruction.mnemonic != ZYDIS_MNEMONIC_NOT)
                return false;
        if (name >= REGISTER_COUNT)
                return false;
        watch->known &= ~(UINT32_C(1) << name);
        if (decoded->operands[0].size == 32)
                bit_keep(&watch->registers[name], bit_mask(&decoded->operands[0]));
        watch->registers[name].other |= bit_mask(&decoded->operands[0]);
        return true;
}

static bool take_number(struct bit_watch *watch, const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        uint8_t to = bit_register(first);

        if (decoded->instruction.mnemonic != ZYDIS_MNEMONIC_MOV || first->size < 32 ||
            second->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
                return false;
        bit_watch_forget(watch, UINT32_C(1) << to);
        watch->known |= UINT32_C(1) << to;
        watch->numbers[to] = second->imm.value.u & bit_low(first->size);
        watch->registers[to].other = watch->numbers[to];
        return true;
}

/* The content of OPERAND; memory holds nothing of the word. */
static struct bit_held held_by(const struct bit_watch *watch,
                               const ZydisDecodedOperand *operand, unsigned width)
{
        uint8_t name = bit_register(operand);

        return name < REGISTER_COUNT
                   ? bit_taken(&watch->registers[name], bit_mask(operand),
                               begin_of(operand))
                   : (struct bit_held){.other = bit_watch_nonzero(watch, operand, width)};
}

/* TO holds HELD now. */
static void put(struct bit_watch *watch, uint8_t to, const struct bit_held *held)
{
        watch->registers[to] = *held;
        watch->known &= ~(UINT32_C(1) << to);
}

/* An AND joins HELD, which has bits of the word, with the number BY. If BY holds more
 * than the word, DOUBTFUL bits may change. */
static void apply_mask(struct bit_held *held, struct bit_held *by, uint64_t doubtful,
                       uint64_t mask)
{
        if (bit_holds_more(held, mask))
                held->doubtful |= doubtful;
        bit_keep(held, bit_nonzero(by) | ~mask);
        by->other &= ~mask;
}

static bool join_other(struct bit_watch *watch, const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        ZydisMnemonic mnemonic = decoded->instruction.mnemonic;
        uint8_t to = bit_register(first);
        struct bit_held held = watch->registers[to];
        struct bit_held added = held_by(watch, second, first->size);
        uint64_t number = 0;

        if (begin_of(first) != 0 && bit_holds(&added))
                return false;
        /* Of 32 bits the rest is zero afterwards. */
        if (first->size == 32)
                bit_keep(&held, bit_mask(first));
        if (mnemonic == ZYDIS_MNEMONIC_AND &&
            bit_number(watch, first, first->size, &number)) {
                bit_keep(&added, number);
                held.other &= ~bit_mask(first);
        } else {
                bool is_first = bit_holds(&held);
                uint64_t ones = bit_ones(watch, is_first ? second : first);
                uint64_t changed =
                    changed_by_join(mnemonic, &held, &added, ones, bit_mask(first));

                if (mnemonic == ZYDIS_MNEMONIC_AND && is_first != bit_holds(&added))
                        apply_mask(is_first ? &held : &added, is_first ? &added : &held,
                                   ones ? 0 : changed, bit_mask(first));
                added.other |= changed;
        }
        if (to == bit_register(second) && mnemonic == ZYDIS_MNEMONIC_XOR)
                bit_keep(&held, first->size < 32 ? ~bit_mask(first) : 0);
        else if (!bit_join(&held, &added))
                return false;
        put(watch, to, &held);
        set_flags(watch, &held, bit_mask(first));
        return true;
}

static bool copy(struct bit_watch *watch, const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        ZydisMnemonic mnemonic = decoded->instruction.mnemonic;
        uint8_t to = bit_register(first), from = bit_register(second);
        struct bit_held held = {0};

        if (to >= REGISTER_COUNT)
                return false;
        if (take_number(watch, decoded))
                return true;
        if (is_join(mnemonic))
                return join_other(watch, decoded);
        if (from >= REGISTER_COUNT ||
            (mnemonic != ZYDIS_MNEMONIC_MOV && mnemonic != ZYDIS_MNEMONIC_MOVZX &&
             mnemonic != ZYDIS_MNEMONIC_MOVSX && mnemonic != ZYDIS_MNEMONIC_MOVSXD))
                return false;
        struct bit_held added = held_by(watch, second, second->size);

        if (begin_of(first) != 0 && bit_holds(&added))
                return false;
        if (mnemonic == ZYDIS_MNEMONIC_MOVSX || mnemonic == ZYDIS_MNEMONIC_MOVSXD) {
                uint64_t low = bit_low(second->size), sign = low & ~(low >> 1);
                uint64_t copies = bit_mask(first) & ~low;

                added.other |= added.other & sign ? copies : 0;
                bit_spread(&added, bit_seen(&added, sign), copies);
        }
        if (first->size < 32) { /* the rest of the register is as before */
                held = watch->registers[to];
                bit_keep(&held, ~bit_mask(first));
        }
        bit_move(&added, begin_of(first));
        if (!bit_join(&held, &added))
                return false;
        put(watch, to, &held);
        return true;
}

/* ---- sums ---- */

/* The content of a register in an address. */
static struct bit_held held_in(const struct bit_watch *watch, ZydisRegister name)
{
        uint8_t number = instruction_register(name);

        if (name == ZYDIS_REGISTER_NONE)
                return (struct bit_held){0};
        return number < REGISTER_COUNT ? watch->registers[number]
                                       : (struct bit_held){.other = UINT64_MAX};
}

/* A sum that is made as an address. */
static bool sum_address(const struct bit_watch *watch, const ZydisDecodedOperand *operand,
                        uint64_t mask, struct bit_held *sum)
{
        struct bit_held index = held_in(watch, operand->mem.index);
        const struct bit_held apart = {.other = (uint64_t)operand->mem.disp.value};
        unsigned scale = operand->mem.scale;

        *sum = held_in(watch, operand->mem.base);
        if (operand->mem.base == operand->mem.index && scale == 1)
                return bit_shift_up(sum, 64, 1) && bit_add(sum, &apart, mask, false);
        return bit_shift_up(&index, 64, scale ? (unsigned)__builtin_ctz(scale) : 0) &&
               bit_add(sum, &index, mask, false) && bit_add(sum, &apart, mask, false);
}

/* Each bit of a product depends on all bits up to it. */
static bool multiply(struct bit_held *held, const struct bit_held *by, uint64_t mask)
{
        if (!bit_join(held, by))
                return false;
        held->other |= bit_from(bit_nonzero(held)) & mask;
        held->carried = held->other;
        bit_keep(held, mask);
        return true;
}

static bool add(struct bit_watch *watch, const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        const struct bit_held one = {.other = 1};
        uint8_t to = bit_register(first);
        uint64_t mask = bit_mask(first);
        bool followed, sets = true;

        if (to >= REGISTER_COUNT || begin_of(first) != 0)
                return false;
        struct bit_held held = bit_taken(&watch->registers[to], mask, 0), zero = {0};
        struct bit_held rest = watch->registers[to],
                        added = held_by(watch, second, first->size);

        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_ADD:
                followed = same_register(first, second)
                               ? bit_shift_up(&held, first->size, 1)
                               : bit_add(&held, &added, mask, false);
                break;
        case ZYDIS_MNEMONIC_SUB:
                followed =
                    !same_register(first, second) && bit_add(&held, &added, mask, true);
                break;
        case ZYDIS_MNEMONIC_INC:
        case ZYDIS_MNEMONIC_DEC:
                followed = bit_add(&held, &one, mask, true);
                break;
        case ZYDIS_MNEMONIC_NEG:
                followed = bit_add(&zero, &held, mask, true);
                held = zero;
                break;
        case ZYDIS_MNEMONIC_IMUL:
                if (decoded->instruction.operand_count_visible == 3)
                        held = zero;
                followed = decoded->instruction.operand_count_visible > 1 &&
                           multiply(&held, &added, mask);
                break;
        case ZYDIS_MNEMONIC_LEA:
                followed = sum_address(watch, second, mask, &held);
                sets = false;
                break;
        default:
                return false;
        }
        bit_keep(&rest, first->size < 32 ? ~mask : 0);
        if (!followed || !bit_join(&held, &rest))
                return false;
        put(watch, to, &held);
        if (sets)
                set_flags(watch, &held, mask);
        return true;
}

/* Two registers shifted as one (shld, shrd). */
static bool shift_both(struct bit_watch *watch, const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        bool is_up = decoded->instruction.mnemonic == ZYDIS_MNEMONIC_SHLD;
        uint8_t to = bit_register(first);
        uint64_t number = 0;

        if ((!is_up && decoded->instruction.mnemonic != ZYDIS_MNEMONIC_SHRD) ||
            to >= REGISTER_COUNT || first->size < 32 ||
            !bit_number(watch, &decoded->operands[2], 8, &number))
                return false;
        struct bit_held held = bit_taken(&watch->registers[to], bit_mask(first), 0);
        struct bit_held added = held_by(watch, second, first->size);
        unsigned width = first->size, count = shift_count(width, number);

        if (count == 0)
                return false;
        bool followed = is_up ? bit_shift_up(&held, width, count) &&
                                    bit_shift_down(&added, width, width - count, false)
                              : bit_shift_down(&held, width, count, false) &&
                                    bit_shift_up(&added, width, width - count);

        if (!followed || !bit_join(&held, &added))
                return false;
        put(watch, to, &held);
        set_flags(watch, &held, bit_mask(first));
        return true;
}

bool bit_watch_follow(struct bit_watch *watch, const struct decoded *decoded)
{
        uint64_t ones = bit_ones_after(watch, decoded);
        uint8_t to = bit_register(&decoded->operands[0]);

        if (!change(watch, decoded) && !copy(watch, decoded) && !add(watch, decoded) &&
            !shift_both(watch, decoded) && !invert(watch, decoded))
                return false;
        if (to < REGISTER_COUNT)
                watch->ones[to] = ones;
        return true;
}
