/* SPDX-License-Identifier: MIT */
/* Fills the rows of a comparison, cell by cell, for a renderer. */
#ifndef MEMLAG_DIFF_CELLS_H
#define MEMLAG_DIFF_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render.h"

enum { CELLS_MAX = 32 };

/* A row under construction; it owns the texts created for it. */
struct cells {
        struct cell cells[CELLS_MAX];
        char *made[CELLS_MAX];
        size_t count;
        bool failed; /* a text could not be allocated */
};

/* TEXT must live until cells_finish; NULL: not known. */
void cells_put_text(struct cells *row, const char *text);

/* ROW takes ownership of TEXT; NULL: no memory for the text. RIGHT: aligned to the right
 * in a table. */
void cells_put_made(struct cells *row, char *text, bool right);

/* NAN: not known. */
void cells_put_real(struct cells *row, double value);
void cells_put_integer(struct cells *row, bool is_known, int64_t value);

/* Passes ROW to RENDER and empties it; returns 0 or -ENOMEM. */
int cells_finish(struct render *render, struct cells *row);

/* Formats like printf into a text that the caller frees; NULL without memory. */
__attribute__((format(printf, 1, 2))) char *text_of(const char *format, ...);

#endif
