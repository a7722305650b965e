/* SPDX-License-Identifier: MIT */
/* Puts records of several rings, or of the rounds of a recording, into the order of
 * their times, in bounded memory. Knows bytes and times, and not what records say. */
#ifndef MEMLAG_PERF_ORDER_H
#define MEMLAG_PERF_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Gets the records in order, each aligned to 8 and valid during the call; TAG is what
 * order_add was given. Anything but 0 ends the delivery and is passed on to the caller
 * that caused it; the record counts as delivered. It must not add records. */
typedef int (*order_handler)(void *context, uint64_t time, const void *tag,
                             const void *bytes, size_t size);

struct order;

/* LIMIT_BYTES: of records and what is kept about them. NULL: no memory. */
struct order *order_new(size_t limit_bytes, order_handler handler, void *context);
void order_free(struct order *order);

/* Copies a record. Those of equal times keep their order. When the limit is reached, the
 * earlier half of all records is delivered first. -ENOMEM, or what the handler said. */
int order_add(struct order *order, uint64_t time, const void *tag, const void *bytes,
              size_t size);

/* A round has ended: each source of records was read until nothing was left of what it
 * had when the round began. So all that is to come is later than what was seen by the
 * end of the round before, and that is delivered now. (perf's FINISHED_ROUND.) */
int order_round(struct order *order);

/* Delivers everything. */
int order_flush(struct order *order);

/* Records that came after a later one had been delivered. */
uint64_t order_late(const struct order *order);

#endif
