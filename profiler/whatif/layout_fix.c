/* SPDX-License-Identifier: MIT */
/* See layout_fix.h. System V ABI, AMD64 supplement, 3.1.2: a member is at the next
 * multiple of its alignment, and a struct's size is a multiple of its largest one. */
#include "layout_fix.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* One layout in the making. */
struct making {
        const struct layout_member *members;
        size_t count;
        struct layout_result *result;
        struct simpmu_piece *places; /* of each member */
        size_t *order;               /* member numbers, as they are to be placed */
        bool *named;
};

static uint32_t round_up(uint64_t value, uint32_t to)
{
        return (uint32_t)((value + to - 1) / to * to);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
        return a > b ? a : b;
}

bool layout_is_called(const char *names, const char *name, size_t length)
{
        for (const char *at = names; at; at = strchr(at, '|')) {
                at += *at == '|';
                if (strcspn(at, "|") == length && memcmp(at, name, length) == 0)
                        return true;
        }
        return false;
}

/* Puts the named members first, the others behind them. */
static int name_members(struct making *making, const char *fields, struct diag *diag)
{
        size_t placed = 0;
        for (const char *at = fields; at && *at; at += *at == ',') {
                const size_t length = strcspn(at, ",");
                size_t i = 0;
                while (i < making->count &&
                       !layout_is_called(making->members[i].names, at, length))
                        i++;
                if (i == making->count)
                        return diag_set(diag, -EINVAL, "it has no member '%.*s'",
                                        (int)length, at);
                if (!making->named[i])
                        making->order[placed++] = i;
                making->named[i] = true;
                at += length;
        }
        for (size_t i = 0; i < making->count; i++)
                if (!making->named[i])
                        making->order[placed++] = i;
        return 0;
}

/* Adds a part that consists of members number FROM to before END of the order. */
static void add_part(struct making *making, size_t from, size_t end)
{
        struct layout_result *result = making->result;
        uint32_t at = 0, align = 1;

        for (size_t i = from; i < end; i++) {
                const struct layout_member *member = &making->members[making->order[i]];
                at = round_up(at, member->align_bytes);
                making->places[making->order[i]] =
                    (struct simpmu_piece){member->offset_bytes, member->size_bytes,
                                          (uint32_t)result->part_count, at};
                at += member->size_bytes;
                align = larger(align, member->align_bytes);
        }
        if (at > 0)
                result->parts[result->part_count++] =
                    (struct simpmu_part){round_up(at, align), align};
}

/* Only the size or the alignment of elements changes. */
static void add_whole(struct making *making, uint32_t size, uint32_t new_size,
                      uint32_t align)
{
        struct layout_result *result = making->result;

        result->parts[result->part_count++] = (struct simpmu_part){new_size, align};
        result->pieces[result->piece_count++] = (struct simpmu_piece){0, size, 0, 0};
}

static uint32_t alignment_of(const struct making *making)
{
        uint32_t align = 1;
        for (size_t i = 0; i < making->count; i++)
                align = larger(align, making->members[i].align_bytes);
        return align;
}

static void add_piece(struct layout_result *result, struct simpmu_piece piece)
{
        struct simpmu_piece *last =
            result->piece_count ? &result->pieces[result->piece_count - 1] : NULL;
        if (last && last->part == piece.part && last->to + last->bytes == piece.to)
                last->bytes += piece.bytes;
        else
                result->pieces[result->piece_count++] = piece;
}

/* The bytes from AT to END belong to no member: only copies of whole structs access them.
 * They count as bytes of PLACE's array. */
static void add_hole(struct layout_result *result, const struct simpmu_piece *place,
                     uint32_t at, uint32_t end)
{
        const uint32_t room = result->parts[place->part].element_bytes;
        while (at < end) {
                const uint32_t bytes = end - at < room ? end - at : room;
                result->pieces[result->piece_count++] =
                    (struct simpmu_piece){at, bytes, place->part, 0};
                at += bytes;
        }
}

/* Adds the places of all members, in the order of their offsets. */
static void add_pieces(struct making *making, uint32_t size)
{
        uint32_t at = 0;
        for (size_t i = 0; i < making->count; i++) {
                const struct simpmu_piece *place = &making->places[i];
                add_hole(making->result, i ? &making->places[i - 1] : place, at,
                         place->from);
                add_piece(making->result, *place);
                at = place->from + place->bytes;
        }
        add_hole(making->result, &making->places[making->count - 1], at, size);
}

static int place(struct making *making, uint32_t size,
                 const struct layout_request *request, struct diag *diag)
{
        const uint32_t align = alignment_of(making);
        size_t named = 0;
        int rc = name_members(making, request->fields, diag);
        if (rc < 0)
                return rc;
        for (size_t i = 0; i < making->count; i++)
                named += making->named[i];
        switch (request->form) {
        case LAYOUT_SOA:
                for (size_t i = 0; i < making->count; i++)
                        add_part(making, i, i + 1);
                break;
        case LAYOUT_SPLIT:
                if (named == making->count)
                        return diag_set(diag, -EINVAL, "these are all of its members");
                add_part(making, 0, named);
                add_part(making, named, making->count);
                break;
        case LAYOUT_REORDER:
                add_part(making, 0, making->count);
                break;
        case LAYOUT_PAD:
                add_whole(making, size, round_up((uint64_t)size + request->bytes, align),
                          align);
                return 0;
        case LAYOUT_ALIGN:
                add_whole(making, size, round_up(size, larger(request->bytes, align)),
                          larger(request->bytes, align));
                return 0;
        }
        add_pieces(making, size);
        return 0;
}

int layout_make(const struct layout_member *members, size_t count, uint32_t size,
                const struct layout_request *request, struct layout_result *result,
                struct diag *diag)
{
        /* Holes need no more pieces than bytes. */
        *result = (struct layout_result){
            .parts = calloc(count + 1, sizeof(*result->parts)),
            .pieces = calloc((size_t)size + count + 1, sizeof(*result->pieces)),
        };
        struct making making = {
            .members = members,
            .count = count,
            .result = result,
            .places = calloc(count + 1, sizeof(*making.places)),
            .order = calloc(count + 1, sizeof(*making.order)),
            .named = calloc(count + 1, sizeof(*making.named)),
        };
        int rc = 0;
        if (!result->parts || !result->pieces || !making.places || !making.order ||
            !making.named)
                rc = diag_no_memory(diag);
        else if (count == 0)
                rc = diag_set(diag, -EINVAL, "it has no members");
        else
                rc = place(&making, size, request, diag);
        free(making.places);
        free(making.order);
        free(making.named);
        return rc;
}

void layout_result_free(struct layout_result *result)
{
        free(result->parts);
        free(result->pieces);
        *result = (struct layout_result){0};
}
