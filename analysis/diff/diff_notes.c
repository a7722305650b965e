/* SPDX-License-Identifier: MIT */
/* Notes on differences in how two recordings were made. Compares no measurements. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "diff.h"
#include "report_sql.h"
#include "statement.h"
#include "text.h"

static const struct {
        const char *key;   /* key of table run */
        const char *name;  /* name for people */
        const char *means; /* consequence for the comparison; NULL: none */
} settings[] = {
    {"command", "command", NULL},
    {"cpu", "processor", "their cycles are not comparable"},
    {"source", "source", "they sample different loads"},
    {"sim_set", "parameters of the model", "not only the program changed"},
    {"sim_detail", "detail of the model", "not only the program changed"},
    {"sim_prefetch", "prefetchers of the model", "not only the program changed"},
    {"ldlat_cycles", "least latency that was sampled",
     "stalls of loads between the two are in one only"},
    {"period_loads", "loads per sample", "figures are scaled"},
    {"frequency_hz", "frequency of samples", "figures are scaled"},
    {"interval_ns", "length of intervals, ns", NULL},
};

/* The value of KEY in SIDE, printable, which the caller frees; "none" without a value. */
static char *setting_of(const struct diff_side *side, const char *key)
{
        char *raw = db_run_text(side->db, key);
        char *text =
            raw ? text_printable(raw, strnlen(raw, TEXT_SHOWN_BYTES)) : strdup("none");
        free(raw);
        return text;
}

/* Two recordings and their roles. */
struct compared {
        const struct diff_side *one, *other;
        const char *one_is, *other_is;
};

/* Adds a sentence in printf format; returns 0 or -ENOMEM. */
__attribute__((format(printf, 2, 3))) static int note(struct diff_notes *notes,
                                                      const char *format, ...)
{
        if (array_reserve(&notes->texts, &notes->capacity, notes->count,
                          sizeof(*notes->texts)))
                return -ENOMEM;
        va_list arguments;
        va_start(arguments, format);
        int length = vasprintf(&notes->texts[notes->count], format, arguments);
        va_end(arguments);
        if (length < 0)
                return -ENOMEM;
        notes->count++;
        return 0;
}

/* Shorter texts are printed in full. */
enum { WHOLE_BYTES = 40 };

/* "... -n 5 ...": the part of TEXT without its first BEGIN and last END bytes, which
 * another text shares. The caller frees it. */
static char *between(const char *text, size_t begin, size_t end)
{
        char *shown = NULL;
        size_t length = strlen(text) - begin - end;
        if (asprintf(&shown, "%s%.*s%s", begin ? "... " : "", (int)length, text + begin,
                     end ? " ..." : "") < 0)
                return NULL;
        return shown;
}

/* Reduces two long texts to their differing words; returns 0 or -ENOMEM. */
static int leave_differing(char **one, char **other)
{
        const char *a = *one, *b = *other;
        size_t length = strlen(a), other_length = strlen(b), begin = 0, end = 0;
        size_t least = length < other_length ? length : other_length;
        if (length <= WHOLE_BYTES && other_length <= WHOLE_BYTES)
                return 0;
        for (size_t i = 0; i < least && a[i] == b[i]; i++)
                if (a[i] == ' ')
                        begin = i + 1;
        for (size_t i = 0;
             i < least - begin && a[length - 1 - i] == b[other_length - 1 - i]; i++)
                if (a[length - 1 - i] == ' ')
                        end = i + 1;
        char *shown = between(a, begin, end), *other_shown = between(b, begin, end);
        if (!shown || !other_shown) {
                free(shown);
                free(other_shown);
                return -ENOMEM;
        }
        free(*one);
        free(*other);
        *one = shown;
        *other = other_shown;
        return 0;
}

static int note_setting(struct diff_notes *notes, const struct compared *compared,
                        size_t i)
{
        char *one = setting_of(compared->one, settings[i].key);
        char *other = setting_of(compared->other, settings[i].key);
        int code = one && other ? 0 : -ENOMEM;
        const char *means = settings[i].means;
        bool differ = !code && strcmp(one, other) != 0;
        if (differ)
                code = leave_differing(&one, &other);
        if (differ && !code)
                code = note(notes, "The recordings differ in %s: %s %s, %s %s%s%s.",
                            settings[i].name, one, compared->one_is, other,
                            compared->other_is, means ? "; " : "", means ?: "");
        free(one);
        free(other);
        return code;
}

static int note_settings(struct diff_notes *notes, const struct compared *compared)
{
        int code = 0;
        for (size_t i = 0; !code && i < sizeof(settings) / sizeof(settings[0]); i++)
                code = note_setting(notes, compared, i);
        return code;
}

