/* SPDX-License-Identifier: MIT */
/* Interning: two open-addressing hash tables with linear probing that double when
 * half full. They know nothing of the database. */
#include "intern.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

/* ---- byte strings ---- */

struct intern_slot {
        void *key; /* NULL: free */
        size_t length;
        uint64_t hash;
        int64_t id;
};

struct intern {
        struct intern_slot *slots;
        size_t slot_count; /* a power of two */
        size_t used;
};

/* FNV-1a: the keys are short, and there are few. */
static uint64_t hash_bytes(const void *key, size_t length)
{
        const unsigned char *bytes = key;
        uint64_t hash = 0xcbf29ce484222325u;
        for (size_t i = 0; i < length; i++)
                hash = (hash ^ bytes[i]) * 0x100000001b3u;
        return hash;
}

struct intern *intern_new(void)
{
        struct intern *table = calloc(1, sizeof(*table));
        if (!table)
                return NULL;
        table->slot_count = FIRST_SLOTS;
        table->slots = calloc(table->slot_count, sizeof(*table->slots));
        if (!table->slots) {
                free(table);
                return NULL;
        }
        return table;
}

void intern_free(struct intern *table)
{
        if (!table)
                return;
        for (size_t i = 0; i < table->slot_count; i++)
                free(table->slots[i].key);
        free(table->slots);
        free(table);
}

static struct intern_slot *intern_probe(struct intern_slot *slots, size_t slot_count,
                                        const void *key, size_t length, uint64_t hash)
{
        size_t i = hash & (slot_count - 1);
        while (slots[i].key && (slots[i].hash != hash || slots[i].length != length ||
                                memcmp(slots[i].key, key, length) != 0))
                i = (i + 1) & (slot_count - 1);
        return &slots[i];
}

static int intern_grow(struct intern *table)
{
        size_t slot_count = table->slot_count * 2;
        struct intern_slot *slots = calloc(slot_count, sizeof(*slots));
        if (!slots)
                return -1;
        for (size_t i = 0; i < table->slot_count; i++) {
                const struct intern_slot *old = &table->slots[i];
                if (old->key)
                        *intern_probe(slots, slot_count, old->key, old->length,
                                      old->hash) = *old;
        }
        free(table->slots);
        table->slots = slots;
        table->slot_count = slot_count;
        return 0;
}

int64_t *intern_place(struct intern *table, const void *key, size_t length)
{
        uint64_t hash = hash_bytes(key, length);
        struct intern_slot *slot =
            intern_probe(table->slots, table->slot_count, key, length, hash);
        if (slot->key)
                return &slot->id;
        if (2 * table->used >= table->slot_count) {
                if (intern_grow(table))
                        return NULL;
                slot = intern_probe(table->slots, table->slot_count, key, length, hash);
        }
        slot->key = malloc(length ? length : 1);
        if (!slot->key)
                return NULL;
        memcpy(slot->key, key, length);
        slot->length = length;
        slot->hash = hash;
        table->used++;
        return &slot->id;
}

/* ---- calling contexts ---- */

struct context_intern {
        struct context_node *nodes; /* id 0: free */
        size_t node_count;          /* a power of two */
        size_t used;
};

struct context_intern *context_intern_new(void)
{
        struct context_intern *table = calloc(1, sizeof(*table));
        if (!table)
                return NULL;
        table->node_count = FIRST_SLOTS;
        table->nodes = calloc(table->node_count, sizeof(*table->nodes));
        if (!table->nodes) {
                free(table);
                return NULL;
        }
        return table;
}

void context_intern_free(struct context_intern *table)
{
        if (!table)
                return;
        free(table->nodes);
        free(table);
}

static uint64_t hash_node(uint64_t context, uint64_t ip)
{
        uint64_t hash = (context * 0x9e3779b97f4a7c15u) ^ ip;
        hash *= 0xff51afd7ed558ccdu;
        return hash ^ (hash >> 32);
}

static struct context_node *context_probe(struct context_node *nodes, size_t node_count,
                                          uint64_t context, uint64_t ip)
{
        size_t i = hash_node(context, ip) & (node_count - 1);
        while (nodes[i].id && (nodes[i].context != context || nodes[i].ip != ip))
                i = (i + 1) & (node_count - 1);
        return &nodes[i];
}

static int context_grow(struct context_intern *table)
{
        size_t node_count = table->node_count * 2;
        struct context_node *nodes = calloc(node_count, sizeof(*nodes));
        if (!nodes)
                return -1;
        for (size_t i = 0; i < table->node_count; i++) {
                const struct context_node *old = &table->nodes[i];
                if (old->id)
                        *context_probe(nodes, node_count, old->context, old->ip) = *old;
        }
        free(table->nodes);
        table->nodes = nodes;
        table->node_count = node_count;
        return 0;
}

struct context_node *context_intern_place(struct context_intern *table, uint64_t context,
                                          uint64_t ip)
{
        struct context_node *node =
            context_probe(table->nodes, table->node_count, context, ip);
        if (node->id)
                return node;
        /* At most two thirds full, because such tables are large. */
        if (3 * table->used >= 2 * table->node_count) {
                if (context_grow(table))
                        return NULL;
                node = context_probe(table->nodes, table->node_count, context, ip);
        }
        node->context = context;
        node->ip = ip;
        table->used++;
        return node;
}

int64_t context_intern_find(const struct context_intern *table, uint64_t context,
                            uint64_t ip)
{
        return context_probe(table->nodes, table->node_count, context, ip)->id;
}
