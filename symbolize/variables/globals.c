/* SPDX-License-Identifier: MIT */
/* A declaration has no address. The symbol of the same name gives it. */
#include "globals.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "die_walk.h"
#include "location.h"
#include "name.h"
#include "rule.h"

struct global {
        const char *name; /* of a declared variable; NULL: VADDR counts */
        uint64_t vaddr;
        Dwarf_Die die;
};

/* A function of the unit with code in the file: linkers discard some. */
struct global_function {
        uint64_t vaddr;
        Dwarf_Die die;
        bool folded_known;
        bool folded; /* it stands for several source functions */
};

static int add_function(struct globals *globals, Dwarf_Die *die)
{
        Dwarf_Addr vaddr;

        if (!die_entry_address(globals->reader->dwarf, die, &vaddr) ||
            !elf_file_has_code(globals->file, vaddr))
                return 0;
        return PUSH(&globals->functions,
                    (struct global_function){.vaddr = vaddr, .die = *die});
}

static int visit(void *context, struct die_entry *entry)
{
        struct globals *globals = context;
        Dwarf_Die *die = &entry->die;
        struct global global = {.die = *die};
        Dwarf_Attribute attribute;

        switch (entry->tag) {
        case DW_TAG_subprogram: /* it may have static variables */
                return add_function(globals, die) < 0 ? -ENOMEM : 1;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_lexical_block:
                return 1;
        case DW_TAG_variable:
                break;
        default:
                return 0;
        }
        if (!die_attribute(globals->reader->dwarf, die, DW_AT_location, &attribute)) {
                global.name = die_name(globals->reader->dwarf, die);
                return global.name ? PUSH(globals, global) : 0;
        }
        return location_fixed(&attribute, globals->reader->dwarf->source, &global.vaddr)
                   ? PUSH(globals, global)
                   : 0;
}

