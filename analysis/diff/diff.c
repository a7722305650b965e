/* SPDX-License-Identifier: MIT */
/* Compares two recordings: matches their rows and computes the differences. */
#include "diff.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "diff_match.h"
#include "report_sql.h"
#include "statement.h"

/* ---- what can be compared ---- */

static const char *known(const char *text)
{
        return text ? text : "unknown";
}

static int refuse_samples(const struct diff_side *side, struct diag *diag)
{
        return diag_set(diag, -EINVAL,
                        "%s does not tell how many loads a sample stands for (it was "
                        "recorded by frequency), so that its rows cannot be compared; "
                        "--by run compares what was counted",
                        side->file);
}

/* Recording I of SIDE, counted from 0; NULL: no such recording. */
static const struct diff_side *recording(const struct diff_side *side, size_t i)
{
        if (i == 0)
                return side;
        return i <= side->other_count ? &side->others[i - 1] : NULL;
}

/* Changes FIGURE to a measure that SIDE's rows also have. A recording without samples is
 * no obstacle. */
static int lower_figure(const struct diff_side *side, enum diff_figure *figure,
                        struct diag *diag)
{
        const struct diff_side *one;
        for (size_t i = 0; (one = recording(side, i)); i++) {
                enum diff_figure own = diff_side_figure(one);
                if (!one->summary.memory_samples)
                        continue;
                if (own > *figure)
                        *figure = own;
                if (own == DIFF_NONE)
                        return refuse_samples(one, diag);
        }
        return 0;
}

/* Adding up latencies needs the number of loads per sample. */
static int check_latencies(const struct diff_side *side, struct diag *diag)
{
        const struct diff_side *one;
        for (size_t i = 0; (one = recording(side, i)); i++)
                if (one->summary.memory_samples && !isfinite(one->loads_per_sample))
                        return refuse_samples(one, diag);
        return 0;
}

static int choose_figure(struct diff *diff, struct diag *diag)
{
        diff->figure = diff->before.summary.timed ? DIFF_STALLED_NS : DIFF_STALLED_CYCLES;
        int code = lower_figure(&diff->before, &diff->figure, diag);
        if (!code)
                code = lower_figure(&diff->after, &diff->figure, diag);
        if (code || diff->figure != DIFF_LATENCY_CYCLES)
                return code;
        code = check_latencies(&diff->before, diag);
        return code ? code : check_latencies(&diff->after, diag);
}

/* Whether SIDE's recordings are of the same kind as BEFORE, the reference for all. */
static int check_side(const struct diff_side *before, const struct diff_side *side,
                      bool rows, struct diag *diag)
{
        const char *numbers = known(before->summary.numbers);
        bool timed = before->summary.timed;
        const struct diff_side *one;
        for (size_t i = 0; (one = recording(side, i)); i++) {
                const char *others = known(one->summary.numbers);
                if (strcmp(numbers, others) != 0)
                        return diag_set(diag, -EINVAL,
                                        "%s has %s numbers and %s has %s ones: they "
                                        "cannot be compared",
                                        before->file, numbers, one->file, others);
                if (rows && timed != one->summary.timed)
                        return diag_set(diag, -EINVAL,
                                        "%s is of timer samples and %s is not: time at "
                                        "loads cannot be compared with latencies",
                                        timed ? before->file : one->file,
                                        timed ? one->file : before->file);
        }
        return 0;
}

/* ---- the program, which may be renamed between the recordings ---- */

/* The names of the programs that ran in the recording ONE, separated and enclosed by
 * slashes. */
static int read_own_programs(const struct diff_side *one, char **programs,
                             struct diag *diag)
{
        static const char sql[] =
            "SELECT '/' || group_concat(name, '/') || '/' FROM (SELECT "
            "DISTINCT" REPORT_BASE("executable") "AS name FROM process"
                                                 " WHERE executable IS NOT NULL AND "
                                                 "executable NOT GLOB '[[]*')";
        sqlite3_stmt *row;
        int code = statement_first(one->db, sql, &row, diag);
        *programs = code < 0 ? NULL : strdup(statement_text(row, 0));
        sqlite3_finalize(row);
        if (code < 0)
                return code;
        return *programs ? 0 : diag_no_memory(diag);
}