static int note_missing(struct diff_notes *notes, const struct diff_side *side)
{
        const struct report_summary *summary = &side->summary;
        char *name = text_printable(side->file, strlen(side->file));
        int code = name ? 0 : -ENOMEM;
        if (!code && (summary->cut_off || summary->failure))
                code =
                    note(notes, "%s is not whole: its figures are of a part of the run.",
                         name);
        else if (!code && summary->lost > 0)
                code =
                    note(notes, "%s lost %" PRId64 " records: its rows have too little.",
                         name, summary->lost);
        free(name);
        return code;
}

static int note_equal(struct diff_notes *notes, const struct diff_equal *equal)
{
        char *file = text_printable(equal->file, strlen(equal->file));
        char *same_as = text_printable(equal->same_as, strlen(equal->same_as));
        int code = file && same_as ? note(notes,
                                          "%s has the same samples as %s: they count "
                                          "once, as one recording.",
                                          file, same_as)
                                   : -ENOMEM;
        free(same_as);
        free(file);
        return code;
}

/* Modules with their builds (one path may have several); with ?1, this module only. */
#define BUILDS                                                                           \
        " FROM (SELECT" REPORT_BASE(                                                     \
            "path") "AS name, hex(build_id) AS build FROM module"                        \
                    "       WHERE build_id IS NOT NULL AND path NOT GLOB '[[]*' ORDER "  \
                    "BY build)"

/* The names of files whose build differs between ONE and OTHER, which both have; ""
 * without such files. The caller frees NAMES. */
static int list_builds(const struct diff_side *one, const struct diff_side *other,
                       char **names, struct diag *diag)
{
        sqlite3_stmt *all = NULL, *same = NULL;
        char *list = strdup("");
        int code = list ? 0 : diag_no_memory(diag);
        if (!code)
                code = statement_prepare(
                    one->db, "SELECT name, group_concat(build)" BUILDS " GROUP BY name",
                    &all, diag);
        if (!code)
                code = statement_prepare(other->db,
                                         "SELECT group_concat(build) <> ?2" BUILDS
                                         " WHERE name = ?1",
                                         &same, diag);
        while (!code && (code = statement_next(one->db, all, diag)) > 0) {
                sqlite3_reset(same);
                sqlite3_bind_value(same, 1, sqlite3_column_value(all, 0));
                sqlite3_bind_value(same, 2, sqlite3_column_value(all, 1));
                code = statement_next(other->db, same, diag);
                if (code <= 0 || !sqlite3_column_int(same, 0)) {
                        code = code < 0 ? code : 0;
                        continue;
                }
                char *longer = NULL;
                const char *name = statement_text(all, 0);
                code = asprintf(&longer, "%s%s%s", list, *list ? ", " : "", name) < 0
                           ? diag_no_memory(diag)
                           : 0;
                if (code)
                        break;
                free(list);
                list = longer;
        }
        sqlite3_finalize(all);
        sqlite3_finalize(same);
        *names = code ? NULL : text_printable(list, strlen(list));
        free(list);
        return code || *names ? code : diag_no_memory(diag);
}

/* Lines of one side are joined by number, which may have moved in another build. */
static int note_builds(struct diff_notes *notes, const struct diff_side *side,
                       const struct diff_side *other, struct diag *diag)
{
        char *names;
        int code = list_builds(side, other, &names, diag);
        if (code || !*names) {
                free(names);
                return code;
        }
        char *one_is = text_printable(side->file, strlen(side->file));
        char *other_is = text_printable(other->file, strlen(other->file));
        if (!one_is || !other_is ||
            note(notes,
                 "The recordings of a side differ in the build of %s: %s and %s. Their "
                 "lines are joined by number, which may be wrong.",
                 names, one_is, other_is))
                code = diag_no_memory(diag);
        free(one_is);
        free(other_is);
        free(names);
        return code;
}

/* Counts the names in rows of a module. Leaves out memlag and the kernel. */
#define NAMED                                                                            \
        " count(function), count(line) FROM (SELECT" REPORT_BASE(                        \
            "module") "AS name,"                                                         \
                      "  function, line, latency_share FROM line_finding"                \
                      "  WHERE module NOT GLOB '[[]*')"

/* Share of the latency; a module with less is not mentioned. */
#define NAMELESS_SHARE_MIN "0.01"

static const char nameless_sql[] =
    "SELECT name," NAMED " GROUP BY name HAVING (count(function) = 0 OR count(line) = 0)"
    " AND sum(latency_share) >= " NAMELESS_SHARE_MIN " ORDER BY sum(latency_share) DESC";
static const char named_sql[] = "SELECT" NAMED " WHERE name = ?1";

/* Notes that ONE lacks functions, or lines, of the module in ROW. HAS looks up the other
 * recording, which has some. */
