/* SPDX-License-Identifier: MIT */
/* Two recordings beside each other, for people and for programs. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "prose.h"
#include "short_name.h"
#include "verdict.h"

enum { CELLS_MAX = 24, NAME_BYTES = 60 };

/* Of the larger whole; rows of less, with few samples, are not in a table. */
static const double NOTABLE_SHARE = 0.001;

static const struct {
        const char *name, *unit, *shown;
} counts[DIFF_COUNTS] = {
    [COUNT_DURATION] = {"duration", "ns", "duration"},
    [COUNT_CYCLES] = {"cycles", "cycles", "cycles"},
    [COUNT_INSTRUCTIONS] = {"instructions", "instructions", "instructions"},
    [COUNT_DRAM_READ] = {"dram_read", "bytes", "bytes read from DRAM"},
    [COUNT_DRAM_WRITE] = {"dram_write", "bytes", "bytes written to DRAM"},
    [COUNT_LMRL] = {"lmrl", "cycles", "LMRL, cycles"},
    [COUNT_INTERVALS] = {"intervals", "intervals", "intervals"},
    [COUNT_CONTENDED] = {"contended_intervals", "intervals", "contended intervals"},
};

static const struct {
        const char *name, *legend;
} figures[] = {
    [DIFF_STALLED_CYCLES] =
        {"stalled", "before, after: cycles of the run for which these loads held up what "
                    "came behind them"},
    [DIFF_STALLED_NS] = {"stalled", "before, after: time of the run at these loads"},
    [DIFF_LATENCY_CYCLES] =
        {"latency", "before, after: latency of all these loads in cycles, which is not "
                    "time: loads that overlap count each (for how long loads stalled is "
                    "not known on both sides)"},
};

/* ---- cells ---- */

/* A row as it is filled; texts that were made for it are freed with it. */
struct cells {
        struct cell cells[CELLS_MAX];
        char *made[CELLS_MAX];
        size_t count;
        bool failed;
};

static void put(struct cells *row, struct cell cell)
{
        row->cells[row->count++] = cell;
}

static void put_text(struct cells *row, const char *text)
{
        put(row,
            text ? (struct cell){.type = CELL_TEXT, .bytes = text, .length = strlen(text)}
                 : (struct cell){.type = CELL_NULL});
}

/* TEXT is freed with ROW. */
static void put_made(struct cells *row, char *text, bool right)
{
        row->failed |= !text;
        row->made[row->count] = text;
        put_text(row, text ?: "");
        row->cells[row->count - 1].right = right;
}

static void put_real(struct cells *row, double value)
{
        put(row, isfinite(value) ? (struct cell){.type = CELL_REAL, .real = value}
                                 : (struct cell){.type = CELL_NULL});
}

static void put_integer(struct cells *row, bool is_known, int64_t value)
{
        put(row, is_known ? (struct cell){.type = CELL_INTEGER, .integer = value}
                          : (struct cell){.type = CELL_NULL});
}

static void put_estimate(struct cells *row, const struct estimate *estimate)
{
        put_real(row, estimate->value);
        put_real(row, estimate->low);
        put_real(row, estimate->high);
}

/* Hands ROW to RENDER and empties it. */
static int finish_row(struct render *render, struct cells *row)
{
        int code = row->failed ? -ENOMEM : render_row(render, row->cells);
        for (size_t i = 0; i < row->count; i++)
                free(row->made[i]);
        *row = (struct cells){.count = 0};
        return code;
}

__attribute__((format(printf, 1, 2))) static char *text_of(const char *format, ...)
{
        char *text = NULL;
        va_list arguments;
        va_start(arguments, format);
        int length = vasprintf(&text, format, arguments);
        va_end(arguments);
        return length < 0 ? NULL : text;
}

/* ---- amounts for people ---- */

/* With three digits; SIGN: of a difference, which has one. */
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
        char *text = low && high ? text_of("%s to %s", low, high) : NULL;
        free(low);
        free(high);
        return text;
}

static double ratio_of(double before, double after)
{
        return before > 0 ? after / before : NAN;
}

static char *ratio_text(double ratio)
{
        return isfinite(ratio) ? text_of("%.3f", ratio) : strdup("-");
}

/* ---- what was counted ---- */

