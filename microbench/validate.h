/* SPDX-License-Identifier: MIT */
/* Validates events: runs the trials that tell something of them and judges what they
 * counted. */
#ifndef MEMLAG_VALIDATE_H
#define MEMLAG_VALIDATE_H

#include <jansson.h>

#include "runner.h"

/* The runner's wanted candidates, as the list "events" of a validation's document; NULL
 * with a message. PROGRESS: tell on stderr what runs. */
json_t *validate_events(struct runner *runner, bool progress, struct diag *diag);

/* For each concept the best of EVENTS that can be used: an object of names, null where
 * there is none. */
json_t *validate_best(const json_t *events);

#endif
