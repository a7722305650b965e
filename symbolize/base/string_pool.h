/* SPDX-License-Identifier: MIT */
/* Names, each kept once and known by a small number; 0 stands for no name. */
#ifndef MEMLAG_SYMBOLIZE_STRING_POOL_H
#define MEMLAG_SYMBOLIZE_STRING_POOL_H

#include <stddef.h>
#include <stdint.h>

struct string_pool;

/* NULL when out of memory. */
struct string_pool *string_pool_new(void);
void string_pool_free(struct string_pool *pool);

/* The number of TEXT, made when new; 0 for NULL. Out of memory is remembered
 * (string_pool_failed) and gives 0, so that callers check once at the end. */
uint32_t string_pool_put(struct string_pool *pool, const char *text);
/* The same of a text made by FORMAT. */
uint32_t string_pool_format(struct string_pool *pool, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int string_pool_failed(const struct string_pool *pool);
/* Forgets that it was out of memory, when what asked for those texts was given up. */
void string_pool_recover(struct string_pool *pool);

/* How many there are: numbers go from 1 to that. */
size_t string_pool_count(const struct string_pool *pool);
/* The text of ID, owned by the pool; NULL for 0. */
const char *string_pool_text(const struct string_pool *pool, uint32_t id);

#endif
