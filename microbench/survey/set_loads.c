/* SPDX-License-Identifier: MIT */
/* See set_loads.h. */
#include "set_loads.h"

#include <stdlib.h>
#include <string.h>

#include "core_clock.h"
#include "elapsed.h"
#include "random.h"

enum { PAGE_BYTES = 4096, LINE_BYTES = 64, PAGE_LINES = PAGE_BYTES / LINE_BYTES };

static void shuffle_pages(struct set_loads *loads)
{
        struct random random = random_seeded(1);
        for (uint64_t i = 0; i < loads->pages; i++)
                loads->order[i] = (uint32_t)i;
        for (uint64_t i = loads->pages - 1; i > 0; i--) {
                uint64_t j = random_below(&random, i + 1);
                uint32_t kept = loads->order[i];
                loads->order[i] = loads->order[j];
                loads->order[j] = kept;
        }
}

int set_loads_make(struct set_loads *loads, uint64_t pages, struct diag *diag)
{
        const uint64_t bytes = pages * PAGE_BYTES;
        *loads = (struct set_loads){.pages = pages};
        loads->order = malloc(loads->pages * sizeof(*loads->order));
        if (!loads->order)
                return diag_no_memory(diag);
        int rc = buffer_map(bytes, PAGES_HUGE, -1, &loads->buffer, diag);
        if (rc < 0)
                return rc;
        memset(loads->buffer.addr, 1, bytes); /* avoids the shared zero page */
        shuffle_pages(loads);
        return 0;
}

void set_loads_free(struct set_loads *loads)
{
        if (loads->buffer.addr)
                buffer_unmap(&loads->buffer);
        free(loads->order);
        *loads = (struct set_loads){0};
}

static void sweep(const struct set_loads *loads, uint64_t second_line)
{
        const char *base = loads->buffer.addr;
        for (uint64_t i = 0; i < loads->pages; i++)
                (void)*(const volatile uint64_t *)(base +
                                                   (uint64_t)loads->order[i] *
                                                       PAGE_BYTES +
                                                   i % 2 * second_line * LINE_BYTES);
}

double set_loads_cycles(const struct set_loads *loads, bool one_set, uint64_t sweeps)
{
        double seconds = clock_seconds();
        for (uint64_t i = 0; i < sweeps; i++)
                sweep(loads, one_set ? 0 : PAGE_LINES / 2);
        seconds = clock_seconds() - seconds;
        return seconds * 1e9 / core_clock_cycle_ns() / (double)(sweeps * loads->pages);
}
