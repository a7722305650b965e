/* SPDX-License-Identifier: MIT */
/* Totals of allocation sites: sites with equal totals share one row of
 * allocation_pack. */
#ifndef MEMLAG_TOTAL_PACK_H
#define MEMLAG_TOTAL_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "batch.h"

struct total_packs;

struct site_total {
        const char *function;
        uint64_t allocations;
        uint64_t total_bytes;
        uint64_t peak_bytes;
};

/* PACK is the statement of BATCH that writes a row. NULL: no memory. */
struct total_packs *total_packs_new(struct batch *batch, size_t pack);
void total_packs_free(struct total_packs *packs); /* NULL is allowed */

/* Adds the site STACK_ID. The function of TOTAL must live until total_packs_write. */
int total_packs_add(struct total_packs *packs, int64_t stack_id,
                    const struct site_total *total, struct diag *diag);
/* Writes all that waits. */
int total_packs_write(struct total_packs *packs, struct diag *diag);

#endif
