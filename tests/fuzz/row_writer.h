/* SPDX-License-Identifier: MIT */
/* For fuzz targets, the database's writer (db.h) without a database. It reads every byte
 * of its input, and checks that a row exists when another row names it. */
#ifndef FUZZ_ROW_WRITER_H
#define FUZZ_ROW_WRITER_H

#include <stdbool.h>

#include "db.h"

/* The rows of each table, whose keys are 1 to that. */
struct writer {
        int64_t processes, threads, modules, mappings, data_sources, stacks, counters,
            allocations;
        bool expects_blocks; /* else no source may tell of any */
        volatile uint64_t sum;
};

#endif
