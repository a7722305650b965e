/* SPDX-License-Identifier: MIT */
/* Counts the instructions that a core can hold between two independent memory loads that
 * still overlap: the capacity for instructions that cannot proceed before the first load
 * completes (H. Wong, "Measuring Reorder Buffer Capacity", 2013). The code contains the
 * number: it is generated at run time. */
#ifndef MEMLAG_WINDOW_LOADS_H
#define MEMLAG_WINDOW_LOADS_H

#include <stdint.h>

#include "buffer.h"

/* The kind of instructions between the loads, and so the resource that they occupy. */
enum window_kind {
        WINDOW_IN_FLIGHT, /* wait for nothing, but cannot retire */
        WINDOW_GENERAL,   /* arithmetic on the loaded value, in general registers */
        WINDOW_VECTOR,    /* arithmetic on the loaded value, in vector registers */
        WINDOW_ADDRESS,   /* loads from the loaded address */
        WINDOW_GENERAL_AND_VECTOR, /* both kinds alternately */
        WINDOW_GENERAL_AND_ADDRESS,
        WINDOW_KINDS
};

/* More than any core has in flight. */
#define WINDOW_MAX 2048u

struct window_loads {
        struct buffer data[2]; /* one chase in each */
        struct buffer code;
        void *at[2]; /* current positions of the chases */
};

/* Allocates two chases of BYTES each, a power of two, on huge pages if possible.
 * window_loads_free frees everything, also after an error. Returns -EACCES if the system
 * forbids generated code. */
int window_loads_make(struct window_loads *loads, uint64_t bytes, struct diag *diag);
void window_loads_free(struct window_loads *loads);

/* INSTRUCTIONS gets the capacity for instructions of KIND, to about one percent. */
int window_loads_find(struct window_loads *loads, enum window_kind kind,
                      unsigned *instructions, struct diag *diag);

#endif
