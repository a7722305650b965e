/* SPDX-License-Identifier: MIT */
/* See stall_limit.h. */
#include "stall_limit.h"

#include <math.h>
#include <sqlite3.h>

#include "statement.h"

/* So many that are as long are no accident. */
enum { ALIKE = 5 };

/* If the K longest are cut to L and no other is, L is a twentieth of K L and the others'
 * sum. */
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

#define STALLS                                                                           \
        "stall AS (SELECT s.retire_latency_cycles AS cycles FROM sample AS "             \
        "s" STATEMENT_MEMORY_SAMPLES "AND s.retire_latency_cycles > 0) "

static int read_limit(struct db *db, double *limit, struct diag *diag)
{
        static const char sql[] =
            "WITH " STALLS "SELECT cycles, (SELECT total(cycles) FROM stall) FROM stall"
            " ORDER BY cycles DESC LIMIT ?1";
        double longest[STALL_LIMIT_PARTS], sum = 0;
        size_t count = 0;
        sqlite3_stmt *row;
        int code = statement_prepare(db, sql, &row, diag);
        if (code)
                return code;
        sqlite3_bind_int(row, 1, STALL_LIMIT_PARTS);
        while ((code = statement_next(db, row, diag)) > 0) {
                longest[count++] = sqlite3_column_double(row, 0);
                sum = sqlite3_column_double(row, 1);
        }
        sqlite3_finalize(row);
        *limit = floor(stall_limit(longest, count, sum));
        return code;
}

static int count_longer(struct db *db, double limit, int64_t *cut, struct diag *diag)
{
        sqlite3_stmt *row;
        int code = statement_prepare(
            db, "WITH " STALLS "SELECT count(*) FROM stall WHERE cycles > ?1", &row,
            diag);
        if (code)
                return code;
        sqlite3_bind_double(row, 1, limit);
        code = statement_next(db, row, diag);
        *cut = code > 0 ? sqlite3_column_int64(row, 0) : 0;
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

int stall_limit_store(struct db *db, int64_t *cut, struct diag *diag)
{
        double limit = 0;
        sqlite3_stmt *insert;
        int code = read_limit(db, &limit, diag);
        if (!code)
                code = count_longer(db, limit, cut, diag);
        if (code || !*cut)
                return code;
        code = statement_prepare(db,
                                 "INSERT INTO threshold VALUES ('" STATEMENT_STALL_LIMIT
                                 "', ?1, 'cycles', 'a twentieth of what all samples held "
                                 "up')",
                                 &insert, diag);
        if (code)
                return code;
        sqlite3_bind_double(insert, 1, limit);
        code = statement_run(db, insert, diag);
        sqlite3_finalize(insert);
        return code;
}
