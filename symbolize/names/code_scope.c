/* SPDX-License-Identifier: MIT */
#include "code_scope.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "die_walk.h"

int code_scopes_note(struct code_scopes *scopes, const Dwarf_Die *die)
{
        return APPEND(scopes->noted, scopes->noted_count, scopes->noted_capacity,
                      die->addr);
}

/* The innermost namespace around AT, among the namespace SPACE and its outer
 * namespaces, in the form of SPACE. */
static uint32_t space_around(const struct code_scopes *scopes, uint32_t space,
                             const char *at)
{
        while (space > 0 && scopes->spaces[space - 1].end &&
               scopes->spaces[space - 1].end <= at)
                space = scopes->spaces[space - 1].parent;
        return space;
}

int code_scopes_note_namespace(struct code_scopes *scopes, const Dwarf_Die *die,
                               const char *end)
{
        uint32_t parent = space_around(scopes, (uint32_t)scopes->space_count, die->addr);

        if (scopes->space_count >= UINT32_MAX ||
            array_reserve(&scopes->spaces, &scopes->space_capacity, scopes->space_count,
                          sizeof(*scopes->spaces)) < 0)
                return -ENOMEM;
        if (!end && parent > 0)
                end = scopes->spaces[parent - 1].end;
        scopes->spaces[scopes->space_count++] =
            (struct code_space){die->addr, end, parent};
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
        case DW_TAG_namespace:
                if (scopes->count >= UINT32_MAX ||
                    PUSH(scopes, (struct code_scope){entry->die, parent}) < 0)
                        return -ENOMEM;
                *value = (uint32_t)scopes->count;
                return 1;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
                return 1;
        default:
                return 0;
        }
}

static bool starts_at(const void *context, const void *start, uint32_t position)
{
        const struct code_scopes *scopes = context;

        return scopes->parts[position].start == start;
}

/* Finds the part of ROOT's unit that begins at START, or reads it, up to END (NULL:
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

/* The scope around AT, among the scopes read in PART; NULL: none, or AT is none. */
static const struct code_scope *outer_in_part(const struct code_scopes *scopes,
                                              const struct code_part *part,
                                              const char *at)
{
        size_t i = part->first;

        if (part->end > i) /* entries begin with their addresses */
                i += number_from(&scopes->items[i], part->end - i, sizeof(*scopes->items),
                                 (uintptr_t)at);
        return i < part->end && scopes->items[i].die.addr == at &&
                       scopes->items[i].parent > 0
                   ? &scopes->items[scopes->items[i].parent - 1]
                   : NULL;
}

/* Where the sibling of the entry at START of ROOT's unit begins; NULL: not said. */
static const char *sibling_of(struct dwarf_file *dwarf, const Dwarf_Die *root,
                              const char *start)
{
        Dwarf_Die die = {.addr = (void *)(uintptr_t)start, .cu = root->cu}, sibling;

        return die_reference(dwarf, &die, DW_AT_sibling, &sibling) &&
                       sibling.cu == root->cu && (const char *)sibling.addr > start
                   ? sibling.addr
                   : NULL;
}

/* The part with the entry at AT of ROOT's unit. Without one, nothing needs to be read. */
static int find_part(struct code_scopes *scopes, struct dwarf_file *dwarf,
                     const Dwarf_Die *root, const char *at, struct code_part *part)
{
        size_t next = number_from(scopes->noted, scopes->noted_count,
                                  sizeof(*scopes->noted), (uintptr_t)at + 1);
        const char *until = next < scopes->noted_count ? scopes->noted[next] : NULL;

        *part = (struct code_part){0};
        if (next == 0)
                return read_part(scopes, dwarf, root, root->addr, until, part);
        const char *start = scopes->noted[next - 1];
        const char *end = start < at ? sibling_of(dwarf, root, start) : at;

        return end && end <= at
                   ? 0
                   : read_part(scopes, dwarf, root, start, end ? end : until, part);
}

int code_scopes_outer(struct code_scopes *scopes, struct dwarf_file *dwarf,
                      const Dwarf_Die *root, const Dwarf_Die *die, Dwarf_Die *outer)
{
        Dwarf_Die at = *die, other;
        bool own = die->cu == root->cu;
        struct code_part part = {0};
        int error = 0;

        *outer = (Dwarf_Die){0};
        if (!own && dwarf_diecu(&at, &other, NULL, NULL))
                error = read_part(scopes, dwarf, &other, other.addr, NULL, &part);
        else if (own && dwarf_tag(&at) != DW_TAG_namespace)
                error = find_part(scopes, dwarf, root, die->addr, &part);
        if (error)
                return error;
        const struct code_scope *scope = outer_in_part(scopes, &part, die->addr);

        if (scope) {
                *outer = scope->die;
                return 0;
        }
        uint32_t before =
            (uint32_t)number_from(scopes->spaces, scopes->space_count,
                                  sizeof(*scopes->spaces), (uintptr_t)die->addr);
        uint32_t space = own ? space_around(scopes, before, die->addr) : 0;

        if (space > 0)
                *outer = (Dwarf_Die){
                    .addr = (void *)(uintptr_t)scopes->spaces[space - 1].start,
                    .cu = die->cu};
        return 0;
}

void code_scopes_free(struct code_scopes *scopes)
{
        free(scopes->items);
        hash_index_free(&scopes->starts);
        free(scopes->parts);
        free(scopes->noted);
        free(scopes->spaces);
}
