/* SPDX-License-Identifier: MIT */
/* The traversal only goes forward, from its root entry to the end of the root's
 * children or of the unit. It yields entries as libdw represents them: an address and
 * a unit. */
#include "die_walk.h"

#include <errno.h>
#include <string.h>

#include "append.h"
#include "byte_cursor.h"

enum { DEPTH_LIMIT = 512 };

struct walk {
        struct dwarf_file *file;
        struct Dwarf_CU *unit;
        struct unit_layout layout;
        struct dwarf_abbreviations *table;
        const uint8_t *unit_start;
        const uint8_t *at;
        const uint8_t *end;
        bool only_code; /* codeless entries are not visited */
        bool part; /* parents of the first entries, and their ends, are unknown */
        uint32_t *values; /* of the parents */
        size_t depth;
        size_t capacity;
};

/* Reads the header of ROOT's unit (DWARF 5, section 7.5.1). */
static bool read_header(struct walk *walk, const Dwarf_Die *root, uint64_t *table)
{
        struct dwarf_bytes section = die_section(walk->file, root);
        Dwarf_Die die = *root;
        uint64_t offset = section.start ? dwarf_cuoffset(&die) : 0;
        struct byte_cursor cursor = {.end = (const uint8_t *)section.end};

        if (!section.start ||
            offset > (uint64_t)((const char *)root->addr - section.start))
                return false;
        walk->unit = root->cu;
        walk->unit_start = (const uint8_t *)root->addr - offset;
        walk->at = root->addr;
        walk->layout = (struct unit_layout){.offset_bytes = 4};
        cursor.at = walk->unit_start;
        uint64_t length = cursor_number(&cursor, 4);

        if (length == UINT32_MAX) {
                walk->layout.offset_bytes = 8;
                length = cursor_number(&cursor, 8);
        }
        walk->end =
            length < (uint64_t)(cursor.end - cursor.at) ? cursor.at + length : cursor.end;
        walk->layout.version = (uint8_t)cursor_number(&cursor, 2);
        if (walk->layout.version >= 5) {
                cursor_number(&cursor, 1); /* the unit's type */
                walk->layout.address_bytes = (uint8_t)cursor_number(&cursor, 1);
        }
        *table = cursor_number(&cursor, walk->layout.offset_bytes);
        if (walk->layout.version < 5)
                walk->layout.address_bytes = (uint8_t)cursor_number(&cursor, 1);
        return !cursor.failed && cursor.at <= walk->at && walk->at < walk->end &&
               (walk->layout.address_bytes == 4 || walk->layout.address_bytes == 8);
}

/* Finds the table of ROOT's unit, too. 0, -ENOENT or -ENOMEM. */
static int begin(struct walk *walk, const Dwarf_Die *root)
{
        uint64_t table;

        return read_header(walk, root, &table)
                   ? die_abbreviations(walk->file, root, table, &walk->layout,
                                       &walk->table)
                   : -ENOENT;
}

/* Charges the bytes since START to the budget. A sibling reference skips bytes, so the
 * charge may exceed the bytes read, but never the unit. */
static bool spend_since(struct walk *walk, const uint8_t *start)
{
        return die_spend(walk->file, (uint64_t)(walk->at - start));
}

/* Skips an entry and charges the bytes since START. Returns its abbreviation, or NULL
 * at the end of a level (*ENDS) or of the readable bytes. */
static const struct abbreviation *step(struct walk *walk, const uint8_t *start,
                                       struct entry_place *place, bool *ends)
{
        uint64_t code;
        const struct abbreviation *abbreviation =
            abbreviations_next(&walk->table->table, &walk->at, walk->end, &code);

        *ends = code == 0;
        if (abbreviation &&
            !abbreviation_skip(&walk->table->table, abbreviation, &walk->layout,
                               &walk->at, walk->end, place))
                abbreviation = NULL;
        if (!spend_since(walk, start)) {
                *ends = false;
                return NULL;
        }
        return abbreviation;
}

