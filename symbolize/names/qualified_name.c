/* SPDX-License-Identifier: MIT */
/* g++ records linkage names only for external functions. The position of a lambda
 * identifies it, also among the arguments of templates. */
#include "qualified_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "declared.h"
#include "die_walk.h"
#include "file_path.h"
#include "spelling.h"

enum { DEPTH_LIMIT = 16, LAMBDAS_MOST = 16 };

/* ---- lambdas and other classes without a name ---- */

static bool is_class(unsigned tag)
{
        return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
               tag == DW_TAG_union_type;
}

static int visit_member(void *context, struct die_entry *entry)
{
        static const char call[] = "operator()";
        struct dwarf_file *dwarf = context;

        const char *name = entry->tag == DW_TAG_subprogram
                               ? die_string(dwarf, &entry->die, DW_AT_name)
                               : NULL;

        return name && strncmp(name, call, strlen(call)) == 0 ? -EEXIST : 0;
}

/* A class without a name that can be called. */
static bool is_lambda(struct dwarf_file *dwarf, const Dwarf_Die *class, const char *name)
{
        return name ? strncmp(name, "<lambda", strlen("<lambda")) == 0
                    : die_walk(dwarf, class, visit_member, dwarf) == -EEXIST;
}

/* "{lambda at sort.cc:12:20}": WHAT and the declaration of CLASS. */
static uint32_t put_by_place(struct code_entries *entries, const Dwarf_Die *class,
                             const char *what)
{
        struct string_pool *names = entries->with->names;
        bool own;
        const char *file = string_pool_text(names, declared_file(entries, class, &own));
        uint32_t line = declared_position(entries, class, DW_AT_decl_line);
        uint32_t column = declared_position(entries, class, DW_AT_decl_column);

        if (!file || !line)
                return string_pool_format(names, "{%s}", what);
        if (!column)
                return string_pool_format(names, "{%s at %s:%" PRIu32 "}", what,
                                          path_base(file), line);
        return string_pool_format(names, "{%s at %s:%" PRIu32 ":%" PRIu32 "}", what,
                                  path_base(file), line, column);
}

/* ---- lambdas among a template's arguments ---- */

struct lambda_search {
        struct code_entries *entries;
        uint32_t *found;
        size_t count;
        size_t wanted; /* the number written in the name; others are defaults */
        int depth;
};

static int find_lambdas(struct lambda_search *search, const Dwarf_Die *die);

/* The class that is the argument at PARAMETER, or its target. */
static bool argument_class(struct dwarf_file *dwarf, Dwarf_Die *parameter,
                           Dwarf_Die *class)
{
        Dwarf_Die at = *parameter;

        for (int i = 0; i < DEPTH_LIMIT; i++) {
                if (!die_reference(dwarf, &at, DW_AT_type, class))
                        return false;
                if (is_class((unsigned)dwarf_tag(class)))
                        return true;
                at = *class;
        }
        return false;
}

static int visit_parameter(void *context, struct die_entry *entry)
{
        struct lambda_search *search = context;
        struct dwarf_file *dwarf = search->entries->with->dwarf;
        Dwarf_Die class;

        if (search->count >= search->wanted)
                return -ECANCELED;
        if (entry->tag == DW_TAG_GNU_template_parameter_pack)
                return 1;
        if (entry->tag != DW_TAG_template_type_parameter ||
            !argument_class(dwarf, &entry->die, &class))
                return 0;
        const char *name = die_string(dwarf, &class, DW_AT_name);

        if (is_lambda(dwarf, &class, name)) {
                search->found[search->count++] =
                    put_by_place(search->entries, &class, "lambda");
                return 0;
        }
        size_t inside = name ? spelling_lambdas(name) : 0;

        if (inside == 0 || search->depth >= DEPTH_LIMIT)
                return 0;
        struct lambda_search below = *search;

        below.depth++;
        if (inside < below.wanted - below.count)
                below.wanted = below.count + inside;
        int error = find_lambdas(&below, &class);

        search->count = below.count;
        return error;
}

static int find_lambdas(struct lambda_search *search, const Dwarf_Die *die)
{
        int error = die_walk(search->entries->with->dwarf, die, visit_parameter, search);

        return error == -ENOMEM ? error : 0;
}

/* Puts the demangler's form of DIE's NAME into the pool. */
static int put_spelled(struct code_entries *entries, const Dwarf_Die *die,
                       const char *name, uint32_t *id)
{
        struct string_pool *names = entries->with->names;
        const char *texts[LAMBDAS_MOST];
        uint32_t found[LAMBDAS_MOST];
        size_t wanted = spelling_lambdas(name);
        struct lambda_search search = {.entries = entries, .found = found};
        int error = 0;

        if (wanted > 0 && wanted <= LAMBDAS_MOST) {
                search.wanted = wanted;
                error = find_lambdas(&search, die);
        }
        bool all = search.count > 0 && search.count == wanted;

        for (size_t i = 0; i < search.count; i++) {
                texts[i] = string_pool_text(names, found[i]);
                all &= texts[i] && die_spend(entries->with->dwarf, strlen(texts[i]));
        }
        if (error)
                return error;
        char *text = spelling_demangled(name, all ? texts : NULL);

        *id = string_pool_put(names, text);
        free(text);
        return *id ? 0 : -ENOMEM;
}

