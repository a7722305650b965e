/* SPDX-License-Identifier: MIT */
/* Totals of each allocation site of a run: the allocated amount, and the peak of its
 * live bytes. In memory only; knows no single block. */
#ifndef MEMLAG_HEAP_SITES_H
#define MEMLAG_HEAP_SITES_H

#include <stddef.h>
#include <stdint.h>

/* The sites of a run. A site is a calling context (a stack row) and the function
 * that it called. */
struct heap_sites;

struct heap_site {
        uint32_t stack_id;
        uint32_t next; /* of the same stack: index + 1; 0: none. For sites.c alone */
        const char *function;
        uint64_t allocations;
        uint64_t total_bytes;
        uint64_t live_bytes;
        uint64_t peak_bytes; /* the most that was live at once */
};

struct heap_sites *heap_sites_new(void); /* NULL: no memory */
void heap_sites_free(struct heap_sites *sites);

/* Finds or creates a site; *SITE is its number. Stacks are numbered from 1, without
 * large gaps; 0: none. FUNCTION is compared by content and must outlive SITES.
 * -ENOMEM. */
int heap_sites_find(struct heap_sites *sites, int64_t stack_id, const char *function,
                    uint32_t *site);

size_t heap_sites_count(const struct heap_sites *sites);
/* INDEX is below the count; valid until the next heap_sites_find. */
const struct heap_site *heap_sites_at(const struct heap_sites *sites, size_t index);

/* ---- for the heaps ---- */

/* SITE has allocated a block of so many bytes. */
void heap_sites_allocated(struct heap_sites *sites, uint32_t site, uint64_t size_bytes);
/* Of SITE's blocks so many bytes more are live, or so many have ended. */
void heap_sites_gain(struct heap_sites *sites, uint32_t site, uint64_t bytes);
void heap_sites_lose(struct heap_sites *sites, uint32_t site, uint64_t bytes);

/* A number, from 1, that no heap with these sites has had. */
uint64_t heap_sites_number_heap(struct heap_sites *sites);

#endif
