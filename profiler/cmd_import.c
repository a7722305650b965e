/* SPDX-License-Identifier: MIT */
/* memlag import: turns a perf recording into a sample database and continues with the
 * short report. Contains the command line and the messages; import.c does the work. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "command_line.h"
#include "import.h"
#include "option_path.h"
#include "record_command.h"

#define INTERVAL_MS_DEFAULT 10

static const char name[] = "import";

enum key {
        KEY_FORCE = 256,
        KEY_PARTIAL,
        KEY_INTERVAL,
        KEY_SYMFS,
        KEY_DEBUGINFO_PATH,
        KEY_BUILD_ID_DIR,
        KEY_VMLINUX,
        KEY_KALLSYMS,
        KEY_DEBUGINFOD
};

struct import_line {
        struct import_options import;
        char **symbolize; /* arguments for symbolize; NULL-terminated */
        size_t symbolize_count;
        bool has_wrong_path;
        struct diag wrong_path; /* the first wrong path */
};

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0, "Write the sample database to FILE (default memlag.db)",
     0},
    {"force", KEY_FORCE, NULL, 0,
     "Replace FILE when it is a memlag database already, or empty", 0},
    {"partial", KEY_PARTIAL, NULL, 0,
     "When the recording is damaged, keep what comes before the damage", 0},
    {"interval", KEY_INTERVAL, "MS", 0,
     "Sum the counters up over MS milliseconds of the recording's time (default 10)", 0},
    {NULL, 0, NULL, 0, "Names, as memlag symbolize finds them:", 1},
    {"symfs", KEY_SYMFS, "DIR", 0, "Look for the recording machine's files below DIR", 1},
    {"debuginfo-path", KEY_DEBUGINFO_PATH, "DIR", 0,
     "Look for separate debug files below DIR; may be repeated", 1},
    {"build-id-dir", KEY_BUILD_ID_DIR, "DIR", 0,
     "Look for files by build-id in DIR, such as ~/.debug; may be repeated", 1},
    {"vmlinux", KEY_VMLINUX, "FILE", 0, "The file of the recording machine's kernel", 1},
    {"kallsyms", KEY_KALLSYMS, "FILE", 0, "A copy of its /proc/kallsyms", 1},
    {"debuginfod", KEY_DEBUGINFOD, NULL, 0,
     "Ask the servers in DEBUGINFOD_URLS for debug files", 1},
    {0},
};

static const struct argp_option *option_of(int key)
{
        const struct argp_option *option = option_table;
        while (option->key != key)
                option++;
        return option;
}

/* A path that symbolize will refuse: better before a long import. */
static void check_path(struct import_line *line, int key, const char *path,
                       int check(const char *option, const char *path, struct diag *diag))
{
        char option[32];
        snprintf(option, sizeof(option), "--%s", option_of(key)->name);
        if (!line->has_wrong_path)
                line->has_wrong_path = check(option, path, &line->wrong_path) < 0;
}

