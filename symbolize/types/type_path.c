/* SPDX-License-Identifier: MIT */
/* Most tried paths are given up: only the final ones get names. */
#include "type_path.h"

#include <stdio.h>
#include <stdlib.h>

#include "type_table.h"

static bool is_base(const struct type_path *path, size_t index)
{
        return path->bases >> index & 1;
}

bool type_path_step(struct type_path *path, uint32_t name)
{
        if (path->length == TYPE_DEPTH_LIMIT)
                return false;
        path->names[path->length++] = name;
        return true;
}

bool type_path_enter(struct type_path *path, const struct member *member)
{
        if (member->base && path->length > 0 && is_base(path, path->length - 1))
                path->length--;
        if (!type_path_step(path, member->name))
                return false;
        path->bases &= ~(UINT32_C(1) << (path->length - 1));
        path->bases |= (uint32_t)member->base << (path->length - 1);
        return true;
}

char *type_path_text(const struct string_pool *names, const struct type_path *path)
{
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);

        if (!out)
                return NULL;
        const char *dot = "";

        for (size_t i = 0; i < path->length; i++) {
                const char *name = string_pool_text(names, path->names[i]);

                if (name)
                        fprintf(out, "%s%s", dot, name);
                else
                        fputs("[]", out);
                dot = is_base(path, i) ? "::" : ".";
        }
        fclose(out);
        return text;
}

void type_path_field(struct string_pool *names, const struct type_path *path,
                     struct field *field)
{
        char *text = type_path_text(names, path);

        *field = (struct field){.name = text && *text ? string_pool_put(names, text) : 0,
                                .type = path->type,
                                .offset_bytes = path->offset_bytes,
                                .size_bytes = path->size_bytes};
        free(text);
}

/* ---- all fields, in the order of declaration ---- */

struct listing {
        const struct types *types;
        struct string_pool *names;
        type_add_field *add;
        void *context;
        unsigned fields_left;
        unsigned work_left;
        unsigned nesting;
};

static int list(struct listing *listing, uint32_t type_id, const struct type_path *way);

static int list_members(struct listing *listing, const struct type *type,
                        const struct type_path *way)
{
        int result = 0;

        for (uint32_t i = 0; i < type->member_count && !result; i++) {
                const struct member *member =
                    &listing->types->members[type->first_member + i];
                struct type_path path = *way;

                if (member->name && !type_path_enter(&path, member))
                        continue;
                path.offset_bytes += member->offset_bytes + member->bit_offset / 8;
                if (member->bit_size)
                        path.size_bytes =
                            (member->bit_offset % 8 + member->bit_size + 7) / 8;
                result = list(listing, member->type, &path);
        }
        return result;
}

static int list_type(struct listing *listing, uint32_t type_id,
                     const struct type_path *way)
{
        const struct types *types = listing->types;
        struct type_path path = *way;
        struct field field;

        if (type_id >= types->count || listing->fields_left == 0 ||
            listing->work_left == 0)
                return 0;
        listing->work_left--;
        const struct type *type = &types->items[type_id];

        if (type->kind == TYPE_STRUCT || type->kind == TYPE_UNION)
                return path.length < TYPE_DEPTH_LIMIT ? list_members(listing, type, &path)
                                                      : 0;
        if (type->kind == TYPE_ARRAY && type_size(types, type->element) > 0)
                return type_path_step(&path, 0) ? list(listing, type->element, &path) : 0;
        listing->fields_left--;
        path.type = type_id;
        if (path.size_bytes == 0) /* else the bytes of a bit-field */
                path.size_bytes = type->size_bytes;
        type_path_field(listing->names, &path, &field);
        return field.name ? listing->add(listing->context, &field) : 0;
}

static int list(struct listing *listing, uint32_t type_id, const struct type_path *way)
{
        if (listing->nesting == TYPE_NESTING_LIMIT)
                return 0;
        listing->nesting++;
        int result = list_type(listing, type_id, way);

        listing->nesting--;
        return result;
}

int type_fields(const struct types *types, struct string_pool *names, uint32_t type,
                type_add_field *add, void *context)
{
        struct listing listing = {types,           names, add, context, TYPE_FIELDS_LIMIT,
                                  TYPE_WORK_LIMIT, 0};
        struct type_path path = {0};

        return list(&listing, type, &path);
}
