/* SPDX-License-Identifier: MIT */
/* Prints a comparison of two recordings, for programs. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "diff.h"
#include "diff_cells.h"
#include "verdict.h"

/* ---- what was counted ---- */

bool diff_counted(const struct diff *diff, enum diff_count count)
{
        return isfinite(diff->before.counts[count]) ||
               isfinite(diff->after.counts[count]);
}

double diff_ratio(const struct diff *diff, enum diff_count count)
{
        double before = diff->before.counts[count];
        return before > 0 ? diff->after.counts[count] / before : NAN;
}

static int print_counts(const struct diff *diff, enum format format, FILE *out)
{
        static const char *const names[] = {"name", "unit", "before", "after", "ratio"};
        struct render *render = render_begin(format, out, names, 5, 0);
        struct cells row = {.count = 0};
        int code = render ? 0 : -ENOMEM;
        for (enum diff_count i = 0; !code && i < DIFF_COUNTS; i++) {
                if (!diff_counted(diff, i))
                        continue;
                cells_put_text(&row, diff_count_names[i].name);
                cells_put_text(&row, diff_count_names[i].unit);
                cells_put_real(&row, diff->before.counts[i]);
                cells_put_real(&row, diff->after.counts[i]);
                cells_put_real(&row, diff_ratio(diff, i));
                code = cells_finish(render, &row);
        }
        render_end(render);
        return code;
}

/* ---- rows ---- */

bool diff_has_enough(const struct diff_row *row)
{
        return diff_sum(row->samples, row->faults) >= VERDICT_SAMPLES_MIN;
}

bool diff_is_judged(const struct diff_pair *pair)
{
        return pair->before && pair->after &&
               (diff_has_enough(pair->before) || diff_has_enough(pair->after));
}

const char *diff_verdict(const struct diff_pair *pair)
{
        if (!pair->after)
                return "only-before";
        if (!pair->before)
                return "only-after";
        if (!diff_is_judged(pair))
                return "too-few-samples";
        return change_name(change_of(&pair->difference));
}

const char *diff_name(const struct diff_pair *pair, size_t i)
{
        return (pair->after ?: pair->before)->names[i];
}

static void put_estimate(struct cells *row, const struct estimate *estimate)
{
        cells_put_real(row, estimate->value);
        cells_put_real(row, estimate->low);
        cells_put_real(row, estimate->high);
}

static size_t name_columns(const struct diff *diff, const char **names,
                           char line_names[2][32])
{
        size_t count = 0;
        for (size_t i = 0; i < DIFF_NAMES && diff->kind->names[i]; i++)
                names[count++] = diff->kind->names[i];
        if (diff->kind->line) {
                snprintf(line_names[0], sizeof(line_names[0]), "%s_before",
                         diff->kind->line);
                snprintf(line_names[1], sizeof(line_names[1]), "%s_after",
                         diff->kind->line);
                names[count++] = line_names[0];
                names[count++] = line_names[1];
        }
        return count;
}

static void put_line(struct cells *row, const struct diff_row *of)
{
        cells_put_integer(row, of && of->line > 0, of ? of->line : 0);
}

static void put_pair(struct cells *row, const struct diff *diff,
                     const struct diff_pair *pair)
{
        const struct diff_row *before = pair->before, *after = pair->after;
        for (size_t i = 0; i < DIFF_NAMES && diff->kind->names[i]; i++)
                cells_put_text(row, diff_name(pair, i));
        if (diff->kind->line) {
                put_line(row, before);
                put_line(row, after);
        }
        cells_put_integer(row, true, before ? before->samples : 0);
        cells_put_integer(row, true, after ? after->samples : 0);
        cells_put_text(row, before ? before->verdict : NULL);
        cells_put_text(row, after ? after->verdict : NULL);
        cells_put_text(row, diff->figure == DIFF_LATENCY_CYCLES ? "latency" : "stalled");
        cells_put_text(row, diff_unit(diff->figure));
        put_estimate(row, &pair->from);
        put_estimate(row, &pair->to);
        put_estimate(row, &pair->difference);
        cells_put_text(row, diff_verdict(pair));
        cells_put_text(row, diff->after.summary.numbers);
        cells_put_real(row, before ? before->measured.value : NAN);
        cells_put_real(row, after ? after->measured.value : NAN);
        put_estimate(row, &pair->measured_difference);
}

static int program_rows(const struct diff *diff, const struct diff_options *options,
                        FILE *out)
{
        static const char *const figure_names[] = {"samples_before",
                                                   "samples_after",
                                                   "verdict_before",
                                                   "verdict_after",
                                                   "figure",
                                                   "unit",
                                                   "before",
                                                   "before_low",
                                                   "before_high",
                                                   "after",
                                                   "after_low",
                                                   "after_high",
                                                   "difference",
                                                   "difference_low",
                                                   "difference_high",
                                                   "verdict",
                                                   "numbers",
                                                   "measured_before_ns",
                                                   "measured_after_ns",
                                                   "measured_difference_ns",
                                                   "measured_difference_low_ns",
                                                   "measured_difference_high_ns"};
        enum { FIGURES = sizeof(figure_names) / sizeof(figure_names[0]), LINES = 2 };
        _Static_assert(DIFF_NAMES + LINES + FIGURES <= CELLS_MAX, "a row has more cells");
        const char *names[CELLS_MAX];
        char line_names[LINES][32];
        size_t count = name_columns(diff, names, line_names);
        memcpy(names + count, figure_names, sizeof(figure_names));
        count += FIGURES;
        struct render *render = render_begin(options->format, out, names, count, 0);
        struct cells row = {.count = 0};
        int code = render ? 0 : -ENOMEM;
        for (size_t i = 0; !code && i < diff->pair_count; i++) {
                if (options->top >= 0 && (int64_t)i >= options->top)
                        break;
                put_pair(&row, diff, &diff->pairs[i]);
                code = cells_finish(render, &row);
        }
        render_end(render);
        return code;
}

