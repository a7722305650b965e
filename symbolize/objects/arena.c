/* SPDX-License-Identifier: MIT */
/* An arena grows piece by piece. Therefore adjacent mappings form one arena,
 * regardless of their times. */
#include "arena.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"

enum { PAGE_BYTES = 4096 };

/* From this size on, glibc's malloc() maps each block separately (M_MMAP_THRESHOLD of
 * mallopt(3)), as do other allocators. Such a block only identifies the pages it
 * covers. */
enum { LARGE_BYTES = 128 << 10 };

/* glibc keeps two words before a block. */
enum { HEADER_BYTES = 16 };

/* The maximum size and the alignment of the other threads' arenas: HEAP_MAX_SIZE in
 * glibc's arena.c. Such an arena is first mapped without access. */
static const uint64_t arena_bytes = UINT64_C(64) << 20;

struct span {
        uint64_t start;
        uint64_t end;
        uint32_t process;
        bool holds_block;
};

struct spans {
        LIST(struct span); /* by process and address */
};

static int add_mapping(struct spans *spans, const struct raw_mapping *mapping)
{
        struct span span = {mapping->start, mapping->end, mapping->process, false};
        bool at_arena = span.start % arena_bytes == 0;

        if (mapping->kind != RAW_ANON || mapping->executable ||
            mapping->process == RAW_NONE || (!mapping->writable && !at_arena))
                return 0;
        if (!mapping->writable && span.end - span.start > arena_bytes)
                span.end = span.start + arena_bytes;
        return PUSH(spans, span);
}

static int compare_spans(const void *left, const void *right)
{
        const struct span *a = left, *b = right;

        if (a->process != b->process)
                return a->process < b->process ? -1 : 1;
        return a->start < b->start ? -1 : a->start > b->start;
}

static bool is_until(const void *item, const void *key)
{
        return compare_spans(item, key) <= 0;
}

/* Merges adjacent spans. */
static void join(struct spans *spans)
{
        size_t count = 0;

        for (size_t i = 0; i < spans->count; i++) {
                const struct span *span = &spans->items[i];
                struct span *last = count ? &spans->items[count - 1] : NULL;
                bool same = last && last->process == span->process;

                if (same && last->start != span->start && last->end > span->start &&
                    span->start % arena_bytes == 0)
                        last->end = span->start;
                if (same && (last->start == span->start ||
                             (last->end >= span->start && span->start % arena_bytes))) {
                        if (last->end < span->end)
                                last->end = span->end;
                } else {
                        spans->items[count++] = *span;
                }
        }
        spans->count = count;
}

static struct span *find_span(const struct spans *spans, uint32_t process, uint64_t addr)
{
        const struct span key = {.start = addr, .process = process};
        size_t until =
            array_count_before(spans->items, spans->count, sizeof(key), is_until, &key);
        struct span *span = until ? &spans->items[until - 1] : NULL;

        return span && span->process == process && addr < span->end ? span : NULL;
}

/* Adds the pages of a block that may have a separate mapping. */
static int put_large(struct arenas *arenas, const struct raw_allocation *block)
{
        const uint64_t in_page = PAGE_BYTES - 1;
        uint64_t start = (block->addr - HEADER_BYTES) & ~in_page;
        uint64_t end = (block->addr + block->size_bytes + in_page) & ~in_page;

        return start < block->addr && end > block->addr
                   ? interval_map_put(&arenas->of_process[block->process], start, end, 0)
                   : 0;
}

static int put_blocks(struct arenas *arenas, struct spans *spans, const struct raw *raw)
{
        int error = 0;

        for (size_t i = 0; i < raw->allocation_count && !error; i++) {
                const struct raw_allocation *block = &raw->allocations[i];

                if (block->region || block->process == RAW_NONE)
                        continue;
                struct span *span = find_span(spans, block->process, block->addr);

                if (span && block->size_bytes < LARGE_BYTES)
                        span->holds_block = true;
                else if (span)
                        error = put_large(arenas, block);
        }
        for (size_t i = 0; i < spans->count && !error; i++) {
                const struct span *span = &spans->items[i];

                if (span->holds_block)
                        error = interval_map_put(&arenas->of_process[span->process],
                                                 span->start, span->end, 0);
        }
        return error;
}

int arenas_find(struct arenas *arenas, const struct raw *raw)
{
        struct spans spans = {0};
        int error = 0;

        *arenas = (struct arenas){.process_count = raw->process_count};
        arenas->of_process = calloc(raw->process_count + 1, sizeof(*arenas->of_process));
        if (!arenas->of_process)
                return -ENOMEM;
        for (size_t i = 0; i < raw->mapping_count && !error; i++)
                error = add_mapping(&spans, &raw->mappings[i]);
        if (!error && spans.count > 0) {
                qsort(spans.items, spans.count, sizeof(*spans.items), compare_spans);
                join(&spans);
                error = put_blocks(arenas, &spans, raw);
        }
        free(spans.items);
        return error;
}

bool arenas_hold(const struct arenas *arenas, uint32_t process, uint64_t addr)
{
        return process < arenas->process_count &&
               interval_map_find(&arenas->of_process[process], addr) != INTERVAL_NONE;
}

void arenas_free(struct arenas *arenas)
{
        for (size_t i = 0; i < arenas->process_count && arenas->of_process; i++)
                interval_map_free(&arenas->of_process[i]);
        free(arenas->of_process);
        *arenas = (struct arenas){0};
}