/* Declared variables come first, by name; then the others by address. */
static int compare(const void *left, const void *right)
{
        const struct global *a = left, *b = right;

        if (!a->name != !b->name)
                return a->name ? -1 : 1;
        if (a->name)
                return strcmp(a->name, b->name);
        return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

int globals_of_unit(struct globals *globals, Dwarf_Die *entry)
{
        Dwarf_Die unit;

        if (!dwarf_diecu(entry, &unit, NULL, NULL))
                return 0;
        if (unit.addr == globals->unit)
                return 0;
        globals->unit = unit.addr;
        globals->count = globals->functions.count = 0;
        if (die_walk(globals->reader->dwarf, &unit, visit, globals) == -ENOMEM)
                return -ENOMEM;
        SORT(globals->items, globals->count, compare);
        SORT(globals->functions.items, globals->functions.count, number_order);
        return 0;
}

static bool is_until(const void *item, const void *key)
{
        return compare(item, key) <= 0;
}

/* The last item that is not after KEY, or NULL. */
static const struct global *last_until(const struct globals *globals,
                                       const struct global *key)
{
        size_t until = array_count_before(globals->items, globals->count,
                                          sizeof(*globals->items), is_until, key);

        return until > 0 ? &globals->items[until - 1] : NULL;
}

static uint32_t checked_type(const struct globals *globals, const struct global *global,
                             uint64_t offset)
{
        Dwarf_Die die = global->die;
        uint32_t type = type_of_variable(globals->reader, &die);

        return type != TYPE_NONE &&
                       offset < globals->reader->types->items[type].size_bytes
                   ? type
                   : TYPE_NONE;
}

/* The variable at VADDR; *TYPE becomes its type. NULL: none is known. */
static const struct global *find(const struct globals *globals, uint64_t vaddr,
                                 uint64_t *offset_bytes, uint32_t *type)
{
        const struct global *found =
            last_until(globals, &(struct global){.vaddr = vaddr});
        const struct symbol *symbol;

        if (found && !found->name) {
                *offset_bytes = vaddr - found->vaddr;
                *type = checked_type(globals, found, *offset_bytes);
                if (*type != TYPE_NONE)
                        return found;
        }
        symbol = symbol_table_object(globals->symbols, vaddr);
        if (!symbol)
                return NULL;
        found = last_until(globals, &(struct global){.name = symbol->name});
        if (!found || !found->name || strcmp(found->name, symbol->name) != 0)
                return NULL;
        *offset_bytes = vaddr - symbol->vaddr;
        *type = checked_type(globals, found, *offset_bytes);
        return *type == TYPE_NONE ? NULL : found;
}

uint32_t globals_type(const struct globals *globals, uint64_t vaddr,
                      uint64_t *offset_bytes)
{
        uint32_t type;

        return find(globals, vaddr, offset_bytes, &type) ? type : TYPE_NONE;
}

static uint32_t name_of(const struct globals *globals, const Dwarf_Die *die)
{
        Dwarf_Die named = *die;

        return die_put_name(globals->reader->dwarf, globals->reader->names, &named);
}

uint32_t globals_name(const struct globals *globals, uint64_t vaddr)
{
        uint64_t offset;
        uint32_t type;
        const struct global *found = find(globals, vaddr, &offset, &type);

        return found ? name_of(globals, &found->die) : 0;
}

static struct global_function *function_at(const struct globals *globals, uint64_t vaddr)
{
        return NUMBER_FIND(globals->functions.items, globals->functions.count, vaddr);
}

/* ---- folded functions ---- */

/* Whether SYMBOL names the function NAME, a copy or a version. */
static bool is_called(const char *symbol, const char *name)
{
        size_t length = strcspn(name, ".@");

        return length > 0 && strncmp(symbol, name, length) == 0 &&
               (symbol[length] == '\0' || strchr(".@", symbol[length]));
}

/* Whether A and B are linkage names of one constructor or destructor. Each has several
 * names, which differ by a digit without meaning in the source (Itanium C++ ABI,
 * 5.1.4.3). */
static bool same_constructor(const char *a, const char *b)
{
        size_t at = 0;

        while (a[at] && a[at] == b[at])
                at++;
        if (at == 0 || !strchr("CD", a[at - 1]) || !isdigit((unsigned char)a[at]) ||
            !isdigit((unsigned char)b[at]) || strcmp(a + at + 1, b + at + 1) != 0)
                return false;
        char *first = demangle_signature(a), *second = demangle_signature(b);
        bool same = first && second && strcmp(first, second) == 0;

        free(first);
        free(second);
        return same;
}

/* Whether RESERVED is a library's second name for its function NAME: "__libc_free". */
static bool reserves(const char *reserved, const char *name)
{
        size_t length = strlen(reserved), end = strlen(name);

        return strncmp(reserved, "__", strlen("__")) == 0 && length > end &&
               reserved[length - end - 1] == '_' &&
               strcmp(reserved + length - end, name) == 0;
}

/* Whether A and B, at one address, are names of one function: versions, or the name that
 * gcc gives to calls within a library ("init.localalias"). */
static bool are_one(const struct symbol *a, const struct symbol *b)
{
        return same_constructor(a->name, b->name) || reserves(a->name, b->name) ||
               reserves(b->name, a->name) ||
               (is_called(a->name, b->name) &&
                (!a->local || !b->local || strstr(a->name, ".localalias") ||
                 strstr(b->name, ".localalias")));
}

/* Whether the code at ENTRY is, or may be, several functions of the source. Compilers and
 * linkers keep one of several equal functions. A second name that the source gives to a
 * function counts, too. */
static bool is_folded(const struct globals *globals, uint64_t entry)
{
        const struct symbol_table *symbols = globals->symbols;
        const struct symbol *first = NULL;
        size_t i = NUMBER_FROM(symbols->symbols, symbols->count, entry);

        for (; i < symbols->count && symbols->symbols[i].vaddr == entry; i++) {
                const struct symbol *symbol = &symbols->symbols[i];

                if (!symbol->function || symbol->stub || symbol->name[0] == '.')
                        continue;
                if (!first)
                        first = symbol;
                else if (!are_one(first, symbol))
                        return true;
        }
        /* gold drops the symbol of a folded function that only one file knows. */
        return (!first || first->local) &&
               elf_section_named(globals->file->elf, ".note.gnu.gold-version");
}

bool globals_folded(const struct globals *globals, uint64_t vaddr)
{
        struct global_function *function = function_at(globals, vaddr);

        if (!function || !rule_applies("folded"))
                return false;
        if (!function->folded_known)
                function->folded = is_folded(globals, vaddr);
        function->folded_known = true;
        return function->folded;
}

uint32_t globals_return_type(const struct globals *globals, uint64_t vaddr)
{
        const struct global_function *found = function_at(globals, vaddr);
        Dwarf_Die die;

        if (!found)
                return TYPE_NONE;
        die = found->die;
        return type_of_variable(globals->reader, &die);
}

uint32_t globals_function_name(const struct globals *globals, uint64_t vaddr)
{
        const struct global_function *found = function_at(globals, vaddr);

        return found ? name_of(globals, &found->die) : 0;
}

void globals_free(struct globals *globals)
{
        free(globals->functions.items);
        free(globals->items);
        *globals = (struct globals){0};
}
