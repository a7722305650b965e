/* SPDX-License-Identifier: MIT */
/* Rows of a comparison as they are filled, cell by cell, for a renderer. */
#ifndef MEMLAG_DIFF_CELLS_H
#define MEMLAG_DIFF_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render.h"

enum { CELLS_MAX = 24 };

/* A row as it is filled; texts that were made for it are freed with it. */
struct cells {
        struct cell cells[CELLS_MAX];
        char *made[CELLS_MAX];
        size_t count;
        bool failed; /* there was no memory for a text */
};

/* TEXT lives until the row is finished; NULL is one that is not known. */
void cells_put_text(struct cells *row, const char *text);

/* TEXT, which is freed with ROW, or NULL where there was no memory; RIGHT: a table aligns
 * it so. */
void cells_put_made(struct cells *row, char *text, bool right);

/* NAN: not known. */
void cells_put_real(struct cells *row, double value);
void cells_put_integer(struct cells *row, bool is_known, int64_t value);

/* Hands ROW to RENDER and empties it: 0 or -ENOMEM. */
int cells_finish(struct render *render, struct cells *row);

/* As printf, into a text that the caller frees; NULL without memory. */
__attribute__((format(printf, 1, 2))) char *text_of(const char *format, ...);

#endif
