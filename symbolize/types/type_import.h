/* SPDX-License-Identifier: MIT */
/* Copies types of one table to another, with names of another pool. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_IMPORT_H
#define MEMLAG_SYMBOLIZE_TYPE_IMPORT_H

#include "type_table.h"

struct type_import {
        struct types *to;
        struct string_pool *to_names;
        const struct types *from;
        const struct string_pool *from_names;
        uint32_t *types; /* of FROM in TO, once they are there; TYPE_NONE: not yet */
        uint32_t *names; /* the same; 0: not yet */
        /* Types in work, each before its members' types. */
        uint32_t *waiting;
        size_t waiting_count;
        size_t waiting_capacity;
};

/* TO and FROM stay open. 0 or -ENOMEM; ended in any case. */
int type_import_begin(struct type_import *import, struct types *to,
                      struct string_pool *to_names, const struct types *from,
                      const struct string_pool *from_names);
void type_import_end(struct type_import *import);

/* The number in TO of number TYPE of FROM, with all that it holds; TYPE_NONE stays. 0 or
 * -ENOMEM. */
int type_import(struct type_import *import, uint32_t *type);
uint32_t type_import_name(struct type_import *import, uint32_t name);

#endif
