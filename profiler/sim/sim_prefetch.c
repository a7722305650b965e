/* SPDX-License-Identifier: MIT */
/* See sim_prefetch.h. */
#include "sim_prefetch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "simpmu/protocol.h"

static const char *const all_names[] = {
#define NAME(symbol, name) name,
    SIMPMU_PREFETCHER_LIST(NAME)
#undef NAME
};
_Static_assert(SIMPMU_PREFETCHER_COUNT < SIM_PREFETCH_NAMES, "room for all and NULL");

static int find(const char *name, size_t length)
{
        for (int i = 0; i < SIMPMU_PREFETCHER_COUNT; i++)
                if (strlen(all_names[i]) == length &&
                    memcmp(all_names[i], name, length) == 0)
                        return i;
        return -1;
}

uint32_t sim_prefetch_all(void)
{
        return (1u << SIMPMU_PREFETCHER_COUNT) - 1;
}

int sim_prefetch_parse(const char *text, uint32_t *on, struct diag *diag)
{
        *on = 0;
        if (strcmp(text, "off") == 0)
                return 0;
        if (strcmp(text, "on") == 0) {
                *on = sim_prefetch_all();
                return 0;
        }
        for (const char *name = text;; name++) {
                size_t length = strcspn(name, ",");
                int prefetcher = find(name, length);
                if (prefetcher < 0)
                        return diag_set(diag, -EINVAL,
                                        "'%.*s' is no prefetcher; give on, off, or some "
                                        "of l1-next,l1-ip-stride,l2-streamer,"
                                        "l2-adjacent",
                                        length < 40 ? (int)length : 40, name);
                *on |= 1u << prefetcher;
                name += length;
                if (*name == '\0')
                        return 0;
        }
}

void sim_prefetch_names(uint32_t on, const char *names[SIM_PREFETCH_NAMES])
{
        int count = 0;
        for (int i = 0; i < SIMPMU_PREFETCHER_COUNT; i++)
                if (on & 1u << i)
                        names[count++] = all_names[i];
        names[count] = NULL;
}

void sim_prefetch_label(uint32_t on, char *label, size_t size)
{
        const char *names[SIM_PREFETCH_NAMES];
        size_t length = 0;
        sim_prefetch_names(on, names);
        snprintf(label, size, "%s", on ? "on" : "off");
        if (on == sim_prefetch_all())
                return;
        for (int i = 0; names[i] && length < size; i++)
                length += (size_t)snprintf(label + length, size - length, "%s%s",
                                           i ? "+" : "", names[i]);
}
