/* SPDX-License-Identifier: MIT */
/* What the commands of this stage share. */
#ifndef MEMLAG_ANALYSIS_CMD_H
#define MEMLAG_ANALYSIS_CMD_H

#include <stddef.h>

struct argp;

/* Parses the arguments of the command called NAME ("memlag report") into INPUT.
 * Ends the process after --help (status 0) and on bad usage (status 2). */
void cmd_parse(const struct argp *argp, const char *name, int argc, char **argv,
               void *input);

/* Writes out what stdout has buffered: an exit status. A reader that has gone
 * away (| head) is no failure. */
int cmd_finish_output(const char *command);

/* The width of the terminal that stdout is, or 0 when it is none. */
size_t cmd_terminal_width(void);

#endif
