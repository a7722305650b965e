/* SPDX-License-Identifier: MIT */
/* One traversal of a unit finds its scopes, when one of its types first needs a name. */
#include "die_type_name.h"

#include <errno.h>
#include <string.h>

#include "append.h"
#include "die_walk.h"

enum { CHAIN_LIMIT = 32 };

struct type_scope {
        const void *die;
        uint32_t name; /* of the outer scope; 0: none */
};

static int put_scope(struct type_reader *reader, const void *die, uint32_t name)
{
        return HASH_PUSH(&reader->scopes, hash_number(0, (uintptr_t)die),
                         (struct type_scope){die, name});
}

static const struct type_scope *find_scope(const struct type_reader *reader,
                                           const void *die)
{
        uint32_t found = HASH_NUMBER(&reader->scopes, (uintptr_t)die);

        return found == HASH_INDEX_NONE ? NULL : &reader->scopes.items[found];
}

const char *type_own_name(struct type_reader *reader, Dwarf_Die *die)
{
        return die_string(reader->dwarf, die, DW_AT_name);
}

/* The text for an entry without a name. */
static const char *no_name(struct type_reader *reader, Dwarf_Die *die)
{
        return die_lost(reader->dwarf, die, DW_AT_name) ? "(not found)" : "(anonymous)";
}

static int visit_scope(void *context, struct die_entry *entry)
{
        struct type_reader *reader = context;

        switch (entry->tag) {
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
        case DW_TAG_enumeration_type:
                if (entry->parent &&
                    put_scope(reader, entry->die.addr, entry->parent) < 0)
                        return -ENOMEM;
                break;
        case DW_TAG_namespace:
        case DW_TAG_module:
                break;
        default:
                return 0;
        }
        const char *name = type_own_name(reader, &entry->die);
        const char *outer = string_pool_text(reader->names, entry->parent);

        entry->value = string_pool_format(reader->names, "%s%s::", outer ? outer : "",
                                          name ? name : no_name(reader, &entry->die));
        return 1;
}

/* Whether the language has "struct node" for the type "node". */
static bool tagged_language(uint64_t language)
{
        return language == 0 || language == DW_LANG_C89 || language == DW_LANG_C ||
               language == DW_LANG_C99 || language == DW_LANG_C11;
}

const char *type_name_prefix(struct type_reader *reader, Dwarf_Die *die)
{
        Dwarf_Die unit;

        if (!dwarf_diecu(die, &unit, NULL, NULL) || tagged_language(reader->language)) {
                switch (dwarf_tag(die)) {
                case DW_TAG_structure_type:
                case DW_TAG_class_type:
                        return "struct ";
                case DW_TAG_union_type:
                        return "union ";
                case DW_TAG_enumeration_type:
                        return "enum ";
                default:
                        return "";
                }
        }
        if (!find_scope(reader, unit.addr)) { /* the unit itself: it has been read */
                if (put_scope(reader, unit.addr, 0) < 0 ||
                    die_walk(reader->dwarf, &unit, visit_scope, reader) == -ENOMEM) {
                        reader->error = -ENOMEM;
                        return "";
                }
        }
        Dwarf_Die declared;
        const struct type_scope *scope = find_scope(
            reader, die_reference(reader->dwarf, die, DW_AT_specification, &declared)
                        ? declared.addr
                        : die->addr);

        return scope ? string_pool_text(reader->names, scope->name) ?: "" : "";
}

bool type_strip(struct type_reader *reader, Dwarf_Die *die, const char **alias)
{
        for (int i = 0; i < CHAIN_LIMIT; i++) {
                Dwarf_Die next;

                switch (dwarf_tag(die)) {
                case DW_TAG_typedef:
                        if (alias)
                                *alias = type_own_name(reader, die);
                        break;
                case DW_TAG_const_type:
                case DW_TAG_volatile_type:
                case DW_TAG_restrict_type:
                case DW_TAG_atomic_type:
                case DW_TAG_immutable_type:
                        break;
                default:
                        /* A type in a separate type unit has only its signature here. */
                        if (!die_reference(reader->dwarf, die, DW_AT_signature, &next))
                                return true;
                        *die = next;
                        continue;
                }
                if (!die_reference(reader->dwarf, die, DW_AT_type, &next))
                        return false;
                *die = next;
        }
        return false;
}

static uint32_t spelled_name(struct type_reader *reader, Dwarf_Die die, int depth);

static uint32_t pointer_name(struct type_reader *reader, Dwarf_Die *die, int depth)
{
        const char *sign = dwarf_tag(die) == DW_TAG_reference_type          ? "&"
                           : dwarf_tag(die) == DW_TAG_rvalue_reference_type ? "&&"
                                                                            : "*";
        Dwarf_Die pointee;
        uint32_t name = 0;

        if (die_reference(reader->dwarf, die, DW_AT_type, &pointee))
                name = spelled_name(reader, pointee, depth + 1);
        else if (die_lost(reader->dwarf, die, DW_AT_type))
                name = string_pool_put(reader->names, "(not found)");
        const char *text = string_pool_text(reader->names, name);
        size_t length = text ? strlen(text) : 0;
        bool joined = length && (text[length - 1] == '*' || text[length - 1] == '&');

        return string_pool_format(reader->names, joined ? "%s%s" : "%s %s",
                                  text ? text : "void", sign);
}

/* The source's text, without qualifiers. */
static uint32_t spelled_name(struct type_reader *reader, Dwarf_Die die, int depth)
{
        const char *alias = NULL;

        if (depth > CHAIN_LIMIT || !type_strip(reader, &die, &alias))
                return string_pool_put(reader->names, "void");
        const char *name = type_own_name(reader, &die);

        switch (dwarf_tag(&die)) {
        case DW_TAG_pointer_type:
        case DW_TAG_reference_type:
        case DW_TAG_rvalue_reference_type:
                return pointer_name(reader, &die, depth);
        case DW_TAG_subroutine_type:
                return string_pool_put(reader->names, alias ? alias : "(function)");
        case DW_TAG_array_type: {
                Dwarf_Die element;
                uint32_t text = 0;

                if (die_reference(reader->dwarf, &die, DW_AT_type, &element))
                        text = spelled_name(reader, element, depth + 1);
                return string_pool_format(reader->names, "%s[]",
                                          string_pool_text(reader->names, text)
                                              ?: "void");
        }
        default:
                if (!name && alias)
                        return string_pool_put(reader->names, alias);
                return string_pool_format(reader->names, "%s%s",
                                          type_name_prefix(reader, &die),
                                          name ? name : no_name(reader, &die));
        }
}

uint32_t type_spelled_name(struct type_reader *reader, Dwarf_Die die)
{
        return spelled_name(reader, die, 0);
}