static char *count_text(enum diff_count count, double value)
{
        return count == COUNT_LMRL && isfinite(value)
                   ? text_of("%.1f", value)
                   : amount_text(value, counts[count].unit, false);
}

static int print_counts(const struct diff *diff, enum format format, FILE *out,
                        size_t width)
{
        static const char *const shown[] = {"", "before", "after", "ratio"};
        static const char *const names[] = {"name", "unit", "before", "after", "ratio"};
        bool table = format == FORMAT_TABLE;
        struct render *render = table ? render_begin(format, out, shown, 4, width)
                                      : render_begin(format, out, names, 5, 0);
        struct cells row = {.count = 0};
        int code = render ? 0 : -ENOMEM;
        for (enum diff_count i = 0; !code && i < DIFF_COUNTS; i++) {
                double before = diff->before.counts[i], after = diff->after.counts[i];
                double ratio = ratio_of(before, after);
                if (!isfinite(before) && !isfinite(after))
                        continue;
                put_text(&row, table ? counts[i].shown : counts[i].name);
                if (table) {
                        put_made(&row, count_text(i, before), true);
                        put_made(&row, count_text(i, after), true);
                        put_made(&row, ratio_text(ratio), true);
                } else {
                        put_text(&row, counts[i].unit);
                        put_real(&row, before);
                        put_real(&row, after);
                        put_real(&row, ratio);
                }
                code = finish_row(render, &row);
        }
        render_end(render);
        return code;
}

/* ---- rows ---- */

static const char *verdict_of_pair(const struct diff_pair *pair)
{
        if (!pair->after)
                return "only-before";
        return pair->before ? change_name(change_of(&pair->difference)) : "only-after";
}

/* The same in words. */
static const char *shown_verdict(const char *verdict)
{
        static const char *const words[][2] = {{"only-before", "only before"},
                                               {"only-after", "only after"},
                                               {"no-difference", "no difference"}};
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
                if (strcmp(words[i][0], verdict) == 0)
                        return words[i][1];
        return verdict;
}

/* That of the later recording, which is the one whose source is at hand. */
static const char *name_of(const struct diff_pair *pair, size_t i)
{
        return (pair->after ?: pair->before)->names[i];
}

static const char *base_of(const char *path)
{
        const char *slash = path ? strrchr(path, '/') : NULL;
        return slash ? slash + 1 : path;
}

/* "file.c:12", or "file.c:12 (was 10)"; FILE may be NULL. */
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
        return text_of("%s:%" PRId64 " (was %" PRId64 ")", base_of(file), after, before);
}

static char *short_text(const char *name)
{
        size_t length = name ? strlen(name) : 0;
        char *text = name ? short_name(name, &length, NAME_BYTES) : strdup("-");
        if (!text || !name)
                return text;
        char *ended = text_of("%.*s", (int)length, text);
        free(text);
        return ended;
}

static void put_estimates_for_people(struct cells *row, const char *unit,
                                     const struct estimate *from,
                                     const struct estimate *to,
                                     const struct estimate *difference)
{
        put_made(row, amount_text(from->value, unit, false), true);
        put_made(row, amount_text(to->value, unit, false), true);
        put_made(row, amount_text(difference->value, unit, true), true);
        put_made(row, range_text(difference, unit), true);
}

enum { TABLE_COLUMNS = 6, KIND_COLUMNS_MAX = 3 };

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
                put_made(row, place_text(pair, name_of(pair, 2)), false);
                put_made(row, short_text(name_of(pair, 1)), false);
        } else if (strcmp(kind, "function") == 0) {
                put_text(row, base_of(name_of(pair, 0)) ?: "-");
                put_made(row, short_text(name_of(pair, 1)), false);
        } else if (strcmp(kind, "object") == 0) {
                put_text(row, name_of(pair, 0));
                put_made(row, short_text(name_of(pair, 1)), false);
                put_made(row, place_text(pair, name_of(pair, 3)), false);
        } else {
                put_made(row, short_text(name_of(pair, 0)), false);
                put_made(row, short_text(name_of(pair, 1) ?: ""), false);
        }
}

static char *samples_text(const struct diff_pair *pair)
{
        return text_of("%" PRId64 ", %" PRId64, pair->before ? pair->before->samples : 0,
                       pair->after ? pair->after->samples : 0);
}

