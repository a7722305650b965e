/* SPDX-License-Identifier: MIT */
/* Reading a JSON file that a command of memlag has stored for later runs. */
#ifndef MEMLAG_JSON_FILE_H
#define MEMLAG_JSON_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "diag.h"

/* Reads the JSON file PATH, in which COMMAND stores WHAT, into *ROOT; the caller
 * json_decrefs it. -ENOENT: no such file; -EBADMSG: not JSON. Otherwise the read
 * error. */
int json_file_read(const char *path, const char *what, const char *command, json_t **root,
                   struct diag *diag);

/* Returns true if COMMAND can continue after read error RC with DIAG: the file is absent
 * or inaccessible, as in another user's home directory. Reports an inaccessible file on
 * stderr. */
bool json_file_can_miss(int rc, const char *command, const struct diag *diag);

#endif
