/* SPDX-License-Identifier: MIT */
/* Reads the profiler's packed rows: many nodes of the calling-context tree, or
 * allocation sites, in a row. Like all data of a database, a row may be malformed. */
#ifndef MEMLAG_SYMBOLIZE_PACK_H
#define MEMLAG_SYMBOLIZE_PACK_H

#include "raw.h"

/* Columns of a pack of nodes, from COLUMN on: return_ips, leaf_ips, nodes. */

/* Adds the nodes, of PROCESS (an index) and numbered from FIRST_ID, to the stacks of RAW,
 * if RAW does not have them yet. CAPACITY and ID_CAPACITY belong to RAW's arrays. 0 or
 * -ENOMEM, as all. */
int pack_read_stacks(struct raw *raw, size_t *capacity, size_t *id_capacity,
                     struct sqlite3_stmt *row, int column, int64_t first_id,
                     uint32_t process);

/* Adds the node ID behind the existing ones. */
int pack_put_stack(struct raw *raw, size_t *capacity, size_t *id_capacity, int64_t id,
                   const struct raw_stack *stack);

/* Adds the code addresses of the nodes, CAPACITY as above. */
int pack_read_codes(struct raw *raw, size_t *capacity, struct sqlite3_stmt *row,
                    int column, uint32_t process);
/* After the last addition: removes duplicates. */
void pack_order_codes(struct raw *raw);

/* Adds the sites of the stacks in COLUMN; EACH has their other properties. */
int pack_read_totals(struct raw *raw, size_t *capacity, struct sqlite3_stmt *row,
                     int column, const struct raw_total *each);
/* After the last addition: sorts by stack. */
void pack_order_totals(struct raw *raw);

#endif
