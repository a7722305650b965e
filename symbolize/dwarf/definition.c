/* SPDX-License-Identifier: MIT */
/* Each unit that uses a header's type defines it. Definitions are the same if they have
 * the same size and line. */
#include "definition.h"

#include <errno.h>

#include "die_walk.h"

struct definition {
        uint32_t name;
        bool is_union;
        bool ambiguous;
        uint64_t size_bytes;
        uint64_t line;
        Dwarf_Die die;
};

struct reading {
        struct definitions *definitions;
        struct dwarf_file *dwarf;
        struct string_pool *names;
};

static bool same_name(const void *context, const void *key, uint32_t position)
{
        const struct definitions *definitions = context;
        const struct definition *a = key, *b = &definitions->items[position];

        return a->name == b->name && a->is_union == b->is_union;
}

static uint32_t name_hash(const struct definition *definition)
{
        return hash_number(definition->is_union, definition->name);
}

static int put(struct definitions *definitions, const struct definition *definition)
{
        uint32_t at, hash = name_hash(definition);

        if (HASH_PUT(definitions, hash, same_name, definitions, definition, &at) < 0)
                return -ENOMEM;
        struct definition *first = &definitions->items[at];

        first->ambiguous |= first->size_bytes != definition->size_bytes ||
                            first->line != definition->line;
        return 0;
}

static int visit(void *context, struct die_entry *entry)
{
        struct reading *reading = context;
        /* "" or ends in "::". */
        const char *outer = string_pool_text(reading->names, entry->parent) ?: "";
        Dwarf_Die *die = &entry->die;
        struct definition definition = {.is_union = entry->tag == DW_TAG_union_type,
                                        .die = *die};
        const char *name;

        switch (entry->tag) {
        case DW_TAG_namespace:
        case DW_TAG_module:
                name = die_string(reading->dwarf, die, DW_AT_name);
                break;
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
                name = die_string(reading->dwarf, die, DW_AT_name);
                if (!name || dwarf_hasattr(die, DW_AT_declaration) ||
                    !die_number(reading->dwarf, die, DW_AT_byte_size,
                                &definition.size_bytes))
                        return 0;
                die_number(reading->dwarf, die, DW_AT_decl_line, &definition.line);
                definition.name = string_pool_format(reading->names, "%s%s", outer, name);
                if (put(reading->definitions, &definition) < 0)
                        return -ENOMEM;
                break;
        default:
                return 0;
        }
        entry->value =
            string_pool_format(reading->names, "%s%s::", outer, name ?: "(anonymous)");
        return 1;
}

static int read_all(struct reading *reading)
{
        for (size_t i = 0; i < reading->dwarf->unit_count; i++) {
                Dwarf_Die unit, entries;

                if (die_open_unit(reading->dwarf, i, &unit, &entries) &&
                    die_walk(reading->dwarf, &entries, visit, reading) == -ENOMEM)
                        return -ENOMEM;
        }
        return 0;
}

bool definition_find(struct definitions *definitions, struct dwarf_file *dwarf,
                     struct string_pool *names, uint32_t name, bool is_union,
                     Dwarf_Die *die, int *error)
{
        struct reading reading = {definitions, dwarf, names};
        const struct definition key = {.name = name, .is_union = is_union};

        if (!definitions->read && read_all(&reading) < 0) {
                *error = -ENOMEM;
                return false;
        }
        definitions->read = true;
        uint32_t found = hash_index_find(&definitions->index, name_hash(&key), same_name,
                                         definitions, &key);

        if (found == HASH_INDEX_NONE || definitions->items[found].ambiguous)
                return false;
        *die = definitions->items[found].die;
        return true;
}

void definitions_free(struct definitions *definitions)
{
        HASH_FREE(definitions);
        *definitions = (struct definitions){0};
}
