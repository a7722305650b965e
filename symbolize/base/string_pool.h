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

/* The number of TEXT, made when new; 0 for NULL. When out of memory it gives 0 and notes
 * that, for one check at the end (string_pool_failed). */
uint32_t string_pool_put(struct string_pool *pool, const char *text);
/* Formats a text and puts it as string_pool_put() does. */
uint32_t string_pool_format(struct string_pool *pool, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int string_pool_failed(const struct string_pool *pool);
/* Forgets that memory ran out, after the caller gave up the texts that did not fit. */
void string_pool_recover(struct string_pool *pool);

/* The number of texts, which is also the highest number of a text. */
size_t string_pool_count(const struct string_pool *pool);
/* The text of ID, owned by the pool; NULL for 0. */
const char *string_pool_text(const struct string_pool *pool, uint32_t id);

#endif
