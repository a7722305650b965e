/* SPDX-License-Identifier: MIT */
/* Prints a comparison of two recordings, for people. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "diff_cells.h"
#include "prose.h"
#include "verdict.h"

/* Share of the longer run; rows with less and with few samples are hidden. */
static const double NOTABLE_SHARE = 0.001;

/* ---- amounts for people ---- */

/* Prints three digits; SIGN: adds the sign of a difference. */
static char *amount_text(double value, const char *unit, bool sign)
{
        static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
        static const char *const times[] = {"ns", "us", "ms", "s"};
        bool time = strcmp(unit, "ns") == 0;
        size_t steps = time ? sizeof(times) / sizeof(times[0])
                            : sizeof(prefixes) / sizeof(prefixes[0]);
        size_t step = 0;
        if (!isfinite(value))
                return strdup("-");
        for (; fabs(value) >= 999.5 && step + 1 < steps; step++)
                value /= 1000;
        double size = fabs(value);
        int digits = step == 0 ? 0 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
        const char *suffix = time ? times[step] : prefixes[step];
        if (fabs(value) < 0.5 && step == 0)
                value = 0;
        return text_of(sign && value != 0 ? "%+.*f%s%s" : "%.*f%s%s", digits, value,
                       *suffix ? " " : "", suffix);
}

static char *range_text(const struct estimate *estimate, const char *unit)
{
        char *low = amount_text(estimate->low, unit, true);
        char *high = amount_text(estimate->high, unit, true);
        char *text = low && high ? text_of("%s..%s", low, high) : NULL;
        free(low);
        free(high);
        return text;
}

/* ---- what was counted ---- */

static char *count_text(enum diff_count count, double value)
{
        return count == COUNT_LMRL && isfinite(value)
                   ? text_of("%.1f", value)
                   : amount_text(value, diff_count_names[count].unit, false);
}

static char *ratio_text(double ratio)
{
        return isfinite(ratio) ? text_of("%.3f", ratio) : strdup("-");
}

static int print_counts(const struct diff *diff, FILE *out, size_t width)
{
        static const char *const names[] = {"", "before", "after", "ratio"};
        struct render *render = render_begin(FORMAT_TABLE, out, names, 4, width);
        struct cells row = {.count = 0};
        int code = render ? 0 : -ENOMEM;
        for (enum diff_count i = 0; !code && i < DIFF_COUNTS; i++) {
                if (!diff_counted(diff, i))
                        continue;
                cells_put_text(&row, diff_count_names[i].shown);
                cells_put_made(&row, count_text(i, diff->before.counts[i]), true);
                cells_put_made(&row, count_text(i, diff->after.counts[i]), true);
                cells_put_made(&row, ratio_text(diff_ratio(diff, i)), true);
                code = cells_finish(render, &row);
        }
        render_end(render);
        return code;
}

static char *change_text(double ratio)
{
        return text_of("%.1f %% %s", 100 * fabs(ratio - 1),
                       ratio > 1 ? "longer" : "shorter");
}

/* What the model claims beside the change of the first, unmodified runs. */
static void print_claim(const struct diff *diff, FILE *out)
{
        double claimed = diff_ratio(diff, COUNT_DURATION);
        double measured = diff_ratio(diff, COUNT_MEASURED_CPU);
        if (!isfinite(claimed) || !isfinite(measured) ||
            !report_is_modelled(&diff->after.summary))
                return;
        char *model = change_text(claimed), *clock = change_text(measured);
        if (model && clock)
                fprintf(
                    out,
                    "\nThe model claims that the run is %s; measured CPU time is %s.\n",
                    model, clock);
        free(model);
        free(clock);
}

/* ---- rows ---- */

/* VERDICT in words. */
static const char *shown_verdict(const char *verdict)
{
        static const char *const words[][2] = {{"only-before", "only before"},
                                               {"only-after", "only after"},
                                               {"no-difference", "no difference"},
                                               {"too-few-samples", "too few"}};
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
                if (strcmp(words[i][0], verdict) == 0)
                        return words[i][1];
        return verdict;
}

static const char *base_of(const char *path)
{
        const char *slash = path ? strrchr(path, '/') : NULL;
        return slash ? slash + 1 : path;
}

/* "file.c:12", or "file.c:10->12" if the line moved; FILE may be NULL. */
static char *place_text(const struct diff_pair *pair, const char *file)
{
        int64_t before = pair->before ? pair->before->line : 0;
        int64_t after = pair->after ? pair->after->line : before;
        if (!file)
                return strdup("-");
        if (after <= 0)
                return text_of("%s:?", base_of(file));
        if (!pair->before || before == after)
                return text_of("%s:%" PRId64, base_of(file), after);
        return text_of("%s:%" PRId64 "->%" PRId64, base_of(file), before, after);
}

