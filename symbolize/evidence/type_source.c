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
        *id = 0;
        if (source->kind == TYPE_BY_NOTHING)
                return 0;
        int error = HASH_PUT(
            &sources->index, hash_number(source->pointer, source->place ^ source->kind),
            same, sources, source, sources->items, sources->count, sources->capacity, id);

        ++*id;
        return error;
}

void type_sources_free(struct type_sources *sources)
{
        free(sources->items);
        hash_index_free(&sources->index);
        *sources = (struct type_sources){0};
}
