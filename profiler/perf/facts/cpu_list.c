/* SPDX-License-Identifier: MIT */
/* Parses lists of CPUs through a set: order and repetition do not matter. */
#include "cpu_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Parses a CPU's number and advances *AT; -1: no number. */
static int parse_cpu(const char **at)
{
        if (!isdigit((unsigned char)**at))
                return -1;
        char *end;
        errno = 0;
        long cpu = strtol(*at, &end, 10);
        *at = end;
        return errno || cpu >= CPU_LIST_MAX ? -1 : (int)cpu;
}

/* Marks the CPUs of TEXT in SET and counts them. */
static int mark_all(const char *text, bool *set, size_t *count)
{
        const char *at = text;
        while (*at && *at != '\n') {
                int first = parse_cpu(&at);
                int last = first;
                if (*at == '-') {
                        at++;
                        last = parse_cpu(&at);
                }
                if (first < 0 || last < first)
                        return -EINVAL;
                for (int cpu = first; cpu <= last; cpu++) {
                        *count += !set[cpu];
                        set[cpu] = true;
                }
                if (*at == ',' && isdigit((unsigned char)at[1]))
                        at++;
                else if (*at && *at != '\n')
                        return -EINVAL;
        }
        return *at == '\n' && at[1] ? -EINVAL : 0;
}

int cpu_list_parse(const char *text, int **cpus, size_t *count)
{
        *cpus = NULL;
        *count = 0;
        bool *set = calloc(CPU_LIST_MAX, sizeof(*set));
        if (!set)
                return -ENOMEM;
        int code = mark_all(text, set, count);
        if (!code && *count && !(*cpus = calloc(*count, sizeof(**cpus))))
                code = -ENOMEM;
        size_t filled = 0;
        for (int cpu = 0; !code && filled < *count; cpu++)
                if (set[cpu])
                        (*cpus)[filled++] = cpu;
        if (code)
                *count = 0;
        free(set);
        return code;
}
