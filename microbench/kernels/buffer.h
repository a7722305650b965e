/* SPDX-License-Identifier: MIT */
/* Memory for the kernels' data, in separate mappings, with a chosen page size and NUMA
 * node. */
#ifndef MEMLAG_BUFFER_H
#define MEMLAG_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "diag.h"

enum buffer_pages { PAGES_SMALL, PAGES_HUGE };

struct buffer {
        void *addr; /* aligned to its page size; NULL: none */
        uint64_t bytes;
        uint64_t mapped_bytes; /* size for buffer_unmap */
        void *mapped_addr;
};

/* Maps BYTES. PAGES_HUGE requests huge pages; buffer_huge_bytes reports the result. NODE:
 * the memory's node; -1: the node of the first touch. */
int buffer_map(uint64_t bytes, enum buffer_pages pages, int node, struct buffer *buffer,
               struct diag *diag);
void buffer_unmap(struct buffer *buffer);

/* The address space for BYTES; with huge pages, also the greatest memory use. */
uint64_t buffer_footprint(uint64_t bytes, enum buffer_pages pages);

/* The touched bytes of the buffer on huge pages; -1 if the kernel does not report them.
 */
int64_t buffer_huge_bytes(const struct buffer *buffer);

/* buffer_huge_bytes for COUNT buffers together; sorts them by address. */
int64_t buffers_huge_bytes(const struct buffer **buffers, size_t count);

#endif
