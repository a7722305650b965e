/* SPDX-License-Identifier: MIT */
/* Bits are followed as long as masks and shifts by known numbers, copies and joins are
 * all that is done to them. */
#include "bit_watch.h"

static uint64_t shifted(uint64_t bits, int up)
{
        if (up >= 64 || up <= -64)
                return 0;
        return up >= 0 ? bits << up : bits >> -up;
}

uint64_t bit_low(unsigned count)
{
        return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

void bit_watch_begin(struct bit_watch *watch, const struct flow_state *state)
{
        *watch = (struct bit_watch){0};
        for (int i = 0; i < REGISTER_COUNT; i++) {
                const struct place_value *value = &state->registers[i];

                if (value->kind != PLACE_NUMBER || value->stride_bytes != 0 ||
                    value->indexed)
                        continue;
                watch->known |= UINT32_C(1) << i;
                watch->numbers[i] = (uint64_t)value->offset;
        }
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
            begin_of(operand) != 0 || (width > 32 && watch->numbers[name] >> 63))
                return false;
        *number = watch->numbers[name];
        return true;
}

static bool same_register(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
        return a->type == ZYDIS_OPERAND_TYPE_REGISTER &&
               b->type == ZYDIS_OPERAND_TYPE_REGISTER && a->reg.value == b->reg.value;
}

/* ---- what is held ---- */

uint64_t bit_seen(const struct bit_held *held, uint64_t mask)
{
        uint64_t bits = held->spread_over & mask ? held->spread : 0;

        for (int i = 0; i < BIT_PARTS; i++)
                bits |= held->parts[i].bits & shifted(mask, -held->parts[i].up);
        return bits;
}

/* Leaves what lies in MASK. */
static void keep(struct bit_held *held, uint64_t mask)
{
        for (int i = 0; i < BIT_PARTS; i++)
                held->parts[i].bits &= shifted(mask, -held->parts[i].up);
        held->spread_over &= mask;
        if (held->spread_over == 0)
                held->spread = 0;
}

static void move_up(struct bit_held *held, int count)
{
        for (int i = 0; i < BIT_PARTS; i++)
                held->parts[i].up += count;
        held->spread_over = shifted(held->spread_over, count);
        if (held->spread_over == 0)
                held->spread = 0;
}

void bit_spread(struct bit_held *held, uint64_t sign, uint64_t over)
{
        if (sign == 0 || over == 0)
                return;
        held->spread |= sign;
        held->spread_over |= over;
}

/* Adds what FROM has, in the same register: false when there is no room for it. */
static bool join(struct bit_held *held, const struct bit_held *from)
{
        for (int i = 0; i < BIT_PARTS; i++) {
                int at = 0;

                if (from->parts[i].bits == 0)
                        continue;
                while (at < BIT_PARTS && held->parts[at].bits != 0 &&
                       held->parts[at].up != from->parts[i].up)
                        at++;
                if (at == BIT_PARTS)
                        return false;
                held->parts[at].bits |= from->parts[i].bits;
                held->parts[at].up = from->parts[i].up;
        }
        bit_spread(held, from->spread, from->spread_over);
        return true;
}

uint64_t bit_all(const struct bit_held *held)
{
        return held->parts[0].bits | held->parts[1].bits | held->spread;
}

bool bit_holds(const struct bit_held *held)
{
        return bit_all(held) != 0;
}

void bit_watch_forget(struct bit_watch *watch, uint32_t written)
{
        static const struct bit_held nothing;

        watch->known &= ~written;
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                if (written >> i & 1)
                        watch->registers[i] = nothing;
}

void bit_watch_write(struct bit_watch *watch, const struct decoded *decoded,
                     uint32_t written)
{
        uint64_t kept[REGISTER_COUNT] = {0};

        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];
                uint8_t number = bit_register(operand);

                if (number >= REGISTER_COUNT)
                        continue;
                if (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
                        kept[number] = UINT64_MAX;
                else if (operand->actions & ZYDIS_OPERAND_ACTION_WRITE &&
                         operand->size < 32)
                        kept[number] = ~bit_mask(operand);
        }
        watch->known &= ~written;
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                if (written >> i & 1)
                        keep(&watch->registers[i], kept[i]);
}

/* ---- flags ---- */

void bit_watch_flags(struct bit_watch *watch, uint64_t bits, uint64_t sign)
{
        watch->flags = watch->below = watch->above = bits;
        watch->sign = sign;
}

