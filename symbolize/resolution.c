/* SPDX-License-Identifier: MIT */
/* Each sample is counted once for each subject, under the first reason that applies. */
#include "resolution.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bulk_insert.h"
#include "unnamed.h"

static const char resolved[] = "resolved";
static const char nothing_mapped[] = "nothing mapped";
static const char thread_memory[] = "stack or thread-local memory";

static const char *const subject_names[SUBJECT_COUNT] = {[SUBJECT_LINE] = "line",
                                                         [SUBJECT_FUNCTION] = "function",
                                                         [SUBJECT_STACK] = "stack",
                                                         [SUBJECT_OBJECT] = "object",
                                                         [SUBJECT_TYPE] = "type"};

static void count(struct resolution *resolution, enum subject subject, const char *reason,
                  uint64_t samples)
{
        struct outcome *at = resolution->outcomes[subject];

        if (!reason)
                reason = resolved;
        if (samples == 0)
                return;
        while (at->reason && at->reason != reason && strcmp(at->reason, reason) != 0)
                at++;
        at->reason = reason;
        at->samples += samples;
}

static void count_places(struct resolution *resolution)
{
        const struct sweep *sweep = resolution->sweep;
        const struct raw *raw = sweep->raw;

        for (size_t i = 0; i < sweep->places.count; i++) {
                const struct place *place = &sweep->places.items[i];
                uint64_t samples = sweep->place_samples[i];

                count(resolution, SUBJECT_LINE, unnamed_line_reason(raw, place), samples);
                count(resolution, SUBJECT_FUNCTION, unnamed_function_reason(raw, place),
                      samples);
                if (place->in_image && !raw->modules[place->module].verified)
                        resolution->unverified += (int64_t)samples;
        }
}

/* Counts each stack under the reason of its innermost unknown function. */
static int count_stacks(struct resolution *resolution)
{
        const struct sweep *sweep = resolution->sweep;
        const struct raw *raw = sweep->raw;
        const char **reasons = calloc(raw->stack_count + 1, sizeof(*reasons));

        if (!reasons)
                return -ENOMEM;
        for (size_t i = 0; i < raw->stack_count; i++) {
                uint32_t place = sweep->stack_places[i], parent = raw->stacks[i].parent;

                reasons[i] =
                    place == RAW_NONE
                        ? "no mapping"
                        : unnamed_function_reason(raw, &sweep->places.items[place]);
                if (!reasons[i] && parent != RAW_NONE)
                        reasons[i] = reasons[parent];
                count(resolution, SUBJECT_STACK, reasons[i], sweep->stack_samples[i]);
        }
        count(resolution, SUBJECT_STACK, "no stack", sweep->stackless_samples);
        free(reasons);
        return 0;
}

int resolution_open(struct resolution *resolution, const struct sweep *sweep)
{
        *resolution = (struct resolution){.sweep = sweep};
        count_places(resolution);
        return count_stacks(resolution);
}

static const char *no_object(const struct object *object)
{
        if (!object)
                return "no data address";
        if (object->thread_memory)
                return thread_memory;
        return object->kind == OBJECT_UNKNOWN ? nothing_mapped : NULL;
}

void resolution_count(struct resolution *resolution, const struct object *object,
                      enum untyped type, uint64_t samples)
{
        count(resolution, SUBJECT_OBJECT, no_object(object), samples);
        if (object && object->whole_stack)
                resolution->frameless += samples;
        count(resolution, SUBJECT_TYPE, untyped_reason(type), samples);
}

static bool put_outcome(void *context, struct bulk_insert *insert, size_t i)
{
        const struct resolution *resolution = context;
        const struct outcome *at =
            &resolution->outcomes[i / OUTCOME_LIMIT][i % OUTCOME_LIMIT];

        bulk_insert_text(insert, 0, subject_names[i / OUTCOME_LIMIT]);
        bulk_insert_text(insert, 1, at->reason);
        bulk_insert_int(insert, 2, (int64_t)at->samples);
        return at->reason != NULL;
}

static int set_ledger(struct db *db, const char *what, const char *reason, uint64_t count,
                      struct diag *diag)
{
        char kind[80];

