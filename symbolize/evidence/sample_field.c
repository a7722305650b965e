/* SPDX-License-Identifier: MIT */
/* A field is named where the access fits it, and more than bytes are there. */
#include "type_by.h"

struct sample_type type_left_open(enum untyped reason)
{
        return (struct sample_type){.reason = reason, .type = TYPE_NONE};
}

struct sample_type type_told(struct sample_type found, struct type_source source)
{
        if (found.reason == TYPED)
                found.source = source;
        return found;
}

/* Goes from arrays to their items. */
static void take_item(const struct types *types, uint32_t *type, uint64_t *offset)
{
        while (*type < types->count && types->items[*type].kind == TYPE_ARRAY) {
                *type = types->items[*type].element;
                if (type_size(types, *type) > 0)
                        *offset %= type_size(types, *type);
        }
}

struct sample_type sample_field_at(struct sample_types *finder, uint32_t type,
                                   uint64_t offset, const struct type_access *access)
{
        struct sample_type result = {.reason = TYPED};

        take_item(finder->types, &type, &offset);
        switch (type_field(finder->types, finder->names, type, offset, access,
                           &result.field)) {
        case FIELD_FOUND:
        case FIELD_WHOLE:
                break;
        case FIELD_PADDING:
                return type_left_open(UNTYPED_PADDING);
        case FIELD_BEYOND:
                return type_left_open(UNTYPED_OUTSIDE);
        case FIELD_OTHER:
                return type_left_open(UNTYPED_CONTRADICTED);
        default:
                return type_left_open(UNTYPED_INCOMPLETE);
        }
        if (!result.field.shared &&
            type_only_bytes(finder->types, result.field.type, access))
                return type_left_open(UNTYPED_BYTES);
        result.type = finder->types->items[type].canonical;
        result.offset_bytes = offset;
        result.access_bytes = access->bytes;
        return result;
}
