/* SPDX-License-Identifier: MIT */
/* The page of two recordings: the output of `memlag diff --format json` for each kind,
 * and the calls of both recordings. */
#include <stdlib.h>

#include "page.h"
#include "page_parts.h"
#include "report_sql.h"

#define CALLERS_MAX "6000"

/* clang-format off */
static const char calls_sql[] =
    "SELECT caller_id, parent_id," REPORT_BASE("module") "AS module," REPORT_FUNCTION ","
    " self_samples, self_latency_share, self_stalled_ratio FROM ("
    " SELECT * FROM caller_finding ORDER BY stalled_ratio DESC, latency_share DESC, samples DESC,"
    " caller_id LIMIT " CALLERS_MAX ") ORDER BY caller_id";
/* clang-format on */

static int write_data(const void *context, FILE *out, struct diag *diag)
{
        const struct page_diff *diff = context;
        fputs("{", out);
        for (size_t i = 0; i < diff->kind_count; i++)
                fprintf(out, "\"%s\":%s,\n", diff->kinds[i].name, diff->kinds[i].json);
        fputs("\"calls_before\":", out);
        int code = page_table_write(diff->before, calls_sql, out, diag);
        fputs(",\n\"calls_after\":", out);
        if (!code)
                code = page_table_write(diff->after, calls_sql, out, diag);
        fputs("}\n", out);
        return code;
}

int page_diff_write(const struct page_diff *diff, FILE *out, struct diag *diag)
{
        return page_assemble(PAGE_DIFF, write_data, diff, out, diag);
}
