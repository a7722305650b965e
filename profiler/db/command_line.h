/* SPDX-License-Identifier: MIT */
/* How all commands read their command lines: what is wrong with one is said in one line
 * without control characters, whatever was typed, and ends the process. */
#ifndef MEMLAG_COMMAND_LINE_H
#define MEMLAG_COMMAND_LINE_H

#include <stdint.h>

struct argp;
struct argp_state;
struct option;

/* What arguments that are no options' mean for the options behind them. */
enum argument_order {
        ARGUMENTS_ANYWHERE, /* nothing */
        ARGUMENTS_IN_ORDER, /* what those options are about */
        ARGUMENTS_LAST      /* from the first one on all is another program's */
};

/* Parses the arguments of the command called NAME ("memlag report") into INPUT. Ends the
 * process after --help (EXIT_OK) and on bad usage (EXIT_USAGE). 0, or the error that the
 * parser returned. */
int command_line_parse(const struct argp *argp, const char *name, int argc, char **argv,
                       enum argument_order order, void *input);

/* The same for what getopt_long() is to read. It repeats options that it does not know as
 * they were typed: they lose their control characters in ARGV when there is any. */
void command_line_prepare(int argc, char **argv, const char *short_options,
                          const struct option *long_options);

/* Says what is wrong with the arguments and ends the process with EXIT_USAGE. For the
 * functions that argp calls; argp_error() would repeat control characters. */
_Noreturn void usage_error(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The value TEXT of OPTION ("--period"), as option_number.h reads it; ends the process
 * when it is none from LEAST to MOST. */
double usage_number(const struct argp_state *state, const char *option, const char *text,
                    double least, double most);
uint64_t usage_whole(const struct argp_state *state, const char *option, const char *text,
                     uint64_t least, uint64_t most);
uint64_t usage_bytes(const struct argp_state *state, const char *option, const char *text,
                     uint64_t least, uint64_t most);

#endif
