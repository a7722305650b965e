/* SPDX-License-Identifier: MIT */
/* Explains the verdicts that matter in a report, names full resources of the core, and
 * gives frequent remedies (doc/method.md). Knows the run's summary, but no sample. */
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_sql.h"
#include "statement.h"

/* Share of the stall time or latency of the shown loads; a verdict with less is no place
 * to begin. */
#define ADVICE_SHARE_MIN "0.1"
enum { ADVICE_VERDICTS = 2 };
/* Share of the cycles; a resource that is full for less is not mentioned. */
static const double FULL_MIN = 0.05;

static const struct report_advice advices[] = {
    {"dram-contention", "DRAM bandwidth was short",
     "move less data (smaller types, blocking), or run fewer such threads at a time",
     false},
    {"dram-latency", "DRAM had bandwidth left",
     "make loads independent, sequential or prefetched, or keep the data in cache", true},
    {"dram", "the data came from DRAM, and whether its bandwidth was short is not known",
     "touch fewer lines", true},
    {"in-core", "the core had no room for more outstanding misses",
     "touch fewer cache lines (packing, blocking), or use more cores", true},
    {"remote-memory", "another node's memory or cache had the data",
     "place it where it is used", false},
    {"sharing", "another core had modified the line",
     "put what different threads write on different cache lines", false},
    {"tlb", "address translation took most of the wait",
     "use huge pages, or bring accesses closer together", false},
    {"store-forwarding",
     "the load needed more bytes than the store just before it had written",
     "load with the size of the store, or leave more work between the two", false},
    {"page-faults",
     "the kernel had to provide pages that were touched for the first time",
     "use huge pages, or use the same memory again", false},
    {"cache", "the data came from L2 or L3",
     "access it in order or in smaller blocks, and avoid strides of a power of two",
     true},
    {"locked", "a locked instruction lets no access overlap with another",
     "use fewer: first add up in a register, or in each thread", false},
    {"unknown",
     "the loads waited for cache lines of unknown level that another load had requested",
     "look at earlier lines of the same function", false},
};

const struct report_advice *report_advice_on(const char *verdict)
{
        for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++)
                if (strcmp(advices[i].verdict, verdict) == 0)
                        return &advices[i];
        return NULL;
}

/* Data at addresses that come from other data cannot be accessed in order. malloc owns
 * only the heap. Of bytes that several threads write, nothing can be moved apart. */
const char *report_remedy(const struct report_advice *advice, const char *pattern)
{
        if (strcmp(advice->verdict, "page-faults") == 0 && strcmp(pattern, "heap") == 0)
                return "use huge pages, or reuse freed memory (M_MMAP_THRESHOLD, "
                       "M_TRIM_THRESHOLD)";
        if (strcmp(advice->verdict, "sharing") == 0 && strcmp(pattern, "shared") == 0)
                return "let threads use it less often, or each its own; waits for "
                       "another thread stay";
        if (strcmp(advice->verdict, "cache") != 0)
                return advice->remedy;
        if (strcmp(pattern, "index") == 0)
                return "make it smaller, or go through the indices in order";
        if (strcmp(pattern, "chain") == 0)
                return "make it smaller, or follow several chains at a time";
        if (strcmp(pattern, "sequential") == 0)
                return "do more with each block of it, while L1 or L2 holds the block";
        return advice->remedy;
}

/* " (in 94% of the run's cycles all fill buffers were in use, in 7% the store buffer was
 * full)" */
static void say_full(FILE *text, const struct report_summary *summary)
{
        const struct {
                double ratio;
                const char *what;
        } resources[] = {
            {summary->fb_full_ratio, "all fill buffers were in use"},
            {summary->sq_full_ratio, "the queue beyond L2 was full"},
            {summary->sb_full_ratio, "the store buffer was full"},
        };
        bool any = false;
        for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
                if (!(resources[i].ratio >= FULL_MIN))
                        continue;
                fprintf(text, "%sin %.0f%%%s %s", any ? ", " : " (",
                        100 * fmin(resources[i].ratio, 1),
                        any ? "" : " of the run's cycles", resources[i].what);
                any = true;
        }
        if (any)
                fputc(')', text);
}

/* Share of the total latency in loads that requested their line from DRAM. Each such load
 * counts with DRAM's latency, or its line's mean if longer. Hits of a fill buffer (LFB)
 * request nothing and wait as long: three loads of one list node keep three loads in
 * flight, but one cache line. */
#define ASKING_PART                                                                      \
        " total(dram_samples * max(mean_latency_cycles, coalesce((SELECT value FROM "    \
        "machine"                                                                        \
        " WHERE key = 'dram_latency_cycles'), 0)))"                                      \
        " / (SELECT sum(samples * mean_latency_cycles) FROM line_finding) "

/* More overlap does not help loads that already overlap. ASKING: outstanding lines, by
 * Little's law. */
