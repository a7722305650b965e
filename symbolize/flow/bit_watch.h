/* SPDX-License-Identifier: MIT */
/* Where the bits of a word are that was loaded: in registers, shifted, and in flags. */
#ifndef MEMLAG_SYMBOLIZE_BIT_WATCH_H
#define MEMLAG_SYMBOLIZE_BIT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "decoded.h"
#include "flow_state.h"

enum { BIT_PARTS = 2 };

/* Bits of the word in a register: bit n of the word is bit n + UP of the register, for
 * each of the parts that were joined there. Each bit of SPREAD_OVER is a copy of one of
 * SPREAD: what was the sign where a number was extended. */
struct bit_held {
        struct {
                uint64_t bits;
                int up;
        } parts[BIT_PARTS];
        uint64_t spread;
        uint64_t spread_over;
};

struct bit_watch {
        struct bit_held registers[REGISTER_COUNT];
        uint64_t flags; /* bits that they depend on */
        uint64_t sign;  /* those that the sign flag does, where it is a bit's copy */
        uint64_t below; /* those that tell whether it is below what it is compared with */
        uint64_t above; /* those that tell whether it is above */
        bool moved;     /* registers of the operand's address have changed */
        uint32_t partly; /* registers of which only a part was written last */
        uint32_t known;  /* registers that hold numbers: these */
        uint64_t numbers[REGISTER_COUNT];
};

/* What is known of registers in STATE, and no bits. */
void bit_watch_begin(struct bit_watch *watch, const struct flow_state *state);

/* The lowest COUNT bits. */
uint64_t bit_low(unsigned count);
/* The register that OPERAND is, and the bits of it; REGISTER_NONE: it is none. */
uint8_t bit_register(const ZydisDecodedOperand *operand);
uint64_t bit_mask(const ZydisDecodedOperand *operand);
/* The bits of the word that lie in MASK of the register. */
uint64_t bit_seen(const struct bit_held *held, uint64_t mask);
/* All that HELD has, and whether that is any. */
uint64_t bit_all(const struct bit_held *held);
bool bit_holds(const struct bit_held *held);
/* The word's bits in SIGN are copied to those of the register in OVER. */
void bit_spread(struct bit_held *held, uint64_t sign, uint64_t over);
/* The number that OPERAND is, of WIDTH bits: false when it is not known. */
bool bit_number(const struct bit_watch *watch, const ZydisDecodedOperand *operand,
                unsigned width, uint64_t *number);

/* A test of FIRST, which holds HELD, by SECOND; a change by a number; a copy, or a join
 * with bits of something else; all bits turned. False when it is nothing of that. */
bool bit_watch_test(struct bit_watch *watch, ZydisMnemonic mnemonic,
                    const ZydisDecodedOperand *first, const ZydisDecodedOperand *second,
                    const struct bit_held *held);
bool bit_watch_change(struct bit_watch *watch, const struct decoded *decoded);
bool bit_watch_copy(struct bit_watch *watch, const struct decoded *decoded);
bool bit_watch_invert(struct bit_watch *watch, const struct decoded *decoded);

/* The registers of the mask WRITTEN hold something else. */
void bit_watch_forget(struct bit_watch *watch, uint32_t written);
/* The same, of what DECODED writes: the rest of a register may be as before. */
void bit_watch_write(struct bit_watch *watch, const struct decoded *decoded,
                     uint32_t written);
/* The flags depend on BITS, and the one of the sign on those of SIGN. */
void bit_watch_flags(struct bit_watch *watch, uint64_t bits, uint64_t sign);

#endif
