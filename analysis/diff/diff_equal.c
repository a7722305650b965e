/* SPDX-License-Identifier: MIT */
/* Finds equal recordings of one side: the same file, a copy, or a repeated simulation.
 * Equal recordings do not show the variation between runs. */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "statement.h"

/* Digest of the samples; without samples, of the counters. Numbers from different sources
 * are never equal. */
static const char samples_sql[] =
    "SELECT time_ns, ip, latency_cycles, retire_latency_cycles, stall_ns FROM sample"
    " ORDER BY sample_id";
static const char source_sql[] =
    "SELECT value FROM run WHERE key IN ('numbers', 'source') ORDER BY key";

/* Fowler, Noll and Vo's FNV-1a. */
static uint64_t digest_of(uint64_t digest, const void *bytes, size_t length)
{
        const unsigned char *at = bytes;
        for (size_t i = 0; i < length; i++)
                digest = (digest ^ at[i]) * 0x100000001b3;
        return digest;
}

static int take_values(void *context, sqlite3_stmt *row)
{
        uint64_t *digest = context;
        for (int i = 0; i < sqlite3_column_count(row); i++) {
                const char *text = statement_text(row, i);
                *digest = digest_of(*digest, text, strlen(text) + 1);
        }
        return 0;
}

static int read_digest(struct diff_side *side, struct diag *diag)
{
        side->digest = 0xcbf29ce484222325;
        int code = statement_each(side->db, source_sql, take_values, &side->digest, diag);
        if (!side->summary.samples)
                side->digest =
                    digest_of(side->digest, side->counts, sizeof(side->counts));
        if (!code)
                code = statement_each(side->db, samples_sql, take_values, &side->digest,
                                      diag);
        return code;
}

/* The recording among SIDE and its first KEPT others that equals ONE; or NULL. */
static const struct diff_side *equal_of(const struct diff_side *side, size_t kept,
                                        const struct diff_side *one)
{
        if (side->digest == one->digest)
                return side;
        for (size_t i = 0; i < kept; i++)
                if (side->others[i].digest == one->digest)
                        return &side->others[i];
        return NULL;
}

int diff_drop_equal(struct diff_side *side, struct diag *diag)
{
        if (!side->other_count)
                return 0;
        side->equals = calloc(side->other_count, sizeof(*side->equals));
        if (!side->equals)
                return diag_no_memory(diag);
        int code = read_digest(side, diag);
        for (size_t i = 0; !code && i < side->other_count; i++)
                code = read_digest(&side->others[i], diag);
        size_t kept = 0;
        for (size_t i = 0; !code && i < side->other_count; i++) {
                struct diff_side one = side->others[i];
                const struct diff_side *same = equal_of(side, kept, &one);
                if (!same) {
                        side->others[i] = side->others[kept];
                        side->others[kept++] = one;
                        continue;
                }
                side->equals[side->equal_count++] =
                    (struct diff_equal){.file = one.file, .same_as = same->file};
        }
        for (size_t i = kept; !code && i < side->other_count; i++)
                diff_side_free(&side->others[i]);
        side->other_count = code ? side->other_count : kept;
        return code;
}
