/* SPDX-License-Identifier: MIT */
/* Pure functions of an access and a number or bit-field; none looks inside a type. */
#include "type_access.h"

bool type_is_byte(const struct types *types, uint32_t type)
{
        return type_kind(types, type) == TYPE_INTEGER &&
               types->items[type].size_bytes == 1;
}

bool type_only_bytes(const struct types *types, uint32_t type,
                     const struct type_access *access)
{
        return type_is_byte(types, type) && access->bytes > 1 &&
               !(access->vector && access->item_bytes == 1);
}

enum { LONG_DOUBLE_BYTES = 10 }; /* used bytes of its 16 */

uint64_t type_number_bytes(const struct type *type)
{
        return type->size_bytes / (type->is_complex ? 2 : 1);
}

/* Whether BYTES, INSIDE bytes behind TYPE's start, are one floating-point number. */
static bool is_one(const struct type *type, uint64_t inside, uint32_t bytes)
{
        uint64_t one = type_number_bytes(type);

        return one > 0 && inside < type->size_bytes && inside % one == 0 &&
               (bytes == one || (bytes == LONG_DOUBLE_BYTES && one > LONG_DOUBLE_BYTES));
}

int access_fit(const struct type *type, uint64_t inside, const struct type_access *access)
{
        bool real = type->kind == TYPE_FLOAT;

        switch (access->number) {
        case NUMBER_INTEGER:
                return !real && inside + access->bytes <= type->size_bytes ? 3 : 1;
        case NUMBER_FLOATS:
                return real && type_number_bytes(type) <= access->bytes ? 3 : 1;
        case NUMBER_FLOAT:
                return real && is_one(type, inside, access->bytes) ? 3 : 1;
        default:
                return 1;
        }
}

bool access_contradicts(const struct type *type, uint64_t inside,
                        const struct type_access *access)
{
        bool real = type->kind == TYPE_FLOAT;

        switch (access->number) {
        case NUMBER_INTEGER:
                return real ||
                       (access->vector ? type->size_bytes < access->item_bytes
                                       : inside + access->bytes > type->size_bytes);
        case NUMBER_FLOATS:
                if (access->item_bytes > 0)
                        return !real || !is_one(type, inside, access->item_bytes);
                return access_fit(type, inside, access) == 1;
        case NUMBER_FLOAT:
                return access_fit(type, inside, access) == 1;
        default:
                return false;
        }
}

bool access_in_bits(const struct member *member, uint64_t offset_bytes,
                    const struct type_access *access)
{
        uint64_t bytes = access->bytes ? access->bytes : 1;
        uint64_t low = member->offset_bytes + member->bit_offset / 8;
        uint64_t high = member->offset_bytes +
                        ((uint64_t)member->bit_offset + member->bit_size + 7) / 8;

        return low < offset_bytes + bytes && high > offset_bytes;
}
