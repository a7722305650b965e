/* SPDX-License-Identifier: MIT */
/* How many instructions a core can have between two loads of memory that need nothing of
 * each other, such that these still overlap: as many as it has places for what cannot go
 * on before the first load is there (H. Wong, "Measuring Reorder Buffer Capacity", 2013).
 * The code is made at run time, as the number is part of it. */
#ifndef MEMLAG_WINDOW_LOADS_H
#define MEMLAG_WINDOW_LOADS_H

#include <stdint.h>

#include "buffer.h"

/* What the instructions between the loads are, and so what they need places for. */
enum window_kind {
        WINDOW_IN_FLIGHT, /* wait for nothing, and only cannot retire */
        WINDOW_GENERAL,   /* arithmetic on the loaded value, in general registers, */
        WINDOW_VECTOR,    /* in vector registers, */
        WINDOW_ADDRESS,   /* and loads from there */
        WINDOW_GENERAL_AND_VECTOR, /* by turns */
        WINDOW_GENERAL_AND_ADDRESS,
        WINDOW_KINDS
};

/* More than any core has in flight. */
#define WINDOW_MAX 2048u

struct window_loads {
        struct buffer data[2]; /* a chase through each */
        struct buffer code;
        void *at[2]; /* where the chases are */
};

/* Chases through BYTES each, a power of two, on huge pages where there are any.
 * window_loads_free frees what was made, also after an error; -EACCES: this system does
 * not let a program run code that it makes. */
int window_loads_make(struct window_loads *loads, uint64_t bytes, struct diag *diag);
void window_loads_free(struct window_loads *loads);

/* The most instructions of KIND that there are places for, to about one in a hundred. */
int window_loads_find(struct window_loads *loads, enum window_kind kind,
                      unsigned *instructions, struct diag *diag);

#endif