static void put_estimates_for_people(struct cells *row, const char *unit,
                                     const struct estimate *from,
                                     const struct estimate *to,
                                     const struct estimate *difference)
{
        cells_put_made(row, amount_text(from->value, unit, false), true);
        cells_put_made(row, amount_text(to->value, unit, false), true);
        cells_put_made(row, amount_text(difference->value, unit, true), true);
        cells_put_made(row, range_text(difference, unit), true);
}

enum { CHANGE_COLUMNS = 5, MEASURED_COLUMNS = 2, KIND_COLUMNS_MAX = 3 };
_Static_assert(CHANGE_COLUMNS + KIND_COLUMNS_MAX <= CELLS_MAX, "a row has more cells");

/* If both recordings have a first run, a second table shows the rows' measured CPU time.
 */
enum figures { FIGURES_CHANGE, FIGURES_MEASURED };

static void put_measured(struct cells *row, double before, double after)
{
        cells_put_made(row, amount_text(before, "ns", false), true);
        cells_put_made(row, amount_text(after, "ns", false), true);
}

static double measured_in_rows(const struct diff_side *side)
{
        double sum = 0;
        for (size_t i = 0; i < side->row_count; i++)
                if (isfinite(side->rows[i].measured.value))
                        sum += side->rows[i].measured.value;
        return sum;
}

static const struct table_kind {
        const char *name;
        const char *columns[KIND_COLUMNS_MAX];
} table_kinds[] = {
    {"line", {"line", "function"}},
    {"function", {"module", "function"}},
    {"object", {"kind", "object", "allocated at"}},
    {"type", {"type", "field"}},
};

static const struct table_kind *table_kind_of(const struct diff_kind *kind)
{
        size_t i = 0;
        while (strcmp(table_kinds[i].name, kind->name) != 0)
                i++;
        return &table_kinds[i];
}

static size_t kind_columns(const struct table_kind *kind)
{
        size_t count = 0;
        while (count < KIND_COLUMNS_MAX && kind->columns[count])
                count++;
        return count;
}

static void put_names_for_people(struct cells *row, const char *kind,
                                 const struct diff_pair *pair)
{
        if (strcmp(kind, "line") == 0) {
                cells_put_made(row, place_text(pair, diff_name(pair, 2)), false);
                cells_put_text(row, diff_name(pair, 1) ?: "-");
        } else if (strcmp(kind, "function") == 0) {
                cells_put_text(row, base_of(diff_name(pair, 0)) ?: "-");
                cells_put_text(row, diff_name(pair, 1) ?: "-");
        } else if (strcmp(kind, "object") == 0) {
                cells_put_text(row, diff_name(pair, 0));
                cells_put_text(row, diff_name(pair, 1) ?: "-");
                cells_put_made(row, place_text(pair, diff_name(pair, 3)), false);
        } else {
                cells_put_text(row, diff_name(pair, 0) ?: "-");
                cells_put_text(row, diff_name(pair, 1) ?: "");
        }
}

/* Puts NAME into the last of COLUMNS, and leaves the others empty. */
static void put_name_alone(struct cells *row, size_t columns, const char *name)
{
        for (size_t i = 1; i < columns; i++)
                cells_put_text(row, "");
        cells_put_made(row, strdup(name), false);
}

/* The sums of all rows, as the first row. */
static void put_whole(struct cells *row, const struct diff *diff, enum figures figures)
{
        if (figures == FIGURES_MEASURED) {
                put_measured(row, measured_in_rows(&diff->before),
                             measured_in_rows(&diff->after));
                return;
        }
        put_estimates_for_people(row, diff_unit(diff->figure), &diff->before.whole,
                                 &diff->after.whole, &diff->difference);
        cells_put_text(row, shown_verdict(change_name(change_of(&diff->difference))));
}

/* The part of the counts outside all rows, for instance work. */
static void put_rest(struct cells *row, const struct diff *diff, enum figures figures)
{
        const double *before = diff->before.counts, *after = diff->after.counts;
        if (figures == FIGURES_MEASURED) {
                put_measured(row,
                             before[COUNT_MEASURED_CPU] - measured_in_rows(&diff->before),
                             after[COUNT_MEASURED_CPU] - measured_in_rows(&diff->after));
                return;
        }
        put_estimates_for_people(row, diff_unit(diff->figure), &diff->rest_from,
                                 &diff->rest_to, &diff->rest_difference);
        cells_put_text(row,
                       shown_verdict(change_name(change_of(&diff->rest_difference))));
}

