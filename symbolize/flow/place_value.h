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
 * that is kept with the pointer. */
typedef uint32_t origin;

enum {
        ORIGIN_NONE,       /* not known */
        ORIGIN_SEVERAL,    /* another on each of the ways that lead there */
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

/* Of both, where it is the same. */
static inline origin origin_meet(origin a, origin b)
{
        return a == b ? a : (origin)ORIGIN_SEVERAL;
}

enum place_kind {
        PLACE_UNKNOWN, /* nothing is known of the address */
        PLACE_POINTER, /* OFFSET bytes into a TYPE */
        PLACE_FRAME,   /* OFFSET bytes from the function's CFA */
        PLACE_ALIGNED, /* from where the stack pointer was rounded down to */
        /* The file's virtual address OFFSET; with ELF_THREAD_LOCAL, in its thread-local
         * memory. */
        PLACE_ADDRESS,
        PLACE_THREAD, /* OFFSET bytes from the thread pointer, and no variable's */
        /* No address: the number OFFSET, plus any multiple of STRIDE_BYTES (1: any). */
        PLACE_NUMBER,
        /* No address: the word OFFSET bytes from where a class's table of functions is
         * pointed to, which may say where a virtual base is. */
        PLACE_TABLE_WORD,
        PLACE_RESULT, /* the result of the call in question, plus OFFSET */
        /* What would be made by an access near address 0, and so is not: it changes
         * nothing that another way leads to. */
        PLACE_UNREACHED
};

/* Where something points. */
struct place_value {
        enum place_kind kind;
        bool indexed;       /* plus an index */
        bool unknown_index; /* which includes an unknown number */
        bool guessed;       /* plus an index that is not known to count what lies there */
        /* Settled: the index begins items behind the one that the pointer is to, or
         * before it. */
        bool shifted;
        bool strided; /* settled: STRIDE_BYTES is of all that was added */
        uint32_t type;
        origin origin; /* of a POINTER */
        int64_t offset;
        /* Of the index, which is any multiple of that; of a POINTER's whole items of its
         * type may have been added. */
        uint64_t stride_bytes;
        /* The constant that was added to an index or an unknown number. OFFSET does not
         * include it; it is known up to multiples of the step. */
        int64_t ahead;
};

/* The offset of a POINTER's place in its type; in an array, in any item. A pointer to a
 * number may also be to several. */
uint64_t place_offset(const struct types *types, const struct place_value *place);

/* Whether a POINTER's place is in its target or behind an index. A constant beyond the
 * target means a cast. */
bool place_stays_inside(const struct types *types, const struct place_value *place);

/* Whether PLACE, OFFSET bytes into a variable of TYPE, is there with each of its indexes
 * that counts known steps: it may also be in one of several variables. */
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
/* Whether it is no address: a number, or unknown. */
bool place_is_number(const struct place_value *value);
/* Whether it is no more than a number that no access can be to, the null pointer's or one
 * counted from there. */
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
/* How far from where a POINTER is to its index begins. */
int64_t place_begin(const struct place_value *place);
/* A plus SCALE times B. */
struct place_value place_add(const struct types *types, const struct place_value *a,
                             const struct place_value *b, uint64_t scale);
/* A less B, if B is a known number and A is not in a frame. */
struct place_value place_subtract(const struct types *types, const struct place_value *a,
                                  const struct place_value *b);
/* The place of a POINTER as an operand that reads ACCESS_BYTES at once (0: any) has it,
 * with all that is added: in the field that its index leads to, or GUESSED. GUESSED too,
 * but at the field's offset, when an index that begins at 1 is all that makes it lead
 * there (compilers have such where that saves an addition). */
struct place_value place_settled(const struct types *types,
                                 const struct place_value *value, uint64_t access_bytes);
/* The same, but where nothing is found GUESSED to be where the index begins. */
struct place_value place_guess(const struct types *types, const struct place_value *value,
                               uint64_t access_bytes);
struct place_value place_multiply(const struct place_value *value, int64_t by);

#endif
