/* SPDX-License-Identifier: MIT */
/* The consumer's side of a perf ring. The kernel moves data_head, we move data_tail;
 * both count bytes from the beginning and never wrap. */
#include "ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record.h"

enum { RECORD_MAX_BYTES = 65536 };

struct ring {
        struct perf_event_mmap_page *page;
        const uint8_t *data;
        size_t data_bytes;
        size_t mapped_bytes; /* 0: the caller's memory */
        uint64_t position;   /* of the next record */
        uint64_t head;       /* as last seen */
        uint64_t damaged_bytes;
        uint64_t wrapped[RECORD_MAX_BYTES / 8]; /* a record that passes the end, whole */
};

int ring_over(struct perf_event_mmap_page *page, const uint8_t *data, size_t data_bytes,
              struct ring **result, struct diag *diag)
{
        struct ring *ring = calloc(1, sizeof(*ring));
        if (!ring)
                return diag_no_memory(diag);
        ring->page = page;
        ring->data = data;
        ring->data_bytes = data_bytes;
        ring->position = ring->head = page->data_tail;
        *result = ring;
        return 0;
}

int ring_open(int fd, size_t data_pages, struct ring **result, struct diag *diag)
{
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        size_t bytes = (data_pages + 1) * page_bytes;
        uint8_t *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED)
                return diag_set(diag, -errno,
                                "cannot map a ring of %zu pages: %s; ask for fewer, or "
                                "raise kernel.perf_event_mlock_kb",
                                data_pages, strerror(errno));
        int rc = ring_over((struct perf_event_mmap_page *)map, map + page_bytes,
                           data_pages * page_bytes, result, diag);
        if (rc < 0)
                munmap(map, bytes);
        else
                (*result)->mapped_bytes = bytes;
        return rc;
}

void ring_close(struct ring *ring)
{
        if (!ring)
                return;
        if (ring->mapped_bytes)
                munmap(ring->page, ring->mapped_bytes);
        free(ring);
}

/* Continues after all written data. */
static void skip_damage(struct ring *ring)
{
        ring->damaged_bytes += ring->head - ring->position;
        ring->position = ring->head;
}

static const void *whole_record(struct ring *ring, size_t offset, size_t size)
{
        size_t to_end = ring->data_bytes - offset;
        if (size <= to_end)
                return ring->data + offset;
        memcpy(ring->wrapped, ring->data + offset, to_end);
        memcpy((uint8_t *)ring->wrapped + to_end, ring->data, size - to_end);
        return ring->wrapped;
}

const void *ring_next(struct ring *ring, size_t *size)
{
        if (ring->position == ring->head) {
                /* Pairs with the kernel's barrier before it moves the head. */
                ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
                if (ring->position == ring->head)
                        return NULL;
        }
        uint64_t there = ring->head - ring->position;
        size_t offset = ring->position & (ring->data_bytes - 1);
        /* A header never wraps: records begin at multiples of 8. */
        size_t length = there > ring->data_bytes || there % 8 || offset % 8
                            ? 0
                            : record_size(ring->data + offset, there);
        if (length == 0 || length > there || length % 8 != 0) {
                skip_damage(ring);
                return NULL;
        }
        ring->position += length;
        *size = length;
        return whole_record(ring, offset, length);
}

void ring_release(struct ring *ring)
{
        /* The kernel may overwrite the data once it sees this: the reads must come
         * first. */
        __atomic_store_n(&ring->page->data_tail, ring->position, __ATOMIC_RELEASE);
}

uint64_t ring_damaged_bytes(const struct ring *ring)
{
        return ring->damaged_bytes;
}
