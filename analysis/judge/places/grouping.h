/* SPDX-License-Identifier: MIT */
/* Dense numbers for lines, functions and objects, so tallies can be arrays. Numbers
 * follow the order of names: they do not depend on the order of samples. */
#ifndef MEMLAG_GROUPING_H
#define MEMLAG_GROUPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db.h"

/* SQL: locations with their line and function numbers. The columns of line_finding
 * identify a line; NULLs are equal here. */
#define GROUPING_LOCATIONS                                                               \
        "SELECT l.location_id,"                                                          \
        " dense_rank() OVER (ORDER BY m.path, l.function, l.function_offset, l.file,"    \
        "                    l.line),"                                                   \
        " dense_rank() OVER (ORDER BY m.path, l.function, l.function_offset) "           \
        "FROM location AS l LEFT JOIN module AS m USING (module_id)"                     \
        " ORDER BY l.location_id"

struct grouped_location {
        int64_t location_id;
        uint32_t line;
        uint32_t function;
};

struct grouped_object {
        int64_t object_id;
        bool own; /* belongs to memlag or Valgrind, loaded into the program */
        bool mixed; /* memory of many unrelated things */
};

struct grouping {
        struct grouped_location *locations; /* by id */
        size_t location_count;
        size_t location_capacity;
        /* Groups count from 1; 0 is the group of samples without a location. */
        size_t line_groups;
        size_t function_groups;
        int64_t *line_location; /* some location of each group, 0 in group 0 */
        int64_t *function_location;
        uint32_t *line_function;        /* function of each line */
        struct grouped_object *objects; /* by id */
        size_t object_count;
        size_t object_capacity;
};

/* Reads the names. Freed by grouping_free, also after an error. */
int grouping_read(struct db *db, struct grouping *grouping, struct diag *diag);
void grouping_free(struct grouping *grouping);

/* The groups of a location, 0 for one that does not exist. */
void grouping_of_location(const struct grouping *grouping, int64_t location_id,
                          uint32_t *line, uint32_t *function);

/* The object's index plus 1, or 0 when it does not exist. */
uint32_t grouping_of_object(const struct grouping *grouping, int64_t object_id);

#endif