/* Most names equal the demangler's form. */
static int put_own(struct code_entries *entries, const Dwarf_Die *die, const char *name,
                   uint32_t *id)
{
        if (strchr(name, '<') || strncmp(name, "operator ", strlen("operator ")) == 0)
                return put_spelled(entries, die, name, id);
        *id = string_pool_put(entries->with->names, name);
        return 0;
}

/* ---- scopes ---- */

static int put_scope(struct code_entries *entries, const Dwarf_Die *die, int depth,
                     uint32_t *id);

/* Puts OWN behind the qualified name of its enclosing scopes. */
static int put_inside(struct code_entries *entries, const Dwarf_Die *outer, int depth,
                      uint32_t own, uint32_t *id)
{
        struct string_pool *names = entries->with->names;
        uint32_t scope = 0;
        int error = outer->addr ? put_scope(entries, outer, depth + 1, &scope) : 0;
        const char *before = string_pool_text(names, scope);
        const char *behind = string_pool_text(names, own);

        *id = own;
        if (error || !before || !behind ||
            !die_spend(entries->with->dwarf, strlen(before) + strlen(behind)))
                return error;
        *id = string_pool_format(names, "%s::%s", before, behind);
        return 0;
}

/* Names a class or namespace. The name is cached, because many functions share one. */
static int put_space(struct code_entries *entries, const Dwarf_Die *die, int depth,
                     uint32_t *id)
{
        struct linked_names *known = entries->with->linked;
        const struct linked_name *found = linked_names_find(known, die->addr);
        Dwarf_Die at = *die, outer;
        uint32_t own = 0;

        if (found) {
                *id = found->id;
                return 0;
        }
        const char *name = die_string(entries->with->dwarf, &at, DW_AT_name);
        bool class = is_class((unsigned)dwarf_tag(&at));
        int error = 0;

        if (!class && !name)
                own = string_pool_put(entries->with->names, "(anonymous namespace)");
        else if (class && is_lambda(entries->with->dwarf, die, name))
                own = put_by_place(entries, die, "lambda");
        else if (!name)
                own = put_by_place(entries, die, "unnamed type");
        else
                error = put_own(entries, die, name, &own);
        if (!error)
                error = declared_inside(entries, die, &outer);
        if (!error)
                error = put_inside(entries, &outer, depth, own, id);
        if (!error)
                linked_names_add(known,
                                 &(struct linked_name){.from = die->addr, .id = *id});
        return error;
}

static int put_function(struct code_entries *entries, const Dwarf_Die *die, int depth,
                        uint32_t *id, bool *alone)
{
        struct dwarf_file *dwarf = entries->with->dwarf;
        Dwarf_Die at = *die, outer;
        const char *name = die_name(dwarf, &at);
        enum { CHAIN_LIMIT = 8 };
        uint32_t own = 0;

        *id = 0;
        *alone = true;
        if (!name)
                return 0;
        for (int i = 0; i < CHAIN_LIMIT && die_origin(dwarf, &at, &outer); i++)
                at = outer;
        int error = put_own(entries, &at, name, &own);

        if (!error)
                error = declared_inside(entries, &at, &outer);
        if (error)
                return error;
        int tag = outer.addr ? dwarf_tag(&outer) : 0;

        *alone = tag == 0;
        /* An external function without a linkage name has its C name in any scope. */
        if (tag == DW_TAG_subprogram ||
            (tag == DW_TAG_namespace && declared_external(entries, die)))
                outer.addr = NULL;
        return put_inside(entries, &outer, depth, own, id);
}

static int put_scope(struct code_entries *entries, const Dwarf_Die *die, int depth,
                     uint32_t *id)
{
        Dwarf_Die at = *die;
        bool alone;

        *id = 0;
        if (depth > DEPTH_LIMIT)
                return 0;
        if (dwarf_tag(&at) != DW_TAG_subprogram)
                return put_space(entries, die, depth, id);
        const char *link = die_linkage_name(entries->with->dwarf, &at);

        if (!link)
                return put_function(entries, die, depth, id, &alone);
        *id = linked_names_put(entries->with->linked, entries->with->names, link);
        return 0;
}

int qualified_name(struct code_entries *entries, const Dwarf_Die *die, uint32_t *name,
                   bool *alone)
{
        return put_function(entries, die, 0, name, alone);
}