static int note_nameless(struct diff_notes *notes, const struct compared *compared,
                         bool by_line, sqlite3_stmt *row, sqlite3_stmt *has)
{
        bool functions =
            sqlite3_column_int64(row, 1) == 0 && sqlite3_column_int64(has, 0) > 0;
        bool lines = by_line && sqlite3_column_int64(row, 2) == 0 &&
                     sqlite3_column_int64(has, 1) > 0;
        if (!functions && !lines)
                return 0;
        char *name = statement_printable(row, 0);
        char *file = text_printable(compared->one->file, strlen(compared->one->file));
        int code =
            name && file
                ? note(notes,
                       "%s has no %s %s, so its rows match none %s. 'memlag "
                       "symbolize %s' finds them if the recorded file and its debug "
                       "information are there.",
                       name, functions ? "names" : "lines", compared->one_is,
                       compared->other_is, file)
                : -ENOMEM;
        free(name);
        free(file);
        return code;
}

/* Finds modules without names in ONE only: their rows seem to be new or gone. */
static int note_names(struct diff_notes *notes, const struct compared *compared,
                      const struct diff_kind *kind, struct diag *diag)
{
        sqlite3_stmt *row = NULL, *has = NULL;
        int code = statement_prepare(compared->one->db, nameless_sql, &row, diag);
        if (!code)
                code = statement_prepare(compared->other->db, named_sql, &has, diag);
        while (!code && (code = statement_next(compared->one->db, row, diag)) > 0) {
                sqlite3_reset(has);
                sqlite3_bind_value(has, 1, sqlite3_column_value(row, 0));
                code = statement_next(compared->other->db, has, diag);
                if (code > 0 && note_nameless(notes, compared, kind->line, row, has))
                        code = diag_no_memory(diag);
                else if (code > 0)
                        code = 0;
        }
        sqlite3_finalize(row);
        sqlite3_finalize(has);
        return code;
}

/* The same notes for both sides, when rows are joined by name. */
static int note_names_of_sides(struct diff_notes *notes, const struct diff *diff,
                               struct diag *diag)
{
        const struct compared sides = {&diff->before, &diff->after, "before", "after"};
        const struct compared back = {&diff->after, &diff->before, "after", "before"};
        if (!diff->kind)
                return 0;
        int code = note_names(notes, &sides, diff->kind, diag);
        return code ? code : note_names(notes, &back, diff->kind, diag);
}

/* Notes on SIDE's recordings, which should be of the same run. */
static int note_side(struct diff_notes *notes, const struct diff_side *side,
                     struct diag *diag)
{
        int code = note_missing(notes, side);
        for (size_t i = 0; !code && i < side->equal_count; i++)
                code = note_equal(notes, &side->equals[i]);
        for (size_t i = 0; !code && i < side->other_count; i++) {
                const struct compared compared = {
                    side, &side->others[i], "in one recording of a side", "in another"};
                code = note_settings(notes, &compared);
                if (!code)
                        code = note_missing(notes, &side->others[i]);
                if (code)
                        break;
                int told = note_builds(notes, side, &side->others[i], diag);
                if (told)
                        return told;
        }
        return code ? diag_no_memory(diag) : 0;
}

static int note_unjoined(struct diff_notes *notes, const struct diff *diff,
                         struct diag *diag)
{
        if (!diff->unjoined)
                return 0;
        const char *raw = diff->unjoined->names[diff->kind->function] ?: "?";
        char *name = text_printable(raw, strlen(raw));
        int code = name ? 0 : -ENOMEM;
        if (!code && diff->unjoined_count > 1)
                code = note(notes,
                            "Not matched: functions of %zu names, such as %s. Different "
                            "numbers of them were sampled before and after.",
                            diff->unjoined_count, name);
        else if (!code)
                code = note(notes,
                            "Not matched: functions of the name %s. Different numbers of "
                            "them were sampled before and after.",
                            name);
        free(name);
        return code ? diag_no_memory(diag) : 0;
}

int diff_notes_read(const struct diff *diff, struct diff_notes *notes, struct diag *diag)
{
        const struct compared sides = {&diff->before, &diff->after, "before", "after"};
        int code = note_settings(notes, &sides);
        if (code)
                return diag_no_memory(diag);
        code = note_names_of_sides(notes, diff, diag);
        if (!code)
                code = note_unjoined(notes, diff, diag);
        if (!code)
                code = note_side(notes, &diff->before, diag);
        return code ? code : note_side(notes, &diff->after, diag);
}

void diff_notes_free(struct diff_notes *notes)
{
        for (size_t i = 0; i < notes->count; i++)
                free(notes->texts[i]);
        free(notes->texts);
}
