/* SPDX-License-Identifier: MIT */
/* An open-addressing hash table of nodes with linear probing. A node is known by a hash
 * of 64 bits of all that leads to it. */
#include "contexts.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "large_table.h"
#include "row_group.h"
#include "stack_pack.h"

enum { FIRST_SLOTS = 1024, PREFETCHED = 4 };

struct slot {
        uint64_t path;   /* the hash of the node, its callers and its process */
        int64_t id : 63; /* 0: free */
        uint64_t is_row : 1;
};

/* A frame of a stack. */
struct level {
        uint64_t ip;
        uint64_t path; /* as in its slot, but for a leaf */
        int64_t id;    /* 0: not looked for */
};

struct contexts {
        struct batch *batch;
        struct slot *slots;
        size_t slot_count; /* a power of two */
        size_t used;
        struct slot **met; /* nodes of the current stack that must be written */
        size_t met_capacity;
        struct level *levels; /* levels of the latest stack, from the root on */
        size_t level_capacity;
        size_t caller_count; /* levels but for the leaf's */
        int64_t level_process;
        bool levels_are_rows;
        int64_t last_id;
        struct row_group rows;
        size_t pack_statement;
        struct stack_pack pack;
};

struct contexts *contexts_new(struct batch *batch, size_t one, size_t many, size_t pack)
{
        struct contexts *contexts = calloc(1, sizeof(*contexts));
        if (!contexts)
                return NULL;
        contexts->batch = batch;
        row_group_open(&contexts->rows, batch, one, many, 4);
        contexts->pack_statement = pack;
        contexts->slot_count = FIRST_SLOTS;
        contexts->slots =
            large_table_new(contexts->slot_count * sizeof(*contexts->slots));
        if (!contexts->slots) {
                free(contexts);
                return NULL;
        }
        return contexts;
}

void contexts_free(struct contexts *contexts)
{
        if (!contexts)
                return;
        stack_pack_free(&contexts->pack);
        large_table_free(contexts->slots,
                         contexts->slot_count * sizeof(*contexts->slots));
        free(contexts->met);
        free(contexts->levels);
        free(contexts);
}

/* ---- the table ---- */

static struct slot *probe(struct slot *slots, size_t slot_count, uint64_t path)
{
        size_t i = path & (slot_count - 1);
        while (slots[i].id && slots[i].path != path)
                i = (i + 1) & (slot_count - 1);
        return &slots[i];
}

static int grow(struct contexts *contexts)
{
        size_t slot_count = contexts->slot_count * 2;
        struct slot *slots = large_table_new(slot_count * sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < contexts->slot_count; i++)
                if (contexts->slots[i].id)
                        *probe(slots, slot_count, contexts->slots[i].path) =
                            contexts->slots[i];
        large_table_free(contexts->slots, contexts->slot_count * sizeof(*slots));
        contexts->slots = slots;
        contexts->slot_count = slot_count;
        return 0;
}

/* Reserves slots for MORE nodes; no node moves during their insertion. The table may be
 * large, and is therefore at most two thirds full. */
static int reserve(struct contexts *contexts, size_t more)
{
        while (3 * (contexts->used + more) >= 2 * contexts->slot_count)
                if (grow(contexts))
                        return -ENOMEM;
        return array_reserve(&contexts->met, &contexts->met_capacity, more,
                             sizeof(struct slot *)) ||
                       array_reserve(&contexts->levels, &contexts->level_capacity, more,
                                     sizeof(struct level))
                   ? -ENOMEM
                   : 0;
}

/* Extends PATH by a call from IP. */
static uint64_t path_through(uint64_t path, uint64_t ip)
{
        path = (path ^ ip) * 0xff51afd7ed558ccdu;
        return path ^ (path >> 32);
}

/* A leaf has separate nodes, because its ip is an instruction and not a return
 * address. */
static uint64_t leaf_path(uint64_t path)
{
        return path_through(~path, 0x9e3779b97f4a7c15u);
}

/* Fills the levels from IPS. Returns how many callers, from the root on, equal the
 * previous stack's callers; their levels are retained. */
