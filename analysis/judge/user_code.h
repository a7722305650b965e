/* SPDX-License-Identifier: MIT */
/* Which of the user's own lines led to a line or function of a library. The hottest of
 * C++ are in the library's headers (operator[], std::move), and tell nothing by
 * themselves. */
#ifndef MEMLAG_USER_CODE_H
#define MEMLAG_USER_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db.h"
#include "pairs.h"

/* A place in the source, of a function that may be inlined. */
struct user_place {
        uint32_t module_id;   /* 0: not known */
        uint32_t function_id; /* of table name; 0: not known */
        uint32_t file_id;
        uint32_t line; /* 0: not known */
};

/* What a place led to. */
struct user_part {
        int64_t samples;
        double cost;          /* of tally.h */
        double retire_cycles; /* for which its loads held up the program; 0: not known */
};

/* By which of them a place led to most. */
enum user_weight { USER_COST, USER_RETIRE_CYCLES };

/* Zero-initialised: empty. */
struct user_code {
        struct user_place *places; /* of each location, by number less 1 */
        size_t place_count;
        size_t place_capacity;
        struct user_code_location *locations; /* by location_id */
        size_t location_count;
        size_t location_capacity;
        struct user_code_stack *stacks; /* by stack_id */
        size_t stack_count;
        size_t stack_capacity;
        struct pairs functions; /* of module and function */
        struct pairs lines;     /* of file and line */
        struct pairs leaders;   /* of one of each: places that led somewhere, each once */
        struct pairs line_costs; /* of a line of the caller's and a leader: user_part */
        struct pairs function_costs; /* the same of a function */
};

/* Reads the names and stacks. 0 or a negative errno value; freed by user_code_free in any
 * case. */
int user_code_read(struct db *db, struct user_code *code, struct diag *diag);
void user_code_free(struct user_code *code);

/* A sample at LOCATION_ID, which is on line number LINE and in function number FUNCTION,
 * with STACK_ID (0: none), is SAMPLE. 0 or -ENOMEM. */
int user_code_add(struct user_code *code, uint32_t line, uint32_t function,
                  int64_t location_id, int64_t stack_id, const struct user_part *sample);

/* All samples have been added: orders them for user_code_of_line and _of_function. 0
 * or -ENOMEM. */
int user_code_sort(struct user_code *code);

/* Whether a place of the user's led to LINE, or FUNCTION, and the one that led to most of
 * its WEIGHT: to how much is in *PART. To a function it is a function,
 * without a line. Of a header of his it is the place in a source file that is no header.
 * False: it is the user's own, or nothing of his led there. */
bool user_code_of_line(const struct user_code *code, uint32_t line,
                       enum user_weight weight, struct user_place *place,
                       struct user_part *part);
bool user_code_of_function(const struct user_code *code, uint32_t function,
                           enum user_weight weight, struct user_place *place,
                           struct user_part *part);

#endif
