/* SPDX-License-Identifier: MIT */
/* The functions that a just-in-time compiler made. It lists them for perf in
 * /tmp/perf-PID.map, one line "START SIZE NAME" each, in hexadecimal. */
#ifndef MEMLAG_SYMBOLIZE_PERF_MAP_H
#define MEMLAG_SYMBOLIZE_PERF_MAP_H

#include <stdio.h>

#include "interval_map.h"
#include "looked_for.h"
#include "string_pool.h"

/* Reads LIST into MAP, whose ids are numbers of NAMES. Lines that are no functions are
 * left out. Compilers add to the list while they run. Where two functions overlap, the
 * later one counts: it reuses the memory. 0 or -ENOMEM. */
int perf_map_parse(FILE *list, struct interval_map *map, struct string_pool *names);

/* A process and its lifetime, in seconds since 1970. */
struct perf_map_process {
        int64_t pid;
        int64_t begun_s; /* it began no earlier; INT64_MIN: not known */
        int64_t ended_s; /* it ended no later; INT64_MAX: not known */
};

/* The name of code that was made at run time and that no list names. */
#define UNLISTED_CODE "[JIT code]"

/* The process that wrote the list, by the list's modification time. */
enum perf_map_owner { PERF_MAP_OWN, PERF_MAP_OF_EARLIER, PERF_MAP_OF_LATER };

/* Reads the list of PROCESS, if it belongs to this user or root. *OWNER: whether another
 * process of this number may have written it. Without a list MAP stays empty. Notes its
 * path in LOOKED_FOR. 0 or -ENOMEM. */
int perf_map_read(const struct perf_map_process *process, struct interval_map *map,
                  struct string_pool *names, struct looked_for *looked_for,
                  enum perf_map_owner *owner);

#endif
