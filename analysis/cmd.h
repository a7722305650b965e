/* SPDX-License-Identifier: MIT */
/* What the commands of this stage share. */
#ifndef MEMLAG_ANALYSIS_CMD_H
#define MEMLAG_ANALYSIS_CMD_H

#include <stddef.h>

#include "diag.h"
#include "render.h"

struct argp_state;

/* The value TEXT of --format. Ends the process on bad usage. */
enum format cmd_parse_format(const char *text, struct argp_state *state);

/* Writes out what stdout has buffered: an exit status. A reader that has gone
 * away (| head) is no failure. */
int cmd_finish_output(const char *command);

/* -EEXIST: the file PATH that results are to be written to is one of the COUNT recordings
 * FILES. */
int cmd_check_output(const char *path, const char *const *files, size_t count,
                     struct diag *diag);

/* Writes BYTES to the file PATH. */
int cmd_write_file(const char *path, const char *bytes, size_t size, struct diag *diag);

/* The width of the terminal that stdout is, or 0 when it is none. */
size_t cmd_terminal_width(void);

#endif
