/* SPDX-License-Identifier: MIT */
/* A type that looks like an earlier one is added too, and points to the first. */
#include "type_table.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"

uint64_t type_size(const struct types *types, uint32_t type)
{
        return type < types->count ? types->items[type].size_bytes : 0;
}

enum type_kind type_kind(const struct types *types, uint32_t type)
{
        return type < types->count ? types->items[type].kind : TYPE_OPAQUE;
}

bool type_is_single(const struct types *types, uint32_t type)
{
        enum type_kind kind = type_kind(types, type);

        return kind == TYPE_INTEGER || kind == TYPE_FLOAT || kind == TYPE_POINTER;
}

bool type_has_fields(const struct types *types, uint32_t type)
{
        enum type_kind kind = type_kind(types, type);

        return kind == TYPE_STRUCT || kind == TYPE_UNION;
}

bool type_same(const struct types *types, uint32_t a, uint32_t b)
{
        return a == b || (a < types->count && b < types->count &&
                          types->items[a].canonical == types->items[b].canonical);
}

struct candidate {
        const struct types *types;
        const struct member *members;
};

static bool same_type(const void *context, const void *key, uint32_t position)
{
        const struct candidate *candidate = context;
        const struct types *types = candidate->types;
        const struct type *a = key, *b = &types->items[position];

        if (a->kind != b->kind || a->name != b->name || a->size_bytes != b->size_bytes ||
            a->items != b->items || a->member_count != b->member_count ||
            (a->kind == TYPE_ARRAY && !type_same(types, a->element, b->element)))
                return false;
        for (uint32_t i = 0; i < a->member_count; i++) {
                const struct member *left = &candidate->members[i];
                const struct member *right = &types->members[b->first_member + i];

                if (left->name != right->name ||
                    left->offset_bytes != right->offset_bytes ||
                    left->bit_offset != right->bit_offset ||
                    left->bit_size != right->bit_size ||
                    !type_same(types, left->type, right->type))
                        return false;
        }
        return true;
}

/* Covers all properties of a type, because many types may have one name and size. */
static uint32_t type_hash(const struct types *types, const struct type *type,
                          const struct member *members)
{
        uint32_t hash = hash_number((uint32_t)type->kind, type->name);

        hash = hash_number(hash, type->size_bytes);
        hash = hash_number(hash, type->items);
        if (type->kind == TYPE_ARRAY && type->element < types->count)
                hash = hash_number(hash, types->items[type->element].canonical);
        for (uint32_t i = 0; i < type->member_count; i++) {
                hash = hash_number(hash, members[i].name);
                hash = hash_number(hash, members[i].offset_bytes);
                hash = hash_number(hash, members[i].bit_offset);
                if (members[i].type < types->count)
                        hash = hash_number(hash, types->items[members[i].type].canonical);
        }
        return hash;
}

int types_put(struct types *types, const struct type *type, const struct member *members,
              uint32_t *id)
{
        struct candidate candidate = {types, members};
        uint32_t hash = type_hash(types, type, members);
        uint32_t same = hash_index_find(&types->index, hash, same_type, &candidate, type);

        if (types->count >= TYPE_NONE ||
            array_reserve(&types->items, &types->capacity, types->count,
                          sizeof(*types->items)) < 0)
                return -ENOMEM;
        *id = (uint32_t)types->count;
        struct type *put = &types->items[*id];

        *put = *type;
        put->first_member = types->member_count;
        for (uint32_t i = 0; i < type->member_count; i++)
                if (APPEND(types->members, types->member_count, types->member_capacity,
                           members[i]) < 0)
                        return -ENOMEM;
        types->count++;
        put->canonical = same != HASH_INDEX_NONE ? same : *id;
        return same != HASH_INDEX_NONE ? 0 : hash_index_add(&types->index, hash, *id);
}

void types_free(struct types *types)
{
        HASH_FREE(types);
        free(types->members);
        *types = (struct types){0};
}

bool type_in_member(const struct types *types, const struct type *type, uint32_t index,
                    uint64_t offset_bytes)
{
        const struct member *member = &types->members[type->first_member + index];
        uint64_t bytes = type_size(types, member->type);

        if (offset_bytes < member->offset_bytes)
                return false;
        if (bytes == 0 && index + 1 == type->member_count)
                return type->kind == TYPE_STRUCT; /* a flexible array */
        return offset_bytes - member->offset_bytes < bytes;
}

bool type_open_array(const struct types *types, uint32_t type_id, uint64_t *offset_bytes,
                     uint32_t *item)
{
        *offset_bytes = 0;
        for (int depth = 0; depth < TYPE_DEPTH_LIMIT && type_id < types->count; depth++) {
                const struct type *type = &types->items[type_id];

                *item = type->element;
                if (type->kind == TYPE_ARRAY && type->size_bytes == 0)
                        return true;
                if (type->kind != TYPE_STRUCT || type->member_count == 0)
                        return false;
                const struct member *last =
                    &types->members[type->first_member + type->member_count - 1];

                *offset_bytes += last->offset_bytes;
                type_id = last->type;
        }
        return false;
}

bool type_open_ended(const struct types *types, uint32_t type)
{
        uint64_t offset_bytes;
        uint32_t item;

        return type_open_array(types, type, &offset_bytes, &item);
}
