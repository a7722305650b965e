/* SPDX-License-Identifier: MIT */
/* A stack_pack row under construction: nodes of the calling-context tree. */
#ifndef MEMLAG_STACK_PACK_H
#define MEMLAG_STACK_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number_text.h"

struct sqlite3_stmt;

enum { PACK_NODES = 4096, PACK_IPS = 128 };

struct stack_node {
        int64_t id;
        int64_t parent_id; /* 0: none */
        int64_t process_id;
        uint64_t ip;
        bool is_leaf;
};

/* The distinct addresses of a pack, and a hash table of their numbers. */
struct packed_ips {
        struct number_text text;
        uint64_t ips[PACK_IPS];
        uint32_t count;
        uint8_t slots[2 * PACK_IPS]; /* number + 1; 0: free */
};

/* A zeroed struct is an empty pack. */
struct stack_pack {
        int64_t first_id;
        int64_t process_id;
        size_t count;
        struct packed_ips return_ips, leaf_ips;
        struct number_text nodes;
};

void stack_pack_free(struct stack_pack *pack);

/* Returns true if NODE can be appended to PACK: it has the same process and the next
 * number, and there is room. */
bool stack_pack_takes(const struct stack_pack *pack, const struct stack_node *node);
/* Adds it. 0 or -ENOMEM. */
int stack_pack_add(struct stack_pack *pack, const struct stack_node *node);

/* Ends its texts, which are then bound to the parameters of ROW. */
int stack_pack_end(struct stack_pack *pack);
void stack_pack_bind(const struct stack_pack *pack, struct sqlite3_stmt *row);
void stack_pack_clear(struct stack_pack *pack);

#endif
