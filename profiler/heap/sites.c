/* SPDX-License-Identifier: MIT */
/* An array of sites, and a hash table of their numbers with linear probing. */
#include "sites.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct heap_sites {
        struct heap_site *sites;
        size_t count;
        size_t capacity;
        uint32_t *slots;   /* hash table of index + 1; 0: free */
        size_t slot_count; /* a power of two, at least twice the capacity */
        uint64_t heaps;    /* numbered so far */
};

enum { FIRST_SITES = 256, LINE_SLOTS = 16 };

/* Few functions allocate at one stack: they stand side by side. So do stacks that were
 * met one after the other, as many as a line of the processor's cache has slots. */
static uint64_t hash_site(int64_t stack_id)
{
        uint64_t number = (uint64_t)stack_id;
        uint64_t hash = number / LINE_SLOTS * 0x9e3779b97f4a7c15u;
        return (hash ^ (hash >> 32)) * LINE_SLOTS + number % LINE_SLOTS;
}

static bool is_site(const struct heap_site *site, int64_t stack_id, const char *function)
{
        return site->stack_id == stack_id &&
               (site->function == function || strcmp(site->function, function) == 0);
}

static uint32_t *probe_site(const struct heap_sites *sites, int64_t stack_id,
                            const char *function)
{
        size_t mask = sites->slot_count - 1;
        size_t i = hash_site(stack_id) & mask;
        while (sites->slots[i] &&
               !is_site(&sites->sites[sites->slots[i] - 1], stack_id, function))
                i = (i + 1) & mask;
        return &sites->slots[i];
}

static int grow_sites(struct heap_sites *sites)
{
        size_t capacity = sites->capacity ? 2 * sites->capacity : FIRST_SITES;
        struct heap_site *array = realloc(sites->sites, capacity * sizeof(*array));
        if (!array)
                return -ENOMEM;
        sites->sites = array;
        uint32_t *slots = calloc(2 * capacity, sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        free(sites->slots);
        sites->slots = slots;
        sites->slot_count = 2 * capacity;
        sites->capacity = capacity;
        for (size_t i = 0; i < sites->count; i++)
                *probe_site(sites, array[i].stack_id, array[i].function) =
                    (uint32_t)(i + 1);
        return 0;
}

struct heap_sites *heap_sites_new(void)
{
        struct heap_sites *sites = calloc(1, sizeof(*sites));
        if (sites && grow_sites(sites)) {
                heap_sites_free(sites);
                sites = NULL;
        }
        return sites;
}

void heap_sites_free(struct heap_sites *sites)
{
        if (!sites)
                return;
        free(sites->sites);
        free(sites->slots);
        free(sites);
}

int heap_sites_find(struct heap_sites *sites, int64_t stack_id, const char *function,
                    uint32_t *site)
{
        uint32_t *slot = probe_site(sites, stack_id, function);
        if (!*slot) {
                if (sites->count == sites->capacity) {
                        if (sites->count >= UINT32_MAX / 4 || grow_sites(sites))
                                return -ENOMEM;
                        slot = probe_site(sites, stack_id, function);
                }
                sites->sites[sites->count] =
                    (struct heap_site){.stack_id = stack_id, .function = function};
                *slot = (uint32_t)++sites->count;
        }
        *site = *slot - 1;
        return 0;
}

size_t heap_sites_count(const struct heap_sites *sites)
{
        return sites->count;
}

const struct heap_site *heap_sites_at(const struct heap_sites *sites, size_t index)
{
        return &sites->sites[index];
}

void heap_sites_allocated(struct heap_sites *sites, uint32_t site, uint64_t size_bytes)
{
        sites->sites[site].allocations++;
        sites->sites[site].total_bytes += size_bytes;
}

void heap_sites_gain(struct heap_sites *sites, uint32_t site, uint64_t bytes)
{
        struct heap_site *of = &sites->sites[site];
        of->live_bytes += bytes;
        if (of->live_bytes > of->peak_bytes)
                of->peak_bytes = of->live_bytes;
}

void heap_sites_lose(struct heap_sites *sites, uint32_t site, uint64_t bytes)
{
        sites->sites[site].live_bytes -= bytes;
}

uint64_t heap_sites_number_heap(struct heap_sites *sites)
{
        return ++sites->heaps;
}
