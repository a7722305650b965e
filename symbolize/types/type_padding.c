/* SPDX-License-Identifier: MIT */
/* Collects and sorts the bytes of fields; the rest is padding. A type with a member of
 * unknown place or size has none. */
#include "type_padding.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"

struct span {
        uint64_t start;
        uint64_t end;
};

struct cover {
        const struct types *types;
        struct span *spans;
        size_t count;
        size_t capacity;
        unsigned work_left;
        unsigned nesting;
        bool unknown; /* the bytes of some member */
};

static int put_span(struct cover *cover, uint64_t start, uint64_t bytes)
{
        return APPEND(cover->spans, cover->count, cover->capacity,
                      (struct span){start, start + bytes});
}

static int cover_type(struct cover *cover, uint32_t type_id, uint64_t start);

static int cover_members(struct cover *cover, const struct type *type, uint64_t start)
{
        int error = 0;

        for (uint32_t i = 0; i < type->member_count && !error && !cover->unknown; i++) {
                const struct member *member =
                    &cover->types->members[type->first_member + i];
                uint64_t at = start + member->offset_bytes + member->bit_offset / 8;

                if (member->bit_size)
                        error =
                            put_span(cover, at,
                                     (member->bit_offset % 8 + member->bit_size + 7) / 8);
                else
                        error = cover_type(cover, member->type, at);
        }
        return error;
}

/* Adds the bytes of TYPE_ID from START on. An array without a length covers everything
 * behind START, because its items may continue in the padding. */
static int cover_type(struct cover *cover, uint32_t type_id, uint64_t start)
{
        const struct type *type =
            type_id < cover->types->count ? &cover->types->items[type_id] : NULL;

        if (!type || type->partial || cover->work_left == 0 ||
            cover->nesting == TYPE_NESTING_LIMIT) {
                cover->unknown = true;
                return 0;
        }
        cover->work_left--;
        if ((type->kind == TYPE_STRUCT || type->kind == TYPE_UNION) &&
            type->member_count > 0) {
                cover->nesting++;
                int error = cover_members(cover, type, start);

                cover->nesting--;
                return error;
        }
        if (type->kind == TYPE_ARRAY && type->size_bytes == 0)
                return put_span(cover, start, UINT64_MAX - start);
        /* A structure without members takes a byte in C++, and none in C. */
        if (type->size_bytes == 0 && type->kind != TYPE_STRUCT)
                cover->unknown = true;
        return put_span(cover, start, type->size_bytes);
}

/* Finds the gaps between the sorted spans of COVER, up to SIZE_BYTES. */
static int find_between(const struct cover *cover, uint64_t size_bytes,
                        struct padding **found, size_t *count)
{
        size_t capacity = 0;
        uint64_t end = 0;

        for (size_t i = 0; i <= cover->count; i++) {
                uint64_t next = size_bytes;

                if (i < cover->count && cover->spans[i].start < size_bytes)
                        next = cover->spans[i].start;
                if (next > end) {
                        if (array_reserve(found, &capacity, *count, sizeof(**found)) < 0)
                                return -ENOMEM;
                        (*found)[(*count)++] = (struct padding){end, next - end};
                }
                if (i < cover->count && cover->spans[i].end > end)
                        end = cover->spans[i].end;
        }
        return 0;
}

int type_padding(const struct types *types, uint32_t type, struct padding **found,
                 size_t *count)
{
        struct cover cover = {.types = types, .work_left = TYPE_WORK_LIMIT};
        int error = cover_type(&cover, type, 0);

        *found = NULL;
        *count = 0;
        if (!error && !cover.unknown) {
                SORT(cover.spans, cover.count, number_order);
                error = find_between(&cover, types->items[type].size_bytes, found, count);
        }
        free(cover.spans);
        return error;
}
