/* SPDX-License-Identifier: MIT */
/* Which bits of a word that was loaded a register holds, and where. */
#ifndef MEMLAG_SYMBOLIZE_BIT_HELD_H
#define MEMLAG_SYMBOLIZE_BIT_HELD_H

#include <stdbool.h>
#include <stdint.h>

enum { BIT_PARTS = 2 };

/* Bits of the word in a register: bit n of the word is bit n + UP of the register, in
 * each joined part. Each bit of SPREAD_OVER depends on the bits SPREAD: copies of an
 * extended sign, and results of these. */
struct bit_held {
        struct {
                uint64_t bits;
                int up;
        } parts[BIT_PARTS];
        uint64_t spread;
        uint64_t spread_over;
        uint64_t other; /* bits of the register that may be neither zero nor the word's */
        uint64_t carried; /* bits of sums: the ones above depend on the ones below */
        /* Bits that an unknown mask may have changed in a register that holds more than
         * the word, mostly for the other bits; and bits that were loaded again. */
        uint64_t doubtful;
};

/* The lowest COUNT bits; BITS moved UP, or down; all bits from the lowest of BITS on. */
uint64_t bit_low(unsigned count);
uint64_t bit_shifted(uint64_t bits, int up);
uint64_t bit_from(uint64_t bits);

/* The bits of the word that lie in MASK of the register, or that it tells of. */
uint64_t bit_seen(const struct bit_held *held, uint64_t mask);
/* Whether they tell of all of WORD in one piece, and not of parts that lie over each
 * other, or apart. */
bool bit_seen_whole(const struct bit_held *held, uint64_t mask, uint64_t word);
/* All that HELD has, and whether that is any. */
uint64_t bit_all(const struct bit_held *held);
bool bit_holds(const struct bit_held *held);
/* Whether A and B have the same in the same places. */
bool bit_same(const struct bit_held *a, const struct bit_held *b);
/* Whether some bits of MASK are neither zero nor the word's, as of a wider word. */
bool bit_holds_more(const struct bit_held *held, uint64_t mask);
/* The bits of the register that may be other than zero. */
uint64_t bit_nonzero(const struct bit_held *held);

/* Leaves what lies in MASK. */
void bit_keep(struct bit_held *held, uint64_t mask);
/* Moves all COUNT bits up, or down, where nothing falls off. */
void bit_move(struct bit_held *held, int count);
/* The register's bits OVER depend on the word's BITS. */
void bit_spread(struct bit_held *held, uint64_t bits, uint64_t over);
/* Adds what FROM has, in the same register: false when there is no room for it. */
bool bit_join(struct bit_held *held, const struct bit_held *from);
/* What FROM has in MASK, which begins BEGIN bits up in it, moved to the lowest bits. */
struct bit_held bit_taken(const struct bit_held *from, uint64_t mask, int begin);

/* Shifts by COUNT in a register of WIDTH bits; of one of 8 or 16 the rest stays. False:
 * there is no room for it. */
bool bit_shift_up(struct bit_held *held, unsigned width, unsigned count);
bool bit_shift_down(struct bit_held *held, unsigned width, unsigned count,
                    bool is_signed);
/* The sum (or difference) of both in a register of MASK. False: there is no room. */
bool bit_add(struct bit_held *held, const struct bit_held *from, uint64_t mask,
             bool subtracted);

/* HELD is stored in MASK, UP bits below the word's place: finds the changed bits of the
 * word. False: no bit returns to its place. */
bool bit_stored(const struct bit_held *held, uint64_t mask, int up, uint64_t word,
                uint64_t *changed);

#endif
