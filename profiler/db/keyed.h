/* SPDX-License-Identifier: MIT */
/* Items of one size, each under a key of two numbers. A lookup finds or creates an item.
 * Items stay in creation order. */
#ifndef MEMLAG_KEYED_H
#define MEMLAG_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context_intern;

struct keyed {
        struct context_intern *index; /* key → number of the item + 1 */
        void *items;
        size_t item_bytes;
        size_t count, capacity;
};

/* -ENOMEM; keyed_close in any case. */
int keyed_open(struct keyed *keyed, size_t item_bytes);
/* The caller frees the items' members before. */
void keyed_close(struct keyed *keyed);

/* Item number INDEX, below count. */
void *keyed_at(const struct keyed *keyed, size_t index);

/* Finds the item under the key (A, B); NULL: not found. */
void *keyed_find(const struct keyed *keyed, uint64_t a, uint64_t b);

/* Finds or creates the item; a new item is zeroed, and *NEW is true. Items may move
 * then. NULL: no memory. */
void *keyed_place(struct keyed *keyed, uint64_t a, uint64_t b, bool *new);

#endif
