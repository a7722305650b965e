/* SPDX-License-Identifier: MIT */
/* Mangled names of functions that other files know are not kept: there is one of each. */
#include "symbol_names.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "name.h"

/* The functions of a name. */
struct symbol_name {
        const char *name; /* up to a point or the end */
        uint64_t vaddr;   /* of the first */
        const char *file; /* of the first local one that tells it; NULL: none */
        bool several;     /* there are */
        bool files;       /* are in several files */
        bool places;      /* are at several places of one file */
        bool global;      /* one is not local */
};

static bool same_name(const void *context, const void *key, uint32_t position)
{
        const struct symbol_names *names = context;
        const char *name = names->items[position].name;
        size_t length = name_length(key);

        return name_length(name) == length && memcmp(name, key, length) == 0;
}

static bool same_file(const void *context, const void *key, uint32_t position)
{
        const struct symbol_names *names = context;

        return strcmp(names->files[position], key) == 0;
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

static bool has_file(const struct symbol_names *names, const char *file)
{
        return hash_index_find(&names->file_index, hash_bytes(file, strlen(file)),
                               same_file, names, file) != HASH_INDEX_NONE;
}

static int add_file(struct symbol_names *names, const char *file)
{
        if (!file ||
            (names->file_count > 0 && names->files[names->file_count - 1] == file) ||
            has_file(names, file))
                return 0;
        if (array_reserve(&names->files, &names->file_capacity, names->file_count,
                          sizeof(*names->files)) < 0 ||
            hash_index_add(&names->file_index, hash_bytes(file, strlen(file)),
                           (uint32_t)names->file_count) < 0)
                return -ENOMEM;
        names->files[names->file_count++] = file;
        return 0;
}

/* Copies and parts of a function are at places of their own in its file. */
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

        if (!local && (name_mangled(name) || is_copy(name)))
                return 0;
        if (local && add_file(names, file) < 0)
                return -ENOMEM;
        struct symbol_name *known = (struct symbol_name *)find_name(names, name);

        if (known) {
                join(known, &added);
                return 0;
        }
        if (names->count >= HASH_INDEX_NONE ||
            array_reserve(&names->items, &names->capacity, names->count,
                          sizeof(*names->items)) < 0 ||
            hash_index_add(&names->index, hash_name(name), (uint32_t)names->count) < 0)
                return -ENOMEM;
        names->items[names->count++] = added;
        return 0;
}

void symbol_names_free(struct symbol_names *names)
{
        free(names->items);
        free(names->files);
        hash_index_free(&names->index);
        hash_index_free(&names->file_index);
        *names = (struct symbol_names){0};
}

bool symbol_names_elsewhere(const struct symbol_names *names, const char *name,
                            const char *file)
{
        const struct symbol_name *known = find_name(names, name);

        return known && has_file(names, file) &&
               (known->global || known->files ||
                (known->file && strcmp(known->file, file) != 0));
}

bool symbol_names_several(const struct symbol_names *names, const char *name,
                          bool *one_file)
{
        const struct symbol_name *known = find_name(names, name);

        *one_file = known && known->places;
        return known && known->several;
}
