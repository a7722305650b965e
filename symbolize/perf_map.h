/* SPDX-License-Identifier: MIT */
/* The functions that a just-in-time compiler has made, as it lists them for perf in
 * /tmp/perf-PID.map: a line "START SIZE NAME" each, in hexadecimal. */
#ifndef MEMLAG_SYMBOLIZE_PERF_MAP_H
#define MEMLAG_SYMBOLIZE_PERF_MAP_H

#include <stdbool.h>

#include "looked_for.h"
#include "range_map.h"
#include "string_pool.h"

/* Reads the list in TEXT into MAP, whose values are numbers of NAMES; lines that are no
 * functions are left out. Where two overlap the one that begins last is meant, and of
 * equal ones the later. 0 or -ENOMEM. */
int perf_map_parse(const char *text, size_t bytes, struct range_map *map,
                   struct string_pool *names);

/* Reads the list of process PID, when there is one that belongs to this user or root and
 * was written to since BEGUN_S, when the process began (seconds since 1970; INT64_MIN:
 * not known): an older one is of an earlier process of this number, which *OLDER tells.
 * Without one MAP stays empty. Notes its path in LOOKED_FOR. 0 or -ENOMEM. */
int perf_map_read(int64_t pid, int64_t begun_s, struct range_map *map,
                  struct string_pool *names, struct looked_for *looked_for, bool *older);

#endif
