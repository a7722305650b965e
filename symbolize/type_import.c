/* SPDX-License-Identifier: MIT */
/* What a type holds was put before it and has a smaller number: no way leads back. */
#include "type_import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int type_import_begin(struct type_import *import, struct types *to,
                      struct string_pool *to_names, const struct types *from,
                      const struct string_pool *from_names)
{
        size_t bytes = from->count * sizeof(*import->types);

        *import = (struct type_import){
            .to = to,
            .to_names = to_names,
            .from = from,
            .from_names = from_names,
            .types = malloc(bytes + 1),
            .names = calloc(string_pool_count(from_names) + 1, sizeof(*import->names))};
        if (!import->types || !import->names)
                return -ENOMEM;
        memset(import->types, 0xff, bytes); /* TYPE_NONE */
        return 0;
}

void type_import_end(struct type_import *import)
{
        free(import->types);
        free(import->names);
        *import = (struct type_import){0};
}

uint32_t type_import_name(struct type_import *import, uint32_t name)
{
        return string_pool_take(import->to_names, import->from_names, import->names,
                                name);
}

/* Those of the type at FROM. */
static int import_members(struct type_import *import, const struct type *from,
                          struct member *members)
{
        int error = 0;

        for (uint32_t i = 0; i < from->member_count && !error; i++) {
                members[i] = import->from->members[from->first_member + i];
                members[i].name = type_import_name(import, members[i].name);
                error = type_import(import, &members[i].type);
        }
        return error;
}

static int put(struct type_import *import, const struct type *from, uint32_t *id)
{
        struct type type = *from;
        struct member *members = calloc(from->member_count + 1, sizeof(*members));
        int error = members ? import_members(import, from, members) : -ENOMEM;

        type.name = type_import_name(import, type.name);
        if (!error && type.kind == TYPE_ARRAY)
                error = type_import(import, &type.element);
        if (!error)
                error = types_put(import->to, &type, members, id);
        free(members);
        return error;
}

int type_import(struct type_import *import, uint32_t *type)
{
        uint32_t from = *type;
        int error = 0;

        if (from == TYPE_NONE)
                return 0;
        if (import->types[from] == TYPE_NONE)
                error = put(import, &import->from->items[from], &import->types[from]);
        *type = import->types[from];
        return error;
}
