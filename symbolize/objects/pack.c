/* SPDX-License-Identifier: MIT */
/* schema.sql describes the formats. An invalid number stands for an unknown address, or
 * for no parent. */
#include "pack.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "append.h"
#include "number_text.h"
#include "stack_pack.h"

/* A list of numbers and the reading position. */
struct list {
        const char *at, *end;
};

static struct list list_of(sqlite3_stmt *row, int column)
{
        const char *text = (const char *)sqlite3_column_text(row, column);

        return (struct list){text,
                             text ? text + sqlite3_column_bytes(row, column) : text};
}

static bool next(struct list *list, int64_t *number)
{
        return number_text_next(&list->at, list->end, number);
}

static void read_ips(sqlite3_stmt *row, int column, int64_t ips[PACK_IPS])
{
        struct list list = list_of(row, column);
        size_t count = 0;

        memset(ips, 0, PACK_IPS * sizeof(*ips));
        while (count < PACK_IPS && next(&list, &ips[count]))
                count++;
}

int pack_put_stack(struct raw *raw, size_t *capacity, size_t *id_capacity, int64_t id,
                   const struct raw_stack *stack)
{
        if (raw->stack_count >= RAW_NONE ||
            array_reserve(&raw->stack_ids, id_capacity, raw->stack_count,
                          sizeof(*raw->stack_ids)) < 0 ||
            array_reserve(&raw->stacks, capacity, raw->stack_count,
                          sizeof(*raw->stacks)) < 0)
                return -ENOMEM;
        raw->stack_ids[raw->stack_count] = id;
        raw->stacks[raw->stack_count++] = *stack;
        return 0;
}

int pack_read_stacks(struct raw *raw, size_t *capacity, size_t *id_capacity,
                     sqlite3_stmt *row, int column, int64_t first_id, uint32_t process)
{
        int64_t ips[2][PACK_IPS], node;
        int error = 0;

        read_ips(row, column, ips[0]);
        read_ips(row, column + 1, ips[1]);
        struct list nodes = list_of(row, column + 2);

        for (int64_t id = first_id; !error && next(&nodes, &node) && id < INT64_MAX;
             id++) {
                const struct raw_stack stack = {
                    .ip = (uint64_t)ips[node & 1][node >> 1 & (PACK_IPS - 1)],
                    .parent = raw_index(node >> 8, raw->stack_ids, raw->stack_count),
                    .process = process,
                    .packed = true};

                if (raw->stack_count == 0 || id > raw->stack_ids[raw->stack_count - 1])
                        error = pack_put_stack(raw, capacity, id_capacity, id, &stack);
        }
        return error;
}

static int put_codes(struct raw *raw, size_t *capacity, struct list list,
                     uint64_t to_address, uint32_t process)
{
        int64_t ip;

        while (next(&list, &ip)) {
                const struct raw_code code = {(uint64_t)ip - to_address, process};

                if (raw->code_count >= RAW_NONE ||
                    APPEND(raw->codes, raw->code_count, *capacity, code) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* A return address may belong to the next line or even function. */
int pack_read_codes(struct raw *raw, size_t *capacity, sqlite3_stmt *row, int column,
                    uint32_t process)
{
        if (process == RAW_NONE)
                return 0;
        int error = put_codes(raw, capacity, list_of(row, column), 1, process);

        return error ? error
                     : put_codes(raw, capacity, list_of(row, column + 1), 0, process);
}

static int compare_codes(const void *left, const void *right)
{
        const struct raw_code *a = left, *b = right;

        if (a->process != b->process)
                return a->process < b->process ? -1 : 1;
        return a->address < b->address ? -1 : a->address > b->address;
}

void pack_order_codes(struct raw *raw)
{
        size_t kept = 0;

        SORT(raw->codes, raw->code_count, compare_codes);
        for (size_t i = 0; i < raw->code_count; i++)
                if (kept == 0 ||
                    compare_codes(&raw->codes[kept - 1], &raw->codes[i]) != 0)
                        raw->codes[kept++] = raw->codes[i];
        raw->code_count = kept;
}

int pack_read_totals(struct raw *raw, size_t *capacity, sqlite3_stmt *row, int column,
                     const struct raw_total *each)
{
        struct list stacks = list_of(row, column);
        int64_t stack;

        while (next(&stacks, &stack)) {
                struct raw_total total = *each;

                total.stack = raw_index(stack, raw->stack_ids, raw->stack_count);
                if (APPEND(raw->totals, raw->total_count, *capacity, total) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int compare_totals(const void *left, const void *right)
{
        const struct raw_total *a = left, *b = right;

        if (a->stack != b->stack)
                return a->stack < b->stack ? -1 : 1;
        return a->region - b->region;
}

void pack_order_totals(struct raw *raw)
{
        bool ordered = true;

        for (size_t i = 1; i < raw->total_count && ordered; i++)
                ordered = compare_totals(&raw->totals[i - 1], &raw->totals[i]) <= 0;
        if (!ordered)
                SORT(raw->totals, raw->total_count, compare_totals);
}
