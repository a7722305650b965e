/* SPDX-License-Identifier: MIT */
/* Most tried paths are given up: only the final ones get names. */
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
