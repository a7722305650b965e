/* SPDX-License-Identifier: MIT */
/* Validates events: runs the relevant trials and judges the counts. */
#ifndef MEMLAG_VALIDATE_H
#define MEMLAG_VALIDATE_H

#include <jansson.h>

#include "runner.h"

/* Validates the runner's wanted candidates; returns the list "events" of a validation
 * document, or NULL with a message. PROGRESS: print progress on stderr. */
json_t *validate_events(struct runner *runner, bool progress, struct diag *diag);

/* The best usable event of EVENTS for each concept: an object of names, null for none. */
json_t *validate_best(const json_t *events);

#endif
