/* SPDX-License-Identifier: MIT */
#include "code_entry.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "declared.h"
#include "file_path.h"
#include "qualified_name.h"

/* Whether DIE is the code of an entry in another compilation unit, as gcc's link-time
 * optimisation leaves it. Units that dwz makes are partial units. */
static bool linked_elsewhere(const struct code_entries *entries, Dwarf_Die *die)
{
        Dwarf_Die origin, other;

        return die_reference(entries->with->dwarf, die, DW_AT_abstract_origin, &origin) &&
               origin.cu != die->cu && dwarf_diecu(&origin, &other, NULL, NULL) &&
               dwarf_tag(&other) == DW_TAG_compile_unit;
}

/* Other functions local to a function have no linkage name in their entry, but mostly a
 * name in the symbol table. */
static uint32_t local_name(const struct code_reader *with, uint64_t vaddr)
{
        const struct symbol *symbol = symbol_table_function(with->symbols, vaddr);

        return symbol && name_mangled(symbol->name)
                   ? name_put_part(with->names, symbol->name)
                   : 0;
}

/* ---- names ---- */

/* Records the properties that distinguish the function at DIE from others of its NAME.
 * EXTERNAL: it is external even if its entry does not say so. SYMBOL is its name in the
 * symbol table. */
static int number_entry(struct code_entries *entries, const Dwarf_Die *die, bool external,
                        const char *symbol, const char *link, struct code_name *name)
{
        const struct code_reader *with = entries->with;
        struct named_function function = {
            .name = name->name,
            .link = link,
            .overloaded = symbol_names_overloaded(&with->symbols->names, link)};

        if (!external && !declared_external(entries, die)) {
                Dwarf_Die by;
                int error = declared_by(entries, die, &by);

                if (error)
                        return error;
                function.file = declared_file(entries, &by, &function.own);
                function.line = declared_position(entries, &by, DW_AT_decl_line);
        }
        if (function.own)
                function.shared = symbol_names_elsewhere(
                    &with->symbols->names, symbol,
                    path_base(string_pool_text(with->names, function.file)));
        return named_functions_add(&with->frames->functions, &function, &name->number);
}

/* Names a function with the linkage name LINK. Entries of an EXTERNAL function all have
 * the same linkage name. */
static int name_linked(struct code_entries *entries, Dwarf_Die *die, const char *link,
                       bool external, struct code_name *name)
{
        struct linked_names *linked = entries->with->linked;
        const struct linked_name *found =
            external ? linked_names_find(linked, link) : NULL;

        if (found && found->function) {
                *name = (struct code_name){found->id, found->function};
                return 0;
        }
        if (found || !external) {
                name->name = linked_names_put(linked, entries->with->names, link);
                return number_entry(entries, die, external, link, link, name);
        }
        name->name = name_put_linkage(entries->with->names, link);
        int error = number_entry(entries, die, external, link, link, name);

        if (!error)
                linked_names_add(linked,
                                 &(struct linked_name){link, name->name, name->number});
        return error;
}

/* A function without a linkage name is a C function, or local to something. A C
 * function has a linkage name if the source gives one, as for transaction clones. It
 * also has one if gcc made it from a part of another function, as for OpenMP. */
static int name_unlinked(struct code_entries *entries, Dwarf_Die *die, bool inlined,
                         bool local, uint64_t vaddr, struct code_name *name)
{
        const char *text = die_name(entries->with->dwarf, die);
        bool call = text && strcmp(text, "operator()") == 0, alone = true;
        int error = 0;

        if (!text)
                return 0;
        if (name_mangled(text))
                return name_linked(entries, die, text, declared_external(entries, die),
                                   name);
        if (entries->cplusplus)
                error = qualified_name(entries, die, &name->name, &alone);
        if (error)
                return error;
        if (alone && !inlined &&
            (call || local || (!entries->cplusplus && linked_elsewhere(entries, die)))) {
                uint32_t known = local_name(entries->with, vaddr);

                if (known) {
                        name->name = known;
                        return 0;
                }
        }
        if (!name->name)
                name->name =
                    linked_names_put(entries->with->linked, entries->with->names, text);
        return number_entry(entries, die, false, text, NULL, name);
}

static int name_entry(struct code_entries *entries, Dwarf_Die *die, bool inlined,
                      bool local, uint64_t vaddr, struct code_name *name)
{
        const char *link = die_linkage_name(entries->with->dwarf, die);

        *name = (struct code_name){0};
        return link ? name_linked(entries, die, link, entries->links_external, name)
                    : name_unlinked(entries, die, inlined, local, vaddr, name);
}

/* An inlined call has the name of its abstract function. Many calls share one. */
static int name_inlined(struct code_entries *entries, Dwarf_Die *die,
                        struct code_name *name)
{
        struct linked_names *known = entries->with->linked;
        Dwarf_Die origin;

        if (!die_reference(entries->with->dwarf, die, DW_AT_abstract_origin, &origin))
                return name_entry(entries, die, true, false, 0, name);
        const struct linked_name *found = linked_names_find(known, origin.addr);

        if (found) {
                *name = (struct code_name){found->id, found->function};
                return 0;
        }
        int error = name_entry(entries, &origin, true, false, 0, name);

        if (!error)
                linked_names_add(
                    known, &(struct linked_name){origin.addr, name->name, name->number});
        return error;
}

int code_entry_name(struct code_entries *entries, Dwarf_Die *die, bool inlined,
                    bool local, uint64_t vaddr, struct code_name *name)
{
        return inlined ? name_inlined(entries, die, name)
                       : name_entry(entries, die, false, local, vaddr, name);
}

void code_entries_free(struct code_entries *entries)
{
        free(entries->scopes.items);
        HASH_FREE(&entries->scopes.known);
        line_table_free(&entries->lines);
        free(entries->files);
}

int code_symbol_name(const struct code_reader *reader, uint64_t vaddr,
                     struct code_name *name)
{
        const struct symbol *symbol = symbol_table_function(reader->symbols, vaddr);

        *name = (struct code_name){0};
        if (!symbol)
                return 0;
        if (symbol->stub) {
                name->name = name_put_stub(reader->names, symbol->name);
                return 0;
        }
        name->name = name_put_symbol(reader->names, symbol->name);
        struct named_function function = {
            .name = name->name, .link = name_mangled(symbol->name) ? symbol->name : NULL};

        function.overloaded =
            symbol_names_overloaded(&reader->symbols->names, function.link);
        if (symbol->local) {
                bool one_file;

                function.shared = symbol_names_several(&reader->symbols->names,
                                                       symbol->name, &one_file);
                function.file =
                    symbol->file && !one_file
                        ? string_pool_put(reader->names, symbol->file)
                        : string_pool_format(reader->names, "+0x%" PRIx64, symbol->vaddr);
        }
        return named_functions_add(&reader->frames->functions, &function, &name->number);
}