/* Adds the option to the symbolize arguments. */
static error_t hand_on(struct import_line *line, int key, const char *text)
{
        const struct argp_option *option = option_of(key);
        char *argument = NULL;
        int length = text ? asprintf(&argument, "--%s=%s", option->name, text)
                          : asprintf(&argument, "--%s", option->name);
        char **all =
            reallocarray(line->symbolize, line->symbolize_count + 2, sizeof(char *));
        if (all)
                line->symbolize = all;
        if (length < 0 || !all) {
                if (length >= 0)
                        free(argument);
                return ENOMEM;
        }
        all[line->symbolize_count++] = argument;
        all[line->symbolize_count] = NULL;
        return 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
        struct import_line *line = state->input;
        struct import_options *options = &line->import;
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
                options->interval_ns =
                    (uint64_t)(usage_number(state, "--interval", text, 0.01, 60000) *
                               1e6);
                return 0;
        case KEY_SYMFS:
                options->symfs = text;
                check_path(line, key, text, option_directory);
                return hand_on(line, key, text);
        case KEY_DEBUGINFO_PATH:
        case KEY_BUILD_ID_DIR:
                check_path(line, key, text, option_directory);
                return hand_on(line, key, text);
        case KEY_VMLINUX:
                check_path(line, key, text, option_elf_file);
                return hand_on(line, key, text);
        case KEY_KALLSYMS:
                check_path(line, key, text, option_file);
                return hand_on(line, key, text);
        case KEY_DEBUGINFOD:
                return hand_on(line, key, text);
        case ARGP_KEY_ARG:
                if (options->input)
                        usage_error(state, "one recording at a time: '%s' is too many",
                                    text);
                if (!*text)
                        usage_error(state, "the name of the recording is empty; perf's "
                                           "are called perf.data");
                options->input = text;
                return 0;
        case ARGP_KEY_END:
                if (!options->input)
                        usage_error(state, "no recording given; for example: memlag "
                                           "import perf.data");
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

static int parse(int argc, char **argv, struct import_line *line)
{
        static const struct argp argp = {
            .options = option_table,
            .parser = parse_option,
            .args_doc = "FILE|-",
            .doc = "Make a sample database of FILE, a recording of perf record, perf mem "
                   "record or perf c2c record (-: standard input), and print the short "
                   "report.",
        };
        return command_line_parse(&argp, "memlag import", argc, argv, ARGUMENTS_ANYWHERE,
                                  line);
}

static int symbolize(const struct import_line *line)
{
        char **argv = calloc(line->symbolize_count + 4, sizeof(char *));
        int argc = 0;
        if (!argv) {
                diag_printf(name, "out of memory");
                return EXIT_FAILED;
        }
        argv[argc++] = (char *)"symbolize";
        for (size_t i = 0; i < line->symbolize_count; i++)
                argv[argc++] = line->symbolize[i];
        argv[argc++] = (char *)"--";
        argv[argc++] = (char *)line->import.output;
        int status = command_run("symbolize", argc, argv);
        free(argv);
        return status;
}

/* Names, findings and the short report. */
static int show(const struct import_line *line)
{
        int status = symbolize(line);
        return status == EXIT_OK ? command_show_findings(line->import.output) : status;
}

static void take_no_notice(int signal)
{
        (void)signal;
}

/* In "perf record -o - | memlag import -", Ctrl-C is meant for perf, whose recording
 * then ends and is imported. A second Ctrl-C ends memlag, too. BEFORE: the previous
 * action. */
static void leave_interrupt_to_perf(struct sigaction *before)
{
        struct sigaction once = {.sa_handler = take_no_notice,
                                 .sa_flags = SA_RESETHAND | SA_RESTART};
        sigaction(SIGINT, &once, before);
}

static int run(const struct import_options *options, struct import_result *result,
               struct diag *diag)
{
        struct sigaction before;
        bool from_pipe = strcmp(options->input, "-") == 0;
        if (from_pipe)
                leave_interrupt_to_perf(&before);
        int rc = import_run(options, result, diag);
        if (from_pipe)
                sigaction(SIGINT, &before, NULL);
        return rc;
}

static int import(const struct import_line *line)
{
        const struct import_options *options = &line->import;
        struct import_result result;
        struct diag diag;
        if (run(options, &result, &diag) < 0) {
                diag_print(name, &diag);
                return EXIT_FAILED;
        }
        if (result.has_warning)
                diag_printf(name, "%s: %s; the rest is imported", options->input,
                            result.warning.text);
        if (result.damaged)
                diag_printf(name, "%s: %s; what comes before is imported", options->input,
                            result.damage.text);
        fprintf(stderr, "memlag %s: wrote %s (%llu samples)\n", name, options->output,
                (unsigned long long)result.samples);
        if (result.memory_samples == 0)
                diag_printf(name,
                            "%s: %s; record memory accesses with 'perf mem record', on a "
                            "machine (seldom a virtual one) whose CPUs sample them: "
                            "Intel's with load latency, AMD's with IBS, Arm's with SPE",
                            options->input, result.no_memory.text);
        return show(line);
}

int cmd_import(int argc, char **argv)
{
        struct import_line line = {
            .import = {.output = "memlag.db",
                       .interval_ns = INTERVAL_MS_DEFAULT * UINT64_C(1000000)}};
        int error = parse(argc, argv, &line);
        int status = EXIT_FAILED;
        if (error)
                diag_printf(name, "cannot read the command line: %s", strerror(error));
        else if (line.has_wrong_path)
                diag_print(name, &line.wrong_path);
        else
                status = import(&line);
        for (size_t i = 0; i < line.symbolize_count; i++)
                free(line.symbolize[i]);
        free(line.symbolize);
        return status;
}
