/* SPDX-License-Identifier: MIT */
/* What the commands of this stage share. */
#ifndef MEMLAG_ANALYSIS_CMD_H
#define MEMLAG_ANALYSIS_CMD_H

#include <stddef.h>
#include <stdint.h>

#include "render.h"

struct argp;
struct argp_state;

/* Parses the arguments of the command called NAME ("memlag report") into INPUT.
 * Ends the process after --help (status 0) and on bad usage (status 2). */
void cmd_parse(const struct argp *argp, const char *name, int argc, char **argv,
               void *input);

/* The value TEXT of --format, and of OPTION, a whole number from LEAST to MOST that WHAT
 * names in the message ("number of rows"). Both end the process on bad usage. */
enum format cmd_parse_format(const char *text, struct argp_state *state);
int64_t cmd_parse_number(const char *option, const char *text, int64_t least,
                         int64_t most, const char *what, struct argp_state *state);

/* Writes out what stdout has buffered: an exit status. A reader that has gone
 * away (| head) is no failure. */
int cmd_finish_output(const char *command);

/* The width of the terminal that stdout is, or 0 when it is none. */
size_t cmd_terminal_width(void);

#endif
