/* SPDX-License-Identifier: MIT */
/* The caches of the recording machine, as the system reports them. A recording under
 * another machine's model stores its last-level cache. A report can then show where
 * modelled gains do not hold for the machine. */
#ifndef MEMLAG_HOST_CACHES_H
#define MEMLAG_HOST_CACHES_H

#include <stdint.h>

#include "db.h"
#include "sink.h"

enum { HOST_CACHE_LEVELS = 3 };

struct host_cache {
        uint64_t size_bytes; /* 0: unknown */
        unsigned ways;       /* 0: unknown */
};

/* Reads CPU 0's data caches, CACHES[0] for level 1, below the directory ROOT ("" for
 * this machine). */
void host_caches_read(const char *root, struct host_cache caches[HOST_CACHE_LEVELS]);

/* Stores in DB and through SINK which machine records under the model CPU, unless the
 * model describes the machine itself, or is the user's file. */
int host_caches_tell(struct db *db, struct sink *sink, const char *cpu,
                     struct diag *diag);

#endif
