/* SPDX-License-Identifier: MIT */
/* Memory for the kernels' data: mapped for them alone, on pages of a known kind and on a
 * known NUMA node. */
#ifndef MEMLAG_BUFFER_H
#define MEMLAG_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "diag.h"

enum buffer_pages { PAGES_SMALL, PAGES_HUGE };

struct buffer {
        void *addr; /* aligned to a page of its kind; NULL: none */
        uint64_t bytes;
        uint64_t mapped_bytes; /* what buffer_unmap gives back */
        void *mapped_addr;
};

/* Maps BYTES. PAGES_HUGE asks for huge pages; what came of it is buffer_huge_bytes'
 * to tell. NODE is that of the memory; -1: of the thread that touches it first. */
int buffer_map(uint64_t bytes, enum buffer_pages pages, int node, struct buffer *buffer,
               struct diag *diag);
void buffer_unmap(struct buffer *buffer);

/* The address space that BYTES take, and with huge pages the memory, at most. */
uint64_t buffer_footprint(uint64_t bytes, enum buffer_pages pages);

/* How many of the buffer's touched bytes lie on huge pages, or -1 when the kernel does
 * not tell. */
int64_t buffer_huge_bytes(const struct buffer *buffer);

/* The same of COUNT buffers together, which are put in order of address. */
int64_t buffers_huge_bytes(const struct buffer **buffers, size_t count);

#endif