/* The program names of all recordings of SIDE; names may repeat. */
static int read_programs(const struct diff_side *side, char **programs, struct diag *diag)
{
        int code = read_own_programs(side, programs, diag);
        for (size_t i = 0; !code && i < side->other_count; i++) {
                char *own = NULL, *both = NULL;
                code = read_own_programs(&side->others[i], &own, diag);
                if (!code && asprintf(&both, "%s%s", *programs, own) < 0) {
                        both = NULL;
                        code = diag_no_memory(diag);
                }
                free(own);
                if (both) {
                        free(*programs);
                        *programs = both;
                }
        }
        return code;
}

static bool has_program(const char *programs, const char *name, size_t length)
{
        for (const char *at = programs; (at = strchr(at, '/')) && at[1]; at++)
                if (strncmp(at + 1, name, length) == 0 && at[1 + length] == '/')
                        return true;
        return false;
}

/* A copy of the only name in PROGRAMS that OTHERS lack; NULL: none or several. */
static char *only_own(const char *programs, const char *others)
{
        const char *own = NULL;
        size_t own_length = 0, count = 0;
        for (const char *at = programs; *at && at[1]; at += 1 + strcspn(at + 1, "/")) {
                size_t length = strcspn(at + 1, "/");
                bool again = own && own_length == length && !strncmp(own, at + 1, length);
                if (!length || again || has_program(others, at + 1, length))
                        continue;
                own = at + 1;
                own_length = length;
                count++;
        }
        return count == 1 ? strndup(own, own_length) : NULL;
}

static int read_rows(struct diff *diff, struct diag *diag)
{
        char *before = NULL, *after = NULL, *from = NULL, *to = NULL;
        int code = read_programs(&diff->before, &before, diag);
        if (!code)
                code = read_programs(&diff->after, &after, diag);
        if (!code) {
                from = only_own(before, after);
                to = only_own(after, before);
                code = diff_rows_read(&diff->before, diff->kind, diff->figure,
                                      to ? from : NULL, from ? to : NULL, "before", diag);
        }
        if (!code)
                code = diff_rows_read(&diff->after, diff->kind, diff->figure, NULL, NULL,
                                      "after", diag);
        free(before);
        free(after);
        free(from);
        free(to);
        return code;
}

/* ---- pairs ---- */

/* The weight of a sampled load in SIDE's means. */
static double weight(const struct diff_side *side, bool with_loads)
{
        return (with_loads ? side->loads_per_sample : 1) /
               (double)(1 + side->other_count);
}

/* The event size for a row without samples in SIDE that is ROW in OTHER. Takes the larger
 * of the side's event size and the row's: a smaller event would give a range narrower
 * than chance. */
static double event_of_missing(const struct diff_side *side,
                               const struct diff_side *other, const struct diff_row *row)
{
        bool with_loads =
            side->loads_per_sample > 0 && other->loads_per_sample > 0; /* if known */
        double scale = weight(side, with_loads) / weight(other, with_loads);
        double of_side = side->event ?: other->event * scale;
        return fmax(of_side, estimate_event(&row->estimate) * scale);
}

static void add_pair(struct diff *diff, const struct diff_row *before,
                     const struct diff_row *after)
{
        struct diff_pair *pair = &diff->pairs[diff->pair_count++];
        pair->before = before;
        pair->after = after;
        pair->from =
            before
                ? before->estimate
                : estimate_of_none(event_of_missing(&diff->before, &diff->after, after));
        pair->to =
            after
                ? after->estimate
                : estimate_of_none(event_of_missing(&diff->after, &diff->before, before));
        struct estimate sampled = estimate_difference(&pair->from, &pair->to);
        pair->measured_difference =
            before && after ? estimate_difference(&before->measured, &after->measured)
                            : (struct estimate){NAN, NAN, NAN};
        diff->measured |= isfinite(pair->measured_difference.value);
        pair->difference = estimate_widened(
            &sampled, before ? before->variance : 0, 1 + diff->before.other_count,
            after ? after->variance : 0, 1 + diff->after.other_count);
}

static size_t group_end(const struct diff_side *side, size_t start)
{
        size_t end = start;
        while (end < side->row_count &&
               strcmp(side->rows[end].group, side->rows[start].group) == 0)
                end++;
        return end;
}

static void copy_lines(const struct diff_row *rows, size_t count,
                       struct match_line *lines)
{
        for (size_t i = 0; i < count; i++)
                lines[i] = (struct match_line){rows[i].line, rows[i].samples};
}

