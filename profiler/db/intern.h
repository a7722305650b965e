/* SPDX-License-Identifier: MIT */
/* In-memory tables that map equal values to equal ids: the values for which the writer
 * has made rows. They do not know the database. */
#ifndef MEMLAG_DB_INTERN_H
#define MEMLAG_DB_INTERN_H

#include <stddef.h>
#include <stdint.h>

/* Maps byte strings to ids; for values that are few in a run. */
struct intern;

struct intern *intern_new(void); /* NULL: no memory */
void intern_free(struct intern *table);

/* Returns the id slot of the LENGTH bytes at KEY, which are copied. A slot of 0 means a
 * new key, and the caller stores the id. Valid until the next call. NULL: no memory. */
int64_t *intern_place(struct intern *table, const void *key, size_t length);

/* Nodes of calling-context trees to ids; made for millions of look-ups. */
struct context_intern;

/* CONTEXT is any value that distinguishes the parents of nodes. */
struct context_node {
        uint64_t context;
        uint64_t ip;
        int64_t id;
};

struct context_intern *context_intern_new(void); /* NULL: no memory */
void context_intern_free(struct context_intern *table);

/* Returns the node (CONTEXT, IP). An id of 0 means a new node, and the caller stores its
 * id. Valid until the next call. NULL: no memory. */
struct context_node *context_intern_place(struct context_intern *table, uint64_t context,
                                          uint64_t ip);

/* Returns the id of the node (CONTEXT, IP), 0 when it does not exist; creates
 * nothing. */
int64_t context_intern_find(const struct context_intern *table, uint64_t context,
                            uint64_t ip);

#endif
