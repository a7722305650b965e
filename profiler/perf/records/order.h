/* SPDX-License-Identifier: MIT */
/* Merges records of several rings, or of the rounds of a recording, into time order, in
 * bounded memory. Knows bytes and times, not the records' contents. */
#ifndef MEMLAG_PERF_ORDER_H
#define MEMLAG_PERF_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Receives the records in order, each aligned to 8 and valid during the call; TAG is the
 * argument of order_add. A nonzero result ends the delivery and is returned to the
 * caller; the record counts as delivered. It must not add records. */
typedef int (*order_handler)(void *context, uint64_t time, const void *tag,
                             const void *bytes, size_t size);

struct order;

/* LIMIT_BYTES: limit for the records and their bookkeeping. NULL: no memory. */
struct order *order_new(size_t limit_bytes, order_handler handler, void *context);
void order_free(struct order *order);

/* Copies a record. Records with equal times retain their order. When the limit is
 * reached, the earlier half of all records is delivered first. -ENOMEM, or the handler's
 * result. */
int order_add(struct order *order, uint64_t time, const void *tag, const void *bytes,
              size_t size);

/* A round has ended: each source was read completely up to its state at the round's
 * start. All later records are therefore later than the records of the previous round.
 * Delivers the previous round's records now. (perf's FINISHED_ROUND.) */
int order_round(struct order *order);

/* Delivers everything. */
int order_flush(struct order *order);

/* Counts records that came after a later record had been delivered. */
uint64_t order_late(const struct order *order);

#endif