/* Whether all ROWS belong to BUILD, and BUILD is known. */
static bool are_of(const char *build, const struct diff_row *rows, size_t count)
{
        for (size_t i = 0; i < count; i++)
                if (strcmp(rows[i].build, build) != 0)
                        return false;
        return *build;
}

/* The rows of both sides, as lines of functions. */
struct matching {
        struct match_line *before, *after;
        size_t *partners;                 /* one element per line of BEFORE */
        bool *met;                        /* one element per line of AFTER */
        struct match_function *functions; /* functions on both sides, ordered by file */
        size_t function_count;
};

static int matching_make(const struct diff_side *before, const struct diff_side *after,
                         struct matching *matching)
{
        *matching = (struct matching){
            .before = calloc(before->row_count + 1, sizeof(*matching->before)),
            .after = calloc(after->row_count + 1, sizeof(*matching->after)),
            .partners = calloc(before->row_count + 1, sizeof(*matching->partners)),
            .met = calloc(after->row_count + 1, sizeof(*matching->met)),
            .functions = calloc(before->row_count + 1, sizeof(*matching->functions))};
        if (!matching->before || !matching->after || !matching->partners ||
            !matching->met || !matching->functions)
                return -ENOMEM;
        copy_lines(before->rows, before->row_count, matching->before);
        copy_lines(after->rows, after->row_count, matching->after);
        for (size_t i = 0; i < before->row_count; i++)
                matching->partners[i] = MATCH_NONE;
        return 0;
}

static void matching_free(struct matching *matching)
{
        free(matching->before);
        free(matching->after);
        free(matching->partners);
        free(matching->met);
        free(matching->functions);
}

static void list_functions(const struct diff_side *before, const struct diff_side *after,
                           struct matching *matching)
{
        for (size_t b = 0, a = 0; b < before->row_count && a < after->row_count;) {
                const struct diff_row *from = &before->rows[b], *to = &after->rows[a];
                int order = strcmp(from->group, to->group);
                size_t b_end = group_end(before, b), a_end = group_end(after, a);
                bool same_build = are_of(from->build, from, b_end - b) &&
                                  are_of(from->build, to, a_end - a);
                if (order == 0)
                        matching->functions[matching->function_count++] =
                            (struct match_function){.before = matching->before + b,
                                                    .before_count = b_end - b,
                                                    .after = matching->after + a,
                                                    .after_count = a_end - a,
                                                    .same_build = same_build,
                                                    .partners = matching->partners + b};
                b = order <= 0 ? b_end : b;
                a = order >= 0 ? a_end : a;
        }
}

/* Whether the lines of two groups are in one file: compares the first two fields. */
static bool of_one_file(const char *a, const char *b)
{
        int fields = 0;
        while (*a == *b && fields < 2) {
                if (!*a)
                        return true;
                fields += *a == DIFF_FIELD_END;
                a++;
                b++;
        }
        return fields == 2;
}

static int match_files(const struct diff_side *before, const struct matching *matching)
{
        const struct match_function *functions = matching->functions;
        int code = 0;
        for (size_t i = 0, end; !code && i < matching->function_count; i = end) {
                const struct diff_row *first =
                    &before->rows[functions[i].before - matching->before];
                for (end = i + 1; end < matching->function_count; end++) {
                        size_t row = functions[end].before - matching->before;
                        if (!of_one_file(first->group, before->rows[row].group))
                                break;
                }
                code = match_lines(&functions[i], end - i);
        }
        return code;
}

static void add_pairs(struct diff *diff, const struct matching *matching)
{
        const struct match_function *function = matching->functions;
        const struct match_function *end = function + matching->function_count;
        for (size_t b = 0; b < diff->before.row_count; b++) {
                const struct match_line *line = &matching->before[b];
                size_t partner = matching->partners[b];
                while (function < end &&
                       line >= function->before + function->before_count)
                        function++;
                if (partner == MATCH_NONE) {
                        add_pair(diff, &diff->before.rows[b], NULL);
                        continue;
                }
                size_t a = function->after - matching->after + partner;
                matching->met[a] = true;
                add_pair(diff, &diff->before.rows[b], &diff->after.rows[a]);
        }
        for (size_t a = 0; a < diff->after.row_count; a++)
                if (!matching->met[a])
                        add_pair(diff, NULL, &diff->after.rows[a]);
}

