/* SPDX-License-Identifier: MIT */
/* A type has a greater number than its members: there are no cycles. A hostile file may
 * nest types deeply, so nothing here is recursive. */
#include "type_import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"

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
        free(import->waiting);
        *import = (struct type_import){0};
}

uint32_t type_import_name(struct type_import *import, uint32_t name)
{
        return string_pool_take(import->to_names, import->from_names, import->names,
                                name);
}

static uint32_t imported(const struct type_import *import, uint32_t type)
{
        return type == TYPE_NONE ? TYPE_NONE : import->types[type];
}

static int wait_for(struct type_import *import, uint32_t type)
{
        if (type == TYPE_NONE || import->types[type] != TYPE_NONE)
                return 0;
        return APPEND(import->waiting, import->waiting_count, import->waiting_capacity,
                      type);
}

/* What TYPE holds and is not there yet comes first, members in their order. */
static int wait_for_parts(struct type_import *import, const struct type *type)
{
        int error = 0;

        for (uint32_t i = type->member_count; i-- > 0 && !error;)
                error =
                    wait_for(import, import->from->members[type->first_member + i].type);
        if (!error && type->kind == TYPE_ARRAY)
                error = wait_for(import, type->element);
        return error;
}

/* Puts FROM, whose parts are there. */
static int put(struct type_import *import, const struct type *from, uint32_t *id)
{
        struct type type = *from;
        struct member *members = calloc(from->member_count + 1, sizeof(*members));

        if (!members)
                return -ENOMEM;
        for (uint32_t i = 0; i < from->member_count; i++) {
                members[i] = import->from->members[from->first_member + i];
                members[i].name = type_import_name(import, members[i].name);
                members[i].type = imported(import, members[i].type);
        }
        type.name = type_import_name(import, type.name);
        if (type.kind == TYPE_ARRAY)
                type.element = imported(import, type.element);
        int error = types_put(import->to, &type, members, id);

        free(members);
        return error;
}

int type_import(struct type_import *import, uint32_t *type)
{
        int error = wait_for(import, *type);

        while (import->waiting_count > 0 && !error) {
                size_t count = import->waiting_count;
                uint32_t at = import->waiting[count - 1];

                error = wait_for_parts(import, &import->from->items[at]);
                if (error || import->waiting_count > count)
                        continue;
                import->waiting_count--;
                if (import->types[at] == TYPE_NONE)
                        error = put(import, &import->from->items[at], &import->types[at]);
        }
        *type = imported(import, *type);
        return error;
}