static void set_flags(struct bit_watch *watch, const struct bit_held *held, uint64_t mask)
{
        bit_watch_flags(watch, bit_seen(held, mask), bit_seen(held, mask & ~(mask >> 1)));
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

                keep(&tested, number << begin);
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

/* ---- what is done to them ---- */

/* Of registers of 8 or 16 bits the rest stays. False: there is no room for it. */
static bool shift(struct bit_held *held, ZydisMnemonic mnemonic, unsigned width,
                  unsigned count)
{
        uint64_t mask = bit_low(width);
        uint64_t sign = bit_seen(held, mask & ~(mask >> 1));
        struct bit_held shifted_part = *held, rest = *held;

        keep(&rest, width < 32 ? ~mask : 0);
        keep(&shifted_part, mask);
        if (mnemonic == ZYDIS_MNEMONIC_SHL) {
                move_up(&shifted_part, (int)count);
                keep(&shifted_part, mask);
        } else {
                keep(&shifted_part, mask & ~bit_low(count));
                move_up(&shifted_part, -(int)count);
                if (mnemonic == ZYDIS_MNEMONIC_SAR)
                        bit_spread(&shifted_part, sign,
                                   mask & ~shifted(mask, -(int)count));
        }
        if (!join(&shifted_part, &rest))
                return false;
        *held = shifted_part;
        return true;
}

bool bit_watch_change(struct bit_watch *watch, const struct decoded *decoded)
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
                keep(held, (number << begin_of(first) & mask) | rest);
                break;
        case ZYDIS_MNEMONIC_OR:
                keep(held, (mask & ~(number << begin_of(first))) | rest);
                break;
        case ZYDIS_MNEMONIC_XOR:
                break;
        case ZYDIS_MNEMONIC_SHL:
        case ZYDIS_MNEMONIC_SHR:
        case ZYDIS_MNEMONIC_SAR:
                if (begin_of(first) != 0 ||
                    !shift(held, decoded->instruction.mnemonic, first->size,
                           (unsigned)number & (first->size == 64 ? 63 : 31)))
                        return false;
                is_shift = true;
                break;
        default:
                return false;
        }
        watch->known &= ~(UINT32_C(1) << name);
        set_flags(watch, held, mask);
        if (is_shift) /* the carry is what was shifted out */
                watch->below = watch->above = before;
        return true;
}

/* TO has what FROM has in MASK, which begins BEGIN bits up in it. */
static void replace(struct bit_held *to, const struct bit_held *from, uint64_t mask,
                    int begin)
{
        *to = *from;
        keep(to, mask);
        move_up(to, -begin);
}

static bool is_join(ZydisMnemonic mnemonic)
{
        return mnemonic == ZYDIS_MNEMONIC_AND || mnemonic == ZYDIS_MNEMONIC_OR ||
               mnemonic == ZYDIS_MNEMONIC_XOR;
}

bool bit_watch_invert(struct bit_watch *watch, const struct decoded *decoded)
{
        uint8_t name = bit_register(&decoded->operands[0]);

        if (decoded->instruction.mnemonic != ZYDIS_MNEMONIC_NOT)
                return false;
        if (name >= REGISTER_COUNT)
                return false;
        watch->known &= ~(UINT32_C(1) << name);
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
        return true;
}

bool bit_watch_copy(struct bit_watch *watch, const struct decoded *decoded)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        ZydisMnemonic mnemonic = decoded->instruction.mnemonic;
        uint8_t to = bit_register(first), from = bit_register(second);
        struct bit_held held = {0}, added = {0};
        uint64_t number = 0;

        if (to >= REGISTER_COUNT)
                return false;
        if (take_number(watch, decoded))
                return true;
        if (is_join(mnemonic)) {
                held = watch->registers[to];
                if (from < REGISTER_COUNT)
                        replace(&added, &watch->registers[from], bit_mask(second),
                                begin_of(second));
                else if (second->type != ZYDIS_OPERAND_TYPE_MEMORY || !bit_holds(&held))
                        return false;
                if (mnemonic == ZYDIS_MNEMONIC_AND &&
                    bit_number(watch, first, first->size, &number))
                        keep(&added, number);
                /* Of 32 bits the rest is zero afterwards. */
                if (first->size == 32)
                        keep(&held, bit_mask(first));
                if (begin_of(first) != 0 && bit_holds(&added))
                        return false;
                if (to == from && mnemonic == ZYDIS_MNEMONIC_XOR)
                        keep(&held, first->size < 32 ? ~bit_mask(first) : 0);
                else if (!join(&held, &added))
                        return false;
        } else {
                switch (mnemonic) {
                case ZYDIS_MNEMONIC_MOV:
                case ZYDIS_MNEMONIC_MOVZX:
                case ZYDIS_MNEMONIC_MOVSX:
                case ZYDIS_MNEMONIC_MOVSXD:
                        break;
                default:
                        return false;
                }
                if (from >= REGISTER_COUNT)
                        return false;
                replace(&added, &watch->registers[from], bit_mask(second),
                        begin_of(second));
                if (begin_of(first) != 0 && bit_holds(&added))
                        return false;
                if (mnemonic == ZYDIS_MNEMONIC_MOVSX ||
                    mnemonic == ZYDIS_MNEMONIC_MOVSXD) {
                        uint64_t low = bit_low(second->size);

                        bit_spread(&added, bit_seen(&added, low & ~(low >> 1)),
                                   bit_mask(first) & ~low);
                }
                if (first->size < 32) { /* the rest of the register is as before */
                        held = watch->registers[to];
                        keep(&held, ~bit_mask(first));
                }
                if (!join(&held, &added))
                        return false;
        }
        watch->registers[to] = held;
        watch->known &= ~(UINT32_C(1) << to);
        if (is_join(mnemonic))
                set_flags(watch, &held, bit_mask(first));
        return true;
}
