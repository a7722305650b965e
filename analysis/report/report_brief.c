/* SPDX-License-Identifier: MIT */
/* The first lines of a report: the time spent waiting for memory, the places with cause
 * and remedy, and where to read on. At most ten lines; --verbose prints the rest. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "brief_lines.h"
#include "data_sources.h"
#include "prose.h"
#include "report.h"
#include "report_sql.h"
#include "short_name.h"
#include "statement.h"
#include "text.h"
#include "verdict.h"
#include "words.h"

enum {
        LINES_MAX = 10,
        WIDTH_MAX = 100,
        SENTENCE_WIDTH = 90,
        COMMAND_BYTES = 120,
        PLACES = 3,
        REMEDIES = 2,
        NAME_ROOM_MIN = 24,
        OBJECT_BYTES = 44,
        REMEDY_INDENT = 9
};

/* Share of the cycles; without cycles, of the latency or of the time at loads. */
#define PLACE_SHARE_MIN "0.01"
/* With less, page faults beside a line's verdict are not worth a word. */
#define FAULTS_SHARE_MIN "0.02"
/* Of a line's waiting time; page faults that have less need no remedy of their own. */
#define FAULTS_PART_MIN "0.25"
/* With less, a line without a verdict is no reason for more samples. */
#define UNJUDGED_SHARE_MIN "0.05"

/* Samples that brought a cache line; fewer tell little of its use. */
#define LINES_MIN "20"
/* Packing data of which more is used gains little. */
static const double USED_BYTES_MAX = 48;
/* Nearly the whole line. */
static const double USED_WHOLE_MIN = 60;

/* Part of the cycles that data in time must gain for a word on prefetching. */
static const double PREFETCH_GAIN_MIN = 0.02;

/* Share of the bandwidth: with less left, latency begins to rise. */
static const double KNEE_LEFT = 0.5;
/* Share of the loads; fewer cost hardly any time. */
static const double SPLIT_RATIO_MIN = 0.1;
/* Wrong predictions in a cycle; one takes 10 cycles or more. */
static const double MISPREDICTED_MIN = 0.02;

/* ---- how much ---- */

/* Rows include page faults; the sum above them must too. */
static bool waits_have_faults(const struct report_summary *summary)
{
        return !summary->timed && summary->loads_stalled_ratio <= 1 &&
               summary->fault_ratio >= REPORT_KERNEL_RATIO_MIN;
}

static bool samples_are_few(const struct report_summary *summary)
{
        int64_t samples = summary->timed ? summary->samples : summary->memory_samples;
        return samples < VERDICT_SAMPLES_MIN;
}

static void say_waiting(FILE *text, const struct report_summary *summary)
{
        if (summary->without_waits)
                fputs("With --sim-detail cache no load waits for a value, so times are "
                      "not the program's.",
                      text);
        else if (waits_have_faults(summary) && samples_are_few(summary))
                fprintf(text,
                        "Page faults took %.1f %% of the cycles. How long other accesses "
                        "took is not known: %" PRId64 " samples are too few.",
                        100 * summary->fault_ratio, summary->memory_samples);
        else if (waits_have_faults(summary))
                fprintf(text,
                        "Waits for memory took %.1f %% of the cycles: loads and stores "
                        "%.1f %%, page faults %.1f %%.",
                        100 * (summary->loads_stalled_ratio + summary->fault_ratio),
                        100 * summary->loads_stalled_ratio, 100 * summary->fault_ratio);
        else if (summary->loads_stalled_ratio <= 1)
                fprintf(text,
                        "Memory accesses stalled the program for %.1f %% of its "
                        "cycles.",
                        100 * summary->loads_stalled_ratio);
        else if (summary->latency_per_cycle < 1)
                fprintf(text, "Slow loads took at most %.1f %% of the cycles.",
                        100 * summary->latency_per_cycle);
        else if (summary->latency_per_cycle >= 1)
                fprintf(text,
                        "On average %.1f slow loads were outstanding at a time; how long "
                        "they stalled the program is not known.",
                        summary->latency_per_cycle);
        if (isnan(summary->loads_stalled_ratio) && !samples_are_few(summary))
                fputs(" Shares below are of the latency.", text);
}

static void say_short(FILE *text, const struct report_summary *summary)
{
        if (report_short_in_part(summary)) {
                fprintf(text, " DRAM bandwidth was short in bursts in %" PRId64 " of ",
                        summary->contended_intervals);
                prose_counted(text, summary->intervals, "intervals");
                if (summary->contended_busy > 0)
                        fprintf(
                            text,
                            ": for %.0f %% of their time DRAM was busy, and %.0f %% of "
                            "its bandwidth was used",
                            100 * summary->contended_busy,
                            100 * summary->contended_use / summary->contended_busy);
        } else
                fprintf(text, " DRAM bandwidth was short for %.0f %% of the elapsed time",
                        100 * summary->short_time_share);
}