static void say_overlap(FILE *text, double asking)
{
        if (asking >= REPORT_OVERLAP_MIN)
                fprintf(text,
                        " About %.1f such misses overlap already: prefetching helps "
                        "little, so touch less memory.",
                        asking);
}

/* If structures have at least half of the latency, their fields show which data to leave
 * out. Types cover the whole run, not the chosen code. */
#define FIELDS_KNOWN                                                                     \
        " (SELECT total(latency_share) >= 0.5 FROM field_finding"                        \
        "  JOIN type_field USING (field_id) WHERE name IS NOT NULL)"                     \
        " AND NOT" REPORT_HAS_CHOICE

#define NEARLY_ALL_FROM(cache)                                                           \
        "WHEN total(weight) FILTER (WHERE cache_level = '" cache                         \
        "') >= 0.9 * sum(weight) THEN '" cache "' "

/* CACHE: the cache that nearly all loads with a cache verdict waited for; "": several, or
 * not known. */
static void say_one(FILE *text, const struct report_advice *advice, const char *cache,
                    double asking, const struct report_summary *summary,
                    bool fields_known)
{
        fprintf(text, "%s: ", advice->verdict);
        if (*cache)
                fprintf(text, "the data came from %s", cache);
        else
                fputs(advice->meaning, text);
        if (strcmp(advice->verdict, "in-core") == 0)
                say_full(text, summary);
        fprintf(text, "; %s.", advice->remedy);
        if (strcmp(advice->verdict, "cache") == 0 && fields_known)
                fputs(" 'memlag report --by type' shows which fields are loaded.", text);
        if (strcmp(advice->verdict, "dram-latency") == 0)
                say_overlap(text, asking);
        fputc('\n', text);
}

int report_say_set_conflicts(struct db *db, FILE *text, struct diag *diag)
{
        static const char sql[] =
            "SELECT group_concat(printf('%s (%d set%s)', place, sets, iif(sets = 1, '', "
            "'s')), ', ') FROM (SELECT"
            "  coalesce(" REPORT_BASE(
                "f.file") "|| ':' || f.line, f.function) AS place,"
                          "  min(c.sets) AS sets"
                          " FROM set_conflict AS c JOIN sample_location USING (sample_id)"
                          " JOIN location AS l USING (location_id)"
                          " LEFT JOIN module AS m USING (module_id)"
                          " JOIN line_finding AS f ON f.file IS l.file AND f.line IS "
                          "l.line AND f.module IS m.path"
                          "  AND f.function IS l.function AND f.function_offset IS "
                          "l.function_offset"
                          " WHERE f.verdict = 'cache' GROUP BY f.line_id"
                          " HAVING count(*) >= 20 AND count(*) >= 0.5 * f.samples"
                          " ORDER BY f.stalled_ratio DESC LIMIT 3)";
        sqlite3_stmt *row;
        int code = statement_first(db, sql, &row, diag);
        char *lines = code > 0 ? statement_printable(row, 0) : NULL;
        if (lines)
                fprintf(text,
                        "Set conflicts: most L1 misses were in few sets at %s. Pad rows "
                        "whose length is a power of two, or work in blocks.\n",
                        lines);
        free(lines);
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

int report_say_advice(struct db *db, FILE *text, const struct report_choice *choice,
                      const struct report_summary *summary, struct diag *diag)
{
        sqlite3_stmt *rows;
        int code = statement_prepare(
            db,
            "WITH chosen AS (SELECT * FROM" REPORT_WEIGHED_LINES "WHERE" REPORT_CHOSEN ")"
            "SELECT verdict," FIELDS_KNOWN ", CASE " NEARLY_ALL_FROM("L2")
                NEARLY_ALL_FROM("L3") "END," ASKING_PART
                                      " FROM chosen WHERE verdict NOT IN ('none',"
                                      " 'too-few-samples') GROUP BY verdict HAVING "
                                      "sum(weight) > 0 AND sum(weight)"
                                      " >= " ADVICE_SHARE_MIN
                                      " * (SELECT sum(weight) FROM chosen)"
                                      " ORDER BY sum(weight) DESC, verdict LIMIT ?1",
            &rows, diag);
        if (code)
                return code;
        sqlite3_bind_int(rows, 1, ADVICE_VERDICTS);
        report_bind_choice(rows, choice);
        bool prefetch_matters = false;
        while ((code = statement_next(db, rows, diag)) > 0) {
                const struct report_advice *advice =
                    report_advice_on(statement_text(rows, 0));
                if (advice)
                        say_one(text, advice, statement_text(rows, 2),
                                sqlite3_column_double(rows, 3) *
                                    summary->latency_per_cycle,
                                summary, sqlite3_column_int(rows, 1));
                prefetch_matters |= advice && advice->prefetch_matters;
        }
        sqlite3_finalize(rows);
        if (prefetch_matters && summary->without_prefetch)
                fputs("The model's prefetchers were off: --sim-prefetch on shows what "
                      "they hide.\n",
                      text);
        return code;
}
