/* SPDX-License-Identifier: MIT */
/* The ordering queue: records in one arena, and an array of their times that is sorted
 * before a delivery. Each ring is almost sorted; a merge sort of the existing runs is
 * therefore cheap. */
#include "order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct entry {
        uint64_t time;
        size_t offset; /* in the arena; also orders equal times */
        const void *tag;
        size_t size;
};

struct arena {
        uint64_t *values;
        size_t used; /* in values of 8 bytes */
        size_t capacity;
};

struct order {
        order_handler handler;
        void *context;
        size_t limit_bytes;
        struct arena arena;
        struct arena spare; /* for records that remain after a delivery */
        struct entry *entries;
        struct entry *merged; /* as large: room for sorting */
        size_t count;
        size_t capacity;
        bool sorted;
        uint64_t latest;          /* that was added */
        uint64_t latest_before;   /* the same, at the end of the round before */
        uint64_t delivered_until; /* the latest time delivered */
        uint64_t late;
};

struct order *order_new(size_t limit_bytes, order_handler handler, void *context)
{
        struct order *order = calloc(1, sizeof(*order));
        if (!order)
                return NULL;
        order->handler = handler;
        order->context = context;
        order->limit_bytes = limit_bytes;
        order->sorted = true;
        return order;
}

void order_free(struct order *order)
{
        if (!order)
                return;
        free(order->arena.values);
        free(order->spare.values);
        free(order->entries);
        free(order->merged);
        free(order);
}

uint64_t order_late(const struct order *order)
{
        return order->late;
}

/* ---- sorting ---- */

static bool precedes(const struct entry *a, const struct entry *b)
{
        return a->time < b->time || (a->time == b->time && a->offset < b->offset);
}

/* Where the run that begins at FROM ends. */
static size_t end_of_run(const struct entry *entries, size_t from, size_t count)
{
        size_t end = from + 1;
        while (end < count && precedes(&entries[end - 1], &entries[end]))
                end++;
        return end;
}

/* Merges the runs [FROM, MIDDLE) and [MIDDLE, END) into TO. */
static void merge(const struct entry *entries, size_t from, size_t middle, size_t end,
                  struct entry *to)
{
        size_t second = middle;
        for (size_t i = from; i < end; i++) {
                bool take_second =
                    from == middle ||
                    (second < end && precedes(&entries[second], &entries[from]));
                to[i] = take_second ? entries[second++] : entries[from++];
        }
}

/* Merges neighbouring runs; how many runs are left. */
static size_t merge_runs(struct order *order)
{
        size_t runs = 0;
        for (size_t from = 0; from < order->count; runs++) {
                size_t middle = end_of_run(order->entries, from, order->count);
                size_t end = middle < order->count
                                 ? end_of_run(order->entries, middle, order->count)
                                 : middle;
                merge(order->entries, from, middle, end, order->merged);
                from = end;
        }
        struct entry *merged = order->merged;
        order->merged = order->entries;
        order->entries = merged;
        return runs;
}

static void sort(struct order *order)
{
        while (!order->sorted)
                order->sorted = merge_runs(order) <= 1;
}

/* ---- delivering ---- */

/* Forgets the first COUNT entries and closes the gaps in the arena. */
static void drop(struct order *order, size_t count)
{
        struct arena emptied = order->arena;
        order->arena = order->spare;
        order->arena.used = 0;
        for (size_t i = count; i < order->count; i++) {
                struct entry *entry = &order->entries[i];
                size_t values = (entry->size + 7) / 8;
                memcpy(order->arena.values + order->arena.used,
                       emptied.values + entry->offset, values * 8);
                entry->offset = order->arena.used;
                order->arena.used += values;
                order->entries[i - count] = *entry;
        }
        order->count -= count;
        order->spare = emptied;
}

/* The spare arena must have room for all remaining records. */
static int reserve_spare(struct order *order)
{
        if (order->spare.capacity >= order->arena.used)
                return 0;
        uint64_t *values =
            reallocarray(order->spare.values, order->arena.capacity, sizeof(*values));
        if (!values)
                return -ENOMEM;
        order->spare.values = values;
        order->spare.capacity = order->arena.capacity;
        return 0;
}

/* Delivers the first COUNT entries, which are sorted. */
static int deliver(struct order *order, size_t count)
{
        if (count == 0)
                return 0;
        int rc = count < order->count ? reserve_spare(order) : 0;
        if (rc < 0)
                return rc;
        size_t done = 0;
        while (rc == 0 && done < count) {
                const struct entry *entry = &order->entries[done++];
                if (entry->time > order->delivered_until)
                        order->delivered_until = entry->time;
                rc = order->handler(order->context, entry->time, entry->tag,
                                    order->arena.values + entry->offset, entry->size);
        }
        if (done == order->count) {
                order->count = 0;
                order->arena.used = 0;
        } else {
                if (reserve_spare(order) < 0)
                        return -ENOMEM;
                drop(order, done);
        }
        return rc;
}

/* How many entries are not later than TIME. */
static size_t count_until(const struct order *order, uint64_t time)
{
        size_t low = 0;
        size_t high = order->count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (order->entries[middle].time <= time)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

int order_round(struct order *order)
{
        sort(order);
        int rc = deliver(order, count_until(order, order->latest_before));
        order->latest_before = order->latest;
        return rc;
}

int order_flush(struct order *order)
{
        sort(order);
        return deliver(order, order->count);
}

/* ---- adding ---- */

static int reserve_entry(struct order *order)
{
        if (order->count < order->capacity)
                return 0;
        size_t capacity = order->capacity * 2 + 256;
        struct entry *entries = reallocarray(order->entries, capacity, sizeof(*entries));
        if (!entries)
                return -ENOMEM;
        order->entries = entries;
        struct entry *merged = reallocarray(order->merged, capacity, sizeof(*merged));
        if (!merged)
                return -ENOMEM;
        order->merged = merged;
        order->capacity = capacity;
        return 0;
}

static int reserve_values(struct arena *arena, size_t count)
{
        if (count <= arena->capacity - arena->used)
                return 0;
        size_t capacity = arena->capacity * 2 + count + 4096;
        uint64_t *values = reallocarray(arena->values, capacity, sizeof(*values));
        if (!values)
                return -ENOMEM;
        arena->values = values;
        arena->capacity = capacity;
        return 0;
}

static bool at_limit(const struct order *order, size_t values)
{
        size_t bytes = (order->arena.used + values) * sizeof(*order->arena.values) +
                       (order->count + 1) * sizeof(*order->entries);
        return order->count > 0 && bytes > order->limit_bytes;
}

int order_add(struct order *order, uint64_t time, const void *tag, const void *bytes,
              size_t size)
{
        size_t values = size / 8 + (size % 8 != 0);
        int rc = 0;
        if (at_limit(order, values)) {
                sort(order);
                rc = deliver(order, order->count / 2 + 1);
        }
        if (rc == 0)
                rc = reserve_entry(order);
        if (rc == 0)
                rc = reserve_values(&order->arena, values);
        if (rc != 0)
                return rc;
        struct entry entry = {time, order->arena.used, tag, size};
        memcpy(order->arena.values + order->arena.used, bytes, size);
        order->arena.used += values;
        if (order->count && !precedes(&order->entries[order->count - 1], &entry))
                order->sorted = false;
        order->entries[order->count++] = entry;
        if (time > order->latest)
                order->latest = time;
        if (time < order->delivered_until)
                order->late++;
        return 0;
}
