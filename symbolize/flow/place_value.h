/* SPDX-License-Identifier: MIT */
/* The target of a pointer, and arithmetic with it. Knows no instructions and no
 * registers. */
#ifndef MEMLAG_SYMBOLIZE_PLACE_VALUE_H
#define MEMLAG_SYMBOLIZE_PLACE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "type_table.h"

/* The provenance of a pointer's type: a variable, a load, or a call's result. A number
 * stored with the pointer. */
typedef uint32_t origin;

enum {
        ORIGIN_NONE,       /* not known */
        ORIGIN_SEVERAL,    /* different on the paths that lead there */
        ORIGIN_FIRST_STEP, /* and on: a step of the function's code */
        ORIGIN_LAST_STEP = INT32_MAX
};

#define ORIGIN_FIRST_VARIABLE UINT32_C(0x80000000) /* and on: of variables.values */

static inline origin origin_of_step(size_t step)
{
        return step <= ORIGIN_LAST_STEP - ORIGIN_FIRST_STEP
                   ? (origin)step + ORIGIN_FIRST_STEP
                   : (origin)ORIGIN_NONE;
}

static inline origin origin_of_variable(size_t value)
{
        return value < ORIGIN_FIRST_VARIABLE ? (origin)value + ORIGIN_FIRST_VARIABLE
                                             : (origin)ORIGIN_NONE;
}

static inline bool origin_is_step(origin from)
{
        return from >= ORIGIN_FIRST_STEP && from < ORIGIN_FIRST_VARIABLE;
}

static inline bool origin_is_variable(origin from)
{
        return from >= ORIGIN_FIRST_VARIABLE;
}

/* The common provenance of A and B. */
static inline origin origin_meet(origin a, origin b)
{
        return a == b ? a : (origin)ORIGIN_SEVERAL;
}

enum place_kind {
        PLACE_UNKNOWN, /* nothing is known */
        PLACE_POINTER, /* OFFSET bytes into its target, a TYPE */
        PLACE_FRAME,   /* OFFSET bytes from the function's CFA */
        PLACE_ALIGNED, /* the same, from the aligned stack pointer */
        /* The file's virtual address OFFSET; with ELF_THREAD_LOCAL, in its thread-local
         * memory. */
        PLACE_ADDRESS,
        PLACE_THREAD, /* OFFSET bytes from the thread pointer, no known variable */
        /* No address: the number OFFSET, plus any multiple of STRIDE_BYTES (1: any). */
        PLACE_NUMBER,
        /* No address: the word OFFSET bytes behind the start of a class's virtual table,
         * perhaps the offset of a virtual base. */
        PLACE_TABLE_WORD,
        PLACE_RESULT, /* the result of the call in question, plus OFFSET */
        /* The value on a path that never runs, because it accesses memory near address 0.
         * A join ignores it. */
        PLACE_UNREACHED
};

/* The abstract value of a register or slot. */
struct place_value {
        enum place_kind kind;
        bool indexed;       /* plus an index */
        bool unknown_index; /* the index includes an unknown number */
        bool guessed;       /* plus an index that may count something else */
        /* Settled: the index begins outside of the pointer's target. */
        bool shifted;
        bool strided; /* settled: STRIDE_BYTES covers all additions */
        uint32_t type;
        origin origin; /* of a POINTER */
        int64_t offset;
        /* The index is any multiple of STRIDE_BYTES. For a POINTER, whole items of its
         * type may have been added too. */
        uint64_t stride_bytes;
        /* The constant added to an index or an unknown number. OFFSET does not include
         * it; it is known up to multiples of the stride. */
        int64_t ahead;
};

/* The offset of a POINTER in its type; in an array, in any item. A pointer to a number
 * may also point to several. */
uint64_t place_offset(const struct types *types, const struct place_value *place);

/* Whether a POINTER is inside its target or behind an index. A constant beyond the target
 * means a cast. */
bool place_stays_inside(const struct types *types, const struct place_value *place);

/* Whether PLACE, OFFSET bytes into a variable of TYPE, stays in the variable with all its
 * indexes of known stride. Otherwise it may be in one of several variables. */
bool place_stays_in(const struct types *types, const struct place_value *place,
                    uint32_t type, uint64_t offset);

extern const struct place_value place_unknown;
extern const struct place_value place_any_number;
extern const struct place_value place_unreached;

struct place_value place_pointer(uint32_t type, int64_t offset);
/* The number REST plus any multiple of MOD; 0: exactly REST. */
struct place_value place_number(uint64_t mod, int64_t rest);

bool place_in_frame(const struct place_value *value);
bool place_in_thread(const struct place_value *value);
/* Whether it is a number or unknown, and thus no address. */
bool place_is_number(const struct place_value *value);
/* Whether it is the null pointer or an offset from it, and thus no valid address. */
bool place_is_null(const struct place_value *value);
/* Whether it is unknown, or no code gets there. */
bool place_says_nothing(const struct place_value *value);
bool place_same(const struct place_value *a, const struct place_value *b);

/* The join of A and B. */
struct place_value place_meet(const struct types *types, const struct place_value *a,
                              const struct place_value *b);
struct place_value place_add_constant(const struct place_value *value, int64_t constant);
/* VALUE, a number, with the bits of CONSTANT set. */
struct place_value place_or(const struct place_value *value, int64_t constant);
/* The lower half of VALUE plus CONSTANT, as a number. */
struct place_value place_half(const struct place_value *value, int64_t constant);
/* The distance of a POINTER's index from its target, at the index's beginning. */
int64_t place_begin(const struct place_value *place);
/* A plus SCALE times B. */
struct place_value place_add(const struct types *types, const struct place_value *a,
                             const struct place_value *b, uint64_t scale);
/* A minus B, if B is a known number and A is not in a frame. */
struct place_value place_subtract(const struct types *types, const struct place_value *a,
                                  const struct place_value *b);
/* The address that an operand reads through a POINTER with all its additions. The operand
 * reads ACCESS_BYTES at once (0: any). The result is in the field that the index leads
 * to, or GUESSED. If only an index that begins at 1 leads there, the result is GUESSED
 * too, but at the field's offset: compilers make such an index to save an addition. */
struct place_value place_settled(const struct types *types,
                                 const struct place_value *value, uint64_t access_bytes);
/* The same; without a field, the result is GUESSED to be at the index's beginning. */
struct place_value place_guess(const struct types *types, const struct place_value *value,
                               uint64_t access_bytes);
struct place_value place_multiply(const struct place_value *value, int64_t by);

#endif
