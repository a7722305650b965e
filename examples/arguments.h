/* SPDX-License-Identifier: MIT */
/* The examples read sizes from the command line by these functions. */
#ifndef EXAMPLES_ARGUMENTS_H
#define EXAMPLES_ARGUMENTS_H

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The whole number ARGV[INDEX] (at least MINIMUM, at most MAXIMUM), or FALLBACK when
 * the argument is absent. Ends the program with status 2 on anything else. */
static inline size_t size_argument(int argc, char **argv, int index, const char *name,
                                   size_t fallback, size_t minimum, size_t maximum)
{
        if (index >= argc)
                return fallback;
        char *end;
        errno = 0;
        unsigned long long value = strtoull(argv[index], &end, 10);
        if (!isdigit((unsigned char)argv[index][0]) || *end || errno || value < minimum ||
            value > maximum) {
                fprintf(stderr,
                        "%s: %s must be a whole number from %zu to %zu, not '%s'\n",
                        argv[0], name, minimum, maximum, argv[index]);
                exit(2);
        }
        return (size_t)value;
}

/* Ends the program with status 2 when there are more than COUNT arguments. */
static inline void no_more_arguments(int argc, char **argv, int count, const char *usage)
{
        if (argc <= count + 1)
                return;
        fprintf(stderr, "usage: %s %s\n", argv[0], usage);
        exit(2);
}

#endif
