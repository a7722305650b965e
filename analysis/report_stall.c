/* SPDX-License-Identifier: MIT */
/* The report on timer samples: shares of the time that loads stalled, and what a timer
 * cannot know. They have no latency, no level and no verdict, so their tables have no
 * such columns. */
#include <inttypes.h>
#include <string.h>

#include "report.h"

#define BASE(file)                                                                       \
        " substr(" file ", length(rtrim(" file ", replace(" file ", '/', ''))) + 1) "
#define SHARE                                                                            \
        " iif(latency_share IS NULL, '-', printf('%.1f%%', 100 * latency_share))"        \
        " AS stalled,"                                                                   \
        " iif(latency_share IS NULL, '-', printf('%.1f-%.1f', 100 * latency_share_low,"  \
        "     100 * latency_share_high)) AS \"95% range\", samples,"
#define LEGEND                                                                           \
        "stalled: share of all time at loads, with the range that holds the true share " \
        "with 95 % confidence"

static const struct report_kind kinds[] = {
    {
        .name = "line",
        .table_sql =
            "SELECT" SHARE " coalesce(file || coalesce(':' || line, ''), '-') AS line,"
            " coalesce(function, '[' ||" BASE(
                "module") "|| ']', '[unknown]') AS function"
                          " FROM line_finding ORDER BY latency_share DESC, samples DESC, "
                          "line_id "
                          "LIMIT ?1",
        .alignment = "rrrll",
    },
    {
        .name = "function",
        .table_sql = "SELECT" SHARE " coalesce(" BASE(
            "module") ", '-') AS module, coalesce(function, '[unknown]') AS function"
                      " FROM function_finding "
                      "ORDER BY latency_share DESC, samples DESC, function_id LIMIT ?1",
        .alignment = "rrrll",
    },
    {
        .name = "object",
        .table_sql =
            "SELECT" SHARE " kind, name AS object,"
            " coalesce(alloc_file || coalesce(':' || alloc_line, ''), '-')"
            " AS \"allocated at\" FROM object_finding JOIN data_object USING (object_id) "
            "ORDER BY latency_share DESC, samples DESC, object_id LIMIT ?1",
        .alignment = "rrrlll",
    },
    {
        .name = "caller",
        .table_sql =
            "SELECT iif(latency_share IS NULL, '-', printf('%.1f%%', 100 * "
            "latency_share))"
            " AS stalled,"
            " iif(self_latency_share IS NULL, '-',"
            "     printf('%.1f%%', 100 * self_latency_share)) AS self, samples,"
            " printf('%*s', 2 * min(depth, 60), '') || coalesce(function, '[' ||" BASE(
                "module") "|| ']', '[unknown]') AS function"
                          " FROM caller_finding WHERE caller_id IN"
                          " (SELECT caller_id FROM caller_finding"
                          "  WHERE ?1 < 0 OR latency_share IS NULL"
                          "  OR latency_share >= 0.005"
                          "  ORDER BY latency_share DESC, samples DESC, caller_id"
                          "  LIMIT ?1) ORDER BY caller_id",
        .alignment = "rrrl",
    },
};

struct report_kind report_kind_of_stalls(const struct report_kind *kind)
{
        struct report_kind stalls = *kind;
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                if (strcmp(kinds[i].name, kind->name) != 0)
                        continue;
                stalls.table_sql = kinds[i].table_sql;
                stalls.alignment = kinds[i].alignment;
                stalls.legend = LEGEND;
                stalls.finding_table = NULL;
        }
        return stalls;
}

void report_say_stalls(FILE *text, const struct report_summary *summary)
{
        fprintf(text,
                "Duration %.3f s, %" PRId64 " timer samples, %" PRId64
                " of them at loads, which stand for %.3f s; %" PRId64
                " records lost. A timer tells where the program waited, and not what "
                "for: a load that hit the first cache may be among these, latencies, "
                "cache levels and contention are not known, and the address only where "
                "the load did not overwrite the register that it came from. For causes "
                "use pebs or ibs, or sim.",
                summary->duration_s, summary->samples, summary->stalled_samples,
                summary->stalled_s, summary->lost);
}
