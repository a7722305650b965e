/* SPDX-License-Identifier: MIT */
/* Lists of CPUs as the kernel writes them and users do: "0-3,8". */
#ifndef MEMLAG_PERF_CPU_LIST_H
#define MEMLAG_PERF_CPU_LIST_H

#include <stddef.h>

enum { CPU_LIST_MAX = 1 << 16 }; /* more CPUs than Linux can have */

/* Parses TEXT, which may end with a newline, into *CPUS, ascending and without
 * repetition; the caller frees the array. -EINVAL when TEXT is no CPU list, -ENOMEM. An
 * empty TEXT is an empty list. */
int cpu_list_parse(const char *text, int **cpus, size_t *count);

#endif
