/* SPDX-License-Identifier: MIT */
#include "type_shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED = 8 }; /* more would be read by nobody */

static uint32_t kept(const struct type_shared *shared)
{
        return shared->count < TYPE_SHARED_LIMIT ? shared->count : TYPE_SHARED_LIMIT;
}

static bool only_bits(const struct type_shared *shared)
{
        for (uint32_t i = 0; i < kept(shared); i++)
                if (!shared->items[i].bits)
                        return false;
        return true;
}

/* Moves those with BYTES to the front; the rest keeps its order. */
static void sort(struct type_shared *shared, uint32_t bytes)
{
        uint32_t front = 0;

        for (uint32_t i = 0; i < kept(shared); i++) {
                struct type_path item = shared->items[i];

                if (item.size_bytes != bytes)
                        continue;
                memmove(&shared->items[front + 1], &shared->items[front],
                        (i - front) * sizeof(item));
                shared->items[front++] = item;
        }
}

/* How much of NAME is before its last step. */
static size_t before_last(const char *name)
{
        const char *dot = strrchr(name, '.');

        return dot ? (size_t)(dot + 1 - name) : 0;
}

/* How much of their names the COUNT of TEXTS have in common before their last steps; 0
 * where more differs. */
static size_t common(char *const *texts, uint32_t count)
{
        size_t bytes = before_last(texts[0]);

        for (uint32_t i = 1; i < count; i++)
                if (before_last(texts[i]) != bytes ||
                    memcmp(texts[i], texts[0], bytes) != 0)
                        return 0;
        return bytes;
}

static void print(FILE *out, char *const *texts, uint32_t count, uint32_t more)
{
        size_t skip = common(texts, count);

        for (uint32_t i = 0; i < count; i++) {
                bool alone =
                    skip == 0 && before_last(texts[0]) > 0 && before_last(texts[i]) == 0;

                fprintf(out, "%s%s%s", i > 0 ? "|" : "", alone ? "." : "",
                        texts[i] + (i > 0 ? skip : 0));
        }
        if (more > 0)
                fprintf(out, "|%u more", more);
}

static uint32_t make_name(struct string_pool *names, const struct type_shared *shared,
                          bool bits)
{
        char *texts[TYPE_SHARED_LIMIT], *text = NULL;
        uint32_t count = 0, name = 0;
        size_t bytes;
        bool failed = false;

        for (uint32_t i = 0; i < kept(shared) && (bits || count < NAMED); i++) {
                texts[count] = type_path_text(names, &shared->items[i]);
                failed |= !texts[count++];
        }
        FILE *out = count > 0 && !failed ? open_memstream(&text, &bytes) : NULL;

        if (out) {
                print(out, texts, count, shared->count - count);
                fclose(out);
                name = text && *text ? string_pool_put(names, text) : 0;
                free(text);
        }
        for (uint32_t i = 0; i < count; i++)
                free(texts[i]);
        return name;
}

/* The name of the type ID; 0: it could not be read, as a bit-field's. */
static uint32_t name_of(const struct types *types, uint32_t id)
{
        return id < types->count ? types->items[id].name : 0;
}

void type_shared_field(const struct types *types, struct string_pool *names,
                       struct type_shared *shared, uint32_t access_bytes,
                       struct field *field)
{
        bool bits = only_bits(shared);
        uint64_t end = 0;

        if (!bits)
                sort(shared, access_bytes);
        *field = (struct field){.name = make_name(names, shared, bits),
                                .type = shared->items[0].type,
                                .offset_bytes = bits ? UINT64_MAX : 0,
                                .shared = true};
        for (uint32_t i = 0; i < kept(shared); i++) {
                const struct type_path *item = &shared->items[i];

                if (name_of(types, item->type) != name_of(types, shared->items[0].type))
                        field->type = TYPE_NONE;
                if (bits ? item->offset_bytes < field->offset_bytes
                         : !item->bits && item->offset_bytes > field->offset_bytes)
                        field->offset_bytes = item->offset_bytes;
                if (item->offset_bytes + item->size_bytes > end)
                        end = item->offset_bytes + item->size_bytes;
        }
        field->size_bytes = end - field->offset_bytes;
}
