/* SPDX-License-Identifier: MIT */
/* The traversal only goes forward, from its root entry to the end of the root's children.
 * Behind the last child, libdw's search for a sibling stops at the null entry that ends
 * the level (libdw.h): so the parent's sibling need not be searched from the parent. */
#include "die_walk.h"

#include <errno.h>

#include "append.h"
#include "byte_cursor.h"

enum { DEPTH_LIMIT = 512, LONG_ENTRY = 64 };

struct walk {
        struct dwarf_file *file;
        const char *end;  /* of the unit */
        Dwarf_Die at;     /* an entry, or the null entry of a level's end */
        uint32_t *values; /* of the parents */
        size_t depth;
        size_t capacity;
};

/* Goes to NEXT, for so much WORK. False when the budget is spent. */
static bool go_to(struct walk *walk, const Dwarf_Die *next, uint64_t work)
{
        walk->at = *next;
        return die_spend(walk->file, work);
}

static uint64_t distance(const struct walk *walk, const Dwarf_Die *next)
{
        return (uint64_t)((const char *)next->addr - (const char *)walk->at.addr);
}

/* Goes past the entry and its children. False at the end of the unit. */
static bool go_on(struct walk *walk)
{
        Dwarf_Die next = {.cu = walk->at.cu};

        if (dwarf_siblingof(&walk->at, &next) < 0)
                return false;
        if (!next.addr) {
                die_spend(walk->file,
                          (uint64_t)(walk->end - (const char *)walk->at.addr));
                return false;
        }
        uint64_t work = distance(walk, &next);

        if (work > LONG_ENTRY && dwarf_hasattr(&walk->at, DW_AT_sibling))
                work = 1; /* it names its sibling */
        return go_to(walk, &next, work);
}

/* Goes past the null entry at the end of a level. False when there is none. */
static bool go_up(struct walk *walk)
{
        const char *at = walk->at.addr;
        const Dwarf_Die next = {.cu = walk->at.cu, .addr = (void *)(uintptr_t)(at + 1)};

        if (at >= walk->end || *at != '\0')
                return false;
        walk->depth--;
        return go_to(walk, &next, 1);
}

static int push(struct walk *walk, uint32_t value)
{
        return APPEND(walk->values, walk->depth, walk->capacity, value);
}

/* Visits the entry. 0 at the end of the traversal, or a negative error. */
static int step(struct walk *walk, die_visit *visit, void *context)
{
        uint32_t parent = walk->values[walk->depth - 1];
        int tag = dwarf_tag(&walk->at); /* which keeps its abbreviation in the entry */
        struct die_entry entry = {walk->at, (unsigned)tag, parent, parent};
        Dwarf_Die child;

        if (tag == DW_TAG_invalid)
                return go_up(walk);
        int result = visit(context, &entry);

        if (result > 0 && walk->depth < DEPTH_LIMIT &&
            dwarf_child(&walk->at, &child) == 0) {
                result = push(walk, entry.value);
                return result < 0 ? result : go_to(walk, &child, distance(walk, &child));
        }
        return result < 0 ? result : go_on(walk);
}

/* The end of the unit that ROOT is in; NULL: not known. */
static const char *end_of_unit(const struct dwarf_file *file, const Dwarf_Die *root)
{
        const struct elf_bytes section = die_section(file, root);
        Dwarf_Die at = *root;
        const uint64_t inside = dwarf_cuoffset(&at), long_unit = UINT32_MAX;
        const char *addr = root->addr;

        if (!section.data || inside > (uint64_t)(addr - section.data))
                return NULL;
        struct byte_cursor cursor = {.at = (const uint8_t *)addr - inside,
                                     .end = (const uint8_t *)section.data + section.size};
        uint64_t bytes = cursor_number(&cursor, 4);

        if (bytes == long_unit)
                bytes = cursor_number(&cursor, sizeof(bytes));
        return cursor_has(&cursor, bytes) ? (const char *)cursor.at + bytes : NULL;
}

int die_walk(struct dwarf_file *file, const Dwarf_Die *root, die_visit *visit,
             void *context)
{
        return die_walk_from(file, root, 0, visit, context);
}

int die_walk_from(struct dwarf_file *file, const Dwarf_Die *root, uint32_t value_at_root,
                  die_visit *visit, void *context)
{
        struct walk walk = {.file = file, .end = end_of_unit(file, root)};
        Dwarf_Die at = *root;
        int result = walk.end && dwarf_child(&at, &walk.at) == 0;

        if (result && push(&walk, value_at_root) < 0)
                result = -ENOMEM;
        while (result > 0 && walk.depth > 0)
                result = step(&walk, visit, context);
        free(walk.values);
        return result < 0 ? result : 0;
}
