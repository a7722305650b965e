/* SPDX-License-Identifier: MIT */
/* The calling-context tree of a run: numbers each node, and writes each once. Nodes with
 * samples become rows. Nodes that only allocations use, millions in some programs, are
 * packed. */
#ifndef MEMLAG_DB_CONTEXTS_H
#define MEMLAG_DB_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"

struct contexts;

/* ONE and MANY are the statements of BATCH that write one stack_node row and a group of
 * rows; PACK writes a stack_pack row. NULL: no memory. */
struct contexts *contexts_new(struct batch *batch, size_t one, size_t many, size_t pack);
void contexts_free(struct contexts *contexts); /* NULL is allowed */

/* The number *ID of the node of IPS, innermost first (DEPTH >= 1), in PROCESS_ID. */
int contexts_find(struct contexts *contexts, int64_t process_id, const uint64_t *ips,
                  size_t depth, enum context_use use, int64_t *id, struct diag *diag);

/* Writes the nodes that wait to be packed. */
int contexts_write_pack(struct contexts *contexts, struct diag *diag);
/* The same, where ID is among them. */
int contexts_write_pack_of(struct contexts *contexts, int64_t id, struct diag *diag);

#endif