static size_t enter_levels(struct contexts *contexts, int64_t process_id,
                           const uint64_t *ips, size_t depth, bool sampled)
{
        struct level *levels = contexts->levels;
        size_t same = 0, callers = depth - 1;
        if (contexts->level_process == process_id &&
            (contexts->levels_are_rows || !sampled))
                while (same < callers && same < contexts->caller_count &&
                       levels[same].ip == ips[callers - same])
                        same++;
        uint64_t path =
            same ? levels[same - 1].path : path_through(0, (uint64_t)process_id);
        for (size_t i = same; i < depth; i++) {
                path = path_through(path, ips[callers - i]);
                levels[i] = (struct level){.ip = ips[callers - i], .path = path};
        }
        levels[callers].path = leaf_path(path);
        contexts->level_process = process_id;
        contexts->levels_are_rows = sampled;
        contexts->caller_count = callers;
        return same;
}

/* Prefetches the first slots to look up: their cache misses then overlap. */
static void prefetch(const struct contexts *contexts, size_t from, size_t depth)
{
        for (size_t i = 0; i < PREFETCHED && from + i < depth; i++)
                __builtin_prefetch(&contexts->slots[contexts->levels[depth - 1 - i].path &
                                                    (contexts->slot_count - 1)]);
}

/* ---- writing ---- */

int contexts_write_pack(struct contexts *contexts, struct diag *diag)
{
        sqlite3_stmt *statement;
        if (contexts->pack.count == 0)
                return 0;
        if (stack_pack_end(&contexts->pack))
                return diag_no_memory(diag);
        int code =
            batch_begin_row(contexts->batch, contexts->pack_statement, &statement, diag);
        if (code)
                return code;
        stack_pack_bind(&contexts->pack, statement);
        code = batch_end_rows(contexts->batch, contexts->pack.count, diag);
        stack_pack_clear(&contexts->pack);
        return code;
}

int contexts_write_pack_of(struct contexts *contexts, int64_t id, struct diag *diag)
{
        return contexts->pack.count && id >= contexts->pack.first_id
                   ? contexts_write_pack(contexts, diag)
                   : 0;
}

static int add_row(struct contexts *contexts, const struct stack_node *node,
                   struct diag *diag)
{
        const struct group_value row[] = {{true, node->id},
                                          {node->parent_id != 0, node->parent_id},
                                          {true, node->process_id},
                                          {true, (int64_t)node->ip}};
        return row_group_add(&contexts->rows, row, diag);
}

static int pack_node(struct contexts *contexts, const struct stack_node *node,
                     struct diag *diag)
{
        int code = stack_pack_takes(&contexts->pack, node)
                       ? 0
                       : contexts_write_pack(contexts, diag);
        if (!code && stack_pack_add(&contexts->pack, node))
                code = diag_no_memory(diag);
        return code;
}

/* Deep stacks mostly differ from others in few of the innermost frames. The search for a
 * known caller therefore starts there, not at the root. If the first known caller needs
 * no write, none of its callers does. Callers shared with the previous stack need no
 * lookup. */
int contexts_find(struct contexts *contexts, int64_t process_id, const uint64_t *ips,
                  size_t depth, enum context_use use, int64_t *id, struct diag *diag)
{
        struct stack_node node = {.process_id = process_id};
        const bool sampled = use == CONTEXT_OF_SAMPLE;
        struct slot leaf = {.id = -1};
        size_t unknown = 0;
        int code = 0;
        if (reserve(contexts, depth))
                return diag_no_memory(diag);
        size_t same = enter_levels(contexts, process_id, ips, depth, sampled);
        prefetch(contexts, same, depth);
        if (use == CONTEXT_OF_NEW_ALLOCATION) /* no later lookup finds its leaf */
                contexts->met[unknown++] = &leaf;
        for (; unknown < depth; unknown++) {
                struct level *level = &contexts->levels[depth - 1 - unknown];
                if (level->id) {
                        node.id = level->id;
                        break;
                }
                struct slot *slot =
                    probe(contexts->slots, contexts->slot_count, level->path);
                if (slot->id && (slot->is_row || !sampled)) {
                        node.id = level->id = slot->id;
                        break;
                }
                if (!slot->id) {
                        *slot = (struct slot){.path = level->path, .id = -1};
                        contexts->used++;
                }
                contexts->met[unknown] = slot;
        }
        while (unknown-- > 0) {
                struct slot *slot = contexts->met[unknown];
                if (slot->id < 0)
                        slot->id = ++contexts->last_id;
                slot->is_row = sampled;
                contexts->levels[depth - 1 - unknown].id = slot->id;
                node = (struct stack_node){slot->id, node.id, process_id, ips[unknown],
                                           unknown == 0};
                if (!code)
                        code = sampled ? add_row(contexts, &node, diag)
                                       : pack_node(contexts, &node, diag);
        }
        *id = node.id;
        return code;
}