/* The sums of all rows, first. */
static void put_whole(struct cells *row, const struct diff *diff, size_t columns)
{
        put_estimates_for_people(row, diff_unit(diff->figure), &diff->before.whole,
                                 &diff->after.whole, &diff->difference);
        put_made(row,
                 text_of("%" PRId64 ", %" PRId64, diff->before.summary.memory_samples,
                         diff->after.summary.memory_samples),
                 true);
        put_text(row, shown_verdict(change_name(change_of(&diff->difference))));
        for (size_t i = 1; i < columns; i++)
                put_text(row, "");
        put_text(row, "(all)");
}

static bool is_notable(const struct diff *diff, const struct diff_pair *pair)
{
        double whole = fmax(diff->before.whole.value, diff->after.whole.value);
        return (pair->before && pair->before->samples >= VERDICT_SAMPLES_MIN) ||
               (pair->after && pair->after->samples >= VERDICT_SAMPLES_MIN) ||
               fmax(pair->from.value, pair->to.value) >= NOTABLE_SHARE * whole;
}

static int table_rows(const struct diff *diff, const struct diff_options *options,
                      FILE *out, int64_t *left_out)
{
        const char *names[TABLE_COLUMNS + KIND_COLUMNS_MAX] = {
            "before", "after", "change", "95% range of change", "samples", "verdict"};
        const struct table_kind *kind = table_kind_of(diff->kind);
        size_t columns = kind_columns(kind);
        memcpy(names + TABLE_COLUMNS, kind->columns, sizeof(kind->columns));
        struct render *render = render_begin(FORMAT_TABLE, out, names,
                                             TABLE_COLUMNS + columns, options->width);
        struct cells row = {.count = 0};
        int code = render ? 0 : -ENOMEM;
        int64_t shown = 0;
        *left_out = 0;
        if (!code) {
                put_whole(&row, diff, columns);
                code = finish_row(render, &row);
        }
        for (size_t i = 0; !code && i < diff->pair_count; i++) {
                const struct diff_pair *pair = &diff->pairs[i];
                if (options->top >= 0 &&
                    (shown >= options->top || !is_notable(diff, pair))) {
                        (*left_out)++;
                        continue;
                }
                shown++;
                put_estimates_for_people(&row, diff_unit(diff->figure), &pair->from,
                                         &pair->to, &pair->difference);
                put_made(&row, samples_text(pair), true);
                put_text(&row, shown_verdict(verdict_of_pair(pair)));
                put_names_for_people(&row, diff->kind->name, pair);
                code = finish_row(render, &row);
        }
        render_end(render);
        return code;
}

/* ---- rows for programs ---- */

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
        put_integer(row, of && of->line > 0, of ? of->line : 0);
}

static void put_pair(struct cells *row, const struct diff *diff,
                     const struct diff_pair *pair)
{
        const struct diff_row *before = pair->before, *after = pair->after;
        for (size_t i = 0; i < DIFF_NAMES && diff->kind->names[i]; i++)
                put_text(row, name_of(pair, i));
        if (diff->kind->line) {
                put_line(row, before);
                put_line(row, after);
        }
        put_integer(row, true, before ? before->samples : 0);
        put_integer(row, true, after ? after->samples : 0);
        put_text(row, before ? before->verdict : NULL);
        put_text(row, after ? after->verdict : NULL);
        put_text(row, figures[diff->figure].name);
        put_text(row, diff_unit(diff->figure));
        put_estimate(row, &pair->from);
        put_estimate(row, &pair->to);
        put_estimate(row, &pair->difference);
        put_text(row, verdict_of_pair(pair));
        put_text(row, diff->after.summary.numbers);
}

