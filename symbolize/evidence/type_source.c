/* SPDX-License-Identifier: MIT */
/* Few sources belong to many samples: each is looked up by its content. */
#include "type_source.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"

const char *type_source_word(enum type_source_kind kind)
{
        static const char *const words[TYPE_SOURCE_KINDS] = {
            [TYPE_BY_VARIABLE] = "variable",
            [TYPE_BY_ALLOCATION] = "allocation",
            [TYPE_BY_INSTRUCTION] = "instruction",
            [TYPE_BY_ARGUMENT] = "argument",
            [TYPE_BY_FUNCTION] = "function"};

        return words[kind];
}

static bool same(const void *context, const void *key, uint32_t position)
{
        const struct type_sources *sources = context;
        const struct type_source *a = key, *b = &sources->items[position];

        return a->kind == b->kind && a->pointer == b->pointer && a->place == b->place;
}

int type_sources_add(struct type_sources *sources, const struct type_source *source,
                     uint32_t *id)
{
        uint32_t hash = hash_number(source->pointer, source->place ^ source->kind);
        uint32_t at = 0;

        *id = 0;
        if (source->kind == TYPE_BY_NOTHING)
                return 0;
        at = hash_index_find(&sources->index, hash, same, sources, source);
        if (at == HASH_INDEX_NONE) {
                at = (uint32_t)sources->count;
                if (HASH_APPEND(&sources->index, hash, sources->items, sources->count,
                                sources->capacity, *source) < 0)
                        return -ENOMEM;
        }
        *id = at + 1;
        return 0;
}

void type_sources_free(struct type_sources *sources)
{
        free(sources->items);
        hash_index_free(&sources->index);
        *sources = (struct type_sources){0};
}