static bool skip_children(struct walk *walk, const struct entry_place *entry)
{
        const uint8_t *start = walk->at;

        if (entry->sibling > (uint64_t)(walk->at - walk->unit_start) &&
            entry->sibling <= (uint64_t)(walk->end - walk->unit_start)) {
                walk->at = walk->unit_start + entry->sibling;
                return true;
        }
        return abbreviations_leave(&walk->table->table, &walk->layout, walk->unit_start,
                                   &walk->at, walk->end) &&
               spend_since(walk, start);
}

static int push(struct walk *walk, uint32_t value)
{
        return APPEND(walk->values, walk->depth, walk->capacity, value);
}

/* Visits the children of an entry that was stepped over. */
static int visit_children(struct walk *walk, uint32_t value_at_root, die_visit *visit,
                          void *context)
{
        int result = push(walk, value_at_root);

        while (result >= 0 && walk->depth > 0) {
                const uint8_t *start = walk->at;

                if (walk->only_code)
                        abbreviations_pass(&walk->table->table, &walk->layout,
                                           walk->unit_start, &walk->at, walk->end);
                uint32_t parent = walk->values[walk->depth - 1], value = parent;
                struct die_entry entry = {
                    .die = {.addr = (void *)(uintptr_t)walk->at, .cu = walk->unit}};
                bool ends;
                const struct abbreviation *abbreviation =
                    step(walk, start, &entry.place, &ends);

                if (ends) {
                        if (!walk->part || walk->depth > 1)
                                walk->depth--;
                        continue;
                }
                if (!abbreviation)
                        break;
                entry.tag = abbreviation->tag;
                entry.has_code = abbreviation->has_code;
                result = visit(context, &entry, parent, &value);
                if (result < 0 || !abbreviation->has_children)
                        continue;
                if (result > 0 && walk->depth < DEPTH_LIMIT)
                        result = push(walk, value);
                else if (!skip_children(walk, &entry.place))
                        break;
        }
        return result < 0 ? result : 0;
}

/* From the entry at FROM, or from the first one below ROOT where that is ROOT itself. */
static int walk_below(struct walk *walk, const Dwarf_Die *root, const void *from,
                      const void *to, uint32_t value_at_root, die_visit *visit,
                      void *context)
{
        struct entry_place place;
        bool ends, children = true;
        int result = begin(walk, root);

        if (!result && from == root->addr) {
                const struct abbreviation *abbreviation =
                    step(walk, walk->at, &place, &ends);

                children = abbreviation && abbreviation->has_children;
        } else if (!result) {
                children =
                    (const uint8_t *)from > walk->at && (const uint8_t *)from < walk->end;
                walk->at = from;
        }
        if (to && (const uint8_t *)to < walk->end)
                walk->end = to;
        if (!result && children)
                result = visit_children(walk, value_at_root, visit, context);
        die_abbreviations_done(walk->table);
        free(walk->values);
        return result == -ENOENT ? 0 : result;
}

int die_walk(struct dwarf_file *file, const Dwarf_Die *root, die_visit *visit,
             void *context)
{
        return die_walk_from(file, root, 0, visit, context);
}

int die_walk_from(struct dwarf_file *file, const Dwarf_Die *root, uint32_t value_at_root,
                  die_visit *visit, void *context)
{
        struct walk walk = {.file = file};

        return walk_below(&walk, root, root->addr, NULL, value_at_root, visit, context);
}

int die_walk_code(struct dwarf_file *file, const Dwarf_Die *root, die_visit *visit,
                  void *context)
{
        struct walk walk = {.file = file, .only_code = true};

        return walk_below(&walk, root, root->addr, NULL, 0, visit, context);
}

int die_walk_part(struct dwarf_file *file, const Dwarf_Die *root, const void *from,
                  const void *to, die_visit *visit, void *context)
{
        struct walk walk = {.file = file, .part = true};

        return walk_below(&walk, root, from, to, 0, visit, context);
}

const void *die_walk_end(struct dwarf_file *file, const Dwarf_Die *root)
{
        struct walk walk = {.file = file};
        uint64_t table;

        return read_header(&walk, root, &table) ? walk.end : NULL;
}