static int program_rows(const struct diff *diff, const struct diff_options *options,
                        FILE *out)
{
        static const char *const figure_names[] = {
            "samples_before", "samples_after",  "verdict_before",  "verdict_after",
            "figure",         "unit",           "before",          "before_low",
            "before_high",    "after",          "after_low",       "after_high",
            "difference",     "difference_low", "difference_high", "verdict",
            "numbers"};
        const char *names[CELLS_MAX];
        char line_names[2][32];
        size_t count = name_columns(diff, names, line_names);
        memcpy(names + count, figure_names, sizeof(figure_names));
        count += sizeof(figure_names) / sizeof(figure_names[0]);
        struct render *render = render_begin(options->format, out, names, count, 0);
        struct cells row = {.count = 0};
        int code = render ? 0 : -ENOMEM;
        for (size_t i = 0; !code && i < diff->pair_count; i++) {
                if (options->top >= 0 && (int64_t)i >= options->top)
                        break;
                put_pair(&row, diff, &diff->pairs[i]);
                code = finish_row(render, &row);
        }
        render_end(render);
        return code;
}

/* ---- the formats ---- */

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

static void print_legend(const struct diff *diff, int64_t left_out, FILE *out)
{
        const char *numbers = diff->after.summary.numbers;
        putc('\n', out);
        print_sentence(out, text_of("%s; change: after less before, with the range that "
                                    "holds the true one with 95 %% confidence, as far as "
                                    "it is the samples that chance chose; samples: "
                                    "before, after",
                                    figures[diff->figure].legend));
        if (!numbers || strcmp(numbers, "modelled") != 0)
                prose_wrapped(out,
                              "Two runs of one program differ by more than their "
                              "samples: what the machine did beside them, and where "
                              "their pages were, is in no range. Compare two recordings "
                              "of BEFORE to see how much that is.");
        if (left_out > 0)
                print_sentence(out,
                               text_of("Rows left out, which differ by less or have "
                                       "few samples: %" PRId64 "; --top 0 shows all.",
                                       left_out));
}

/* Set apart by an empty line, if there are any. */
static int print_notes(const struct diff *diff, FILE *out, struct diag *diag)
{
        char *notes = NULL;
        size_t length = 0;
        FILE *memory = open_memstream(&notes, &length);
        if (!memory)
                return diag_no_memory(diag);
        int code = diff_print_notes(diff, memory, diag);
        if (fclose(memory) != 0 && !code)
                code = diag_no_memory(diag);
        if (!code && length > 0)
                fprintf(out, "\n%s", notes);
        free(notes);
        return code;
}

static int print_table(const struct diff *diff, const struct diff_options *options,
                       FILE *out, struct diag *diag)
{
        int64_t left_out;
        print_side("before:", &diff->before, out);
        print_side("after: ", &diff->after, out);
        int code = print_notes(diff, out, diag);
        if (code)
                return code;
        putc('\n', out);
        if (print_counts(diff, FORMAT_TABLE, out, options->width))
                return diag_no_memory(diag);
        if (!diff->kind)
                return 0;
        putc('\n', out);
        if (table_rows(diff, options, out, &left_out))
                return diag_no_memory(diag);
        print_legend(diff, left_out, out);
        return 0;
}

static void json_text(FILE *out, const char *name, const char *text)
{
        fprintf(out, "\"%s\": ", name);
        if (text)
                render_json_text(out, text, strlen(text));
        else
                fputs("null", out);
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
        fprintf(out, ", \"cut_off\": %s},\n", summary->cut_off ? "true" : "false");
}

static int print_json(const struct diff *diff, const struct diff_options *options,
                      FILE *out, struct diag *diag)
{
        fputs("{", out);
        json_side(out, "before", &diff->before);
        json_side(out, "after", &diff->after);
        json_text(out, "by", diff->kind ? diff->kind->name : "run");
        fputs(",\n\"run\": ", out);
        int code = print_counts(diff, FORMAT_JSON, out, 0);
        if (!code && diff->kind) {
                fputs(",\n\"rows\": ", out);
                code = program_rows(diff, options, out);
        }
        fputs("\n}\n", out);
        return code ? diag_no_memory(diag) : 0;
}

int diff_print(const struct diff *diff, const struct diff_options *options, FILE *out,
               struct diag *diag)
{
        switch (options->format) {
        case FORMAT_TABLE:
                return print_table(diff, options, out, diag);
        case FORMAT_JSON:
                return print_json(diff, options, out, diag);
        default:
                break;
        }
        int code = diff->kind ? program_rows(diff, options, out)
                              : print_counts(diff, options->format, out, 0);
        return code ? diag_no_memory(diag) : 0;
}