static void say_bandwidth(FILE *text, const struct report_summary *summary)
{
        int64_t known = summary->intervals - summary->unknown_intervals;
        bool near = summary->left_share >= 0 && summary->left_share < KNEE_LEFT;
        bool is_short = summary->contended_intervals + summary->saturated_intervals > 0;
        if (summary->without_waits || (known <= 0 && !near && !is_short))
                return;
        if (is_short)
                say_short(text, summary);
        else
                fputs(known <= 0 ? " Whether DRAM bandwidth was short is not known"
                                 : " DRAM bandwidth was not short",
                      text);
        if (near)
                fprintf(text, "%s at most %.0f %% of it was used",
                        is_short    ? "; otherwise"
                        : known > 0 ? ":"
                                    : ";",
                        100 * (1 - summary->left_share));
        putc('.', text);
}

/* Lines include the kernel's time for their page faults, and no other kernel time. */
static void say_kernel(FILE *text, const struct report_summary *summary)
{
        double modelled = summary->fault_ratio + summary->call_ratio;
        double measured = summary->kernel_s / (summary->user_s + summary->kernel_s);
        if (waits_have_faults(summary)) {
                if (summary->call_ratio >= REPORT_KERNEL_RATIO_MIN)
                        fprintf(text, " System calls took another %.1f %%, in no line.",
                                100 * summary->call_ratio);
        } else if (modelled >= REPORT_KERNEL_RATIO_MIN)
                fprintf(
                    text,
                    " The kernel took %.1f %% of the cycles, %.1f %% for page faults.",
                    100 * modelled, 100 * summary->fault_ratio);
        else if (measured >= REPORT_KERNEL_RATIO_MIN)
                fprintf(text, " The kernel took %.0f %% of the CPU time.",
                        100 * measured);
}

/* The model uses a port twice for a load across a line boundary. */
static void say_splits(FILE *text, const struct report_summary *summary)
{
        if (summary->split_ratio >= SPLIT_RATIO_MIN)
                fprintf(text,
                        " %.0f %% of the loads crossed the border of a cache line and "
                        "accessed L1 twice (split loads): align the data.",
                        100 * summary->split_ratio);
}

/* A load that need not wait long for the store costs nothing. */
static int say_aliases(struct db *db, FILE *text, const struct report_summary *summary,
                       struct diag *diag)
{
        static const char sql[] =
            "WITH blocked AS (SELECT line, file, function FROM sample"
            " JOIN data_source USING (data_source_id) JOIN sample_location USING "
            "(sample_id)"
            " JOIN location USING (location_id) WHERE" DATA_SOURCE_ALIASED
            " GROUP BY 1, 2, 3 ORDER BY total(retire_latency_cycles) DESC LIMIT 1) "
            "SELECT coalesce(" REPORT_BASE(
                "b.file") "|| ':' || b.line, b.function)"
                          " FROM line_finding AS f JOIN blocked AS b ON f.line IS b.line"
                          " AND f.file IS b.file AND f.function IS b.function"
                          " WHERE stalled_ratio >= " PLACE_SHARE_MIN;
        sqlite3_stmt *row;
        int code;

        if (!(summary->alias_ratio >= SPLIT_RATIO_MIN))
                return 0;
        code = statement_first(db, sql, &row, diag);
        if (code > 0) {
                char *line = statement_printable(row, 0);
                fprintf(text,
                        " %.0f %% of the loads, most at %s, waited for a store with the "
                        "same low 12 address bits in another page (4 KiB aliasing): move "
                        "one array by 64 bytes or more.",
                        100 * summary->alias_ratio, line ? line : "-");
                free(line);
        }
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

/* No line has this time. */
static void say_predictions(FILE *text, const struct report_summary *summary)
{
        if (summary->mispredicted_ratio >= MISPREDICTED_MIN)
                fprintf(text,
                        " A branch was mispredicted every %.0f cycles; no line below has "
                        "that time.",
                        1 / summary->mispredicted_ratio);
}

static void say_timer(FILE *text, const struct report_summary *summary)
{
        fprintf(text,
                "%" PRId64 " timer samples, %" PRId64
                " of them at loads and stores (%s).",
                summary->samples, summary->stalled_samples,
                report_duration(summary->stalled_s).text);
        if (!isnan(summary->stalled_ratio))
                fprintf(text, " That is %.1f %% of the cycles.",
                        100 * summary->stalled_ratio);
        fputs(" A timer does not tell what a load waited for.", text);
}

/* Costs that have no place of their own. */
static int say_further(struct db *db, FILE *text, const struct report_summary *summary,
                       struct diag *diag)
{
        int code;