static void put_pair(struct cells *row, const struct diff *diff, enum figures figures,
                     const struct diff_pair *pair)
{
        if (figures == FIGURES_MEASURED) {
                put_measured(row, pair->before ? pair->before->measured.value : NAN,
                             pair->after ? pair->after->measured.value : NAN);
                return;
        }
        put_estimates_for_people(row, diff_unit(diff->figure), &pair->from, &pair->to,
                                 &pair->difference);
        cells_put_text(row, shown_verdict(diff_verdict(pair)));
}

/* The sum of hidden rows. */
struct others {
        int64_t count;
        double from, to;
        double measured_before, measured_after;
};

static double known_measured(const struct diff_row *row)
{
        return row && isfinite(row->measured.value) ? row->measured.value : 0;
}

static void add_other(struct others *others, const struct diff_pair *pair)
{
        others->count++;
        others->from += pair->before ? pair->from.value : 0;
        others->to += pair->after ? pair->to.value : 0;
        others->measured_before += known_measured(pair->before);
        others->measured_after += known_measured(pair->after);
}

static void put_others(struct cells *row, const struct diff *diff, enum figures figures,
                       const struct others *others)
{
        const char *unit = diff_unit(diff->figure);
        if (figures == FIGURES_MEASURED) {
                put_measured(row, others->measured_before, others->measured_after);
                return;
        }
        cells_put_made(row, amount_text(others->from, unit, false), true);
        cells_put_made(row, amount_text(others->to, unit, false), true);
        cells_put_made(row, amount_text(others->to - others->from, unit, true), true);
        cells_put_text(row, "");
        cells_put_text(row, "");
}

/* All of SIDE's run, with the REST that no row has if it is known: fmax ignores NaN. */
static double run_of(const struct diff_side *side, struct estimate rest)
{
        return fmax(side->whole.value, side->whole.value + rest.value);
}

static bool is_notable(const struct diff *diff, const struct diff_pair *pair)
{
        double whole = fmax(run_of(&diff->before, diff->rest_from),
                            run_of(&diff->after, diff->rest_to));
        return (pair->before && diff_has_enough(pair->before)) ||
               (pair->after && diff_has_enough(pair->after)) ||
               fmax(pair->from.value, pair->to.value) >= NOTABLE_SHARE * whole;
}

struct rows {
        const struct diff *diff;
        const struct diff_options *options;
        enum figures figures;
        size_t columns; /* of names */
        struct render *render;
};

static int finish_alone(const struct rows *rows, struct cells *row, const char *name)
{
        put_name_alone(row, rows->columns, name);
        return cells_finish(rows->render, row);
}

static int print_pairs(const struct rows *rows, struct others *others)
{
        const struct diff *diff = rows->diff;
        const int64_t top = rows->options->top;
        struct cells row = {.count = 0};
        int code = 0;
        int64_t shown = 0;
        for (size_t i = 0; !code && i < diff->pair_count; i++) {
                const struct diff_pair *pair = &diff->pairs[i];
                if (top >= 0 && (shown >= top || !is_notable(diff, pair))) {
                        add_other(others, pair);
                        continue;
                }
                shown++;
                put_pair(&row, diff, rows->figures, pair);
                put_names_for_people(&row, diff->kind->name, pair);
                code = cells_finish(rows->render, &row);
        }
        return code;
}

static int print_rows(const struct rows *rows)
{
        const struct diff *diff = rows->diff;
        struct cells row = {.count = 0};
        struct others others = {.count = 0};
        char name[48];
        put_whole(&row, diff, rows->figures);
        int code = finish_alone(rows, &row, "(all)");
        if (!code)
                code = print_pairs(rows, &others);
        if (!code && others.count) {
                snprintf(name, sizeof(name), "(%" PRId64 " more)", others.count);
                put_others(&row, diff, rows->figures, &others);
                code = finish_alone(rows, &row, name);
        }
        if (!code && isfinite(diff->rest_difference.value)) {
                snprintf(name, sizeof(name), "(no %s)", diff->kind->name);
                put_rest(&row, diff, rows->figures);
                code = finish_alone(rows, &row, name);
        }
        return code;
}

