/* SPDX-License-Identifier: MIT */
/* Functions of one name in one module, and the properties that distinguish them. */
#ifndef MEMLAG_SYMBOLIZE_FUNCTION_NAMES_H
#define MEMLAG_SYMBOLIZE_FUNCTION_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "append.h"
#include "string_pool.h"

/* A named function. Names are numbers of a string pool. */
struct named_function {
        uint32_t name;
        uint32_t label;   /* the name, or its unique form in the module */
        const char *link; /* its linkage name, in the module's files; NULL: none */
        uint32_t file; /* the declaring file, or "+0x1139", its start; 0: unknown, or its
                          name is known in all files */
        uint32_t line; /* in that file; 0: unknown */
        bool own;      /* FILE is the source file that was compiled, not a header */
        bool shared;   /* another symbol of the module has the name */
        bool overloaded; /* or the name with other parameters */
};

/* Zero-initialised: empty. */
struct named_functions {
        LIST(struct named_function);
};

/* Adds FUNCTION; *NUMBER becomes its number, from 1. 0 or -ENOMEM, as below. */
int named_functions_add(struct named_functions *functions,
                        const struct named_function *function, uint32_t *number);

/* Labels the functions from number FIRST + 1 on, all of one module. If several functions
 * or symbols share a name, the label adds a difference. C++ functions get their
 * parameters' types ("area(circle)"). Functions local to a source file get that file
 * ("init (disk.c)"), if necessary with its directories. Several functions of one file get
 * their lines. NAMES also notes when memory ran out. */
int named_functions_tell_apart(struct named_functions *functions, size_t first,
                               struct string_pool *names);
void named_functions_free(struct named_functions *functions);

#endif
