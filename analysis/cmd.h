/* SPDX-License-Identifier: MIT */
/* Helpers that the commands of this stage share. */
#ifndef MEMLAG_ANALYSIS_CMD_H
#define MEMLAG_ANALYSIS_CMD_H

#include <stddef.h>

#include "diag.h"
#include "render.h"

struct argp_state;

/* The value TEXT of --format. Ends the process on bad usage. */
enum format cmd_parse_format(const char *text, struct argp_state *state);

/* Flushes stdout and returns an exit status. A closed pipe (| head) is no failure. */
int cmd_finish_output(const char *command);

/* Returns -EEXIST if the output file PATH is one of the COUNT recordings FILES. */
int cmd_check_output(const char *path, const char *const *files, size_t count,
                     struct diag *diag);

/* Writes BYTES to the file PATH. */
int cmd_write_file(const char *path, const char *bytes, size_t size, struct diag *diag);

/* The width of stdout's terminal, or 0 without a terminal. */
size_t cmd_terminal_width(void);

#endif
