/* SPDX-License-Identifier: MIT */
/* Functions of one name in one module, and what their names are told apart by. */
#ifndef MEMLAG_SYMBOLIZE_FUNCTION_NAMES_H
#define MEMLAG_SYMBOLIZE_FUNCTION_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "string_pool.h"

/* A function as it was named. Names are numbers of a string pool. */
struct named_function {
        uint32_t name;
        uint32_t label;   /* the name, or what tells it from others of the module */
        const char *link; /* its name for linking; in the module's files. NULL: none */
        uint32_t file;    /* that it is declared in, or "+0x1139" where it begins; 0:
                             unknown, or the function is known by its name in all files */
        uint32_t line;    /* in that file; 0: unknown */
        bool own;         /* FILE is the source file that was compiled, not a header */
        bool shared;      /* the module's symbols have another function of that name */
        bool overloaded;  /* or one with other parameters */
};

/* Zero-initialised: empty. */
struct named_functions {
        struct named_function *items;
        size_t count;
        size_t capacity;
        uint32_t *heads; /* for telling apart */
        size_t head_count;
};

/* Adds FUNCTION; *NUMBER becomes its number, from 1. 0 or -ENOMEM, as below. */
int named_functions_add(struct named_functions *functions,
                        const struct named_function *function, uint32_t *number);

/* Gives labels to the functions from number FIRST + 1 on, which are those of one module.
 * Where several have one name, or symbols tell of others, they are called by what they
 * differ in: C++ functions by the types of their parameters ("area(circle)"), those that
 * only one source file knows by that file ("init (disk.c)"), if need be with its
 * directories, and by their line where one file has several. Out of memory shows in
 * NAMES, too. */
int named_functions_tell_apart(struct named_functions *functions, size_t first,
                               struct string_pool *names);
void named_functions_free(struct named_functions *functions);

#endif
