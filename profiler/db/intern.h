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

/* The place for the id of the LENGTH bytes at KEY, which are copied: 0 in it says
 * that the key is new, and the caller stores the id. It stays valid until the
 * next call. NULL: no memory. */
int64_t *intern_place(struct intern *table, const void *key, size_t length);

/* Nodes of calling-context trees to ids; made for millions of look-ups. */
struct context_intern;

/* CONTEXT is any value that tells the parents of nodes apart. */
struct context_node {
        uint64_t context;
        uint64_t ip;
        int64_t id;
};

struct context_intern *context_intern_new(void); /* NULL: no memory */
void context_intern_free(struct context_intern *table);

/* The node (CONTEXT, IP); its id is 0 when it is new, and the caller has to store
 * one. Valid until the next call. NULL: no memory. */
struct context_node *context_intern_place(struct context_intern *table, uint64_t context,
                                          uint64_t ip);

/* The id of the node (CONTEXT, IP), 0 when there is none; makes nothing. */
int64_t context_intern_find(const struct context_intern *table, uint64_t context,
                            uint64_t ip);

#endif
