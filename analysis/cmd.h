/* SPDX-License-Identifier: MIT */
/* What the commands of this stage share. */
#ifndef MEMLAG_ANALYSIS_CMD_H
#define MEMLAG_ANALYSIS_CMD_H

#include <stddef.h>

#include "render.h"

struct argp_state;

/* The value TEXT of --format. Ends the process on bad usage. */
enum format cmd_parse_format(const char *text, struct argp_state *state);

/* Writes out what stdout has buffered: an exit status. A reader that has gone
 * away (| head) is no failure. */
int cmd_finish_output(const char *command);

/* The width of the terminal that stdout is, or 0 when it is none. */
size_t cmd_terminal_width(void);

#endif
