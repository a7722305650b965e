/* SPDX-License-Identifier: MIT */
/* A sorted array of the mappings of one process image. Knows addresses and the equality
 * of mappings, not files or rows. */
#include "mapping_set.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void mapping_set_free(struct mapping_set *set)
{
        free(set->items);
        *set = (struct mapping_set){0};
}

static uint64_t end_of(const struct mapped *piece)
{
        return piece->start_addr + piece->length_bytes;
}

/* The index of the first mapping that ends after ADDR. */
static size_t first_after(const struct mapping_set *set, uint64_t addr)
{
        size_t low = 0;
        size_t high = set->count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (end_of(&set->items[middle]) <= addr)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

const struct mapped *mapping_set_find(const struct mapping_set *set, uint64_t addr)
{
        size_t i = first_after(set, addr);
        return i < set->count && set->items[i].start_addr <= addr ? &set->items[i] : NULL;
}

static int reserve(struct mapping_set *set, size_t extra)
{
        if (set->count + extra <= set->capacity)
                return 0;
        size_t capacity = set->capacity * 2 + extra + 16;
        struct mapped *items = reallocarray(set->items, capacity, sizeof(*items));
        if (!items)
                return -ENOMEM;
        set->items = items;
        set->capacity = capacity;
        return 0;
}

int mapping_set_copy(struct mapping_set *to, const struct mapping_set *from)
{
        int rc = reserve(to, from->count);
        if (rc < 0)
                return rc;
        for (size_t i = 0; i < from->count; i++) {
                to->items[i] = from->items[i];
                to->items[i].mapping_id = 0;
        }
        to->count = from->count;
        return 0;
}

/* The part of PIECE from START to END. */
static struct mapped part_of(const struct mapped *piece, uint64_t start, uint64_t end)
{
        struct mapped part = *piece;
        part.file_offset_bytes += start - piece->start_addr;
        part.start_addr = start;
        part.length_bytes = end - start;
        part.mapping_id = 0;
        return part;
}

/* Puts PIECE at INDEX; there is room. */
static int insert(struct mapping_set *set, size_t index, const struct mapped *piece,
                  const struct mapping_listener *listener)
{
        struct mapped begun = *piece;
        int rc = listener->begun(listener->context, &begun);
        if (rc < 0)
                return rc;
        memmove(&set->items[index + 1], &set->items[index],
                (set->count - index) * sizeof(*set->items));
        set->items[index] = begun;
        set->count++;
        return 0;
}

static int remove_range(struct mapping_set *set, uint64_t start, uint64_t end,
                        const struct mapping_listener *listener)
{
        int rc = reserve(set, 2);
        if (rc < 0)
                return rc;
        size_t i = first_after(set, start);
        while (i < set->count && set->items[i].start_addr < end) {
                struct mapped old = set->items[i];
                memmove(&set->items[i], &set->items[i + 1],
                        (set->count - i - 1) * sizeof(*set->items));
                set->count--;
                rc = listener->ended(listener->context, &old);
                if (rc == 0 && old.start_addr < start) {
                        struct mapped left = part_of(&old, old.start_addr, start);
                        rc = insert(set, i, &left, listener);
                        i++;
                }
                if (rc == 0 && end_of(&old) > end) {
                        struct mapped right = part_of(&old, end, end_of(&old));
                        rc = insert(set, i, &right, listener);
                        i++;
                }
                if (rc < 0)
                        return rc;
        }
        return 0;
}

int mapping_set_remove(struct mapping_set *set, uint64_t start_addr,
                       uint64_t length_bytes, const struct mapping_listener *listener)
{
        uint64_t end = start_addr + length_bytes;
        if (end < start_addr)
                end = UINT64_MAX;
        return remove_range(set, start_addr, end, listener);
}

/* Returns true if WITH, at the same address, has the attributes of PIECE. */
static bool is_same(const struct mapped *piece, const struct mapped *with)
{
        return piece->kind == with->kind && piece->module_id == with->module_id &&
               piece->stack_tid == with->stack_tid &&
               memcmp(piece->protection, with->protection, sizeof(piece->protection)) ==
                   0 &&
               (piece->module_id == 0 || piece->file_offset_bytes - piece->start_addr ==
                                             with->file_offset_bytes - with->start_addr);
}

/* Maps PIECE from START to END, where nothing is the same. */
static int replace(struct mapping_set *set, const struct mapped *piece, uint64_t start,
                   uint64_t end, const struct mapping_listener *listener)
{
        int rc = remove_range(set, start, end, listener);
        if (rc == 0)
                rc = reserve(set, 1);
        if (rc < 0)
                return rc;
        struct mapped part = part_of(piece, start, end);
        return insert(set, first_after(set, start), &part, listener);
}

int mapping_set_add(struct mapping_set *set, const struct mapped *piece,
                    const struct mapping_listener *listener)
{
        uint64_t end = end_of(piece);
        if (end <= piece->start_addr)
                return -EINVAL;
        uint64_t at = piece->start_addr;
        while (at < end) {
                size_t i = first_after(set, at);
                while (i < set->count && set->items[i].start_addr < end &&
                       !is_same(piece, &set->items[i]))
                        i++;
                bool met = i < set->count && set->items[i].start_addr < end;
                uint64_t same_start = met ? set->items[i].start_addr : end;
                uint64_t same_end = met ? end_of(&set->items[i]) : end;
                if (same_start > at) {
                        int rc = replace(set, piece, at, same_start, listener);
                        if (rc < 0)
                                return rc;
                }
                at = same_end;
        }
        return 0;
}