        say_splits(text, summary);
        say_predictions(text, summary);
        code = say_aliases(db, text, summary, diag);
        return code ? code : report_say_libraries(db, text, diag);
}

static int say_time(struct db *db, FILE *text, const struct report_summary *summary,
                    struct diag *diag)
{
        (void)db;
        (void)diag;
        if (summary->timed)
                say_timer(text, summary);
        else {
                say_waiting(text, summary);
                say_bandwidth(text, summary);
        }
        say_kernel(text, summary);
        return 0;
}

/* ---- blocks ---- */

struct brief {
        struct db *db;
        const struct report_options *options;
        const struct report_summary *summary;
        struct brief_lines lines;
        size_t width; /* in columns, of each line */
        struct diag *diag;
};

static int brief_block(struct brief *brief, enum brief_rank rank, FILE **text)
{
        *text = brief_begin(&brief->lines, rank);
        return *text ? 0 : diag_no_memory(brief->diag);
}

static int brief_done(struct brief *brief, int code)
{
        return brief_end(&brief->lines) ? diag_no_memory(brief->diag) : code;
}

/* Adds the sentences that SAY writes. */
static int add_sentences(struct brief *brief, enum brief_rank rank,
                         int (*say)(struct db *, FILE *, const struct report_summary *,
                                    struct diag *))
{
        char *sentences = NULL;
        size_t length;
        FILE *text = open_memstream(&sentences, &length), *block;
        if (!text)
                return diag_no_memory(brief->diag);
        int code = say(brief->db, text, brief->summary, brief->diag);
        if (fclose(text)) {
                free(sentences);
                return diag_no_memory(brief->diag);
        }
        sentences[strcspn(sentences, "\n")] = '\0';
        if (!code && *sentences && !(code = brief_block(brief, rank, &block))) {
                prose_indented(block, sentences + strspn(sentences, " "), 0,
                               brief->width < SENTENCE_WIDTH ? brief->width
                                                             : SENTENCE_WIDTH);
                code = brief_done(brief, 0);
        }
        free(sentences);
        return code;
}

/* ---- places ---- */

/* Mapped files have their path as name. */
#define OBJECT_NAME " iif(name GLOB '/*'," REPORT_BASE("name") ", name) "

/* clang-format off */
/* The program that loads others: most of its lines run before main. */
#define IS_LOADER " coalesce(module GLOB '*/ld-linux*.so*' OR module GLOB '*/ld-musl*.so*', 0) "
/* Of the object with most page faults of a line. */
#define FAULTED_MOST                                                                         \
    "   FROM page_fault AS e JOIN sample_location USING (sample_id)"                         \
    "   JOIN location AS l USING (location_id) LEFT JOIN module AS m USING (module_id)"      \
    "   JOIN attribution AS a USING (sample_id)"                                             \
    "   JOIN data_object AS d ON d.object_id = a.object_id"                                  \
    "   WHERE l.line IS top.line AND l.file IS top.file AND l.function IS top.function"      \
    "   AND m.path IS top.module GROUP BY a.object_id ORDER BY sum(e.faults) DESC LIMIT 1"
/* The object that a line waits for most. */
#define WAITED_MOST                                                                          \
    " GROUP BY object_id ORDER BY total(o.stalled_ratio) DESC, sum(o.samples) DESC LIMIT 1) "
#define MOST_OF_LINE                                                                         \
    " (SELECT object_id FROM line_object_finding AS o WHERE o.line_id = top.line_id" WAITED_MOST
/* A library's line comes with the program's own line that led there. */
static const char places_sql[] =
    "WITH top AS" REPORT_PLACES("?1", "?2") ","
    " brought AS MATERIALIZED (SELECT location_id, total(used_bytes) AS bytes, count(*) AS lines"
    "  FROM line_use JOIN sample_location USING (sample_id) GROUP BY location_id),"
    " fought AS MATERIALIZED (SELECT sample_id, thread_id, addr, op, locked FROM sample"
    "  JOIN data_source USING (data_source_id) WHERE snoop IN ('hit', 'hitm') OR locked),"
    " written AS MATERIALIZED (SELECT addr, min(thread_id) AS first, max(thread_id) AS last"
    "  FROM fought WHERE op = 'store' OR locked GROUP BY addr),"
    " used AS MATERIALIZED (SELECT m.path AS module, function, function_offset, file, line,"
    "  total(bytes) / sum(lines) AS used_bytes"
    "  FROM brought LEFT JOIN location USING (location_id) LEFT JOIN module AS m USING (module_id)"
    "  GROUP BY 1, 2, 3, 4, 5 HAVING sum(lines) >= " LINES_MIN ") "
    "SELECT printf('%5.1f %%', 100 * weight),"
    " verdict || coalesce(' (' || coalesce(cache_level || '; ', '')"
    "  || (SELECT iif(certainty = 'sure', certainty, coalesce('may be ' || other_verdict,"
    "       certainty)) FROM certainty_finding WHERE subject = 'line' AND id = line_id)"
    "  || ')', ' (' || cache_level || ')', '')"
    " || iif(verdict <> 'page-faults' AND fault_ratio >= " FAULTS_SHARE_MIN ","
    "        printf(' and page faults (%.1f %%)', 100 * fault_ratio), ''), verdict,"
    " iif(file IS NULL, '', " REPORT_BASE("file") "|| coalesce(':' || line, '') || ' in ')"
    "  ||" REPORT_FUNCTION_NAME "|| iif(" IS_LOADER ", ' (ld.so)', ''),"
    " iif(verdict = 'page-faults',"
    "  (SELECT" OBJECT_NAME "|| iif(2 * sum(e.faults) < page_faults, ' and others', '')"
    FAULTED_MOST "),"
    "  (SELECT" OBJECT_NAME "|| iif(coalesce(2 * total(o.stalled_ratio) <"
    "    top.stalled_ratio - coalesce(top.fault_ratio, 0), 2 * sum(o.samples) < top.samples),"
    "    ' and others', '')"
    "   FROM line_object_finding AS o JOIN data_object USING (object_id)"
    "   WHERE o.line_id = top.line_id" WAITED_MOST "),"
    " iif(verdict = 'page-faults', NULL, g.fix), 100 * g.gain_ratio,"
    " iif(led, ', from ' ||" REPORT_BASE("caller_file") "|| coalesce(':' || caller_line, ''), ''),"
    " (SELECT used_bytes FROM used WHERE verdict IN"
    "  ('dram-contention', 'dram-latency', 'dram', 'in-core', 'remote-memory', 'tlb', 'cache')"
    "  AND line IS top.line AND file IS top.file AND function IS top.function AND module IS top.module"
    "  AND function_offset IS top.function_offset),"
    " CASE verdict WHEN 'page-faults' THEN (SELECT d.kind" FAULTED_MOST ")"
    "  WHEN 'sharing' THEN (SELECT iif(avg(f.locked OR w.first <> f.thread_id"
    "   OR w.last <> f.thread_id) >= 0.5, 'shared', '') FROM fought AS f"
    "   LEFT JOIN written AS w USING (addr) JOIN sample_location USING (sample_id)"
    "   JOIN location AS l USING (location_id) LEFT JOIN module AS m USING (module_id)"
    "   WHERE l.line IS top.line AND l.file IS top.file AND l.function IS top.function"
    "   AND m.path IS top.module)"
    "  WHEN 'cache' THEN iif(p.stride_bytes BETWEEN -64 AND 64, 'sequential', p.pattern)"
    "  ELSE p.pattern END,"
    " p.distance_iterations,"
    " (SELECT gain_ratio FROM gain_finding AS t WHERE t.line_id = top.line_id"
    "  AND fix = 'in-time' AND kind = 'estimate'),"
    " (SELECT 100 * gain_ratio FROM object_gain_finding WHERE object_id =" MOST_OF_LINE
    "  AND NOT EXISTS (SELECT 1 FROM whatif_run)),"
    " (SELECT fault_ratio >= " FAULTS_SHARE_MIN " FROM object_finding WHERE object_id ="
    MOST_OF_LINE "),"
    IS_LOADER ","
    " iif(verdict <> 'page-faults' AND fault_ratio >= " FAULTS_PART_MIN " * weight,"
    "  (SELECT d.kind" FAULTED_MOST "), NULL),"
    " (SELECT" OBJECT_NAME "FROM (SELECT object_id, total(o.stalled_ratio) AS waits"
    "   FROM line_object_finding AS o WHERE o.line_id = top.line_id GROUP BY object_id"
    "   ORDER BY total(o.samples * o.mean_latency_cycles) DESC LIMIT 1) AS holder"
    "  JOIN data_object USING (object_id)"
    "  WHERE verdict IN ('in-core', 'cache') AND 4 * holder.waits < top.stalled_ratio),"
    " cache_level"
    " FROM top LEFT JOIN (SELECT line_id, fix, max(gain_ratio) AS gain_ratio FROM gain_finding"
    "  WHERE fix NOT IN ('memory', 'in-time', 'page-faults') AND line_id IS NOT NULL"
    "  AND NOT EXISTS (SELECT 1 FROM whatif_run) GROUP BY line_id) AS g"
    "  USING (line_id) LEFT JOIN (SELECT line_id, pattern, stride_bytes, distance_iterations,"
    "   max(f.samples * latency_cycles) FROM prefetch_finding AS f"
    "   JOIN access_pattern USING (location_id) GROUP BY line_id) AS p USING (line_id)"
    " WHERE weight >= " PLACE_SHARE_MIN " ORDER BY weight DESC, line_id";
/* clang-format on */

/* Prints at most LIMIT bytes of TEXT, which is printable, with "..." for the rest. */
static void print_cut(FILE *out, const char *text, size_t limit)
{
        size_t length = 0, next;
        if (strlen(text) > limit)
                limit = limit > strlen("...") ? limit - strlen("...") : 0;
        while (text[length] &&
               length + (next = text_character(text + length, strlen(text + length))) <=
                   limit)
                length += next ? next : 1;
        fprintf(out, "%.*s%s", (int)length, text, text[length] ? "..." : "");
}

/* TEXT shortened to LIMIT bytes, if names allow; the caller frees it. NULL without memory
 * or TEXT. */
static char *shortened(char *text, size_t limit)
{
        size_t length = text ? strlen(text) : 0;
        char *shorter = text ? short_name(text, &length, limit) : NULL;
        free(text);
        return shorter;
}

static size_t room_for(size_t width, size_t used)
{
        return width > used + NAME_ROOM_MIN ? width - used : NAME_ROOM_MIN;
}

struct place_names {
        char *place, *caller, *cause, *object;
};

/* Prints place, cause and object in about ROOM columns. */
static void print_names(FILE *out, struct place_names *names, bool timed, size_t room)
{
        const char *cause = names->cause ? names->cause : "?";
        const char *caller = names->caller ? names->caller : "";
        static const char object[] = ", object ";
        room = room_for(room, timed ? 0 : strlen(": ") + strlen(cause));
        room = room_for(room, strlen(caller));
        names->place = shortened(names->place, room);
        const size_t placed = names->place ? strlen(names->place) : 1;
        print_cut(out, names->place ? names->place : "?", room);
        fputs(caller, out);
        if (!timed)
                fprintf(out, ": %s", cause);
        if (!names->object || placed + NAME_ROOM_MIN > room)
                return;
        fputs(object, out);
        print_cut(out, names->object, room - placed - strlen(object));
}

/* Prints one line of about WIDTH columns: share, place, cause, object. */
static void print_place(FILE *out, sqlite3_stmt *row, bool timed, size_t width)
{
        const char *share = statement_text(row, 0);
        struct place_names names = {statement_printable(row, 3),
                                    statement_printable(row, 7),
                                    statement_printable(row, 1),
                                    shortened(statement_printable(row, 4), OBJECT_BYTES)};
        fprintf(out, "%s  ", share);
        print_names(out, &names, timed, room_for(width, strlen(share) + 2));
        putc('\n', out);
        free(names.caller);
        free(names.cause);
        free(names.place);
        free(names.object);
}

/* Prints how much of the moved data ROW's place needs, if it is little. */
static void print_line_use(FILE *out, sqlite3_stmt *row)
{
        const double used_bytes = sqlite3_column_double(row, 8);
        if (sqlite3_column_type(row, 8) != SQLITE_NULL && used_bytes <= USED_BYTES_MAX)
                fprintf(out, " Of each cache line %.0f of 64 bytes are used.",
                        used_bytes);
}

/* Prints the machine fix with the highest expected gain for ROW's place. */
static void print_gain(FILE *out, sqlite3_stmt *row)
{
        const char *condition = report_fix_condition(statement_text(row, 5));
        const double percent = sqlite3_column_double(row, 6);
        if (condition && percent >= 1)
                fprintf(out, " Estimate: about %.0f %% fewer cycles if %s.", percent,
                        condition);
}

/* Where buffers or bandwidth are short, data comes no earlier if it is asked for earlier.
 */
static bool latency_matters(const char *verdict)
{
        return strcmp(verdict, "dram-latency") == 0 || strcmp(verdict, "dram") == 0 ||
               strcmp(verdict, "cache") == 0;
}

/* Prints whether a prefetch can be in time for ROW's place, if there it would help. */
static void print_prefetch(FILE *out, sqlite3_stmt *row)
{
        const char *pattern = statement_text(row, 9);
        const int64_t distance = sqlite3_column_int64(row, 10);
        if (!latency_matters(statement_text(row, 2)) ||
            strcmp(statement_text(row, 5), "cache-sets") == 0 ||
            sqlite3_column_double(row, 11) < PREFETCH_GAIN_MIN)
                return;
        if (distance > 0)
                fprintf(out,
                        " A prefetch %" PRId64 " iterations ahead would be in time"
                        " (%s).",
                        distance,
                        strcmp(pattern, "index") == 0 ? "the address is from an index"
                        : strcmp(pattern, "computed") == 0 ? "the address is computed"
                                                           : "the address has a stride");
        else if (strcmp(pattern, "chain") == 0)
                fputs(" No prefetch can be in time: each load gives the address of the "
                      "next.",
                      out);
}

/* Prints the object whose accesses take longest, if ROW's place waits for another one. */
static void print_holder(FILE *out, sqlite3_stmt *row)
{
        char *object = shortened(statement_printable(row, 16), OBJECT_BYTES);
        if (object)
                fprintf(out,
                        " Accesses to %s keep the buffers full: improve these first.",
                        object);
        free(object);
}

/* Prints what huge pages would gain for the object of ROW's place. */
static void print_huge_pages(FILE *out, sqlite3_stmt *row)
{
        const double percent = sqlite3_column_double(row, 12);
        if (percent < 1 || strcmp(statement_text(row, 2), "page-faults") == 0)
                return;
        char *object = shortened(statement_printable(row, 4), OBJECT_BYTES);
        fprintf(out, " Estimate: %.0f %% fewer cycles with huge pages for %s%s.", percent,
                object ? object : "it",
                sqlite3_column_int(row, 13) ? ", and fewer page faults" : "");
        free(object);
}

/* Prints what helps against ROW's page faults, unless huge pages were just said to. */
static void print_faults(FILE *out, sqlite3_stmt *row)
{
        const bool said =
            sqlite3_column_double(row, 12) >= 1 && sqlite3_column_int(row, 13);
        if (!said && sqlite3_column_type(row, 15) != SQLITE_NULL)
                fprintf(out, " Against its page faults: %s.",
                        report_remedy(report_advice_on("page-faults"),
                                      statement_text(row, 15)));
}

/* A loop that the compiler has unrolled has a long stride, and uses whole lines. */
static const char *pattern_of(sqlite3_stmt *row)
{
        const char *pattern = statement_text(row, 9);
        const bool whole = sqlite3_column_double(row, 8) >= USED_WHOLE_MIN;
        return whole && strcmp(pattern, "stride") == 0 ? "sequential" : pattern;
}

static int write_remedy(FILE *out, sqlite3_stmt *row, const struct report_advice *advice,
                        size_t width)
{
        char *text = NULL;
        size_t length;
        FILE *memory = open_memstream(&text, &length);
        if (!memory)
                return -ENOMEM;
        char *cache = statement_printable(row, 17);
        if (cache)
                fprintf(memory, "The data came from %s: ", cache);
        else
                fprintf(memory, "%c%s: ", toupper((unsigned char)*advice->meaning),
                        advice->meaning + 1);
        free(cache);
        fprintf(memory, "%s.", report_remedy(advice, pattern_of(row)));
        print_holder(memory, row);
        print_line_use(memory, row);
        print_gain(memory, row);
        print_prefetch(memory, row);
        print_huge_pages(memory, row);
        print_faults(memory, row);
        const int code = fclose(memory) ? -ENOMEM : 0;
        if (!code)
                prose_indented(out, text, REMEDY_INDENT, width);
        free(text);
        return code;
}

/* Adds each remedy once, for two causes at most. */
static int add_remedy(struct brief *brief, sqlite3_stmt *row, const char *said[REMEDIES])
{
        const char *verdict = statement_text(row, 2);
        const struct report_advice *advice = report_advice_on(verdict);
        for (int i = 0; advice && i < REMEDIES; i++) {
                FILE *text;
                if (said[i] == advice->verdict)
                        return 0;
                if (said[i])
                        continue;
                said[i] = advice->verdict;
                int code =
                    brief_block(brief, i ? BRIEF_LAST_REMEDY : BRIEF_REMEDY, &text);
                if (!code && write_remedy(text, row, advice, brief->width))
                        code = diag_no_memory(brief->diag);
                return code ? code : brief_done(brief, 0);
        }
        return 0;
}

static int add_place(struct brief *brief, sqlite3_stmt *row, bool first,
                     const char *said[REMEDIES])
{
        const bool timed = brief->summary->timed;
        FILE *text;
        int code = brief_block(brief, first ? BRIEF_FIRST_PLACE : BRIEF_PLACE, &text);
        if (code)
                return code;
        print_place(text, row, timed, brief->width);
        code = brief_done(brief, 0);
        return code || timed || sqlite3_column_int(row, 14)
                   ? code
                   : add_remedy(brief, row, said);
}

static int add_places(struct brief *brief, bool *any)
{
        const char *said[REMEDIES] = {NULL};
        sqlite3_stmt *rows;
        int code = statement_prepare(brief->db, places_sql, &rows, brief->diag);
        if (code)
                return code;
        sqlite3_bind_int(rows, 1, PLACES);
        sqlite3_bind_int(rows, 2, brief->summary->timed);
        while (!code && (code = statement_next(brief->db, rows, brief->diag)) > 0) {
                code = add_place(brief, rows, !*any, said);
                *any = true;
        }
        sqlite3_finalize(rows);
        return code;
}

/* The user cannot change the lines of the loader. */
static int say_start(struct db *db, FILE *text, const struct report_summary *summary,
                     struct diag *diag)
{
        static const char sql[] =
            "SELECT 100 * total(weight) / (SELECT total(weight) FROM" REPORT_WEIGHED_LINES
            ") AS share FROM" REPORT_WEIGHED_LINES "WHERE" IS_LOADER "HAVING share >= 50";
        sqlite3_stmt *row;
        const int code = statement_first(db, sql, &row, diag);
        (void)summary;
        if (code > 0)
                fprintf(text,
                        "%.0f %% of these waits are the dynamic loader's (ld.so), which "
                        "starts programs: little else was recorded.",
                        sqlite3_column_double(row, 0));
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

static int say_set_conflicts(struct db *db, FILE *text,
                             const struct report_summary *summary, struct diag *diag)
{
        (void)summary;
        return report_say_set_conflicts(db, text, diag);
}

static void print_advice_on_samples(FILE *out, const struct report_summary *summary,
                                    const char *why)
{
        if (summary->timed)
                fprintf(out,
                        "%s (%" PRId64 "): record a longer run, or with a higher "
                        "--freq.\n",
                        why, summary->samples);
        else
                fprintf(out,
                        "%s (%" PRId64 " of accesses): record a longer run, or with a "
                        "smaller --period.\n",
                        why, summary->memory_samples);
}

bool report_has_too_few(const struct report_summary *summary)
{
        return samples_are_few(summary) &&
               !(summary->fault_ratio >= VERDICT_COST_RATIO_MIN);
}

void report_print_too_few(FILE *out, const struct report_summary *summary)
{
        if (summary->selection)
                fprintf(out,
                        "What is selected has too few samples for a table (%" PRId64
                        "): select more.\n",
                        summary->timed ? summary->samples : summary->memory_samples);
        else if (summary->memory_samples == 0 && !summary->timed && summary->numbers &&
                 strcmp(summary->numbers, "imported") == 0)
                fputs("No sample is of a memory access: use 'perf mem record' before "
                      "import.\n",
                      out);
        else
                print_advice_on_samples(out, summary, "Too few samples for a table");
}

/* An object may have samples enough where none of its lines has. */
static int print_judged_object(struct db *db, FILE *out, struct diag *diag)
{
        static const char sql[] =
            "SELECT printf('%5.1f %%', 100 * stalled_ratio), name, verdict,"
            " iif(verdict = 'sharing', 'cacheline', 'object')"
            " FROM object_finding JOIN data_object USING (object_id)"
            " WHERE verdict NOT IN ('none', 'too-few-samples')"
            " AND stalled_ratio >= " UNJUDGED_SHARE_MIN
            " ORDER BY stalled_ratio DESC, object_id LIMIT 1";
        sqlite3_stmt *row;
        const int code = statement_first(db, sql, &row, diag);
        if (code > 0) {
                char *object = statement_printable(row, 1);
                fprintf(out, "%s  in %s: %s (--by %s)\n", statement_text(row, 0),
                        object ? object : "?", statement_text(row, 2),
                        statement_text(row, 3));
                free(object);
        }
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

static int print_no_place(struct db *db, FILE *out, const struct report_summary *summary,
                          struct diag *diag)
{
        static const char sql[] =
            "SELECT max(weight) >= " UNJUDGED_SHARE_MIN
            ", max(weight) >= " PLACE_SHARE_MIN " FROM" REPORT_WEIGHED_LINES
            "WHERE verdict = 'too-few-samples'";
        sqlite3_stmt *row;
        const int code = statement_first(db, sql, &row, diag);
        const bool unjudged = sqlite3_column_int(row, 0);
        const bool unjudged_little = sqlite3_column_int(row, 1);
        sqlite3_finalize(row);
        if (code < 0)
                return code;
        if (report_has_too_few(summary))
                report_print_too_few(out, summary);
        else if (unjudged) {
                print_advice_on_samples(out, summary, "Too few samples to judge lines");
                return print_judged_object(db, out, diag);
        } else if (unjudged_little)
                fputs("No line has 5 % of the time or more.\n", out);
        else
                fputs("No line has 1 % of the time or more.\n", out);
        return 0;
}

/* Prints processes that were not recorded, or only in part. */
static int print_missing_processes(struct db *db, FILE *out,
                                   const struct report_summary *summary,
                                   struct diag *diag)
{
        (void)summary;
        static const char sql[] =
            "SELECT value, substr(kind, length(unit) + 1) FROM ledger"
            " WHERE stage = 'record' AND unit = 'processes'"
            " AND kind LIKE 'processes%' AND value > 0 ORDER BY kind";
        sqlite3_stmt *rows;
        int code = statement_prepare(db, sql, &rows, diag);
        if (code)
                return code;
        while ((code = statement_next(db, rows, diag)) > 0) {
                char *what = statement_printable(rows, 1);
                bool runs = what && strcmp(what, " left running") == 0;
                bool ended = what && strcmp(what, " ended by a signal") == 0;
                fputs(runs    ? "When recording ended, still running: "
                      : ended ? ""
                              : "Missing: ",
                      out);
                prose_counted(out, sqlite3_column_int64(rows, 0), "processes");
                fprintf(out, "%s.\n", what && !runs ? what : "");
                free(what);
        }
        sqlite3_finalize(rows);
        return code;
}

/* Passes the text of each gain to TAKE. */
static int each_gain(struct db *db,
                     int (*take)(void *context, const char *fix,
                                 const struct report_gain *gain),
                     void *context, struct diag *diag)
{
        sqlite3_stmt *rows;
        int code = statement_prepare(
            db,
            "SELECT fix, 100 * gain_ratio, 100 * gain_low, 100 * gain_high"
            " FROM gain_finding WHERE line_id IS NULL AND kind = 'recorded'"
            " ORDER BY gain_ratio DESC, fix",
            &rows, diag);
        while (!code && (code = statement_next(db, rows, diag)) > 0) {
                char *fix = statement_printable(rows, 0);
                code = take(context, fix ? fix : "?",
                            &(struct report_gain){sqlite3_column_double(rows, 1),
                                                  sqlite3_column_double(rows, 2),
                                                  sqlite3_column_double(rows, 3)});
                free(fix);
        }
        sqlite3_finalize(rows);
        return code;
}

static int add_gain(void *context, const char *fix, const struct report_gain *gain)
{
        struct brief *brief = context;
        FILE *text;
        int code = brief_block(brief, BRIEF_GAIN, &text);
        if (code)
                return code;
        report_say_gain(text, fix, gain);
        return brief_done(brief, 0);
}

static int print_gain_line(void *context, const char *fix, const struct report_gain *gain)
{
        report_say_gain(context, fix, gain);
        return 0;
}

int report_print_gains(struct db *db, FILE *out, struct diag *diag)
{
        return each_gain(db, print_gain_line, out, diag);
}

/* ---- all lines ---- */

static int add_head(struct brief *brief)
{
        const struct report_summary *summary = brief->summary;
        FILE *text;
        int code = brief_block(brief, BRIEF_HEAD, &text);
        if (code)
                return code;
        fputs("memlag: ", text);
        report_print_provenance(text, summary);
        fputs(": ", text);
        print_cut(text, summary->command ? summary->command : "unknown command",
                  COMMAND_BYTES);
        putc('\n', text);
        code = brief_done(brief, 0);
        return !code && report_add_state(&brief->lines, summary)
                   ? diag_no_memory(brief->diag)
                   : code;
}

/* Adds what PRINT prints. */
static int add_lines(struct brief *brief, enum brief_rank rank,
                     int (*print)(struct db *, FILE *, const struct report_summary *,
                                  struct diag *))
{
        FILE *text;
        int code = brief_block(brief, rank, &text);
        return code ? code
                    : brief_done(brief,
                                 print(brief->db, text, brief->summary, brief->diag));
}

static int add_by_line(struct brief *brief)
{
        bool any = false;
        int code = add_sentences(brief, BRIEF_FIRST_PLACE, say_start);
        if (!code)
                code = add_places(brief, &any);
        if (!code)
                code = add_sentences(brief, BRIEF_NOTE, say_set_conflicts);
        if (!code && !any)
                code = add_lines(brief, BRIEF_FIRST_PLACE, print_no_place);
        if (!code)
                code = add_lines(brief, BRIEF_MEASURED, report_print_agreement);
        if (!code)
                code = add_lines(brief, BRIEF_NOTE, report_print_disagreement);
        return code ? code : each_gain(brief->db, add_gain, brief, brief->diag);
}

static int add_more(struct brief *brief)
{
        const char *name = brief->options->file ? brief->options->file : "memlag.db";
        char *file = words_join((const char *const[]){name, NULL});
        FILE *text;
        if (!file)
                return diag_no_memory(brief->diag);
        int code = brief_block(brief, BRIEF_MORE, &text);
        if (code) {
                free(file);
                return code;
        }
        fprintf(text,
                "More: memlag report %s [--by object|type|function|interval] "
                "[--verbose], memlag annotate -i %s\n",
                file, file);
        free(file);
        return brief_done(brief, 0);
}

int report_print_brief(struct db *db, const struct report_options *options,
                       const struct report_summary *summary, FILE *out, struct diag *diag)
{
        struct brief brief = {db, options, summary, .width = WIDTH_MAX, .diag = diag};
        if (options->width && options->width < WIDTH_MAX)
                brief.width = options->width;
        int code = add_head(&brief);
        if (!code)
                code = add_sentences(&brief, BRIEF_TIME, say_time);
        if (!code)
                code = add_sentences(&brief, BRIEF_PLACE, say_further);
        if (!code && strcmp(options->kind->name, "line") == 0)
                code = add_by_line(&brief);
        if (!code)
                code = add_lines(&brief, BRIEF_STATE, print_missing_processes);
        if (!code && options->summary_only)
                code = add_more(&brief);
        if (!code)
                brief_print(&brief.lines, LINES_MAX, out);
        brief_free(&brief.lines);
        return code;
}
