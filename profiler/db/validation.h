/* SPDX-License-Identifier: MIT */
/* What `memlag validate` found out about counters: a JSON document beside the machine's
 * calibration. Here is where it lies, and what it says of one event;
 * doc/memlag-validate.md says what stands in it. */
#ifndef MEMLAG_VALIDATION_H
#define MEMLAG_VALIDATION_H

#include <jansson.h>
#include <stdbool.h>

#include "diag.h"

enum { VALIDATION_FORMAT = 1 };

/* The path of the validation of this machine's own counters (PRESET NULL), or of those
 * that a preset of the simulated PMU has; the caller frees it. NULL with a message when
 * there is no home. */
char *validation_path(const char *preset, struct diag *diag);

/* 0 with *DOCUMENT, which the caller json_decrefs; -ENOENT when there is none, -EBADMSG
 * when the file is damaged or from a newer memlag. */
int validation_load(const char *preset, json_t **document, struct diag *diag);

/* What makes EVENT, an object of the list "events", no measure of anything, such as
 * "dead"; NULL when it can be used. */
const char *validation_objection(const json_t *event);

/* Whether NAMES (NULL-terminated, or NULL) has EVENT. */
bool validation_lists(const char *const *names, const char *event);

#endif