static int pair_all(struct diff *diff, struct diag *diag)
{
        struct matching matching;
        int code = matching_make(&diff->before, &diff->after, &matching);
        if (!code) {
                list_functions(&diff->before, &diff->after, &matching);
                code = match_files(&diff->before, &matching);
        }
        if (!code)
                add_pairs(diff, &matching);
        matching_free(&matching);
        return code ? diag_no_memory(diag) : 0;
}

/* Orders pairs with equal differences: larger values first, then by name. */
static int by_name(const struct diff_pair *a, const struct diff_pair *b)
{
        const struct diff_row *left = a->before ? a->before : a->after;
        const struct diff_row *right = b->before ? b->before : b->after;
        int order = strcmp(left->group, right->group);
        return order ? order : (left->line > right->line) - (left->line < right->line);
}

static int by_difference(const void *left, const void *right)
{
        const struct diff_pair *a = left, *b = right;
        double of_a = fabs(a->difference.value), of_b = fabs(b->difference.value);
        if (of_a != of_b)
                return of_a < of_b ? 1 : -1;
        double most_a = fmax(a->from.value, a->to.value);
        double most_b = fmax(b->from.value, b->to.value);
        if (most_a != most_b)
                return most_a < most_b ? 1 : -1;
        return by_name(a, b);
}

/* Widens the ranges of rows with a verdict: chance has one try per row. */
static void widen_pairs(struct diff *diff)
{
        size_t judged = 0;
        for (size_t i = 0; i < diff->pair_count; i++)
                judged += diff_is_judged(&diff->pairs[i]);
        double times = estimate_widening(judged);
        for (size_t i = 0; i < diff->pair_count; i++)
                estimate_widen(&diff->pairs[i].difference, times);
}

/* The run's cycles or its time on CPUs: the whole that rows are a part of. */
static double total_of(const struct diff *diff, const struct diff_side *side)
{
        return diff->figure == DIFF_STALLED_CYCLES ? side->counts[COUNT_CYCLES]
               : diff->figure == DIFF_STALLED_NS   ? side->counts[COUNT_ON_CPUS]
                                                   : NAN;
}

/* TOTAL, an exact count, less PART. */
static struct estimate rest_of(double total, const struct estimate *part)
{
        return (struct estimate){total - part->value, total - part->high,
                                 total - part->low};
}

static void find_rest(struct diff *diff)
{
        double before = total_of(diff, &diff->before),
               after = total_of(diff, &diff->after);
        diff->rest_from = rest_of(before, &diff->before.whole);
        diff->rest_to = rest_of(after, &diff->after.whole);
        diff->rest_difference = rest_of(after - before, &diff->difference);
}

int diff_make(struct diff *diff, const struct diff_kind *kind, struct diag *diag)
{
        diff->kind = kind;
        diff->figure = DIFF_NONE;
        int code = check_side(&diff->before, &diff->before, kind != NULL, diag);
        if (!code)
                code = check_side(&diff->before, &diff->after, kind != NULL, diag);
        if (code || !kind)
                return code;
        code = choose_figure(diff, diag);
        if (!code)
                code = read_rows(diff, diag);
        if (!code && kind->function && diff_join_labels(diff))
                code = diag_no_memory(diag);
        if (code)
                return code;
        if (!diff->before.row_count)
                diff->before.whole = estimate_of_none(diff->after.event);
        if (!diff->after.row_count)
                diff->after.whole = estimate_of_none(diff->before.event);
        diff->pairs = calloc(diff->before.row_count + diff->after.row_count + 1,
                             sizeof(*diff->pairs));
        code = diff->pairs ? pair_all(diff, diag) : diag_no_memory(diag);
        if (code)
                return code;
        qsort(diff->pairs, diff->pair_count, sizeof(*diff->pairs), by_difference);
        struct estimate sampled =
            estimate_difference(&diff->before.whole, &diff->after.whole);
        diff->difference = estimate_widened(
            &sampled, diff->before.whole_variance, 1 + diff->before.other_count,
            diff->after.whole_variance, 1 + diff->after.other_count);
        widen_pairs(diff);
        find_rest(diff);
        return 0;
}

void diff_free(struct diff *diff)
{
        free(diff->pairs);
        diff_side_free(&diff->before);
        diff_side_free(&diff->after);
}
