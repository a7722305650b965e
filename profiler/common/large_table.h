/* SPDX-License-Identifier: MIT */
/* Memory for tables with random access. The main cost of a lookup that misses the caches
 * is address translation. Therefore tables above a certain size use large pages, if the
 * kernel has them. */
#ifndef MEMLAG_LARGE_TABLE_H
#define MEMLAG_LARGE_TABLE_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_TABLE_PAGE ((size_t)2 << 20)

/* Asks for large pages for those parts of MEMORY that can be whole ones. */
static inline void large_pages_ask(void *memory, size_t bytes)
{
        size_t before = -(uintptr_t)memory & (LARGE_TABLE_PAGE - 1);

        if (bytes >= before + LARGE_TABLE_PAGE)
                madvise((char *)memory + before,
                        (bytes - before) & ~(LARGE_TABLE_PAGE - 1), MADV_HUGEPAGE);
}

/* Rounds BYTES up to whole large pages; 0: small pages suffice. */
static inline size_t large_table_bytes(size_t bytes)
{
        return bytes < 2 * LARGE_TABLE_PAGE
                   ? 0
                   : (bytes + LARGE_TABLE_PAGE - 1) & ~(LARGE_TABLE_PAGE - 1);
}

/* BYTES of zeroes; NULL: no memory. */
static inline void *large_table_new(size_t bytes)
{
        size_t whole = large_table_bytes(bytes);
        if (!whole)
                return calloc(1, bytes);
        size_t mapped = whole + LARGE_TABLE_PAGE;
        char *memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
                return NULL;
        /* Large pages are aligned; unmap the surrounding rest. */
        size_t before = -(uintptr_t)memory & (LARGE_TABLE_PAGE - 1);
        if (before)
                munmap(memory, before);
        munmap(memory + before + whole, LARGE_TABLE_PAGE - before);
        large_pages_ask(memory + before, whole);
        return memory + before;
}

/* Frees TABLE (NULL is allowed), allocated with BYTES. */
static inline void large_table_free(void *table, size_t bytes)
{
        if (table && large_table_bytes(bytes))
                munmap(table, large_table_bytes(bytes));
        else
                free(table);
}

#endif
