/* SPDX-License-Identifier: MIT */
/* Maps memory for the kernels' data. */
#include "buffer.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HUGE_PAGE_BYTES (UINT64_C(2) << 20)

static int bind_to_node(const struct buffer *buffer, int node, struct diag *diag)
{
        enum { NODES_MAX = 1024, BITS = 8 * sizeof(unsigned long) };
        unsigned long mask[NODES_MAX / BITS] = {0};
        if (node >= NODES_MAX)
                return diag_set(diag, -EINVAL, "NUMA node %d: there are at most %d", node,
                                NODES_MAX);
        mask[node / BITS] = 1ul << node % BITS;
        if (syscall(SYS_mbind, buffer->mapped_addr, buffer->mapped_bytes, MPOL_BIND, mask,
                    (unsigned long)NODES_MAX + 1, 0) != 0)
                return diag_set(diag, -errno, "cannot put memory on NUMA node %d: %s",
                                node, strerror(errno));
        return 0;
}

/* Whole huge pages, and space to align the first. */
uint64_t buffer_footprint(uint64_t bytes, enum buffer_pages pages)
{
        if (pages != PAGES_HUGE)
                return bytes;
        return ((bytes + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1)) + HUGE_PAGE_BYTES;
}

/* Maps MAPPED bytes; bytes beyond USED are inaccessible. The kernel merges neighbouring
 * mappings of one kind, and reports huge pages per mapping: the guard separates the
 * buffers. */
static void *map_guarded(uint64_t mapped, uint64_t used)
{
        void *addr = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (addr == MAP_FAILED || mprotect(addr, used, PROT_READ | PROT_WRITE) == 0)
                return addr;
        int code = errno;
        munmap(addr, mapped);
        errno = code;
        return MAP_FAILED;
}

int buffer_map(uint64_t bytes, enum buffer_pages pages, int node, struct buffer *buffer,
               struct diag *diag)
{
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        uint64_t used = (buffer_footprint(bytes, pages) + page - 1) & -page;
        uint64_t mapped = used + page;
        void *addr = MAP_FAILED;
        errno = ENOMEM;
        if (used >= bytes && mapped > used)
                addr = map_guarded(mapped, used);
        if (addr == MAP_FAILED)
                return diag_set(
                    diag, -errno,
                    "cannot map %llu bytes of memory: %s; less of it must be asked for, "
                    "or the limit of the address space ('ulimit -v') be raised",
                    (unsigned long long)bytes, strerror(errno));
        uintptr_t aligned = (uintptr_t)addr;
        if (pages == PAGES_HUGE)
                aligned = (aligned + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
        *buffer = (struct buffer){.addr = (void *)aligned,
                                  .bytes = bytes,
                                  .mapped_addr = addr,
                                  .mapped_bytes = mapped};
        /* Both are hints: a kernel without huge pages uses small ones. */
        madvise(addr, mapped, pages == PAGES_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        int rc = node < 0 ? 0 : bind_to_node(buffer, node, diag);
        if (rc < 0)
                buffer_unmap(buffer);
        return rc;
}

void buffer_unmap(struct buffer *buffer)
{
        if (buffer->addr)
                munmap(buffer->mapped_addr, buffer->mapped_bytes);
        *buffer = (struct buffer){0};
}

static int64_t overlap(uintptr_t from, uintptr_t to, const struct buffer *buffer)
{
        uintptr_t begin = (uintptr_t)buffer->addr, end = begin + buffer->bytes;
        uintptr_t first = from > begin ? from : begin, last = to < end ? to : end;
        return last > first ? (int64_t)(last - first) : 0;
}

static int by_address(const void *a, const void *b)
{
        const struct buffer *const *x = a, *const *y = b;
        return ((*x)->addr > (*y)->addr) - ((*x)->addr < (*y)->addr);
}

/* The bytes of the sorted BUFFERS in [FROM, TO). Mappings ascend: *NEXT is the first
 * buffer that this or a later mapping may contain. */
static int64_t bytes_inside(const struct buffer *const *buffers, size_t count,
                            size_t *next, uintptr_t from, uintptr_t to)
{
        int64_t inside = 0;
        while (*next < count &&
               (uintptr_t)buffers[*next]->addr + buffers[*next]->bytes <= from)
                (*next)++;
        for (size_t i = *next; i < count && (uintptr_t)buffers[i]->addr < to; i++)
                inside += overlap(from, to, buffers[i]);
        return inside;
}

/* A mapping begins with its address, in lower case; its other lines begin with upper
 * case. */
static bool begins_mapping(const char *line)
{
        return line[0] < 'A' || line[0] > 'Z';
}

/* "7f0123400000-7f0123600000 rw-p …" */
static bool read_range(const char *line, uintptr_t *from, uintptr_t *to)
{
        char *end;
        *from = strtoul(line, &end, 16);
        if (end == line || *end != '-')
                return false;
        const char *second = end + 1;
        *to = strtoul(second, &end, 16);
        return end != second && *end == ' ';
}

/* A mapping may have more huge pages than the buffers' part. Skips lines of other
 * mappings: their number varies from run to run, and tests count instructions here. */
int64_t buffers_huge_bytes(const struct buffer **buffers, size_t count)
{
        FILE *maps = fopen("/proc/self/smaps", "re");
        if (!maps)
                return -1;
        char line[4096];
        int64_t huge = 0, inside = 0; /* INSIDE: bytes in this mapping */
        size_t next = 0;
        qsort(buffers, count, sizeof(*buffers), by_address);
        while (fgets(line, sizeof(line), maps)) {
                uintptr_t from, to;
                long long kib;
                if (begins_mapping(line) && read_range(line, &from, &to))
                        inside = bytes_inside(buffers, count, &next, from, to);
                else if (inside > 0 && line[0] == 'A' &&
                         sscanf(line, "AnonHugePages: %lld kB", &kib) == 1)
                        huge += kib * 1024 < inside ? kib * 1024 : inside;
        }
        fclose(maps);
        return huge;
}

int64_t buffer_huge_bytes(const struct buffer *buffer)
{
        return buffers_huge_bytes(&buffer, 1);
}
