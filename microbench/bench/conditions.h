/* SPDX-License-Identifier: MIT */
/* Conditions of this machine and process that limit a calibration, with their
 * consequences. */
#ifndef MEMLAG_CONDITIONS_H
#define MEMLAG_CONDITIONS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "interference.h"

/* Memory in bytes that this process may use now with THREADS threads: the available
 * memory, or a lower limit by cgroups or address space (ulimit -v). */
uint64_t conditions_memory_bytes(size_t threads);

/* A list of {"condition", "meaning"}; CPUS: the number of usable CPUs. */
json_t *conditions_find(size_t cpus);

/* Adds the share of the machine that others used since INTERFERENCE began, if it is large
 * enough. */
void conditions_add_interference(json_t *list, const struct interference *interference);

/* Adds a condition to LIST. */
void conditions_add(json_t *list, const char *condition, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
