/* SPDX-License-Identifier: MIT */
/* memlag diff BEFORE AFTER: what became better or worse between two recordings. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "cmd.h"
#include "command.h"
#include "completed.h"
#include "diff.h"

enum { TABLE_ROWS = 20 };

enum { OPTION_BY = 256, OPTION_FORMAT, OPTION_TOP };

struct arguments {
        const char *files[2];
        struct diff_options diff;
        bool top_given;
};

static const struct argp_option options[] = {
    {"by", OPTION_BY, "WHAT", 0,
     "What a row stands for: line (the default), function, object, type (each of its "
     "fields), or run (only what was counted in the whole run)",
     0},
    {"format", OPTION_FORMAT, "FORMAT", 0, "table (the default), csv or json", 0},
    {"top", OPTION_TOP, "N", 0,
     "Show the N rows that differ most; 0: all (a table shows 20, the others all)", 0},
    {0}};

static void parse_by(struct arguments *arguments, const char *text,
                     struct argp_state *state)
{
        arguments->diff.kind = diff_kind_named(text);
        if (!arguments->diff.kind && strcmp(text, "run") != 0)
                argp_error(state, "--by: '%s' is not line, function, object, type or run",
                           text);
}

static void parse_top(struct arguments *arguments, const char *text,
                      struct argp_state *state)
{
        char *end;
        errno = 0;
        long long value = strtoll(text, &end, 10);
        if (errno || end == text || *end || value < 0)
                argp_error(state, "--top: '%s' is not a number of rows", text);
        arguments->diff.top = value ? value : -1;
        arguments->top_given = true;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
        struct arguments *arguments = state->input;
        switch (key) {
        case OPTION_BY:
                parse_by(arguments, text, state);
                return 0;
        case OPTION_FORMAT:
                if (!format_named(text, &arguments->diff.format))
                        argp_error(state, "--format: '%s' is not table, csv or json",
                                   text);
                return 0;
        case OPTION_TOP:
                parse_top(arguments, text, state);
                return 0;
        case ARGP_KEY_ARG:
                if (state->arg_num > 1)
                        return ARGP_ERR_UNKNOWN;
                arguments->files[state->arg_num] = text;
                return 0;
        case ARGP_KEY_END:
                if (state->arg_num < 2)
                        argp_error(state, "two recordings are needed, that before the "
                                          "change and that after it");
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "BEFORE AFTER",
    .doc = "Compare two recordings: what was counted, and the lines, functions, data "
           "objects or types that waited less or more in AFTER than in BEFORE.",
};

static int compare(struct diff *diff, const struct diff_options *shown)
{
        struct diag diag;
        int code = diff_side_read(&diff->before, &diag);
        if (!code)
                code = diff_side_read(&diff->after, &diag);
        if (!code)
                code = diff_make(diff, shown->kind, &diag);
        if (!code)
                code = diff_print(diff, shown, stdout, &diag);
        if (!code)
                return cmd_finish_output("diff");
        diag_print("diff", &diag);
        return EXIT_FAILED;
}

int cmd_diff(int argc, char **argv)
{
        struct arguments arguments = {
            .diff = {.kind = diff_kind_named("line"), .top = -1},
        };
        cmd_parse(&parser, "memlag diff", argc, argv, &arguments);
        if (!arguments.top_given && arguments.diff.format == FORMAT_TABLE)
                arguments.diff.top = TABLE_ROWS;
        arguments.diff.width = cmd_terminal_width();
        struct diff diff = {.before = {.file = arguments.files[0]},
                            .after = {.file = arguments.files[1]}};
        diff.before.db = completed_open(diff.before.file, "diff");
        diff.after.db = diff.before.db ? completed_open(diff.after.file, "diff") : NULL;
        int status = diff.after.db ? compare(&diff, &arguments.diff) : EXIT_FAILED;
        diff_free(&diff);
        return status;
}
