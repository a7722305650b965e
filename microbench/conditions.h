/* SPDX-License-Identifier: MIT */
/* What about this machine and this process limits a calibration, and what that means for
 * its result. */
#ifndef MEMLAG_CONDITIONS_H
#define MEMLAG_CONDITIONS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "interference.h"

/* Bytes of memory that this process may take now with so many threads: what is available,
 * or less, by its cgroups or by its limit of address space (ulimit -v). */
uint64_t conditions_memory_bytes(size_t threads);

/* A list of {"condition", "meaning"}; CPUS is the number that this process may use. */
json_t *conditions_find(size_t cpus);

/* Adds how much others had of the machine since INTERFERENCE began, if that was more than
 * a little. */
void conditions_add_interference(json_t *list, const struct interference *interference);

/* Adds one to it. */
void conditions_add(json_t *list, const char *condition, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
