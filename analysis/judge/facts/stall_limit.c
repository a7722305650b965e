/* SPDX-License-Identifier: MIT */
/* See stall_limit.h. */
#include "stall_limit.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "statement.h"

/* So many equally long samples are no accident. */
enum { ALIKE = 5 };

/* If the K longest samples are cut to L and no others, L is a twentieth of K L plus the
 * sum of the others. */
double stall_limit(const double *longest, size_t count, double sum)
{
        double others = sum, limit = 0;
        if (count < STALL_LIMIT_PARTS)
                return count ? longest[0] : 0;
        for (size_t k = 0; k < STALL_LIMIT_PARTS - 1; k++) {
                limit = others / (double)(STALL_LIMIT_PARTS - k);
                if (longest[k] <= limit)
                        break;
                others -= longest[k];
        }
        return fmax(limit, longest[ALIKE - 1]);
}

static int take_stall(void *context, sqlite3_stmt *row)
{
        struct stalls *stalls = context;
        double cycles = sqlite3_column_double(row, 0);
        size_t place = stalls->count;
        stalls->sum += cycles;
        while (place > 0 && stalls->longest[place - 1] < cycles)
                place--;
        if (place == STALL_LIMIT_PARTS)
                return 0;
        if (stalls->count < STALL_LIMIT_PARTS)
                stalls->count++;
        memmove(stalls->longest + place + 1, stalls->longest + place,
                (stalls->count - 1 - place) * sizeof(*stalls->longest));
        stalls->longest[place] = cycles;
        return 0;
}

int stalls_read(struct db *db, struct stalls *stalls, struct diag *diag)
{
        static const char sql[] =
            "SELECT s.retire_latency_cycles FROM sample AS s" STATEMENT_MEMORY_SAMPLES
            "AND s.retire_latency_cycles > 0";
        *stalls = (struct stalls){.count = 0};
        return statement_each(db, sql, take_stall, stalls, diag);
}

double stalls_total(const struct stalls *stalls)
{
        double total = stalls->sum;
        for (size_t i = 0; i < stalls->cut; i++)
                total -= stalls->longest[i] - stalls->limit;
        return total;
}

int stalls_store_limit(struct db *db, struct stalls *stalls, struct diag *diag)
{
        sqlite3_stmt *insert;
        stalls->limit = floor(stall_limit(stalls->longest, stalls->count, stalls->sum));
        stalls->cut = 0;
        while (stalls->cut < stalls->count &&
               stalls->longest[stalls->cut] > stalls->limit)
                stalls->cut++; /* no more than STALL_LIMIT_PARTS can be longer */
        if (!stalls->cut)
                return 0;
        int code =
            statement_prepare(db,
                              "INSERT INTO threshold VALUES ('" STATEMENT_STALL_LIMIT
                              "', ?1, 'cycles', 'a twentieth of what all samples held "
                              "up')",
                              &insert, diag);
        if (code)
                return code;
        sqlite3_bind_double(insert, 1, stalls->limit);
        code = statement_run(db, insert, diag);
        sqlite3_finalize(insert);
        return code;
}
