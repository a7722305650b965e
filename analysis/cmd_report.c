/* SPDX-License-Identifier: MIT */
/* memlag report [FILE]: prints the findings of a recording. */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "cmd.h"
#include "command.h"
#include "command_line.h"
#include "completed.h"
#include "file_limit.h"
#include "page.h"
#include "report.h"
#include "selection.h"

enum { TABLE_ROWS = 10, VERBOSE_ROWS = 20 };

enum {
        OPTION_BY = 256,
        OPTION_CACHE_SIZES,
        OPTION_FORMAT,
        OPTION_TOP,
        OPTION_NO_SOURCE,
        OPTION_SORT,
        OPTION_SUMMARY
};

struct arguments {
        struct selection selection;
        const char *file;             /* NULL: memlag.db */
        struct report_options report; /* kind is NULL if not given */
        bool top_given;
        bool cache_sizes;
        bool page;
        struct source_search search; /* for the page */
        const char *output;          /* NULL: stdout */
};

static const struct argp_option options[] = {
    {"by", OPTION_BY, "WHAT", 0,
     "What a row stands for: line (the default), function, object, caller (the tree of "
     "calls), allocation (the calls that allocated each object), type, cacheline (lines "
     "that threads fight for), line-use (how many bytes of each cache line are used), "
     "thread, process, interval or phase (neighbouring intervals with one bound)",
     0},
    {"cache-sizes", OPTION_CACHE_SIZES, NULL, 0,
     "With --by=object: cache sizes that the run and each object need", 0},
    {"dsos", 'd', "PATTERN", 0,
     "Show only lines or functions of the modules (program, libraries) that PATTERN "
     "names, with or without their path, or objects or types that their code accessed; "
     "* stands for any characters",
     0},
    {"format", OPTION_FORMAT, "FORMAT", 0,
     "table (the default), csv, json, or html: a page for a browser with all kinds of "
     "rows",
     0},
    {"input", 'i', "FILE", 0, "The database, as FILE", 0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {"symbols", 'S', "PATTERN", 0,
     "Show only lines or functions of the functions that PATTERN names, or objects or "
     "types that they accessed; * stands for any characters",
     0},
    {"sort", OPTION_SORT, "KEY", 0,
     "Which rows come first: those that stalled the program longest (stalled, the "
     "default if known), or those with most latency (latency)",
     0},
    {"no-source", OPTION_NO_SOURCE, NULL, 0,
     "With --verbose or --format=html: do not show source text", 0},
    {"summary", OPTION_SUMMARY, NULL, 0, "Show the first lines alone, without a table",
     0},
    {"top", OPTION_TOP, "N", 0,
     "Show the N most important rows; 0: all (a table shows 10, with "
     "--verbose 20, the others all)",
     0},
    {"verbose", 'v', NULL, 0,
     "Show all columns, and explain all figures: the whole summary in sentences, "
     "legends, "
     "the source text of the first lines, and all that is missing",
     0},
    {"wide", 'W', NULL, 0, "Show names whole, with all template arguments, in tables too",
     0},
    SOURCE_SEARCH_OPTIONS,
    SELECTION_OPTIONS,
    {0}};

static void parse_top(struct arguments *arguments, const char *text,
                      struct argp_state *state)
{
        int64_t value = (int64_t)usage_whole(state, "--top", text, 0, INT64_MAX);
        arguments->report.top = value ? value : -1;
        arguments->top_given = true;
}

static void parse_sort(struct report_options *report, const char *text,
                       struct argp_state *state)
{
        report->choice.by_latency = strcmp(text, "latency") == 0;
        report->by_stalled = strcmp(text, "stalled") == 0;
        if (!report->choice.by_latency && !report->by_stalled)
                usage_error(state, "--sort: '%s' is not stalled or latency", text);
}

/* An empty pattern matches no name, and rows without a name cannot be chosen. */
static const char *parse_pattern(const char *option, const char *text,
                                 struct argp_state *state)
{
        if (!*text)
                usage_error(state, "%s: the pattern is empty; '*' fits every name",
                            option);
        return text;
}

static void check_choice(const struct report_options *report, struct argp_state *state)
{
        if (report->summary_only && report->format != FORMAT_TABLE)
                usage_error(state, "--summary is of the report in words: not with "
                                   "--format=csv or json");
        if (report->verbose && report->format != FORMAT_TABLE)
                usage_error(state, "--verbose explains a table in words: not with "
                                   "--format=csv or json, which have all columns");
        if ((report->choice.by_latency || report->by_stalled) && !report->kind->shown)
                usage_error(state,
                            "--sort: rows by %s have an order of their own; it is for "
                            "--by=line, function, object and type",
                            report->kind->name);
        if ((report->choice.function || report->choice.module) &&
            !report->kind->of_code && !report->kind->of_data)
                usage_error(state,
                            "%s: rows by %s have no function of their own; choose with "
                            "--by=line, function, object or type",
                            report->choice.function ? "--symbols" : "--dsos",
                            report->kind->name);
}

/* A page has all kinds of rows; the user chooses among them in the page. */
static void check_page(const struct arguments *arguments, struct argp_state *state)
{
        const struct report_options *report = &arguments->report;
        if (report->kind || arguments->top_given || report->choice.function ||
            report->choice.module || report->choice.by_latency || report->by_stalled ||
            report->summary_only || report->verbose || report->whole_names)
                usage_error(state, "--format=html: a page has all rows, of all kinds; "
                                   "of the options for rows it takes --no-source, --pid, "
                                   "--process, --thread, --time and --phase");
}

static void check_selection(const struct arguments *arguments, struct argp_state *state)
{
        const char *kind = arguments->report.kind->name;
        if (selection_is_of_tasks(&arguments->selection) &&
            arguments->report.kind->of_all)
                usage_error(
                    state,
                    "--by=%s: rows by %s are of all processes and threads; choose "
                    "some with --by=line, function, object, caller, type, thread "
                    "or process",
                    kind, kind);
        if (selection_is_any(&arguments->selection) && strcmp(kind, "allocation") == 0)
                usage_error(state, "--by=allocation: allocations are counted for the "
                                   "whole recording, and for no part of its time");
}

static void show_cache_sizes(struct report_options *report, struct argp_state *state)
{
        if (!report->kind || strcmp(report->kind->name, "object") != 0)
                usage_error(state, "--cache-sizes is for --by=object");
        report->kind = report_kind_named(REPORT_CACHE_SIZES);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
        struct arguments *arguments = state->input;
        switch (key) {
        case OPTION_BY:
                arguments->report.kind = report_kind_named(text);
                if (!arguments->report.kind)
                        usage_error(
                            state,
                            "--by: '%s' is not line, function, object, caller, "
                            "allocation, type, cacheline, line-use, thread, process, "
                            "interval or "
                            "phase; "
                            "levels and TLB misses are in 'memlag query --name "
                            "levels', and 'memlag query --list' has more",
                            text);
                return 0;
        case OPTION_FORMAT:
                arguments->page = strcmp(text, "html") == 0;
                arguments->selection.with_parts = arguments->page;
                if (!arguments->page)
                        arguments->report.format =
                            cmd_parse_format(text, "table, csv, json or html", state);
                return 0;
        case OPTION_CACHE_SIZES:
                arguments->cache_sizes = true;
                return 0;
        case OPTION_NO_SOURCE:
                arguments->report.source_text = false;
                return 0;
        case OPTION_SUMMARY:
                arguments->report.summary_only = true;
                return 0;
        case 'v':
                arguments->report.verbose = true;
                return 0;
        case OPTION_TOP:
                parse_top(arguments, text, state);
                return 0;
        case OPTION_SORT:
                parse_sort(&arguments->report, text, state);
                return 0;
        case 'd':
                arguments->report.choice.module = parse_pattern("--dsos", text, state);
                return 0;
        case 'S':
                arguments->report.choice.function =
                    parse_pattern("--symbols", text, state);
                return 0;
        case 'W':
                arguments->report.whole_names = true;
                return 0;
        case 'i':
                arguments->file = text;
                return 0;
        case 'o':
                arguments->output = text;
                return 0;
        case ARGP_KEY_END:
                if (arguments->cache_sizes)
                        show_cache_sizes(&arguments->report, state);
                if (arguments->page)
                        check_page(arguments, state);
                else if (arguments->search.directory_count ||
                         arguments->search.substitution_count)
                        usage_error(state, "--source-path, --substitute-path: they are "
                                           "for --format=html, and for memlag annotate");
                if (!arguments->report.kind)
                        arguments->report.kind = report_kind_named("line");
                check_choice(&arguments->report, state);
                check_selection(arguments, state);
                return 0;
        case ARGP_KEY_ARG:
                if (arguments->file)
                        return ARGP_ERR_UNKNOWN;
                arguments->file = text;
                return 0;
        default:
                if (source_search_parse(&arguments->search, key, text, state) == 0)
                        return 0;
                return selection_parse(&arguments->selection, key, text, state);
        }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "[FILE]",
    .doc = "Show the lines, functions, data objects, calls, types, threads, processes, "
           "intervals or "
           "phases of a recording (memlag.db) that waited most for memory.",
};

static int print(struct db *db, const struct arguments *arguments, FILE *out,
                 struct diag *diag)
{
        static int (*const printers[])(struct db *, const struct report_options *,
                                       const struct report_summary *, FILE *,
                                       struct diag *) = {
            [FORMAT_TABLE] = report_table,
            [FORMAT_CSV] = report_csv,
            [FORMAT_JSON] = report_json,
        };
        const struct report_options *report = &arguments->report;
        struct report_summary summary;
        int code = report_summary_read(db, &summary, diag);
        if (!code && report->by_stalled && isnan(summary.loads_stalled_ratio))
                code =
                    diag_set(diag, -ENODATA,
                             "--sort=stalled: the recording does not tell for how long "
                             "loads held up the program; --sort=latency orders the rows");
        if (!code)
                code =
                    arguments->page
                        ? page_write(db, report, &summary, &arguments->search, out, diag)
                        : printers[report->format](db, report, &summary, out, diag);
        report_summary_free(&summary);
        return code;
}

struct printing {
        struct db *db;
        const struct arguments *arguments;
};

static int print_whole(void *context, FILE *out, struct diag *diag)
{
        const struct printing *printing = context;
        return print(printing->db, printing->arguments, out, diag);
}

static int select_and_print(struct db *db, const struct arguments *arguments)
{
        struct diag diag;
        int code = selection_apply(&arguments->selection, db, &diag);
        if (!code)
                code = arguments->output || arguments->page
                           ? cmd_print_whole(arguments->output, print_whole,
                                             &(struct printing){db, arguments}, &diag)
                           : print(db, arguments, stdout, &diag);
        if (!code)
                return cmd_finish_output("report");
        diag_print("report", &diag);
        return EXIT_FAILED;
}

/* Whole names and the verbose report take the room that they need. */
static size_t table_width(const struct arguments *arguments)
{
        if (arguments->report.whole_names)
                return 0;
        size_t terminal = arguments->output ? 0 : cmd_terminal_width();
        return terminal || arguments->report.verbose ? terminal : cmd_table_width();
}

int cmd_report(int argc, char **argv)
{
        struct arguments arguments = {
            .report = {.top = -1, .source_text = true},
        };
        command_line_parse(&parser, "memlag report", argc, argv, ARGUMENTS_ANYWHERE,
                           &arguments);
        if (!arguments.file)
                arguments.file = "memlag.db";
        if (!arguments.top_given && arguments.report.format == FORMAT_TABLE)
                arguments.report.top =
                    arguments.report.verbose ? VERBOSE_ROWS : TABLE_ROWS;
        arguments.report.file = arguments.file;
        arguments.report.width = table_width(&arguments);
        file_limit_set(file_limit_size(arguments.file));
        struct db *db = completed_open(arguments.file, "report");
        if (!db)
                return EXIT_FAILED;
        int status = select_and_print(db, &arguments);
        db_close(db);
        selection_free(&arguments.selection);
        source_search_free(&arguments.search);
        return status;
}
