/* SPDX-License-Identifier: MIT */
/* Latencies of a line are close to each other: runs of counts need less memory than
 * single counts. A hash table with open addressing finds the runs; it is at most half
 * full. */
#include "latencies.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "scatter.h"

enum { CODE_BITS = 12, CODES = 1 << CODE_BITS };

/* Keeps the first CODE_BITS bits of CYCLES, and the number of following bits. Codes
 * ascend with latencies. */
static uint32_t code_of(uint64_t cycles)
{
        uint32_t following = 0;
        while (cycles >> following >= CODES)
                following++;
        return following * (CODES / 2) + (uint32_t)(cycles >> following);
}

static uint64_t cycles_of(uint32_t code)
{
        if (code < CODES)
                return code;
        uint32_t following = code / (CODES / 2) - 1;
        return (uint64_t)(code - following * (CODES / 2)) << following;
}

/* The slot of GROUP's run that begins with FIRST, or the free slot for it. */
static uint32_t *find_slot(const struct latencies *latencies, uint32_t group,
                           uint32_t first)
{
        uint64_t key = (uint64_t)group << 32 | first;
        size_t i = scatter_slot(key, latencies->multiplier, latencies->slot_count);
        for (;; i = (i + 1) & (latencies->slot_count - 1)) {
                uint32_t *slot = &latencies->slots[i];
                const struct latency_run *run =
                    *slot ? &latencies->runs[*slot - 1] : NULL;
                if (!run || (run->group == group && run->first == first))
                        return slot;
        }
}

static int grow_slots(struct latencies *latencies)
{
        size_t slot_count = latencies->slot_count ? 2 * latencies->slot_count : 1024;
        uint32_t *slots = calloc(slot_count, sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        free(latencies->slots);
        latencies->slots = slots;
        latencies->slot_count = slot_count;
        latencies->multiplier = scatter_multiplier();
        for (size_t i = 0; i < latencies->count; i++)
                *find_slot(latencies, latencies->runs[i].group,
                           latencies->runs[i].first) = (uint32_t)i + 1;
        return 0;
}

int latencies_add(struct latencies *latencies, uint32_t group, int64_t cycles)
{
        uint32_t code = code_of((uint64_t)cycles), first = code & -LATENCY_RUN;
        if (2 * latencies->count >= latencies->slot_count && grow_slots(latencies))
                return -ENOMEM;
        uint32_t *slot = find_slot(latencies, group, first);
        if (!*slot) {
                if (latencies->count >= UINT32_MAX - 1 ||
                    array_reserve(&latencies->runs, &latencies->capacity,
                                  latencies->count, sizeof(*latencies->runs)) < 0)
                        return -ENOMEM;
                latencies->runs[latencies->count++] =
                    (struct latency_run){.group = group, .first = first};
                *slot = (uint32_t)latencies->count;
        }
        latencies->runs[*slot - 1].samples[code - first]++;
        return 0;
}

/* A run, with the number of the group that it counts for. */
struct member {
        uint32_t group;
        const struct latency_run *run;
};

static int compare_members(const void *left, const void *right)
{
        const struct member *a = left, *b = right;
        if (a->group != b->group)
                return a->group < b->group ? -1 : 1;
        return a->run->first < b->run->first ? -1 : a->run->first > b->run->first;
}

/* All runs, sorted by group and latency; the caller frees. */
static struct member *sorted_members(const struct latencies *latencies,
                                     const uint32_t *group_of)
{
        struct member *members = calloc(latencies->count + 1, sizeof(*members));
        for (size_t i = 0; members && i < latencies->count; i++) {
                const struct latency_run *run = &latencies->runs[i];
                members[i] =
                    (struct member){group_of ? group_of[run->group] : run->group, run};
        }
        if (members)
                qsort(members, latencies->count, sizeof(*members), compare_members);
        return members;
}

/* MEMBERS: the runs of one group. */
static double nearest_rank(const struct member *members, size_t count, unsigned percent)
{
        uint64_t samples = 0, rank = 0;
        for (size_t i = 0; i < count; i++)
                for (size_t k = 0; k < LATENCY_RUN; k++)
                        samples += members[i].run->samples[k];
        uint64_t wanted = samples / 100 * percent + (samples % 100 * percent + 99) / 100;
        for (size_t i = 0, end; i < count; i = end) {
                uint32_t first = members[i].run->first;
                for (end = i; end < count && members[end].run->first == first;)
                        end++;
                for (uint32_t k = 0; k < LATENCY_RUN; k++) {
                        for (size_t j = i; j < end; j++)
                                rank += members[j].run->samples[k];
                        if (rank >= wanted)
                                return (double)cycles_of(first + k);
                }
        }
        return NAN;
}

int latencies_percentile(const struct latencies *latencies, const uint32_t *group_of,
                         size_t group_count, unsigned percent, double *result)
{
        struct member *members = sorted_members(latencies, group_of);
        if (!members)
                return -ENOMEM;
        for (size_t group = 0; group < group_count; group++)
                result[group] = NAN;
        for (size_t i = 0, end; i < latencies->count; i = end) {
                for (end = i + 1;
                     end < latencies->count && members[end].group == members[i].group;)
                        end++;
                if (members[i].group < group_count)
                        result[members[i].group] =
                            nearest_rank(members + i, end - i, percent);
        }
        free(members);
        return 0;
}

void latencies_free(struct latencies *latencies)
{
        free(latencies->runs);
        free(latencies->slots);
        *latencies = (struct latencies){0};
}
