/* SPDX-License-Identifier: MIT */
/* memlag import: a recording of perf becomes a sample database, and goes on to the short
 * report. The command line and what is said; the work is in import.c. */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "import.h"
#include "record.h"

#define INTERVAL_MS_DEFAULT 10

static const char name[] = "import";

enum key { KEY_FORCE = 256, KEY_PARTIAL, KEY_INTERVAL };

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0, "Write the sample database to FILE (default memlag.db)",
     0},
    {"force", KEY_FORCE, NULL, 0, "Replace FILE when it is a memlag database already", 0},
    {"partial", KEY_PARTIAL, NULL, 0,
     "When the recording is damaged, keep what comes before the damage", 0},
    {"interval", KEY_INTERVAL, "MS", 0,
     "Sum the counters up over MS milliseconds of the recording's time (default 10)", 0},
    {0},
};

static uint64_t read_interval(struct argp_state *state, const char *text)
{
        char *end;
        double value = strtod(text, &end);
        if (end == text || *end || !isfinite(value) || value < 0.01 || value > 60000)
                argp_error(state, "--interval: '%s' is not a number from 0.01 to 60000",
                           text);
        return (uint64_t)(value * 1e6);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
        struct import_options *options = state->input;
        switch (key) {
        case 'o':
                options->output = text;
                return 0;
        case KEY_FORCE:
                options->force = true;
                return 0;
        case KEY_PARTIAL:
                options->partial = true;
                return 0;
        case KEY_INTERVAL:
                options->interval_ns = read_interval(state, text);
                return 0;
        case ARGP_KEY_ARG:
                if (options->input)
                        argp_error(state, "one recording at a time: '%s' is too many",
                                   text);
                options->input = text;
                return 0;
        case ARGP_KEY_END:
                if (!options->input)
                        argp_error(state, "no recording given; for example: memlag "
                                          "import perf.data");
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

static int parse(int argc, char **argv, struct import_options *options)
{
        static const struct argp argp = {
            .options = option_table,
            .parser = parse_option,
            .args_doc = "FILE|-",
            .doc = "Make a sample database of FILE, a recording of perf record, perf mem "
                   "record or perf c2c record (-: standard input), and print the short "
                   "report.",
        };
        static char program[] = "memlag import";
        argv[0] = program;
        argp_err_exit_status = EXIT_USAGE;
        return argp_parse(&argp, argc, argv, 0, NULL, options);
}

/* Names, findings and the short report. */
static int show(const char *file)
{
        static const char *const commands[] = {"symbolize", "analyze", "report"};
        int status = EXIT_OK;
        for (size_t i = 0; status == EXIT_OK && i < sizeof(commands) / sizeof(*commands);
             i++) {
                char *argv[] = {(char *)commands[i], (char *)"--", (char *)file, NULL};
                status = command_run(commands[i], 3, argv);
        }
        return status;
}

int cmd_import(int argc, char **argv)
{
        struct import_options options = {
            .output = "memlag.db",
            .interval_ns = INTERVAL_MS_DEFAULT * UINT64_C(1000000),
        };
        struct import_result result;
        struct diag diag;
        int error = parse(argc, argv, &options);
        if (error) {
                diag_printf(name, "cannot read the command line: %s", strerror(error));
                return EXIT_FAILED;
        }
        if (import_run(&options, &result, &diag) < 0) {
                diag_print(name, &diag);
                return EXIT_FAILED;
        }
        if (result.has_warning)
                diag_printf(name, "%s: %s; the rest is imported", options.input,
                            result.warning.text);
        if (result.damaged)
                diag_printf(name, "%s: %s; what comes before is imported", options.input,
                            result.damage.text);
        fprintf(stderr, "memlag %s: wrote %s (%llu samples)\n", name, options.output,
                (unsigned long long)result.samples);
        return show(options.output);
}
