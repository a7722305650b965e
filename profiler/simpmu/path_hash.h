/* SPDX-License-Identifier: MIT */
/* A path as a number, for the shared page: FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo). */
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

#endif