/* ---- the formats ---- */

static void json_text(FILE *out, const char *name, const char *text)
{
        fprintf(out, "\"%s\": ", name);
        if (text)
                render_json_text(out, text, strlen(text));
        else
                fputs("null", out);
}

/* Data that is missing in any recording of SIDE. */
static void json_missing(FILE *out, const struct diff_side *side)
{
        bool cut_off = side->summary.cut_off;
        const char *failure = side->summary.failure;
        int64_t lost = side->summary.lost;
        for (size_t i = 0; i < side->other_count; i++) {
                const struct report_summary *other = &side->others[i].summary;
                cut_off |= other->cut_off;
                failure = failure ?: other->failure;
                lost = diff_sum(lost, other->lost);
        }
        fprintf(out, "\"cut_off\": %s, ", cut_off ? "true" : "false");
        json_text(out, "failure", failure);
        if (cut_off && lost == 0) /* not known */
                fputs(", \"lost\": null", out);
        else
                fprintf(out, ", \"lost\": %" PRId64, lost);
}

static void json_side(FILE *out, const char *name, const struct diff_side *side)
{
        const struct report_summary *summary = &side->summary;
        fprintf(out, "\"%s\": {", name);
        json_text(out, "file", side->file);
        fputs(", ", out);
        json_text(out, "command", summary->command);
        fputs(", ", out);
        json_text(out, "source", summary->source);
        fputs(", ", out);
        json_text(out, "numbers", summary->numbers);
        fprintf(out, ", \"recordings\": %zu, ", 1 + side->other_count);
        json_missing(out, side);
        fputs("},\n", out);
}

static void json_notes(FILE *out, const struct diff_notes *notes)
{
        fputs("\"notes\": [", out);
        for (size_t i = 0; i < notes->count; i++) {
                fputs(i ? ", " : "", out);
                render_json_text(out, notes->texts[i], strlen(notes->texts[i]));
        }
        fputs("],\n", out);
}

static void json_estimate(FILE *out, const char *name, const struct estimate *estimate)
{
        fprintf(out, "\"%s\": %.15g, \"%s_low\": %.15g, \"%s_high\": %.15g, ", name,
                estimate->value, name, estimate->low, name, estimate->high);
}

/* The sums of all rows. */
static void json_all(FILE *out, const struct diff *diff)
{
        fprintf(out, ",\n\"all\": {\"samples_before\": %" PRId64 ", ",
                diff_side_samples(&diff->before));
        fprintf(out, "\"samples_after\": %" PRId64 ", ", diff_side_samples(&diff->after));
        json_text(out, "unit", diff_unit(diff->figure));
        fputs(", ", out);
        json_estimate(out, "before", &diff->before.whole);
        json_estimate(out, "after", &diff->after.whole);
        json_estimate(out, "difference", &diff->difference);
        json_text(out, "verdict", change_name(change_of(&diff->difference)));
        fputs("}", out);
}

/* The part outside all rows: together with the rows it is the run's cycles, or time on
 * CPUs. */
static void json_rest(FILE *out, const struct diff *diff)
{
        if (!isfinite(diff->rest_difference.value)) {
                fputs(",\n\"rest\": null", out);
                return;
        }
        fputs(",\n\"rest\": {", out);
        json_estimate(out, "before", &diff->rest_from);
        json_estimate(out, "after", &diff->rest_to);
        json_estimate(out, "difference", &diff->rest_difference);
        json_text(out, "unit", diff_unit(diff->figure));
        fputs("}", out);
}

static int print_json(const struct diff *diff, const struct diff_notes *notes,
                      const struct diff_options *options, FILE *out, struct diag *diag)
{
        fputs("{", out);
        json_side(out, "before", &diff->before);
        json_side(out, "after", &diff->after);
        json_notes(out, notes);
        json_text(out, "by", diff->kind ? diff->kind->name : "run");
        fputs(",\n\"run\": ", out);
        int code = print_counts(diff, FORMAT_JSON, out);
        if (!code && diff->kind) {
                json_all(out, diff);
                json_rest(out, diff);
                fputs(",\n\"rows\": ", out);
                code = program_rows(diff, options, out);
        }
        fputs("\n}\n", out);
        return code ? diag_no_memory(diag) : 0;
}

int diff_print(const struct diff *diff, const struct diff_notes *notes,
               const struct diff_options *options, FILE *out, struct diag *diag)
{
        /* A table prints notes itself; rows for programs have no room for notes. */
        for (size_t i = 0; options->format != FORMAT_TABLE && i < notes->count; i++)
                fprintf(stderr, "memlag diff: %s\n", notes->texts[i]);
        switch (options->format) {
        case FORMAT_TABLE:
                return diff_print_table(diff, notes, options, out, diag);
        case FORMAT_JSON:
                return print_json(diff, notes, options, out, diag);
        default:
                break;
        }
        int code = diff->kind ? program_rows(diff, options, out)
                              : print_counts(diff, options->format, out);
        return code ? diag_no_memory(diag) : 0;
}
