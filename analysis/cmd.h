/* SPDX-License-Identifier: MIT */
/* Helpers that the commands of this stage share. */
#ifndef MEMLAG_ANALYSIS_CMD_H
#define MEMLAG_ANALYSIS_CMD_H

#include <stddef.h>
#include <stdio.h>

#include "diag.h"
#include "render.h"

struct argp_state;

/* The value TEXT of --format, one of FORMATS in words. Ends the process on bad usage. */
enum format cmd_parse_format(const char *text, const char *formats,
                             struct argp_state *state);

/* Flushes stdout and returns an exit status. A closed pipe (| head) is no failure. */
int cmd_finish_output(const char *command);

/* Whether the file PATH is a database, of memlag or not. */
bool cmd_is_recording(const char *path);

/* Calls PRINT, then writes all that it printed to the file PATH, or to stdout without a
 * PATH. If PRINT fails there is no file and no partial output; the result is PRINT's.
 * -EEXIST if PATH is a recording: it stays. */
int cmd_print_whole(const char *path,
                    int (*print)(void *context, FILE *out, struct diag *diag),
                    void *context, struct diag *diag);

/* The width of stdout's terminal, or 0 without a terminal. */
size_t cmd_terminal_width(void);

/* Columns of a table that no terminal shows: the variable COLUMNS, or 100. */
size_t cmd_table_width(void);

#endif
