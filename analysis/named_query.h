/* SPDX-License-Identifier: MIT */
/* The library of named queries: the files of analysis/queries. */
#ifndef MEMLAG_NAMED_QUERY_H
#define MEMLAG_NAMED_QUERY_H

#include <stdio.h>

/* The SQL of the query called NAME, or NULL. */
const char *named_query(const char *name);

/* Prints each query's name and the description in its first line. */
void named_query_list(FILE *out);

#endif