        snprintf(kind, sizeof(kind), "samples %s %s", what, reason);
        return db_ledger_set(db, "symbolize", kind, (int64_t)count, "samples", diag);
}

static uint64_t samples_of(const struct resolution *resolution, enum subject subject,
                           const char *reason)
{
        const struct outcome *at = resolution->outcomes[subject];

        while (at->reason && strcmp(at->reason, reason) != 0)
                at++;
        return at->samples;
}

/* The ledger has the reasons for missing lines, because the report prints it: "with no
 * symbol", "in changed binary". */
static int write_no_line(const struct resolution *resolution, struct db *db,
                         struct diag *diag)
{
        const struct outcome *at = resolution->outcomes[SUBJECT_LINE];
        int error = 0;

        for (; at->reason && !error; at++)
                if (at->reason != resolved)
                        error = set_ledger(
                            db, strncmp(at->reason, "no ", 3) == 0 ? "with" : "in",
                            at->reason, at->samples, diag);
        return error;
}

/* These counts and the samples with a type add up to the samples with a data address. */
static int write_untyped(const struct resolution *resolution, struct db *db,
                         struct diag *diag)
{
        int error = 0;

        for (int i = UNTYPED_NO_ADDRESS + 1; i < UNTYPED_COUNT && !error; i++) {
                const char *reason = untyped_reason((enum untyped)i);

                error = set_ledger(db, "with no type:", reason,
                                   samples_of(resolution, SUBJECT_TYPE, reason), diag);
        }
        return error;
}

/* Writes the debug information that the program's files place elsewhere but that is
 * missing, and the debug information that was too costly to read to its end. */
static int write_elsewhere(const struct raw *raw, struct db *db, struct diag *diag)
{
        int64_t missing = 0, too_many = 0, alternates = 0, costly = 0, others = 0;

        for (size_t i = 0; i < raw->module_count; i++) {
                missing += (int64_t)raw->modules[i].splits_missing;
                too_many += (int64_t)raw->modules[i].splits_too_many;
                alternates += raw->modules[i].alt_missing;
                costly += raw->modules[i].too_costly;
                others += raw->modules[i].debug_of_others;
        }
        const struct {
                const char *kind;
                int64_t count;
                const char *unit;
        } kinds[] = {
            {"split debug information not found", missing, "units"},
            {"split debug information left out", too_many, "units"},
            {"dwz files not found or damaged", alternates, "binaries"},
            {"debug information read in part", costly, "binaries"},
            {"separate debug files of other builds", others, "binaries"},
        };
        int error = 0;

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !error; i++)
                error = db_ledger_set(db, "symbolize", kinds[i].kind, kinds[i].count,
                                      kinds[i].unit, diag);
        return error;
}

/* Writes the reasons for missing objects and functions. */
static int write_missing(const struct resolution *resolution, struct db *db,
                         struct diag *diag)
{
        const struct {
                const char *what, *reason;
                uint64_t samples;
        } kinds[] = {
            {"with", "no object", samples_of(resolution, SUBJECT_OBJECT, nothing_mapped)},
            {"in", thread_memory, samples_of(resolution, SUBJECT_OBJECT, thread_memory)},
            {"in", "unknown frame", resolution->frameless},
            {"in", unnamed_inlined,
             samples_of(resolution, SUBJECT_FUNCTION, unnamed_inlined)},
            {"in", "unverified binary", (uint64_t)resolution->unverified}};
        int error = 0;

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !error; i++)
                error = set_ledger(db, kinds[i].what, kinds[i].reason, kinds[i].samples,
                                   diag);
        return error;
}

int resolution_write(struct resolution *resolution, struct db *db, struct diag *diag)
{
        const struct bulk_table table = {"resolution", "subject, outcome, samples",
                                         put_outcome, SUBJECT_COUNT * OUTCOME_LIMIT};
        int error = bulk_insert_tables(&table, 1, resolution, db, diag);

        if (!error)
                error = write_no_line(resolution, db, diag);
        if (!error)
                error = write_missing(resolution, db, diag);
        if (!error)
                error = write_elsewhere(resolution->sweep->raw, db, diag);
        return error ? error : write_untyped(resolution, db, diag);
}
