/* SPDX-License-Identifier: MIT */
/* Threads and addresses are read sorted; a binary search finds them. */
#include "placing.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "array.h"
#include "statement.h"

static int take_ip(void *context, sqlite3_stmt *row)
{
        struct placing *placing = context;
        const struct placing_ip ip = {sqlite3_column_int64(row, 0),
                                      sqlite3_column_int64(row, 1),
                                      sqlite3_column_int64(row, 2)};
        if (!ip.location_id)
                return 0;
        if (array_reserve(&placing->ips, &placing->ip_capacity, placing->ip_count,
                          sizeof(*placing->ips)))
                return -ENOMEM;
        placing->ips[placing->ip_count++] = ip;
        return 0;
}

static int take_thread(void *context, sqlite3_stmt *row)
{
        struct placing *placing = context;
        if (array_reserve(&placing->threads, &placing->thread_capacity,
                          placing->thread_count, sizeof(*placing->threads)))
                return -ENOMEM;
        placing->threads[placing->thread_count++] = (struct placing_thread){
            sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
        return 0;
}

int placing_read(struct db *db, struct placing *placing, struct diag *diag)
{
        *placing = (struct placing){0};
        int code = statement_each(db,
                                  "SELECT process_id, ip, location_id FROM ip_location"
                                  " ORDER BY process_id, ip",
                                  take_ip, placing, diag);
        return code ? code
                    : statement_each(db,
                                     "SELECT thread_id, process_id FROM thread"
                                     " ORDER BY thread_id",
                                     take_thread, placing, diag);
}

void placing_free(struct placing *placing)
{
        free(placing->threads);
        free(placing->ips);
        *placing = (struct placing){0};
}

static int compare_thread(const void *id, const void *thread)
{
        int64_t a = *(const int64_t *)id;
        int64_t b = ((const struct placing_thread *)thread)->thread_id;
        return (a > b) - (a < b);
}

static int compare_ip(const void *left, const void *right)
{
        const struct placing_ip *a = left, *b = right;
        if (a->process_id != b->process_id)
                return a->process_id < b->process_id ? -1 : 1;
        return (a->ip > b->ip) - (a->ip < b->ip);
}

int64_t placing_of_row(const struct placing *placing, struct sqlite3_stmt *row,
                       int column)
{
        int64_t location_id = sqlite3_column_int64(row, column);
        if (location_id || !placing->ip_count || !placing->thread_count)
                return location_id;
        int64_t thread_id = sqlite3_column_int64(row, column + 1);
        const struct placing_thread *thread =
            bsearch(&thread_id, placing->threads, placing->thread_count,
                    sizeof(*placing->threads), compare_thread);
        if (!thread)
                return 0;
        const struct placing_ip wanted = {.process_id = thread->process_id,
                                          .ip = sqlite3_column_int64(row, column + 2)};
        const struct placing_ip *ip = bsearch(&wanted, placing->ips, placing->ip_count,
                                              sizeof(*placing->ips), compare_ip);
        return ip ? ip->location_id : 0;
}
