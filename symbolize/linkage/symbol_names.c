/* SPDX-License-Identifier: MIT */
/* Mangled names of external functions differ by their parameters. */
#include "symbol_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "name.h"

/* The functions of a name. */
struct symbol_name {
        const char *name; /* up to a point or the end */
        uint64_t vaddr;   /* of the first */
        const char *file; /* of the first local symbol with a file; NULL: none */
        bool several;     /* several functions have it */
        bool files;       /* in several files */
        bool places;      /* at several addresses of one file */
        bool global;      /* one is not local */
};

/* ---- overloads ---- */

/* LINK without the marks that overloads may differ in: a member function's qualifiers,
 * and the mark of a name local to one file. */
static const char *unqualified(const char *link)
{
        if (link[2] != 'N')
                return link + 2 + (link[2] == 'L');
        return link + 3 + strspn(link + 3, "rVKRO");
}

static int compare_links(const void *left, const void *right)
{
        const char *const *a = left, *const *b = right;

        return strcmp(unqualified(*a), unqualified(*b));
}

static bool comes_before(const void *item, const void *key)
{
        return compare_links(item, key) < 0;
}

/* The length of the plain names around the last one that the mangled NAME begins with.
 * Before the last one a static function has an L. */
static size_t plain_length(const char *name)
{
        const char *at = name, *last = name;

        while (*at >= '0' && *at <= '9') {
                char *after;
                size_t length = strtoul(at, &after, 10);

                if (length > strlen(after))
                        break;
                last = at;
                at = after + length;
        }
        return (size_t)(last - name);
}

/* A C++ function's name, with its template's arguments, and with its parameters too. */
struct readable {
        const char *link;
        size_t plain;
        char *name; /* NULL: not read yet */
        char *signature;
};

static bool make_readable(struct readable *function)
{
        if (!function->name)
                function->name = name_read(function->link, demangle);
        if (!function->signature)
                function->signature = name_read(function->link, demangle_signature);
        return function->name && function->signature;
}

/* BETWEEN: may stand between overloads of one name in the sorted list. */
enum relation { SAME, OVERLOAD, BETWEEN, OTHER };

static enum relation relation_by_name(const struct readable *function, const char *link)
{
        enum relation relation = BETWEEN;
        char *name = name_read(link, demangle);
        size_t length = strlen(function->name);

        if (name && strcmp(function->name, name) == 0) {
                char *signature = name_read(link, demangle_signature);

                if (signature)
                        relation =
                            strcmp(function->signature, signature) == 0 ? SAME : OVERLOAD;
                free(signature);
        } else if (name && (strncmp(function->name, name, length) != 0 ||
                            !strchr("<[", name[length]))) {
                relation = OTHER;
        }
        free(name);
        return relation;
}

/* A demangler is slow, and most neighbours already differ in the mangled name. */
static enum relation relation_to(struct readable *function, const char *link)
{
        if (strcmp(function->link, link) == 0)
                return SAME;
        if (strncmp(unqualified(function->link), unqualified(link), function->plain) != 0)
                return OTHER;
        return make_readable(function) ? relation_by_name(function, link) : OTHER;
}

/* Whether an overload of FUNCTION is among the links from number AT on, in steps of BY.
 * Links of one name lie together. Between them may be copies of constructors, templates,
 * names with tags and names that cannot be read. */
static bool is_beside(const struct symbol_names *names, struct readable *function,
                      size_t at, int by)
{
        enum { NEIGHBOURS_LIMIT = 64 };

        for (int i = 0; i < NEIGHBOURS_LIMIT && at < names->links.count; i++) {
                enum relation relation = relation_to(function, names->links.items[at]);

                if (relation == OVERLOAD || relation == OTHER)
                        return relation == OVERLOAD;
                at += (size_t)by;
        }
        return false;
}

/* Allocation functions share a label for all parameters. */
static bool of_memory(const char *name)
{
        static const char allocates[] = "operator new", frees[] = "operator delete";

        return strncmp(name, allocates, strlen(allocates)) == 0 ||
               strncmp(name, frees, strlen(frees)) == 0;
}

void symbol_names_order(struct symbol_names *names)
{
        SORT(names->links.items, names->links.count, compare_links);
}

bool symbol_names_overloaded(const struct symbol_names *names, const char *link)
{
        if (!link || strncmp(link, "_Z", 2) != 0)
                return false;
        struct readable function = {.link = link,
                                    .plain = plain_length(unqualified(link))};
        size_t at = array_count_before(names->links.items, names->links.count,
                                       sizeof(*names->links.items), comes_before, &link);
        bool found = (is_beside(names, &function, at, 1) ||
                      is_beside(names, &function, at - 1, -1)) &&
                     !of_memory(function.name);

        free(function.name);
        free(function.signature);
        return found;
}

/* ---- names ---- */

static bool same_name(const void *context, const void *key, uint32_t position)
{
        const struct symbol_names *names = context;
        const char *name = names->items[position].name;
        size_t length = name_length(key);

        return name_length(name) == length && memcmp(name, key, length) == 0;
}

static uint32_t hash_name(const char *name)
{
        return hash_bytes(name, name_length(name));
}

static const struct symbol_name *find_name(const struct symbol_names *names,
                                           const char *name)
{
        uint32_t position =
            hash_index_find(&names->index, hash_name(name), same_name, names, name);

        return position == HASH_INDEX_NONE ? NULL : &names->items[position];
}

/* Copies and parts of a function have separate addresses in its file. */
static bool is_copy(const char *name)
{
        return name[name_length(name)] == '.';
}

static void join(struct symbol_name *known, const struct symbol_name *other)
{
        bool same = !known->file || !other->file || strcmp(known->file, other->file) == 0;

        known->files |= !same;
        known->places |= same && !known->global && !other->global &&
                         known->vaddr != other->vaddr && !is_copy(known->name) &&
                         !is_copy(other->name);
        known->several |= known->files || known->places || known->global != other->global;
        known->global |= other->global;
        if (!known->file)
                known->file = other->file;
}

int symbol_names_add(struct symbol_names *names, const char *name, uint64_t vaddr,
                     const char *file, bool local)
{
        const struct symbol_name added = {
            .name = name, .vaddr = vaddr, .file = file, .global = !local};

        if (strncmp(name, "_Z", 2) == 0 && PUSH(&names->links, name) < 0)
                return -ENOMEM;
        if (!local && (name_mangled(name) || is_copy(name)))
                return 0;
        struct symbol_name *known = (struct symbol_name *)find_name(names, name);

        if (known) {
                join(known, &added);
                return 0;
        }
        return HASH_PUSH(names, hash_name(name), added);
}

void symbol_names_free(struct symbol_names *names)
{
        HASH_FREE(names);
        free(names->links.items);
        *names = (struct symbol_names){0};
}

bool symbol_names_elsewhere(const struct symbol_names *names, const char *name,
                            const char *file)
{
        const struct symbol_name *known = find_name(names, name);

        return known && (known->global || known->files ||
                         (known->file && strcmp(known->file, file) != 0));
}

bool symbol_names_several(const struct symbol_names *names, const char *name,
                          bool *one_file)
{
        const struct symbol_name *known = find_name(names, name);

        *one_file = known && known->places;
        return known && known->several;
}
