/* SPDX-License-Identifier: MIT */
/* memlag export [FILE]: exports a recording for drawing programs. */
#include <argp.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "cmd.h"
#include "command.h"
#include "command_line.h"
#include "completed.h"
#include "export.h"
#include "file_limit.h"
#include "selection.h"
#include "statement.h"

enum { OPTION_FORMAT = 256, OPTION_WEIGHT };

/* Writers of one weight, or of all known weights. */
struct export_format {
        const char *name;
        int (*weighed)(struct db *, const struct report_summary *, enum export_weight,
                       FILE *, struct diag *);
        int (*whole)(struct db *, const struct report_summary *, FILE *, struct diag *);
        bool binary;
};

static const struct export_format formats[] = {
    {.name = "folded", .weighed = export_folded}, /* the default */
    {.name = "callgrind", .whole = export_callgrind},
    {.name = "svg", .weighed = export_svg},
    {.name = "speedscope", .whole = export_speedscope},
    {.name = "firefox", .weighed = export_firefox},
    {.name = "pprof", .whole = export_pprof, .binary = true},
};

struct arguments {
        struct selection selection;
        const char *file; /* NULL: memlag.db */
        const struct export_format *format;
        bool weight_given;
        enum export_weight weight;
};

static const struct argp_option options[] = {
    {"format", OPTION_FORMAT, "FORMAT", 0,
     "folded (the default): call stacks for flame graphs; callgrind: lines, functions "
     "and "
     "calls for callgrind_annotate and KCachegrind; svg: a flame graph; speedscope; "
     "firefox, "
     "for the Firefox Profiler; or pprof",
     0},
    {"input", 'i', "FILE", 0, "The database, as FILE", 0},
    {"weight", OPTION_WEIGHT, "WHAT", 0,
     "What a stack weighs: stalled (the default where that is known), latency or samples",
     0},
    SELECTION_OPTIONS,
    {0}};

static const struct export_format *format_of(const char *name,
                                             const struct argp_state *state)
{
        for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
                if (strcmp(formats[i].name, name) == 0)
                        return &formats[i];
        usage_error(
            state,
            "--format: '%s' is not folded, callgrind, svg, speedscope, firefox or "
            "pprof",
            name);
        return NULL;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
        struct arguments *arguments = state->input;
        switch (key) {
        case OPTION_FORMAT:
                arguments->format = format_of(text, state);
                return 0;
        case OPTION_WEIGHT:
                if (!export_weight_named(text, &arguments->weight))
                        usage_error(state,
                                    "--weight: '%s' is not stalled, latency or samples",
                                    text);
                arguments->weight_given = true;
                return 0;
        case 'i':
                arguments->file = text;
                return 0;
        case ARGP_KEY_ARG:
                if (arguments->file)
                        return ARGP_ERR_UNKNOWN;
                arguments->file = text;
                return 0;
        case ARGP_KEY_END:
                if (arguments->weight_given && !arguments->format->weighed)
                        usage_error(state,
                                    "--weight: files for %s have all weights; it is for "
                                    "--format=folded, svg and firefox",
                                    arguments->format->name);
                if (arguments->format->binary && isatty(STDOUT_FILENO))
                        usage_error(state,
                                    "--format=%s: standard output is a terminal; "
                                    "redirect it to a file",
                                    arguments->format->name);
                return 0;
        default:
                return selection_parse(&arguments->selection, key, text, state);
        }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "[FILE]",
    .doc = "Write the calls that led to a recording's samples (memlag.db) as a flame "
           "graph, or as "
           "other programs read them.",
};

/* Weights that the recording has. */
struct known {
        int64_t samples;
        int64_t latency;
        int64_t stalled;
};

static int read_known(struct db *db, struct known *known, struct diag *diag)
{
        int code = statement_number(db, "SELECT count(*) FROM caller_finding",
                                    &known->samples, diag);
        if (!code)
                code = statement_number(
                    db, "SELECT max(self_latency_share) IS NOT NULL FROM caller_finding",
                    &known->latency, diag);
        return code
                   ? code
                   : statement_number(
                         db,
                         "SELECT max(self_stalled_ratio) IS NOT NULL FROM caller_finding",
                         &known->stalled, diag);
}

static int choose_weight(const struct arguments *arguments, const struct known *known,
                         enum export_weight *weight, struct diag *diag)
{
        *weight = arguments->weight_given ? arguments->weight
                  : known->stalled        ? EXPORT_STALLED
                                          : EXPORT_LATENCY;
        if (*weight == EXPORT_STALLED && !known->stalled)
                return diag_set(diag, -ENODATA,
                                "--weight=stalled: the recording does not tell for how "
                                "long loads held up the program; there is --weight=%s",
                                known->latency ? "latency" : "samples");
        if (*weight == EXPORT_LATENCY && !known->latency)
                return diag_set(diag, -ENODATA,
                                "the recording's samples have no latency; there is "
                                "--weight=samples");
        return 0;
}

static int write_out(struct db *db, const struct arguments *arguments,
                     const struct report_summary *summary, struct diag *diag)
{
        struct known known;
        enum export_weight weight;
        int code = read_known(db, &known, diag);
        if (code)
                return code;
        if (!known.samples)
                return diag_set(diag, -ENODATA,
                                "%s has no samples of memory accesses: there is nothing "
                                "to draw",
                                arguments->file);
        if (arguments->format->whole)
                return arguments->format->whole(db, summary, stdout, diag);
        code = choose_weight(arguments, &known, &weight, diag);
        return code ? code
                    : arguments->format->weighed(db, summary, weight, stdout, diag);
}

int cmd_export(int argc, char **argv)
{
        struct arguments arguments = {.format = &formats[0]};
        command_line_parse(&parser, "memlag export", argc, argv, ARGUMENTS_ANYWHERE,
                           &arguments);
        if (!arguments.file)
                arguments.file = "memlag.db";
        file_limit_set(file_limit_size(arguments.file));
        struct db *db = completed_open(arguments.file, "export");
        if (!db)
                return EXIT_FAILED;
        struct diag diag;
        struct report_summary summary = {.command = NULL};
        int code = selection_apply(&arguments.selection, db, &diag);
        if (!code)
                code = report_summary_read(db, &summary, &diag);
        if (!code)
                code = write_out(db, &arguments, &summary, &diag);
        report_summary_free(&summary);
        selection_free(&arguments.selection);
        db_close(db);
        if (!code)
                return cmd_finish_output("export");
        fflush(stdout);
        diag_print("export", &diag);
        return EXIT_FAILED;
}
