/* SPDX-License-Identifier: MIT */
/* The provenance of a pointer's type: a variable, a load, or a call's result. A number
 * that is kept with the pointer. */
#ifndef MEMLAG_SYMBOLIZE_ORIGIN_H
#define MEMLAG_SYMBOLIZE_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
