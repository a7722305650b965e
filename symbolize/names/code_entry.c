/* SPDX-License-Identifier: MIT */
#include "code_entry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "path.h"

/* Whether DIE is the code of an entry in another compilation unit, as optimisation at
 * link time by gcc leaves it; the units that dwz makes are partial ones. */
static bool linked_elsewhere(const struct code_entries *entries, Dwarf_Die *die)
{
        Dwarf_Die origin, other;

        return die_reference(entries->with->dwarf, die, DW_AT_abstract_origin, &origin) &&
               origin.cu != die->cu && dwarf_diecu(&origin, &other, NULL, NULL) &&
               dwarf_tag(&other) == DW_TAG_compile_unit;
}

/* What else is local to a function has no name for linking in its entry either, but
 * mostly one in the symbol table. */
static uint32_t local_name(const struct code_reader *with, uint64_t vaddr)
{
        const struct symbol *symbol = symbol_table_function(with->symbols, vaddr);

        return symbol && name_mangled(symbol->name)
                   ? name_put_part(with->names, symbol->name)
                   : 0;
}

/* ---- the file of a declaration ---- */

/* What DIE, or what it is an instance of, says first of NAME; *HOLDER says it. */
static bool declared_number(struct code_entries *entries, const Dwarf_Die *die,
                            unsigned name, uint64_t *number, Dwarf_Die *holder)
{
        enum { CHAIN_LIMIT = 8 };

        *holder = *die;
        for (int i = 0; i < CHAIN_LIMIT; i++) {
                Dwarf_Die at = *holder;

                if (die_number(entries->with->dwarf, &at, name, number))
                        return true;
                if (!die_origin(entries->with->dwarf, &at, holder))
                        return false;
        }
        return false;
}

/* The file of that number in the table of another unit of the program, as optimisation at
 * link time refers to. */
static uint32_t put_file_of_other(struct code_entries *entries, Dwarf_Die *holder,
                                  uint64_t number)
{
        struct dwarf_file *dwarf = entries->with->dwarf;
        struct line_table lines;
        char *path = NULL;
        Dwarf_Die other;

        if (dwarf_cu_getdwarf(holder->cu) != dwarf->dwarf ||
            !dwarf_diecu(holder, &other, NULL, NULL) ||
            die_line_table(dwarf, &other, &lines) < 0)
                return 0;
        if (number < lines.file_count && lines.files[number].name) {
                const struct line_file *file = &lines.files[number];
                char *below = path_join(file->directory, file->name);

                if (below)
                        path =
                            path_join(die_string(dwarf, &other, DW_AT_comp_dir), below);
                free(below);
        }
        uint32_t id = string_pool_put(entries->with->names, path);

        free(path);
        line_table_free(&lines);
        return id;
}

/* *OWN: the file is the source file of the unit that declares it, and no header. */
static uint32_t put_declared_file(struct code_entries *entries, const Dwarf_Die *die,
                                  bool *own)
{
        const char *source = entries->source;
        Dwarf_Die holder, other;
        uint64_t number;
        uint32_t id;

        *own = false;
        if (!declared_number(entries, die, DW_AT_decl_file, &number, &holder))
                return 0;
        if (holder.cu == entries->die.cu || holder.cu == entries->entries.cu) {
                id = entries->put_file(entries->context, number);
        } else {
                id = put_file_of_other(entries, &holder, number);
                source = dwarf_diecu(&holder, &other, NULL, NULL)
                             ? die_string(entries->with->dwarf, &other, DW_AT_name)
                             : NULL;
        }
        const char *file = string_pool_text(entries->with->names, id);

        *own = file && source && strcmp(path_base(file), path_base(source)) == 0;
        return id;
}

static uint32_t declared_line(struct code_entries *entries, const Dwarf_Die *die,
                              unsigned name)
{
        Dwarf_Die holder;
        uint64_t number;

        return declared_number(entries, die, name, &number, &holder) &&
                       number <= INT32_MAX
                   ? (uint32_t)number
                   : 0;
}

/* ---- names by what functions are in ---- */

/* "{lambda at sort.cc:12:20}" for the class of a lambda, by where that is declared. */
static uint32_t put_lambda(struct code_entries *entries, const Dwarf_Die *class)
{
        struct string_pool *names = entries->with->names;
        bool own;
        const char *file =
            string_pool_text(names, put_declared_file(entries, class, &own));
        uint32_t line = declared_line(entries, class, DW_AT_decl_line);
        uint32_t column = declared_line(entries, class, DW_AT_decl_column);

        if (!file || !line)
                return string_pool_put(names, "{lambda}");
        if (!column)
                return string_pool_format(names, "{lambda at %s:%" PRIu32 "}",
                                          path_base(file), line);
        return string_pool_format(names, "{lambda at %s:%" PRIu32 ":%" PRIu32 "}",
                                  path_base(file), line, column);
}

static uint32_t put_scope(struct code_entries *entries, const struct code_scope *scope,
                          int depth);

/* The class at SCOPE with what it is in. */
static uint32_t put_class(struct code_entries *entries, const struct code_scope *scope,
                          int depth)
{
        struct string_pool *names = entries->with->names;
        Dwarf_Die die = scope->die;
        const char *name = die_string(entries->with->dwarf, &die, DW_AT_name);
        bool lambda = !name || strncmp(name, "<lambda", strlen("<lambda")) == 0;
        uint32_t own = lambda ? put_lambda(entries, &die) : string_pool_put(names, name);
        uint32_t outer =
            scope->parent > 0
                ? put_scope(entries, code_scope_outer(&entries->scopes, scope), depth + 1)
                : 0;

        return outer ? string_pool_format(names, "%s::%s", string_pool_text(names, outer),
                                          string_pool_text(names, own))
                     : own;
}

