/* SPDX-License-Identifier: MIT */
/* A path, or a call stack, as a number, for the shared file: FNV-1a (G. Fowler,
 * L. C. Noll, K.-P. Vo). */
#ifndef MEMLAG_SIMPMU_PATH_HASH_H
#define MEMLAG_SIMPMU_PATH_HASH_H

#include <stdint.h>

static inline uint64_t path_hash(const char *path)
{
        uint64_t hash = 0xcbf29ce484222325u;

        for (; *path != '\0'; path++)
                hash = (hash ^ (unsigned char)*path) * 0x100000001b3u;
        return hash;
}

/* HASH, 0 at first, with one more frame, at OFFSET of the file with hash PATH. */
static inline uint64_t place_hash(uint64_t hash, uint64_t path, uint64_t offset)
{
        const uint64_t words[] = {path, offset};

        hash ^= 0xcbf29ce484222325u;
        for (int i = 0; i < 16; i++)
                hash = (hash ^ (words[i / 8] >> (i % 8 * 8) & 0xff)) * 0x100000001b3u;
        return hash;
}

#endif
