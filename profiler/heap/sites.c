/* SPDX-License-Identifier: MIT */
/* An array of sites, and an array of the first site of each stack. Stacks are numbered
 * without gaps, and few functions allocate at one stack. */
#include "sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct heap_sites {
        struct heap_site *sites;
        size_t count;
        size_t capacity;
        uint32_t *first; /* for each stack: the index of its first site + 1; 0: none */
        size_t stack_count;
        uint64_t heaps; /* numbered so far */
};

enum { FIRST_SITES = 256 };

static int grow_sites(struct heap_sites *sites)
{
        size_t capacity = sites->capacity ? 2 * sites->capacity : FIRST_SITES;
        struct heap_site *array = realloc(sites->sites, capacity * sizeof(*array));
        if (!array)
                return -ENOMEM;
        sites->sites = array;
        sites->capacity = capacity;
        return 0;
}

/* For the stacks up to STACK_ID. */
static int grow_stacks(struct heap_sites *sites, uint64_t stack_id)
{
        size_t count = sites->stack_count ? sites->stack_count : FIRST_SITES;
        while (count <= stack_id)
                count *= 2;
        uint32_t *first = realloc(sites->first, count * sizeof(*first));
        if (!first)
                return -ENOMEM;
        memset(first + sites->stack_count, 0,
               (count - sites->stack_count) * sizeof(*first));
        sites->first = first;
        sites->stack_count = count;
        return 0;
}

struct heap_sites *heap_sites_new(void)
{
        return calloc(1, sizeof(struct heap_sites));
}

void heap_sites_free(struct heap_sites *sites)
{
        if (!sites)
                return;
        free(sites->sites);
        free(sites->first);
        free(sites);
}

/* Finds the link to the site of FUNCTION in the list at LINK: index + 1, or the empty
 * end of the list. */
static uint32_t *find_link(const struct heap_sites *sites, uint32_t *link,
                           const char *function)
{
        while (*link) {
                struct heap_site *site = &sites->sites[*link - 1];
                if (site->function == function || strcmp(site->function, function) == 0)
                        break;
                link = &site->next;
        }
        return link;
}

int heap_sites_find(struct heap_sites *sites, int64_t stack_id, const char *function,
                    uint32_t *site)
{
        uint64_t stack = (uint64_t)stack_id;
        if (stack > UINT32_MAX ||
            (stack >= sites->stack_count && grow_stacks(sites, stack)))
                return -ENOMEM;
        uint32_t *link = find_link(sites, &sites->first[stack], function);
        if (!*link) {
                if (sites->count >= UINT32_MAX / 4 ||
                    (sites->count == sites->capacity && grow_sites(sites)))
                        return -ENOMEM;
                link =
                    find_link(sites, &sites->first[stack], function); /* may have moved */
                sites->sites[sites->count] =
                    (struct heap_site){.stack_id = (uint32_t)stack, .function = function};
                *link = (uint32_t)++sites->count;
        }
        *site = *link - 1;
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
