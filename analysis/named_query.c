/* SPDX-License-Identifier: MIT */
/* Looks up the queries that the build embedded. Runs nothing. A query file begins with
 * its licence, followed by a line that describes the query. */
#include "named_query.h"

#include <stddef.h>
#include <string.h>

#include "named_queries.h"

#define NAMED_QUERY_ROW(name, sql) {name, sql},

static const struct {
        const char *name;
        const char *sql;
} queries[] = {NAMED_QUERIES(NAMED_QUERY_ROW)};

const char *named_query(const char *name)
{
        for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
                if (strcmp(queries[i].name, name) == 0)
                        return queries[i].sql;
        return NULL;
}

void named_query_list(FILE *out)
{
        for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
                const char *licence_end = strchr(queries[i].sql, '\n');
                const char *description = licence_end + strspn(licence_end, "\n- ");
                fprintf(out, "%-20s %.*s\n", queries[i].name,
                        (int)strcspn(description, "\n"), description);
        }
}
