/* SPDX-License-Identifier: MIT */
/* Other layouts of a struct, computed as a C compiler lays it out on x86-64. Pure; knows
 * members, not recordings. */
#ifndef MEMLAG_LAYOUT_FIX_H
#define MEMLAG_LAYOUT_FIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "simpmu/protocol.h"

/* Bytes of a struct that a layout keeps together: a member, or members that overlap. */
struct layout_member {
        char *names; /* separated by '|' */
        uint32_t offset_bytes;
        uint32_t size_bytes;
        uint32_t align_bytes;
};

/* Whether one of a member's NAMES is the LENGTH bytes at NAME. */
bool layout_is_called(const char *names, const char *name, size_t length);

enum layout_form {
        LAYOUT_SOA,     /* each member is an array of its own */
        LAYOUT_SPLIT,   /* the named members are an array of their own */
        LAYOUT_REORDER, /* the named members come first, in this order */
        LAYOUT_PAD,     /* so many bytes more at the end */
        LAYOUT_ALIGN    /* each element begins at a multiple of so many bytes */
};

struct layout_request {
        enum layout_form form;
        const char *fields; /* separated by ',' */
        uint32_t bytes;
};

struct layout_result {
        struct simpmu_part *parts;
        size_t part_count;
        struct simpmu_piece *pieces;
        size_t piece_count;
};

/* The layout of a struct of SIZE bytes, with COUNT members in the order of their offsets,
 * as REQUEST asks. -EINVAL: there is no such member. Freed by layout_result_free in any
 * case. */
int layout_make(const struct layout_member *members, size_t count, uint32_t size,
                const struct layout_request *request, struct layout_result *result,
                struct diag *diag);
void layout_result_free(struct layout_result *result);

#endif
