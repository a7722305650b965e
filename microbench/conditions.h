/* SPDX-License-Identifier: MIT */
/* What about this machine and this process limits a calibration, and what that means for
 * its result. */
#ifndef MEMLAG_CONDITIONS_H
#define MEMLAG_CONDITIONS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of memory that this process may take now: what is available, or its cgroup's
 * limit where that is less. */
uint64_t conditions_memory_bytes(void);

/* A list of {"condition", "meaning"}; CPUS is the number that this process may use. */
json_t *conditions_find(size_t cpus);

/* Adds one to it. */
void conditions_add(json_t *list, const char *condition, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
