/* SPDX-License-Identifier: MIT */
/* Each sample is counted once for each subject, under the first reason that applies. */
#include "resolution.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char resolved[] = "resolved";

enum subject {
        SUBJECT_LINE,
        SUBJECT_FUNCTION,
        SUBJECT_STACK,
        SUBJECT_OBJECT,
        SUBJECT_TYPE,
        SUBJECT_COUNT
};

static const char *const subject_names[SUBJECT_COUNT] = {[SUBJECT_LINE] = "line",
                                                         [SUBJECT_FUNCTION] = "function",
                                                         [SUBJECT_STACK] = "stack",
                                                         [SUBJECT_OBJECT] = "object",
                                                         [SUBJECT_TYPE] = "type"};

struct count {
        const char *outcome;
        uint64_t samples;
};

enum { OUTCOME_LIMIT = 32 }; /* more than there are reasons */

struct counts {
        struct count outcomes[SUBJECT_COUNT][OUTCOME_LIMIT];
};

static const char *no_function(const struct raw *raw, const struct place *place)
{
        if (!place->mapped)
                return "no mapping";
        if (place->code.function)
                return NULL;
        if (place->module == RAW_NONE)
                return "memory of no file";
        if (raw->modules[place->module].state == MODULE_CHANGED)
                return "changed binary";
        if (raw->modules[place->module].state != MODULE_READY &&
            raw->modules[place->module].state != MODULE_KALLSYMS)
                return "missing file";
        return "no symbol";
}

static const char *no_line(const struct raw *raw, const struct place *place)
{
        if (place->code.line)
                return NULL;
        const char *reason = no_function(raw, place);

        return reason ? reason : "no line";
}

static void count(struct counts *counts, enum subject subject, const char *reason)
{
        const char *outcome = reason ? reason : resolved;
        struct count *at = counts->outcomes[subject];

        while (at->outcome && strcmp(at->outcome, outcome) != 0)
                at++;
        at->outcome = outcome;
        at->samples++;
}

/* Why not every function of each stack is known: the reason of the innermost one. */
static const char **stack_reasons(const struct result *result)
{
        const struct raw *raw = result->raw;
        const struct sweep *sweep = result->sweep;
        const char **reasons = calloc(raw->stack_count + 1, sizeof(*reasons));

        for (size_t i = 0; reasons && i < raw->stack_count; i++) {
                uint32_t place = sweep->stack_places[i], parent = raw->stacks[i].parent;

                reasons[i] = place == RAW_NONE ? "no mapping"
                                               : no_function(raw, &sweep->places[place]);
                if (!reasons[i] && parent != RAW_NONE)
                        reasons[i] = reasons[parent];
        }
        return reasons;
}

static const char *no_object(const struct result *result, size_t sample)
{
        uint32_t object = result->objects->sample_objects[sample];

        if (object == RAW_NONE)
                return "no data address";
        return result->objects->items[object].kind == OBJECT_UNKNOWN ? "nothing mapped"
                                                                     : NULL;
}

static void count_sample(struct counts *counts, const struct result *result,
                         const char *const *stacks, size_t sample)
{
        const struct raw *raw = result->raw;
        const struct place *place =
            &result->sweep->places[result->sweep->sample_places[sample]];
        uint32_t stack = raw->samples[sample].stack;

        count(counts, SUBJECT_LINE, no_line(raw, place));
        count(counts, SUBJECT_FUNCTION, no_function(raw, place));
        count(counts, SUBJECT_STACK, stack == RAW_NONE ? "no stack" : stacks[stack]);
        count(counts, SUBJECT_OBJECT, no_object(result, sample));
        count(counts, SUBJECT_TYPE,
              untyped_reason(result->sample_types->items[sample].reason));
}

static int write_counts(const struct counts *counts, struct db *db, struct diag *diag)
{
        sqlite3_stmt *insert;
        int rc = sqlite3_prepare_v2(db_sqlite(db),
                                    "INSERT INTO resolution (subject, outcome, samples)"
                                    " VALUES (?, ?, ?)",
                                    -1, &insert, NULL);

        for (int subject = 0; subject < SUBJECT_COUNT; subject++) {
                const struct count *at = counts->outcomes[subject];

                for (; at->outcome && rc == SQLITE_OK; at++) {
                        sqlite3_bind_text(insert, 1, subject_names[subject], -1,
                                          SQLITE_STATIC);
                        sqlite3_bind_text(insert, 2, at->outcome, -1, SQLITE_STATIC);
                        sqlite3_bind_int64(insert, 3, (int64_t)at->samples);
                        rc = sqlite3_step(insert) == SQLITE_DONE ? sqlite3_reset(insert)
                                                                 : SQLITE_ERROR;
                }
        }
        int error = rc == SQLITE_OK ? 0
                                    : diag_set(diag, -EIO, "cannot write the names: %s",
                                               sqlite3_errmsg(db_sqlite(db)));

        sqlite3_finalize(insert);
        return error;
}

/* Why samples have no line is in the ledger, which the report prints: "with no symbol",
 * "in changed binary". */
static int write_ledger(const struct counts *counts, struct db *db, struct diag *diag)
{
        const struct count *at = counts->outcomes[SUBJECT_LINE];
        int error = 0;

        for (; at->outcome && !error; at++) {
                bool none = strncmp(at->outcome, "no ", 3) == 0;
                char kind[80];

                if (at->outcome == resolved)
                        continue;
                snprintf(kind, sizeof(kind), "samples %s %s", none ? "with" : "in",
                         at->outcome);
                error = db_ledger_set(db, "symbolize", kind, (int64_t)at->samples,
                                      "samples", diag);
        }
        return error;
}

int resolution_write(const struct result *result, struct db *db, struct diag *diag)
{
        const char **stacks = stack_reasons(result);
        struct counts counts = {0};

        if (!stacks)
                return diag_set(diag, -ENOMEM, "out of memory while writing the names");
        for (size_t i = 0; i < result->raw->sample_count; i++)
                count_sample(&counts, result, stacks, i);
        free(stacks);
        int error = write_counts(&counts, db, diag);

        return error ? error : write_ledger(&counts, db, diag);
}
