/* SPDX-License-Identifier: MIT */
/* Many ways are tried and given up: their names are made of those that are meant. */
#include "type_path.h"

#include <stdio.h>
#include <stdlib.h>

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

static uint32_t path_name(struct string_pool *names, const struct type_path *path)
{
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);

        if (!out)
                return string_pool_put(names, NULL);
        const char *dot = "";

        for (size_t i = 0; i < path->length; i++) {
                const char *name = string_pool_text(names, path->names[i]);

                if (name)
                        fprintf(out, "%s%s", dot, name);
                else
                        fputs("[]", out);
                dot = is_base(path, i) ? "::" : ".";
        }
        for (uint32_t i = 0; i < path->shared_count; i++) {
                const char *name = string_pool_text(names, path->shared[i].name);

                if (i < 64 && !(path->shared_mask >> i & 1))
                        continue;
                if (i >= 64)
                        break;
                fprintf(out, "%s%s", dot, name ? name : "(anonymous)");
                dot = "|";
        }
        fclose(out);
        uint32_t id = text && *text ? string_pool_put(names, text) : 0;

        free(text);
        return id;
}

void type_path_field(struct string_pool *names, const struct type_path *path,
                     struct field *field)
{
        *field = (struct field){.name = path_name(names, path),
                                .type = path->type,
                                .offset_bytes = path->offset_bytes,
                                .size_bytes = path->size_bytes,
                                .shared = path->shared_count != 0};
}
