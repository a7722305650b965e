/* SPDX-License-Identifier: MIT */
/* Where the bits of a word are that was loaded: in registers and in flags. */
#ifndef MEMLAG_SYMBOLIZE_BIT_WATCH_H
#define MEMLAG_SYMBOLIZE_BIT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "bit_held.h"
#include "decoded.h"

struct bit_watch {
        uint64_t word; /* the mask of all of its bits */
        struct bit_held registers[REGISTER_COUNT];
        uint64_t flags;   /* bits that they depend on */
        uint64_t sign;    /* bits that the sign flag copies */
        uint64_t below;   /* bits that decide whether it is below the other operand */
        uint64_t above;   /* bits that decide whether it is above */
        bool whole;       /* they depend on the word in one piece */
        bool moved;       /* registers of the operand's address have changed */
        int64_t advanced; /* but by so many bytes in all, which are known */
        uint32_t copies;  /* registers with the address's earlier base */
        int64_t behind[REGISTER_COUNT]; /* and so many bytes more */
        uint32_t partly;                /* registers that were last written in part */
        uint32_t fresh;  /* that nothing has read since they were written */
        uint32_t tested; /* registers with the tested value */
        uint32_t stored; /* that hold the word as it was stored again */
        uint32_t known;  /* registers that hold numbers: these */
        uint64_t numbers[REGISTER_COUNT];
        uint64_t ones[REGISTER_COUNT]; /* bits of registers that are known to be one */
};

/* No bits, and nothing known. */
void bit_watch_begin(struct bit_watch *watch);
/* Whether A and B hold the same bits in the same places, and the same is known. */
bool bit_watch_same(const struct bit_watch *a, const struct bit_watch *b);

/* The register of OPERAND, and its bits; REGISTER_NONE: it has none. */
uint8_t bit_register(const ZydisDecodedOperand *operand);
uint64_t bit_mask(const ZydisDecodedOperand *operand);
/* The bits of OPERAND, of WIDTH, that may be other than zero. */
uint64_t bit_watch_nonzero(const struct bit_watch *watch,
                           const ZydisDecodedOperand *operand, unsigned width);
/* The number that OPERAND is, of WIDTH bits: false when it is not known. */
bool bit_number(const struct bit_watch *watch, const ZydisDecodedOperand *operand,
                unsigned width, uint64_t *number);

/* A test of FIRST, which holds HELD, by SECOND. False when it is none. */
bool bit_watch_test(struct bit_watch *watch, ZydisMnemonic mnemonic,
                    const ZydisDecodedOperand *first, const ZydisDecodedOperand *second,
                    const struct bit_held *held);
/* A change by a number, a copy, a join with other bits, a sum or product, two registers
 * that are shifted as one, all bits turned. False when it is nothing of that. */
bool bit_watch_follow(struct bit_watch *watch, const struct decoded *decoded);

/* The registers of the mask WRITTEN hold something else. */
void bit_watch_forget(struct bit_watch *watch, uint32_t written);
/* The same, of what DECODED writes: the rest of a register may be as before. */
void bit_watch_write(struct bit_watch *watch, const struct decoded *decoded,
                     uint32_t written);
/* The flags depend on BITS, the sign flag on SIGN. */
void bit_watch_flags(struct bit_watch *watch, uint64_t bits, uint64_t sign);

#endif
