/* SPDX-License-Identifier: MIT */
/* Another layout of an array of structs, as the plan (protocol.h) describes it: its
 * elements are cut into pieces, and the pieces lie in one or more arrays of their own.
 * Pure functions. */
#ifndef SIMPMU_MODEL_LAYOUT_H
#define SIMPMU_MODEL_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "../protocol.h"

struct layout {
        uint32_t element_bytes;
        uint32_t part_count;
        uint32_t piece_count;
        const struct simpmu_part *parts;
        const struct simpmu_piece *pieces;
};

/* Bytes that lie together in both layouts. */
struct layout_run {
        uint32_t part;
        uint64_t offset_bytes; /* from the part's beginning */
        uint64_t bytes;
};

/* The layout is as protocol.h demands. */
static inline bool layout_is_valid(const struct layout *layout)
{
        uint64_t at = 0;

        for (uint32_t i = 0; i < layout->part_count; i++) {
                const uint32_t align = layout->parts[i].align_bytes;
                if (layout->parts[i].element_bytes == 0 || align == 0 ||
                    (align & (align - 1)) != 0)
                        return false;
        }
        for (uint32_t i = 0; i < layout->piece_count; i++) {
                const struct simpmu_piece *piece = &layout->pieces[i];
                if (piece->from != at || piece->bytes == 0 ||
                    piece->part >= layout->part_count ||
                    (uint64_t)piece->to + piece->bytes >
                        layout->parts[piece->part].element_bytes)
                        return false;
                at += piece->bytes;
        }
        return layout->part_count > 0 && at > 0 && at == layout->element_bytes;
}

/* The bytes from OFFSET of an array with the program's own layout on. */
static inline struct layout_run layout_find(const struct layout *layout, uint64_t offset)
{
        const uint64_t element = offset / layout->element_bytes;
        const uint64_t within = offset % layout->element_bytes;
        uint32_t low = 0, high = layout->piece_count;

        while (high - low > 1) {
                const uint32_t middle = low + (high - low) / 2;
                if (layout->pieces[middle].from <= within)
                        low = middle;
                else
                        high = middle;
        }
        const struct simpmu_piece *piece = &layout->pieces[low];
        return (struct layout_run){
            .part = piece->part,
            .offset_bytes = element * layout->parts[piece->part].element_bytes +
                            piece->to + (within - piece->from),
            .bytes = piece->bytes - (within - piece->from),
        };
}

#endif
