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

/* Skips an entry and charges its bytes to the budget. Returns its abbreviation, or NULL
 * at the end of a level (*ENDS) or of the readable bytes. */
static const struct abbreviation *step(struct walk *walk, struct entry_place *place,
                                       bool *ends)
{
        const uint8_t *start = walk->at;
        uint64_t code;
        const struct abbreviation *abbreviation =
            abbreviations_next(&walk->table->table, &walk->at, walk->end, &code);

        *ends = code == 0;
        if (abbreviation &&
            !abbreviation_skip(&walk->table->table, abbreviation, &walk->layout,
                               &walk->at, walk->end, place))
                abbreviation = NULL;
        if (!die_spend(walk->file, (uint64_t)(walk->at - start))) {
                *ends = false;
                return NULL;
        }
        return abbreviation;
}

/* Goes to the sibling of the entry that was stepped over, if the entry names it. */
static bool go_to_sibling(struct walk *walk, const struct entry_place *entry)
{
        if (entry->sibling <= (uint64_t)(walk->at - walk->unit_start) ||
            entry->sibling > (uint64_t)(walk->end - walk->unit_start))
                return false;
        walk->at = walk->unit_start + entry->sibling;
        return true;
}

static bool skip_children(struct walk *walk, const struct entry_place *entry)
{
        size_t depth = go_to_sibling(walk, entry) ? 0 : 1;

        while (depth > 0) {
                struct entry_place place;
                bool ends;
                const struct abbreviation *abbreviation = step(walk, &place, &ends);

                if (ends)
                        depth--;
                else if (!abbreviation)
                        return false;
                else if (abbreviation->has_children && !go_to_sibling(walk, &place))
                        depth++;
        }
        return true;
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
                uint32_t parent = walk->values[walk->depth - 1], value = parent;
                struct die_entry entry = {
                    .die = {.addr = (void *)(uintptr_t)walk->at, .cu = walk->unit}};
                bool ends;
                const struct abbreviation *abbreviation = step(walk, &entry.place, &ends);

                if (ends) {
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

int die_walk(struct dwarf_file *file, const Dwarf_Die *root, die_visit *visit,
             void *context)
{
        return die_walk_from(file, root, 0, visit, context);
}

int die_walk_from(struct dwarf_file *file, const Dwarf_Die *root, uint32_t value_at_root,
                  die_visit *visit, void *context)
{
        struct walk walk = {.file = file};
        struct entry_place place;
        bool ends;
        int result = begin(&walk, root);
        const struct abbreviation *abbreviation =
            result ? NULL : step(&walk, &place, &ends);

        if (abbreviation && abbreviation->has_children)
                result = visit_children(&walk, value_at_root, visit, context);
        die_abbreviations_done(walk.table);
        free(walk.values);
        return result == -ENOENT ? 0 : result;
}
