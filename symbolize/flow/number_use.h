/* SPDX-License-Identifier: MIT */
/* Whether a number that an instruction moves from memory to a vector register is one of
 * floating point: the move itself is the same for integers, which compilers convert there
 * too. */
#ifndef MEMLAG_SYMBOLIZE_NUMBER_USE_H
#define MEMLAG_SYMBOLIZE_NUMBER_USE_H

#include "flow_code.h"

enum number_use {
        NUMBER_OTHER,    /* STEP is no such move: it shows the kind itself */
        NUMBER_FLOATING, /* what follows counts with it, or hands it on as one */
        NUMBER_OPEN      /* nothing shows what it is */
};

enum number_use number_use(const struct flow_code *code, size_t step);

#endif
