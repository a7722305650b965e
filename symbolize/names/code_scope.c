/* SPDX-License-Identifier: MIT */
#include "code_scope.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "die_walk.h"

int code_scopes_note(struct code_scopes *scopes, const Dwarf_Die *die)
{
        if (array_reserve(&scopes->noted, &scopes->noted_capacity, scopes->noted_count,
                          sizeof(*scopes->noted)) < 0)
                return -ENOMEM;
        scopes->noted[scopes->noted_count++] = die->addr;
        return 0;
}

static int visit_scope(void *context, struct die_entry *entry, uint32_t parent,
                       uint32_t *value)
{
        struct code_scopes *scopes = context;

        switch (entry->tag) {
        case DW_TAG_subprogram:
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
                if (scopes->count >= UINT32_MAX ||
                    array_reserve(&scopes->items, &scopes->capacity, scopes->count,
                                  sizeof(*scopes->items)) < 0)
                        return -ENOMEM;
                scopes->items[scopes->count++] = (struct code_scope){entry->die, parent};
                *value = (uint32_t)scopes->count;
                return 1;
        case DW_TAG_namespace:
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
                return 1;
        default:
                return 0;
        }
}

/* How many of the noted entries begin at AT or before. */
static size_t noted_up_to(const struct code_scopes *scopes, const char *at)
{
        size_t from = 0, to = scopes->noted_count;

        while (from < to) {
                size_t middle = from + (to - from) / 2;

                if (scopes->noted[middle] <= at)
                        from = middle + 1;
                else
                        to = middle;
        }
        return from;
}

static bool starts_at(const void *context, const void *start, uint32_t position)
{
        const struct code_scopes *scopes = context;

        return scopes->parts[position].start == start;
}

/* Finds the part of ROOT's unit that begins at START, or goes over it, up to END (NULL:
 * the end of the unit). */
static int read_part(struct code_scopes *scopes, struct dwarf_file *dwarf,
                     const Dwarf_Die *root, const char *start, const char *end,
                     struct code_part *part)
{
        uint32_t hash = hash_bytes(&start, sizeof(start));
        uint32_t known = hash_index_find(&scopes->starts, hash, starts_at, scopes, start);

        if (known != HASH_INDEX_NONE) {
                *part = scopes->parts[known];
                return 0;
        }
        *part = (struct code_part){.start = start, .first = scopes->count};
        if (scopes->part_count >= HASH_INDEX_NONE ||
            array_reserve(&scopes->parts, &scopes->part_capacity, scopes->part_count,
                          sizeof(*scopes->parts)) < 0 ||
            hash_index_add(&scopes->starts, hash, (uint32_t)scopes->part_count) < 0 ||
            die_walk_part(dwarf, root, start, end, visit_scope, scopes) == -ENOMEM)
                return -ENOMEM;
        part->end = scopes->count;
        scopes->parts[scopes->part_count++] = *part;
        return 0;
}

/* The part that DIE is in. */
static int find_part(struct code_scopes *scopes, struct dwarf_file *dwarf,
                     const Dwarf_Die *root, const Dwarf_Die *die, struct code_part *part)
{
        Dwarf_Die at = *die, other;

        if (die->cu != root->cu) {
                if (!dwarf_diecu(&at, &other, NULL, NULL))
                        return -ENOENT;
                return read_part(scopes, dwarf, &other, other.addr, NULL, part);
        }
        size_t noted = noted_up_to(scopes, die->addr);

        return read_part(scopes, dwarf, root,
                         noted > 0 ? scopes->noted[noted - 1] : root->addr,
                         noted < scopes->noted_count ? scopes->noted[noted] : NULL, part);
}

int code_scopes_find(struct code_scopes *scopes, struct dwarf_file *dwarf,
                     const Dwarf_Die *root, const Dwarf_Die *die,
                     const struct code_scope **scope)
{
        struct code_part part;
        int error = find_part(scopes, dwarf, root, die, &part);

        *scope = NULL;
        if (error)
                return error == -ENOENT ? 0 : error;
        for (size_t from = part.first, to = part.end; from < to;) {
                size_t middle = from + (to - from) / 2;
                const char *at = scopes->items[middle].die.addr;

                if (at == die->addr) {
                        *scope = &scopes->items[middle];
                        return 0;
                }
                if (at < (const char *)die->addr)
                        from = middle + 1;
                else
                        to = middle;
        }
        return 0;
}

const struct code_scope *code_scope_outer(const struct code_scopes *scopes,
                                          const struct code_scope *scope)
{
        return scope->parent > 0 ? &scopes->items[scope->parent - 1] : NULL;
}

void code_scopes_free(struct code_scopes *scopes)
{
        free(scopes->items);
        hash_index_free(&scopes->starts);
        free(scopes->parts);
        free(scopes->noted);
}
