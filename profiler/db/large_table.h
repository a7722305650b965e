/* SPDX-License-Identifier: MIT */
/* Memory for tables that are read here and there. Most of what a look-up costs that no
 * cache of the processor holds is to find out where its page is: from some size on pages
 * are large ones, where the kernel has them. */
#ifndef MEMLAG_LARGE_TABLE_H
#define MEMLAG_LARGE_TABLE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_TABLE_PAGE ((size_t)2 << 20)

/* BYTES of memory of any content, for free(); NULL: there is none. */
static inline void *large_memory_new(size_t bytes)
{
        if (bytes < 2 * LARGE_TABLE_PAGE || bytes > SIZE_MAX / 2)
                return malloc(bytes);
        size_t pages = (bytes + LARGE_TABLE_PAGE - 1) / LARGE_TABLE_PAGE;
        void *memory = aligned_alloc(LARGE_TABLE_PAGE, pages * LARGE_TABLE_PAGE);
        if (memory)
                madvise(memory, pages * LARGE_TABLE_PAGE, MADV_HUGEPAGE);
        return memory;
}

/* COUNT items of zeroes, in the same way. */
static inline void *large_table_new(size_t count, size_t item_bytes)
{
        if (count > SIZE_MAX / 2 / item_bytes)
                return NULL;
        void *table = large_memory_new(count * item_bytes);
        return table ? memset(table, 0, count * item_bytes) : NULL;
}

#endif
