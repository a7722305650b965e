/* SPDX-License-Identifier: MIT */
/* The result of `memlag validate` for counters: a JSON document beside the machine's
 * calibration. Locates it and looks up single events; doc/memlag-validate.md describes
 * its contents. */
#ifndef MEMLAG_VALIDATION_H
#define MEMLAG_VALIDATION_H

#include <jansson.h>
#include <stdbool.h>

#include "diag.h"

enum { VALIDATION_FORMAT = 1 };

/* Identifies simulated counters: a preset of the simulated PMU with some prefetchers
 * (their label, as in sim_prefetch.h). Counters that are right without prefetchers may
 * be wrong with prefetchers. */
struct simulated_counters {
        const char *preset;
        char prefetch[64];
};

/* The path of the validation of COUNTERS, NULL: this machine's own; the caller frees it.
 * NULL with a message when there is no home. */
char *validation_path(const struct simulated_counters *counters, struct diag *diag);

/* Loads a validation. 0 with *DOCUMENT, which the caller json_decrefs; -ENOENT: there is
 * none; -EBADMSG: the file is damaged or from a newer memlag; else the read error. On
 * error *DOCUMENT is unchanged. */
int validation_load(const struct simulated_counters *counters, json_t **document,
                    struct diag *diag);

/* Returns the defect of EVENT, an object of the list "events", such as "dead"; NULL: it
 * is usable. WITHOUT_PREFETCH: nothing is prefetched. */
const char *validation_objection(const json_t *event, bool without_prefetch);

/* Counters that a validation selects. Lists of names, NULL-terminated, or NULL: none. */
struct validated_counters {
        const char *const *unusable;  /* no measure of anything */
        const char *const *preferred; /* better than the usual counters */
};

/* Returns true if NAMES (NULL-terminated, or NULL) contains EVENT. */
bool validation_lists(const char *const *names, const char *event);

#endif
