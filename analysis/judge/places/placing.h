/* SPDX-License-Identifier: MIT */
/* Looks up the code location of samples without an attribution row, by process and
 * instruction pointer. Held in memory, because every sample needs it, in no order of
 * addresses. */
#ifndef MEMLAG_PLACING_H
#define MEMLAG_PLACING_H

#include <stddef.h>
#include <stdint.h>

#include "db.h"

/* SQL columns of sample s, and its FROM clause, for placing_of_row. */
#define PLACING_COLUMNS "a.location_id, s.thread_id, s.ip"
#define PLACING_SAMPLES "FROM sample AS s LEFT JOIN attribution AS a USING (sample_id)"

struct sqlite3_stmt;

struct placing_thread {
        int64_t thread_id;
        int64_t process_id;
};

struct placing_ip {
        int64_t process_id;
        int64_t ip;
        int64_t location_id;
};

/* Zero-initialised: empty. */
struct placing {
        struct placing_thread *threads; /* sorted by thread_id */
        size_t thread_count;
        size_t thread_capacity;
        struct placing_ip *ips; /* sorted by process_id and ip */
        size_t ip_count;
        size_t ip_capacity;
};

/* Reads the tables. Returns 0 or a negative errno value; placing_free frees in any case.
 */
int placing_read(struct db *db, struct placing *placing, struct diag *diag);
void placing_free(struct placing *placing);

/* The location of the sample whose PLACING_COLUMNS begin at COLUMN of ROW; 0: unknown. */
int64_t placing_of_row(const struct placing *placing, struct sqlite3_stmt *row,
                       int column);

#endif