static int table_rows(const struct diff *diff, const struct diff_options *options,
                      enum figures figures, FILE *out)
{
        static const char *const titles[][CHANGE_COLUMNS] = {
            [FIGURES_CHANGE] = {"before", "after", "change", "95% range", "verdict"},
            [FIGURES_MEASURED] = {"measured before", "measured after"}};
        const char *names[CHANGE_COLUMNS + KIND_COLUMNS_MAX];
        const struct table_kind *kind = table_kind_of(diff->kind);
        const size_t columns = kind_columns(kind);
        const size_t count =
            figures == FIGURES_MEASURED ? MEASURED_COLUMNS : CHANGE_COLUMNS;
        memcpy(names, titles[figures], count * sizeof(names[0]));
        memcpy(names + count, kind->columns, sizeof(kind->columns));
        struct render *render =
            render_begin(FORMAT_TABLE, out, names, count + columns, options->width);
        int code = render ? 0 : -ENOMEM;
        if (!code && options->width)
                render_shorten_names(render);
        if (!code)
                code =
                    print_rows(&(struct rows){diff, options, figures, columns, render});
        render_end(render);
        return code;
}

/* ---- all of it ---- */

static const char *const legends[] = {
    [DIFF_STALLED_CYCLES] =
        "before, after: cycles for which these accesses stalled the run",
    [DIFF_STALLED_NS] = "before, after: time of the run at these accesses",
    [DIFF_LATENCY_CYCLES] =
        "before, after: sum of the latencies in cycles, which is not time because loads "
        "overlap (stalls are not known on both sides)",
};

static void print_side(const char *name, const struct diff_side *side, FILE *out)
{
        fprintf(out, "memlag: %s ", name);
        report_print_provenance(out, &side->summary);
        fprintf(out, ": %s\n", side->summary.command ?: "an unknown command");
}

static void print_sentence(FILE *out, char *sentence)
{
        if (sentence)
                prose_wrapped(out, sentence);
        free(sentence);
}

static void print_legend(const struct diff *diff, FILE *out)
{
        const char *numbers = diff->after.summary.numbers;
        putc('\n', out);
        print_sentence(out,
                       text_of("%s; change: after less before, with its range at 95 %% "
                               "confidence (of sampling, for all rows together)",
                               legends[diff->figure]));
        bool both = diff->before.other_count && diff->after.other_count;
        if (diff->before.other_count || diff->after.other_count)
                print_sentence(
                    out,
                    text_of("Figures are means of recordings: of %zu before "
                            "and %zu after%s.",
                            1 + diff->before.other_count, 1 + diff->after.other_count,
                            both ? ", and ranges include how far these differ" : ""));
        if (!both && (!numbers || strcmp(numbers, "modelled") != 0))
                prose_wrapped(out,
                              "Two runs of one program differ by more than sampling. "
                              "Give several recordings of each (--before, --after): "
                              "then ranges include that.");
}

/* Checks all recordings of SIDE together. */
static bool has_too_few(const struct diff_side *side)
{
        struct report_summary all = side->summary;
        for (size_t i = 0; i < side->other_count; i++) {
                const struct report_summary *other = &side->others[i].summary;
                all.samples = diff_sum(all.samples, other->samples);
                all.memory_samples = diff_sum(all.memory_samples, other->memory_samples);
        }
        return report_has_too_few(&all);
}

/* Prints notes after an empty line, if any. */
static void print_notes(const struct diff_notes *notes, FILE *out)
{
        if (notes->count)
                putc('\n', out);
        for (size_t i = 0; i < notes->count; i++)
                prose_wrapped(out, notes->texts[i]);
}

int diff_print_table(const struct diff *diff, const struct diff_notes *notes,
                     const struct diff_options *options, FILE *out, struct diag *diag)
{
        print_side("before:", &diff->before, out);
        print_side("after: ", &diff->after, out);
        print_notes(notes, out);
        putc('\n', out);
        if (print_counts(diff, out, options->width))
                return diag_no_memory(diag);
        print_claim(diff, out);
        if (!diff->kind)
                return 0;
        putc('\n', out);
        const struct diff_side *short_of = has_too_few(&diff->before)  ? &diff->before
                                           : has_too_few(&diff->after) ? &diff->after
                                                                       : NULL;
        if (short_of) {
                fprintf(out, "%s: ", short_of->file);
                report_print_too_few(out, &short_of->summary);
                return 0;
        }
        if (table_rows(diff, options, FIGURES_CHANGE, out))
                return diag_no_memory(diag);
        print_legend(diff, out);
        if (!diff->measured)
                return 0;
        putc('\n', out);
        return table_rows(diff, options, FIGURES_MEASURED, out) ? diag_no_memory(diag)
                                                                : 0;
}
