/* SPDX-License-Identifier: MIT */
/* Pure functions of what one register holds, or two. */
#include "bit_held.h"

uint64_t bit_low(unsigned count)
{
        return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

uint64_t bit_shifted(uint64_t bits, int up)
{
        if (up >= 64 || up <= -64)
                return 0;
        return up >= 0 ? bits << up : bits >> -up;
}

uint64_t bit_from(uint64_t bits)
{
        return bits ? ~bit_low((unsigned)__builtin_ctzll(bits)) : 0;
}

/* The bits that influence MASK: a sum's carry brings in all bits below. */
static uint64_t reach(const struct bit_held *held, uint64_t mask)
{
        uint64_t sum = held->carried & mask;

        return sum ? mask | (held->carried & bit_low(64 - (unsigned)__builtin_clzll(sum)))
                   : mask;
}

uint64_t bit_seen(const struct bit_held *held, uint64_t mask)
{
        uint64_t told = reach(held, mask);
        uint64_t bits = held->spread_over & told ? held->spread : 0;

        for (int i = 0; i < BIT_PARTS; i++)
                bits |= held->parts[i].bits & bit_shifted(told, -held->parts[i].up);
        return bits;
}

bool bit_seen_whole(const struct bit_held *held, uint64_t mask, uint64_t word)
{
        uint64_t told = reach(held, mask);
        uint64_t spread = held->spread_over & told ? held->spread : 0;

        for (int i = 0; i < BIT_PARTS; i++) {
                uint64_t bits =
                    held->parts[i].bits & bit_shifted(told, -held->parts[i].up);

                /* A result of all bits may be a result of parts. */
                if (bits != 0 && spread != word && (bits | spread) == word)
                        return true;
        }
        return false;
}

uint64_t bit_all(const struct bit_held *held)
{
        return held->parts[0].bits | held->parts[1].bits | held->spread;
}

bool bit_holds(const struct bit_held *held)
{
        return bit_all(held) != 0;
}

bool bit_same(const struct bit_held *a, const struct bit_held *b)
{
        for (int i = 0; i < BIT_PARTS; i++)
                if (a->parts[i].bits != b->parts[i].bits ||
                    (a->parts[i].bits != 0 && a->parts[i].up != b->parts[i].up))
                        return false;
        return a->spread == b->spread && a->spread_over == b->spread_over &&
               a->other == b->other && a->carried == b->carried &&
               a->doubtful == b->doubtful;
}

/* The bits of the register that are the word's. */
static uint64_t places(const struct bit_held *held)
{
        uint64_t bits = 0;

        for (int i = 0; i < BIT_PARTS; i++)
                bits |= bit_shifted(held->parts[i].bits, held->parts[i].up);
        return bits;
}

bool bit_holds_more(const struct bit_held *held, uint64_t mask)
{
        return (held->other & mask & ~places(held)) != 0;
}

uint64_t bit_nonzero(const struct bit_held *held)
{
        return places(held) | held->spread_over | held->other;
}

/* ---- changes ---- */

/* If bits leave MASK, the sums above still depend on them. */
void bit_keep(struct bit_held *held, uint64_t mask)
{
        uint64_t below = reach(held, held->carried & mask) & ~mask;
        uint64_t above = held->carried & mask & bit_from(below);
        uint64_t gone = held->spread_over & below ? held->spread : 0;

        for (int i = 0; i < BIT_PARTS; i++) {
                gone |= held->parts[i].bits & bit_shifted(below, -held->parts[i].up);
                held->parts[i].bits &= bit_shifted(mask, -held->parts[i].up);
        }
        held->spread_over &= mask;
        if (held->spread_over == 0)
                held->spread = 0;
        bit_spread(held, gone, above);
        held->other &= mask;
        held->doubtful &= mask;
        held->carried = bit_holds(held) ? held->carried & mask : 0;
}

void bit_spread(struct bit_held *held, uint64_t bits, uint64_t over)
{
        if (bits == 0 || over == 0)
                return;
        held->spread |= bits;
        held->spread_over |= over;
}

/* If sums carried, the remaining bits depend on the lost ones below. */
void bit_move(struct bit_held *held, int count)
{
        uint64_t lost =
            count < 0 ? bit_seen(held, held->carried & bit_low((unsigned)-count)) : 0;

        for (int i = 0; i < BIT_PARTS; i++)
                held->parts[i].up += count;
        held->spread_over = bit_shifted(held->spread_over, count);
        if (held->spread_over == 0)
                held->spread = 0;
        held->other = bit_shifted(held->other, count);
        held->doubtful = bit_shifted(held->doubtful, count);
        held->carried = bit_shifted(held->carried, count);
        bit_spread(held, lost, bit_nonzero(held));
}

bool bit_join(struct bit_held *held, const struct bit_held *from)
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
        held->other |= from->other;
        held->doubtful |= from->doubtful;
        held->carried |= from->carried;
        return true;
}

struct bit_held bit_taken(const struct bit_held *from, uint64_t mask, int begin)
{
        struct bit_held held = *from;

        bit_keep(&held, mask);
        bit_move(&held, -begin);
        return held;
}

static bool join_rest(struct bit_held *held, const struct bit_held *before,
                      unsigned width)
{
        struct bit_held rest = *before;

        bit_keep(&rest, width < 32 ? ~bit_low(width) : 0);
        return bit_join(held, &rest);
}

bool bit_shift_up(struct bit_held *held, unsigned width, unsigned count)
{
        uint64_t mask = bit_low(width);
        struct bit_held shifted = bit_taken(held, mask, 0);

        bit_move(&shifted, (int)count);
        bit_keep(&shifted, mask);
        if (!join_rest(&shifted, held, width))
                return false;
        *held = shifted;
        return true;
}

bool bit_shift_down(struct bit_held *held, unsigned width, unsigned count, bool is_signed)
{
        uint64_t mask = bit_low(width), sign = mask & ~(mask >> 1);
        uint64_t copies = is_signed ? mask & ~bit_shifted(mask, -(int)count) : 0;
        struct bit_held shifted = bit_taken(held, mask, 0);

        bit_keep(&shifted, mask & ~bit_low(count));
        bit_move(&shifted, -(int)count);
        bit_spread(&shifted, bit_seen(held, sign), copies);
        if (held->other & sign)
                shifted.other |= copies;
        if (!join_rest(&shifted, held, width))
                return false;
        *held = shifted;
        return true;
}

/* Where no two bits meet, a sum is a join. */
bool bit_add(struct bit_held *held, const struct bit_held *from, uint64_t mask,
             bool subtracted)
{
        struct bit_held sum = *held;
        uint64_t both = bit_nonzero(from) & (subtracted ? mask : bit_nonzero(held));

        if (!bit_join(&sum, from))
                return false;
        sum.other |= bit_from(both) & mask;
        sum.carried |= bit_from(both) & mask;
        bit_keep(&sum, mask);
        *held = sum;
        return true;
}

bool bit_stored(const struct bit_held *held, uint64_t mask, int up, uint64_t word,
                uint64_t *changed)
{
        uint64_t back = 0, others = held->other | held->spread_over;

        for (int i = 0; i < BIT_PARTS; i++) {
                if (held->parts[i].up == up)
                        back |= held->parts[i].bits;
                else
                        others |= bit_shifted(held->parts[i].bits, held->parts[i].up);
        }
        *changed = word & bit_shifted(mask, -up) & ~(back & ~bit_shifted(others, -up));
        return back != 0;
}
