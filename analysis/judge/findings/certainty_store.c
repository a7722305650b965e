/* SPDX-License-Identifier: MIT */
/* Stores the certainty of the verdicts on lines, functions, objects and fields. */
#include <sqlite3.h>

#include "certainty.h"
#include "findings_pass.h"
#include "statement.h"

struct storing {
        const struct findings_pass *pass;
        const char *subject;
        sqlite3_stmt *insert;
        struct db *db;
        struct diag *diag;
};

/* The verdict on ID from TALLY. Skips timer samples and too few samples: neither gives a
 * verdict. */
static int store(const struct storing *storing, int64_t id, const struct tally *tally)
{
        const struct findings_input *input = storing->pass->input;
        if ((!tally->latencies && tally->cost > 0) || (!tally->samples && !tally->faults))
                return 0;
        struct verdict_facts facts = findings_facts(tally, &storing->pass->whole, input);
        if (verdict_of(&facts) == VERDICT_TOO_FEW_SAMPLES)
                return 0;
        struct certainty certainty = verdict_certainty(&facts);
        sqlite3_bind_text(storing->insert, 1, storing->subject, -1, SQLITE_STATIC);
        sqlite3_bind_int64(storing->insert, 2, id);
        sqlite3_bind_text(storing->insert, 3, certainty.sure ? "sure" : "near the limit",
                          -1, SQLITE_STATIC);
        sqlite3_bind_double(storing->insert, 4, certainty.margin);
        sqlite3_bind_text(storing->insert, 5,
                          certainty.other < VERDICT_COUNT ? verdict_name(certainty.other)
                                                          : NULL,
                          -1, SQLITE_STATIC);
        return statement_run(storing->db, storing->insert, storing->diag);
}

/* Element I of the array belongs to finding I. */
static int store_all(struct storing *storing, const char *subject,
                     const struct tally *tallies, size_t count)
{
        int code = 0;
        storing->subject = subject;
        for (size_t i = 0; !code && i < count; i++)
                code = store(storing, (int64_t)i, &tallies[i]);
        return code;
}

static int store_objects(struct storing *storing)
{
        const struct findings_pass *pass = storing->pass;
        int code = 0;
        storing->subject = "object";
        for (size_t i = 0; !code && i < pass->grouping.object_count; i++)
                if (!pass->grouping.objects[i].own)
                        code = store(storing, pass->grouping.objects[i].object_id,
                                     &pass->objects[i + 1]);
        return code;
}

static int store_fields(struct storing *storing)
{
        const struct pairs *fields = &storing->pass->fields;
        int code = 0;
        storing->subject = "field";
        for (size_t i = 0; !code && i < fields->count; i++)
                if (fields->pairs[i].second)
                        code = store(storing, fields->pairs[i].second,
                                     pairs_value(fields, i));
        return code;
}

int findings_store_certainty(struct db *db, const struct findings_pass *pass,
                             struct diag *diag)
{
        struct storing storing = {.pass = pass, .db = db, .diag = diag};
        if (pass->input->without_waits)
                return 0;
        int code = statement_prepare(
            db, "INSERT INTO certainty_finding VALUES (?1, ?2, ?3, ?4, ?5)",
            &storing.insert, diag);
        if (!code)
                code =
                    store_all(&storing, "line", pass->lines, pass->grouping.line_groups);
        if (!code)
                code = store_all(&storing, "function", pass->functions,
                                 pass->grouping.function_groups);
        if (!code)
                code = store_objects(&storing);
        if (!code)
                code = store_fields(&storing);
        sqlite3_finalize(storing.insert);
        return code;
}
