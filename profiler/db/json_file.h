/* SPDX-License-Identifier: MIT */
/* Reading a JSON file that a command of memlag has stored for later runs. */
#ifndef MEMLAG_JSON_FILE_H
#define MEMLAG_JSON_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "diag.h"

/* What PATH says, which COMMAND stores there as WHAT, goes to *ROOT; the caller
 * json_decrefs it. -ENOENT where there is no such file; -EBADMSG where it is no JSON;
 * else why it cannot be read. */
int json_file_read(const char *path, const char *what, const char *command, json_t **root,
                   struct diag *diag);

/* Whether COMMAND can do without a file of which RC and DIAG came: it is not there, or
 * out of reach, as with the home directory of somebody else; this is said on stderr. */
bool json_file_can_miss(int rc, const char *command, const struct diag *diag);

#endif
