/* SPDX-License-Identifier: MIT */
/* Command line parsing for all commands. Usage errors print one line without control
 * characters, for any input, and end the process. */
#ifndef MEMLAG_COMMAND_LINE_H
#define MEMLAG_COMMAND_LINE_H

#include <stdint.h>

struct argp;
struct argp_state;
struct option;

/* Interpretation of options that follow non-option arguments. */
enum argument_order {
        ARGUMENTS_ANYWHERE, /* nothing */
        ARGUMENTS_IN_ORDER, /* such options belong to the argument */
        ARGUMENTS_LAST      /* all from the first one on belong to another program */
};

/* Parses the arguments of the command called NAME ("memlag report") into INPUT. Ends the
 * process after --help (EXIT_OK) and on bad usage (EXIT_USAGE). 0, or the error that the
 * parser returned. */
int command_line_parse(const struct argp *argp, const char *name, int argc, char **argv,
                       enum argument_order order, void *input);

/* Does the same for a command that uses getopt_long(), which prints unknown options as
 * typed: replaces their control characters in ARGV. */
void command_line_prepare(int argc, char **argv, const char *short_options,
                          const struct option *long_options);

/* Prints a usage error and ends the process with EXIT_USAGE. For argp's callbacks;
 * argp_error() would print control characters. */
_Noreturn void usage_error(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Parses the value TEXT of OPTION ("--period") like option_number.h; ends the process
 * when it is no number from LEAST to MOST. */
double usage_number(const struct argp_state *state, const char *option, const char *text,
                    double least, double most);
uint64_t usage_whole(const struct argp_state *state, const char *option, const char *text,
                     uint64_t least, uint64_t most);
uint64_t usage_bytes(const struct argp_state *state, const char *option, const char *text,
                     uint64_t least, uint64_t most);

#endif
