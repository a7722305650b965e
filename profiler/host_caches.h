/* SPDX-License-Identifier: MIT */
/* What the machine that records has beside the model of another: its last cache, as the
 * system tells or its calibration measured, so that a report can tell where gains of the
 * model are not the machine's. */
#ifndef MEMLAG_HOST_CACHES_H
#define MEMLAG_HOST_CACHES_H

#include <stdint.h>

#include "db.h"
#include "sink.h"

/* The size of CPU 0's cache of level 3, as told below the directory ROOT ("" for this
 * machine); 0: not told. */
uint64_t host_l3_bytes(const char *root);

/* Stores in DB and through SINK which machine records under the model CPU (NULL: the
 * default), unless that is made of the machine itself, or of the user's own file. */
int host_caches_tell(struct db *db, struct sink *sink, const char *cpu,
                     struct diag *diag);

#endif