/* The name of FUNCTION, which SCOPE is or is an instance of, and which has none for
 * linking. */
static uint32_t put_function(struct code_entries *entries, const struct code_scope *scope,
                             int depth)
{
        struct string_pool *names = entries->with->names;
        Dwarf_Die die = scope->die;
        const char *name = die_name(entries->with->dwarf, &die);
        const struct code_scope *parent = code_scope_outer(&entries->scopes, scope);

        if (!name)
                return 0;
        if (!parent || dwarf_tag(&(Dwarf_Die){.addr = parent->die.addr,
                                              .cu = parent->die.cu}) == DW_TAG_subprogram)
                return string_pool_put(names, name);
        uint32_t outer = put_class(entries, parent, depth);

        return string_pool_format(names, "%s::%s", string_pool_text(names, outer), name);
}

static uint32_t put_scope(struct code_entries *entries, const struct code_scope *scope,
                          int depth)
{
        enum { DEPTH_LIMIT = 16 };
        struct dwarf_file *dwarf = entries->with->dwarf;
        Dwarf_Die die = scope->die;

        if (depth > DEPTH_LIMIT)
                return 0;
        if (dwarf_tag(&die) != DW_TAG_subprogram)
                return put_class(entries, scope, depth);
        const char *link = die_linkage_name(dwarf, &die);

        return link ? linked_names_put(entries->with->linked, entries->with->names, link)
                    : put_function(entries, scope, depth);
}

/* Of a method of a class inside a function, or of a lambda, inlined or not; 0: it is
 * none, or not in this unit. */
static int scoped_name(struct code_entries *entries, const Dwarf_Die *die, uint32_t *name)
{
        struct dwarf_file *dwarf = entries->with->dwarf;
        Dwarf_Die at = *die, origin;
        enum { CHAIN_LIMIT = 8 };

        *name = 0;
        for (int i = 0; i < CHAIN_LIMIT && die_origin(dwarf, &at, &origin); i++)
                at = origin;
        const struct code_scope *scope;
        int error =
            code_scopes_find(&entries->scopes, dwarf, &entries->entries, &at, &scope);

        if (error || !scope || scope->parent == 0)
                return error;
        Dwarf_Die parent = code_scope_outer(&entries->scopes, scope)->die;

        if (dwarf_tag(&parent) != DW_TAG_subprogram)
                *name = put_function(entries, scope, 0);
        return 0;
}

/* ---- names ---- */

static bool is_external(struct code_entries *entries, const Dwarf_Die *die)
{
        Dwarf_Attribute external;
        Dwarf_Die at = *die, origin;
        enum { CHAIN_LIMIT = 8 };

        for (int i = 0; i < CHAIN_LIMIT; i++) {
                if (die_attribute(entries->with->dwarf, &at, DW_AT_external, &external))
                        return true;
                if (!die_origin(entries->with->dwarf, &at, &origin))
                        return false;
                at = origin;
        }
        return false;
}

/* Writes down what tells the function at DIE from others of its NAME. SYMBOL is what the
 * symbols call it. */
static int number_entry(struct code_entries *entries, const Dwarf_Die *die,
                        const char *symbol, const char *link, struct code_name *name)
{
        const struct code_reader *with = entries->with;
        struct named_function function = {
            .name = name->name,
            .link = link,
            .overloaded = symbol_names_overloaded(&with->symbols->names, link)};

        if (!is_external(entries, die)) {
                function.file = put_declared_file(entries, die, &function.own);
                function.line = declared_line(entries, die, DW_AT_decl_line);
        }
        if (function.own)
                function.shared = symbol_names_elsewhere(
                    &with->symbols->names, symbol,
                    path_base(string_pool_text(with->names, function.file)));
        return named_functions_add(with->functions, &function, &name->number);
}

/* A function without a name for linking is one of C, or local to something. */
static int name_unlinked(struct code_entries *entries, Dwarf_Die *die, bool inlined,
                         bool local, uint64_t vaddr, struct code_name *name)
{
        const char *text = die_name(entries->with->dwarf, die);
        bool call = text && strcmp(text, "operator()") == 0;
        int error = 0;

        if (entries->cplusplus && (call || local || inlined))
                error = scoped_name(entries, die, &name->name);
        if (error || name->name)
                return error;
        if (!inlined && (call || local || linked_elsewhere(entries, die)))
                name->name = local_name(entries->with, vaddr);
        if (name->name || !text)
                return 0;
        name->name = linked_names_put(entries->with->linked, entries->with->names, text);
        return number_entry(entries, die, text, NULL, name);
}

static int name_entry(struct code_entries *entries, Dwarf_Die *die, bool inlined,
                      bool local, uint64_t vaddr, struct code_name *name)
{
        const char *link = die_linkage_name(entries->with->dwarf, die);

        *name = (struct code_name){0};
        if (!link)
                return name_unlinked(entries, die, inlined, local, vaddr, name);
        name->name = linked_names_put(entries->with->linked, entries->with->names, link);
        return number_entry(entries, die, link, link, name);
}

/* Inlined calls have the name of the function that they are instances of, many of the
 * same. */
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
        code_scopes_free(&entries->scopes);
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
        return named_functions_add(reader->functions, &function, &name->number);
}
