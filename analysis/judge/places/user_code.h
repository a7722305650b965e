/* SPDX-License-Identifier: MIT */
/* Finds the user's line that led to a line or function of a library. The hottest lines of
 * C++ programs are in library headers (operator[], std::move), and do not help the user.
 */
#ifndef MEMLAG_USER_CODE_H
#define MEMLAG_USER_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db.h"
#include "pairs.h"

/* A source position, in a function that may be inlined. */
struct user_place {
        uint32_t module_id;   /* 0: not known */
        uint32_t function_id; /* of table name; 0: not known */
        uint32_t file_id;
        uint32_t line; /* 0: not known */
};

/* Sums over the samples that a place led to. */
struct user_part {
        int64_t samples;
        double cost;          /* see tally.h */
        double retire_cycles; /* stall time of its loads; 0: not known */
};

/* The measure that ranks the places leading to a line or function. */
enum user_weight { USER_COST, USER_RETIRE_CYCLES };

/* Zero-initialised: empty. */
struct user_code {
        struct user_place *places; /* of all locations, by number less 1 */
        size_t place_count;
        size_t place_capacity;
        struct user_code_location *locations; /* by location_id */
        size_t location_count;
        size_t location_capacity;
        struct user_code_stack *stacks; /* by stack_id */
        size_t stack_count;
        size_t stack_capacity;
        struct pairs functions; /* (module, function) */
        struct pairs lines;     /* (file, line) */
        struct pairs leaders;   /* indices of functions and lines: leading places */
        struct pairs line_costs; /* (line, leader) → user_part */
        struct pairs function_costs; /* (function, leader) → user_part */
};

/* Reads the names and stacks. Returns 0 or a negative errno value; user_code_free frees
 * in any case. */
int user_code_read(struct db *db, struct user_code *code, struct diag *diag);
void user_code_free(struct user_code *code);

/* Adds SAMPLE at LOCATION_ID, on line number LINE in function number FUNCTION, with
 * STACK_ID (0: none). Returns 0 or -ENOMEM. */
int user_code_add(struct user_code *code, uint32_t line, uint32_t function,
                  int64_t location_id, int64_t stack_id, const struct user_part *sample);

/* Sorts after the last user_code_add, for user_code_of_line and user_code_of_function.
 * Returns 0 or -ENOMEM. */
int user_code_sort(struct user_code *code);

/* Finds the user's place that led to most WEIGHT of LINE or FUNCTION; *PART gets its
 * sums. For a FUNCTION, the place is a function without a line. For a header of the user,
 * the place is in a source file. Returns false for the user's own code, or if no place of
 * the user led there. */
bool user_code_of_line(const struct user_code *code, uint32_t line,
                       enum user_weight weight, struct user_place *place,
                       struct user_part *part);
bool user_code_of_function(const struct user_code *code, uint32_t function,
                           enum user_weight weight, struct user_place *place,
                           struct user_part *part);

#endif
