/* SPDX-License-Identifier: MIT */
/* schema.sql describes the format of a pack. */
#include "stack_pack.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

void stack_pack_free(struct stack_pack *pack)
{
        number_text_free(&pack->return_ips.text);
        number_text_free(&pack->leaf_ips.text);
        number_text_free(&pack->nodes);
}

static uint8_t *probe(struct packed_ips *ips, uint64_t ip)
{
        size_t i = (ip * 0x9e3779b97f4a7c15u >> 56) % sizeof(ips->slots);
        while (ips->slots[i] && ips->ips[ips->slots[i] - 1] != ip)
                i = (i + 1) % sizeof(ips->slots);
        return &ips->slots[i];
}

bool stack_pack_takes(const struct stack_pack *pack, const struct stack_node *node)
{
        return pack->count == 0 ||
               (node->process_id == pack->process_id && pack->count < PACK_NODES &&
                node->id == pack->first_id + (int64_t)pack->count &&
                (node->is_leaf ? &pack->leaf_ips : &pack->return_ips)->count < PACK_IPS);
}

int stack_pack_add(struct stack_pack *pack, const struct stack_node *node)
{
        struct packed_ips *ips = node->is_leaf ? &pack->leaf_ips : &pack->return_ips;
        uint8_t *slot = probe(ips, node->ip);
        if (!*slot) {
                if (number_text_add_wide(&ips->text, (int64_t)node->ip))
                        return -ENOMEM;
                ips->ips[ips->count] = node->ip;
                *slot = (uint8_t)++ips->count;
        }
        if (pack->count == 0) {
                pack->first_id = node->id;
                pack->process_id = node->process_id;
        }
        pack->count++;
        return number_text_add(&pack->nodes,
                               node->parent_id << 8 | (*slot - 1) << 1 | node->is_leaf);
}

int stack_pack_end(struct stack_pack *pack)
{
        return number_text_end(&pack->nodes);
}

static void bind(sqlite3_stmt *row, int parameter, const struct number_text *text)
{
        sqlite3_bind_text64(row, parameter, text->text ?: "", text->length, SQLITE_STATIC,
                            SQLITE_UTF8);
}

void stack_pack_bind(const struct stack_pack *pack, sqlite3_stmt *row)
{
        sqlite3_bind_int64(row, 1, pack->first_id);
        sqlite3_bind_int64(row, 2, pack->process_id);
        bind(row, 3, &pack->return_ips.text);
        bind(row, 4, &pack->leaf_ips.text);
        bind(row, 5, &pack->nodes);
}

static void clear_ips(struct packed_ips *ips)
{
        number_text_clear(&ips->text);
        ips->count = 0;
        memset(ips->slots, 0, sizeof(ips->slots));
}

void stack_pack_clear(struct stack_pack *pack)
{
        clear_ips(&pack->return_ips);
        clear_ips(&pack->leaf_ips);
        number_text_clear(&pack->nodes);
        pack->count = 0;
}
