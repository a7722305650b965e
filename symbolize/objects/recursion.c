/* SPDX-License-Identifier: MIT */
/* A tree of paths without recursion, parallel to the tree of stacks. */
#include "recursion.h"

#include <errno.h>
#include <stdlib.h>

#include "hash_index.h"

struct node {
        uint32_t parent; /* RAW_NONE: the outermost */
        uint32_t place;
};

struct paths {
        const struct sweep *sweep;
        struct node *nodes; /* at most one for each stack */
        uint32_t count;
        struct hash_index index;
};

static bool same_node(const void *context, const void *key, uint32_t position)
{
        const struct paths *paths = context;
        const struct node *a = key, *b = &paths->nodes[position];

        return a->parent == b->parent && a->place == b->place;
}

static int put_node(struct paths *paths, struct node node, uint32_t *number)
{
        uint32_t hash = hash_number(node.parent, node.place);

        *number = hash_index_find(&paths->index, hash, same_node, paths, &node);
        if (*number != HASH_INDEX_NONE)
                return 0;
        *number = paths->count;
        paths->nodes[paths->count++] = node;
        return hash_index_add(&paths->index, hash, *number);
}

/* The name of the function of PLACE; 0: not known. */
static uint32_t function_of(const struct paths *paths, uint32_t place)
{
        return place == RAW_NONE ? 0 : paths->sweep->places[place].code.function;
}

/* The parent node of calls from PLACE's function: the caller of its outermost call. */
static uint32_t without_recursion(const struct paths *paths, uint32_t parent,
                                  uint32_t place)
{
        uint32_t function = function_of(paths, place);

        for (uint32_t at = parent; function != 0 && at != RAW_NONE;
             at = paths->nodes[at].parent)
                if (function_of(paths, paths->nodes[at].place) == function)
                        return paths->nodes[at].parent;
        return parent;
}

/* Marks the stacks of allocations and their callers. */
static void mark(const struct raw *raw, bool *wanted)
{
        for (size_t i = 0; i < raw->allocation_count; i++)
                for (uint32_t stack = raw->allocations[i].stack;
                     stack != RAW_NONE && !wanted[stack];
                     stack = raw->stacks[stack].parent)
                        wanted[stack] = true;
}

int recursion_groups(const struct sweep *sweep, uint32_t *groups)
{
        const struct raw *raw = sweep->raw;
        struct paths paths = {.sweep = sweep};
        bool *wanted = calloc(raw->stack_count + 1, sizeof(*wanted));
        int error = 0;

        paths.nodes = malloc((raw->stack_count + 1) * sizeof(*paths.nodes));
        if (!wanted || !paths.nodes)
                error = -ENOMEM;
        else
                mark(raw, wanted);
        for (uint32_t i = 0; i < raw->stack_count && !error; i++) {
                uint32_t parent = raw->stacks[i].parent;

                groups[i] = RAW_NONE;
                if (!wanted[i])
                        continue;
                /* The parent has a smaller index and is wanted too: its group is
                 * known. */
                if (parent != RAW_NONE)
                        parent = without_recursion(&paths, groups[parent],
                                                   sweep->stack_places[i]);
                error = put_node(&paths, (struct node){parent, sweep->stack_places[i]},
                                 &groups[i]);
        }
        hash_index_free(&paths.index);
        free(paths.nodes);
        free(wanted);
        return error;
}
