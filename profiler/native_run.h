/* SPDX-License-Identifier: MIT */
/* The first of two runs of a command (record --with-clock): native, under timer samples.
 * Checks whether the input allows a second run, and stores the samples in the second
 * run's recording. */
#ifndef MEMLAG_NATIVE_RUN_H
#define MEMLAG_NATIVE_RUN_H

#include <sys/types.h>

#include "db.h"
#include "launch.h"
#include "sink.h"

/* *OFFSET: the offset to which standard input is rewound for the second run; -1: no
 * rewinding is necessary. -ESPIPE: the second run cannot reread the input. */
int native_run_input(off_t *offset, struct diag *diag);

struct native_run {
        const struct sink *sink;      /* sample counts by location */
        struct db *db;                /* the database that owns the sink's modules */
        const struct sink *simulated; /* of the second run, in the database to store in */
        struct launch_end end;
        uint64_t frequency_hz; /* of the samples */
};

/* Adds its samples to DB, which has no other writer now, and the keys clock_* of its
 * run. */
int native_run_store(const struct native_run *run, struct db *db, struct diag *diag);

#endif
