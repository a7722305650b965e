/* SPDX-License-Identifier: MIT */
/* The search gives up most paths, so only the final ones get names. */
#include "type_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- names in the source ---- */

/* The end is the last member, or the one before a "->": behind a loaded pointer, other
 * members follow. */

/* Whether NAME is the whole name that ends at END in MEMBERS; *BEGIN: its link. */
static bool ends_with(const char *members, size_t end, const char *name, size_t *begin)
{
        size_t bytes = strlen(name);

        if (bytes >= end || memcmp(members + end - bytes, name, bytes) != 0)
                return false;
        *begin = end - bytes - 1;
        return members[*begin] == '.' || members[*begin] == '>';
}

/* The number of PATH's members, from its end, that MEMBERS contains before END; *BEGIN
 * becomes the position of the first. */
static size_t named_before(const struct string_pool *names, const struct type_path *path,
                           const char *members, size_t end, size_t *begin)
{
        size_t count = 0;

        for (size_t i = path->length; i > 0; i--) {
                const char *name = string_pool_text(names, path->names[i - 1]);

                if (!name)
                        continue; /* an array's element */
                if (!ends_with(members, end, name, &end))
                        break;
                count++;
                if (members[end] == '>')
                        break;
        }
        *begin = end;
        return count;
}

/* Whether the member at BEGIN of MEMBERS is a member of a variable or a loaded pointer's
 * target, not of another member. */
static bool is_first(const char *members, size_t begin)
{
        if (members[begin] == '>')
                return true;
        while (begin > 0 && !strchr(".> :", members[begin - 1]))
                begin--;
        return begin == 0 || members[begin - 1] == ':' || members[begin - 1] == ' ';
}

/* The number of PATH's nested members, from its end, that MEMBERS names in the format of
 * source_expression(). FIRST: no other members may precede them. */
static size_t most_named(const struct string_pool *names, const struct type_path *path,
                         const char *members, bool first)
{
        size_t length = strlen(members), most = 0;

        for (size_t end = 1; end <= length; end++) {
                size_t begin;

                if (end < length && members[end] != '>' && members[end] != ' ')
                        continue;
                size_t named = named_before(names, path, members, end, &begin);

                if (named > most && (!first || is_first(members, begin)))
                        most = named;
        }
        return most;
}

/* Whether an expression there begins with PATH's last name: a variable, or a member,
 * because C++ needs no `this->`. */
static bool may_be_first(const struct string_pool *names, const struct type_path *path,
                         const char *members)
{
        const char *last = NULL;

        for (size_t i = path->length; i > 0 && !last; i--)
                last = string_pool_text(names, path->names[i - 1]);
        for (const char *at = strchr(members, ':'); at && last; at = strchr(at + 1, ':'))
                if (strcspn(at + 1, ".> ") == strlen(last) &&
                    strncmp(at + 1, last, strlen(last)) == 0)
                        return true;
        return false;
}

void type_choice_add(struct type_choice *choice, const struct string_pool *names,
                     const struct type_access *access, const struct type_path *way)
{
        const char *members = names ? string_pool_text(names, access->members) : NULL;
        size_t named =
            members && !way->shared ? most_named(names, way, members, false) : 0;

        choice->first |= members && !way->shared && may_be_first(names, way, members);
        choice->bits |= way->bits;
        choice->equal += way->shared || way->size_bytes == access->bytes;
        if (named < choice->named || named == 0)
                return;
        choice->several = named == choice->named;
        choice->named = named;
        choice->way = *way;
}

bool type_choice_made(const struct type_choice *choice, const struct type_access *access)
{
        return choice->named > 0 && !choice->several && !choice->first && !choice->bits &&
               access->bytes <= choice->way.size_bytes &&
               (!access->members_of_one ||
                (choice->way.size_bytes == access->bytes && choice->equal == 1));
}

bool type_named_whole(const struct string_pool *names, const struct type_path *path,
                      const char *members)
{
        size_t count = 0;

        for (size_t i = 0; i < path->length; i++)
                count += path->names[i] != 0;
        return count > 0 && most_named(names, path, members, true) == count;
}

/* ---- overlapping fields that fit an access ---- */

enum { NAMED = 8 }; /* nobody would read more */

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

/* Moves the items of BYTES to the front; the rest keeps its order. */
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

/* The length of NAME before its last step. */
static size_t before_last(const char *name)
{
        const char *dot = strrchr(name, '.');

        return dot ? (size_t)(dot + 1 - name) : 0;
}

/* The common length of COUNT TEXTS, if only their last steps differ; else 0. */
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

/* The name of the type ID; 0 if it cannot be read, such as a bit-field's. */
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
