/* SPDX-License-Identifier: MIT */
#include "command_line.h"

#include <argp.h>
#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "diag.h"
#include "option_number.h"

/* ---- errors that getopt would print ---- */

/* Returns true if getopt accepts all options. */
static bool is_understood(int argc, char **argv, const char *short_options,
                          const struct option *long_options)
{
        char **words =
            calloc((size_t)argc + 1, sizeof(*words)); /* it puts them in order */
        if (!words)
                return false;
        memcpy(words, argv, (size_t)argc * sizeof(*words));
        int choice;
        opterr = 0;
        optind = 0;
        do
                choice = getopt_long(argc, words, short_options, long_options, NULL);
        while (choice != -1 && choice != '?');
        opterr = 1;
        optind = 0;
        free(words);
        return choice == -1;
}

void command_line_prepare(int argc, char **argv, const char *short_options,
                          const struct option *long_options)
{
        if (!is_understood(argc, argv, short_options, long_options))
                for (int i = 1; i < argc; i++)
                        diag_clean(argv[i]);
}

/* Options that argp adds to each command's options. */
static const struct option argp_options[] = {{"help", no_argument, NULL, 1},
                                             {"usage", no_argument, NULL, 1},
                                             {"program-name", required_argument, NULL, 1},
                                             {"HANG", optional_argument, NULL, 1},
                                             {NULL, 0, NULL, 0}};

static void prepare(const struct argp *argp, int argc, char **argv,
                    enum argument_order order)
{
        size_t count = 0;
        while (argp->options && (argp->options[count].name || argp->options[count].key ||
                                 argp->options[count].doc))
                count++;
        struct option *long_options =
            calloc(1, count * sizeof(*long_options) + sizeof(argp_options));
        char *short_options = calloc(1, 2 * count + sizeof("+"));
        if (long_options && short_options) {
                struct option *next_long = long_options;
                char *next_short = short_options;
                if (order != ARGUMENTS_ANYWHERE)
                        *next_short++ = order == ARGUMENTS_LAST ? '+' : '-';
                for (size_t i = 0; i < count; i++) {
                        const struct argp_option *option = &argp->options[i];
                        if (option->name)
                                *next_long++ = (struct option){
                                    option->name, option->arg != NULL, NULL, 1};
                        if (option->key > 0 && option->key <= UCHAR_MAX)
                                next_short = stpcpy(
                                    next_short, (char[]){(char)option->key,
                                                         option->arg ? ':' : '\0', '\0'});
                }
                memcpy(next_long, argp_options, sizeof(argp_options));
                command_line_prepare(argc, argv, short_options, long_options);
        }
        free(long_options);
        free(short_options);
}

int command_line_parse(const struct argp *argp, const char *name, int argc, char **argv,
                       enum argument_order order, void *input)
{
        prepare(argp, argc, argv, order);
        argp_err_exit_status = EXIT_USAGE;
        char *command = argv[0];
        argv[0] = (char *)name; /* argp names the program by it, and only reads it */
        int error =
            argp_parse(argp, argc, argv, order != ARGUMENTS_ANYWHERE ? ARGP_IN_ORDER : 0,
                       NULL, input);
        argv[0] = command;
        return error;
}

/* ---- error messages of the commands ---- */

void usage_error(const struct argp_state *state, const char *format, ...)
{
        struct diag line;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(line.text, sizeof(line.text), format, arguments);
        va_end(arguments);
        diag_clean(line.text);
        argp_error(state, "%s", line.text);
        exit(EXIT_USAGE);
}

double usage_number(const struct argp_state *state, const char *option, const char *text,
                    double least, double most)
{
        double value;
        struct diag diag;
        if (option_number(option, text, least, most, &value, &diag) < 0)
                usage_error(state, "%s", diag.text);
        return value;
}

uint64_t usage_whole(const struct argp_state *state, const char *option, const char *text,
                     uint64_t least, uint64_t most)
{
        uint64_t value;
        struct diag diag;
        if (option_whole(option, text, least, most, &value, &diag) < 0)
                usage_error(state, "%s", diag.text);
        return value;
}

uint64_t usage_bytes(const struct argp_state *state, const char *option, const char *text,
                     uint64_t least, uint64_t most)
{
        uint64_t value;
        struct diag diag;
        if (option_bytes(option, text, least, most, &value, &diag) < 0)
                usage_error(state, "%s", diag.text);
        return value;
}
