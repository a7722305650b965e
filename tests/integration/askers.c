/* SPDX-License-Identifier: MIT */
/* Each node of a list is one cache line. Three words are loaded, and the first load
 * requests the line. Then bytes one after the other: the first byte of a line requests
 * it. Loads elsewhere in the same block come in turns. At last, blocks are freed in
 * random order. The program's own load of a block also requested the C library's word
 * before it. The library itself requests the lines of neighbouring blocks. */
#include "target.h"

struct node {
        uint64_t key;
        uint64_t value;
        struct node *next;
        uint64_t rest[5];
};

enum { NODES = 1 << 19, BYTES = 1 << 24, PARTS = 16, BLOCKS = 200000 };

static uint32_t state = 1;

static uint32_t any(uint32_t below)
{
        state = state * 1664525 + 1013904223;
        return (uint32_t)((uint64_t)state * below >> 32);
}

NOINLINE static uint64_t walk(const struct node *n)
{
        uint64_t sum = 0;
        while (n) {
                sum += n->key;   /* asks */
                sum ^= n->value; /* waits */
                n = n->next;     /* waits */
        }
        return sum;
}

NOINLINE static uint64_t add_bytes(const unsigned char *bytes, size_t count)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++)
                sum += bytes[i] ^ (sum & 1);
        return sum;
}

NOINLINE static uint64_t touch(const unsigned char *bytes, size_t count)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++)
                sum += bytes[any(BYTES)];
        return sum;
}

static void shuffle(uint32_t *order, uint32_t count)
{
        for (uint32_t i = 0; i < count; i++)
                order[i] = i;
        for (uint32_t i = count - 1; i > 0; i--) {
                uint32_t other = any(i + 1), moved = order[i];
                order[i] = order[other];
                order[other] = moved;
        }
}

NOINLINE static uint64_t free_all(uint64_t **blocks, const uint32_t *order)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < BLOCKS; i++) {
                sum += *blocks[order[i]];
                free(blocks[order[i]]);
        }
        return sum;
}

int main(void)
{
        struct node *nodes = aligned_alloc(64, NODES * sizeof(*nodes));
        uint32_t *order = malloc(NODES * sizeof(*order));
        unsigned char *bytes = malloc(BYTES);
        shuffle(order, NODES);
        for (uint32_t i = 0; i < NODES; i++)
                nodes[order[i]] =
                    (struct node){.key = i,
                                  .value = i,
                                  .next = i + 1 < NODES ? &nodes[order[i + 1]] : NULL};
        for (size_t i = 0; i < BYTES; i += 4096)
                bytes[i] = (unsigned char)i;
        uint64_t sum = walk(&nodes[order[0]]);
        for (size_t part = 0; part < PARTS; part++) {
                sum += touch(bytes, BYTES / PARTS / 64);
                sum += add_bytes(bytes + part * (BYTES / PARTS), BYTES / PARTS);
        }
        uint64_t **blocks = malloc(BLOCKS * sizeof(*blocks));
        for (size_t i = 0; i < BLOCKS; i++) {
                blocks[i] = malloc(136);
                *blocks[i] = i;
        }
        shuffle(order, BLOCKS);
        sum += free_all(blocks, order);
        printf("%llu\n", (unsigned long long)sum);
        return 0;
}
