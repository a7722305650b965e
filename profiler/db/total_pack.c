/* SPDX-License-Identifier: MIT */
/* A hash table of the totals of allocation sites, with linear probing. It is written and
 * emptied when it may be half full. */
#include "total_pack.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "number_text.h"

enum { PACK_SITES = 1 << 14, SLOTS = 2 * PACK_SITES };

struct total_pack {
        struct site_total total; /* function NULL: free */
        struct number_text stacks;
};

struct total_packs {
        struct batch *batch;
        size_t statement;
        size_t sites; /* that wait */
        struct total_pack slots[SLOTS];
};

struct total_packs *total_packs_new(struct batch *batch, size_t pack)
{
        struct total_packs *packs = calloc(1, sizeof(*packs));
        if (packs) {
                packs->batch = batch;
                packs->statement = pack;
        }
        return packs;
}

void total_packs_free(struct total_packs *packs)
{
        if (!packs)
                return;
        for (size_t i = 0; i < SLOTS; i++)
                number_text_free(&packs->slots[i].stacks);
        free(packs);
}

/* Functions are few, and have few names. */
static uint64_t hash_total(const struct site_total *total)
{
        uint64_t hash = (unsigned char)total->function[0];
        hash = (hash ^ total->allocations) * 0x9e3779b97f4a7c15u;
        hash = (hash ^ total->total_bytes ^ hash >> 32) * 0x9e3779b97f4a7c15u;
        hash = (hash ^ total->peak_bytes ^ hash >> 32) * 0x9e3779b97f4a7c15u;
        return hash ^ hash >> 32;
}

static bool same_total(const struct site_total *a, const struct site_total *b)
{
        return a->allocations == b->allocations && a->total_bytes == b->total_bytes &&
               a->peak_bytes == b->peak_bytes &&
               (a->function == b->function || strcmp(a->function, b->function) == 0);
}

static struct total_pack *pack_of(struct total_packs *packs,
                                  const struct site_total *total)
{
        size_t i = hash_total(total) % SLOTS;
        while (packs->slots[i].total.function &&
               !same_total(&packs->slots[i].total, total))
                i = (i + 1) % SLOTS;
        packs->slots[i].total = *total;
        return &packs->slots[i];
}

static int write_pack(struct total_packs *packs, struct total_pack *pack,
                      struct diag *diag)
{
        sqlite3_stmt *row;
        if (number_text_end(&pack->stacks))
                return diag_no_memory(diag);
        int code = batch_begin_row(packs->batch, packs->statement, &row, diag);
        if (code)
                return code;
        sqlite3_bind_text(row, 1, pack->total.function, -1, SQLITE_STATIC);
        sqlite3_bind_int64(row, 2, (int64_t)pack->total.allocations);
        sqlite3_bind_int64(row, 3, (int64_t)pack->total.total_bytes);
        sqlite3_bind_int64(row, 4, (int64_t)pack->total.peak_bytes);
        sqlite3_bind_text64(row, 5, pack->stacks.text, pack->stacks.length, SQLITE_STATIC,
                            SQLITE_UTF8);
        code = batch_end_row(packs->batch, NULL, diag);
        number_text_free(&pack->stacks);
        pack->total.function = NULL;
        return code;
}

int total_packs_write(struct total_packs *packs, struct diag *diag)
{
        int code = 0;
        for (size_t i = 0; !code && packs->sites && i < SLOTS; i++)
                if (packs->slots[i].total.function)
                        code = write_pack(packs, &packs->slots[i], diag);
        packs->sites = 0;
        return code;
}

int total_packs_add(struct total_packs *packs, int64_t stack_id,
                    const struct site_total *total, struct diag *diag)
{
        if (number_text_add(&pack_of(packs, total)->stacks, stack_id))
                return diag_no_memory(diag);
        return ++packs->sites == PACK_SITES ? total_packs_write(packs, diag) : 0;
}
