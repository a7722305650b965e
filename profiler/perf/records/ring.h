/* SPDX-License-Identifier: MIT */
/* Reads the ring buffer of a perf event (perf_event_open(2), "MMAP layout"): whole
 * records in write order, including wrapped records. Knows a record's size, not its
 * contents. */
#ifndef MEMLAG_PERF_RING_H
#define MEMLAG_PERF_RING_H

#include <stddef.h>
#include <stdint.h>

#include "diag.h"

struct perf_event_mmap_page;
struct ring;

/* Maps the ring of the event FD, which the caller still owns, with DATA_PAGES (a power
 * of two) pages for records. The kernel never overwrites unreleased records: it drops
 * new records, and reports them later in a LOST record. -EPERM or -ENOMEM when the pages
 * exceed the lock limit. */
int ring_open(int fd, size_t data_pages, struct ring **ring, struct diag *diag);

/* A ring over memory of the caller: the control page, and DATA_BYTES (a power of two) at
 * DATA, aligned to 8, for records. */
int ring_over(struct perf_event_mmap_page *page, const uint8_t *data, size_t data_bytes,
              struct ring **ring, struct diag *diag);

/* Unmaps the ring. NULL is allowed. */
void ring_close(struct ring *ring);

/* Returns the next complete record, aligned to 8; NULL: there is none. Valid until the
 * next call for this ring. */
const void *ring_next(struct ring *ring, size_t *size);

/* Gives the room of all records that ring_next has returned back to the kernel. */
void ring_release(struct ring *ring);

/* Bytes that could not be parted into records, and were skipped. */
uint64_t ring_damaged_bytes(const struct ring *ring);

#endif
