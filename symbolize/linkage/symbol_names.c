/* SPDX-License-Identifier: MIT */
/* Of functions that other files know, mangled names are kept without their parameters:
 * there is one of each with them. */
#include "symbol_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mangled_name.h"
#include "name.h"

/* The functions of a name. */
struct symbol_name {
        const char *name; /* up to a point or the end */
        uint64_t vaddr;   /* of the first */
        const char *file; /* of the first local symbol with a file; NULL: none */
        bool several;     /* there are */
        bool files;       /* are in several files */
        bool places;      /* are at several places of one file */
        bool global;      /* one is not local */
};

/* The functions of one scoped name. */
struct overloads {
        struct mangled first;
        bool several; /* there are */
};

/* ---- overloads ---- */

static bool take_apart(const char *link, struct mangled *parts)
{
        return mangled_take_apart(link, name_length(link), parts);
}

static bool same_text(const char *a, size_t a_length, const char *b, size_t b_length)
{
        return a_length == b_length && memcmp(a, b, a_length) == 0;
}

static bool same_signature(const struct mangled *a, const struct mangled *b)
{
        return same_text(a->qualifiers, a->qualifiers_length, b->qualifiers,
                         b->qualifiers_length) &&
               same_text(a->parameters, a->parameters_length, b->parameters,
                         b->parameters_length);
}

static bool same_scoped(const void *context, const void *key, uint32_t position)
{
        const struct symbol_names *names = context;
        const struct mangled *a = &names->overloads[position].first, *b = key;

        return same_text(a->scoped, a->scoped_length, b->scoped, b->scoped_length) &&
               same_text(a->around, a->around_length, b->around, b->around_length);
}

static uint32_t find_overloads(const struct symbol_names *names,
                               const struct mangled *parts)
{
        return hash_index_find(&names->overload_index,
                               hash_bytes(parts->scoped, parts->scoped_length),
                               same_scoped, names, parts);
}

static int add_overload(struct symbol_names *names, const char *link)
{
        struct mangled parts;

        if (!take_apart(link, &parts))
                return 0;
        uint32_t position = find_overloads(names, &parts);

        if (position != HASH_INDEX_NONE) {
                struct overloads *known = &names->overloads[position];

                known->several |= !same_signature(&known->first, &parts);
                return 0;
        }
        return HASH_APPEND(&names->overload_index,
                           hash_bytes(parts.scoped, parts.scoped_length),
                           names->overloads, names->overload_count,
                           names->overload_capacity, (struct overloads){.first = parts});
}

bool symbol_names_overloaded(const struct symbol_names *names, const char *link)
{
        struct mangled parts;

        if (!link || !take_apart(link, &parts))
                return false;
        uint32_t position = find_overloads(names, &parts);

        return position != HASH_INDEX_NONE &&
               (names->overloads[position].several ||
                !same_signature(&names->overloads[position].first, &parts));
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

        if (add_overload(names, name) < 0)
                return -ENOMEM;
        if (!local && (name_mangled(name) || is_copy(name)))
                return 0;
        struct symbol_name *known = (struct symbol_name *)find_name(names, name);

        if (known) {
                join(known, &added);
                return 0;
        }
        return HASH_APPEND(&names->index, hash_name(name), names->items, names->count,
                           names->capacity, added);
}

void symbol_names_free(struct symbol_names *names)
{
        free(names->items);
        hash_index_free(&names->index);
        free(names->overloads);
        hash_index_free(&names->overload_index);
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
