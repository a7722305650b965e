/* SPDX-License-Identifier: MIT */
/* Decodes the feature sections of a recording: perf's description of the machine and of
 * itself (tools/perf/Documentation/perf.data-file-format.txt). Pure functions over
 * bytes; every length is checked. */
#ifndef MEMLAG_PERF_FEATURES_H
#define MEMLAG_PERF_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "events.h"

enum { FEATURE_COUNT = 256 }; /* as many as a header has bits */

/* Features with special treatment by callers; the others are only decoded here. */
enum { FEATURE_DIR_FORMAT = 24 };

struct fact {
        const char *key; /* of the run table, or the machine table; static */
        char *text;      /* NULL: a number */
        int64_t number;
        const char *unit; /* of a fact about the machine; NULL: about the run */
};

struct build_id {
        char *path;
        uint8_t bytes[20];
        size_t length;
};

struct features {
        struct fact *facts;
        size_t fact_count;
        char **command; /* the words of perf's own; NULL-terminated, or NULL */
        struct build_id *build_ids; /* in the order of the recording */
        size_t build_id_count;
        size_t build_id_capacity;
        bool has_clock; /* the moment at which both clocks were read */
        uint64_t clock_ns;
        uint64_t wall_clock_ns; /* since 1970 */
};

void features_free(struct features *features);

/* Returns the text of the fact KEY; "" when it is unknown. */
const char *features_text(const struct features *features, const char *key);

/* Decodes section NUMBER; names and ids of events go to EVENTS. Ignores unused sections.
 * -EBADMSG with the error, or -ENOMEM. */
int features_decode(struct features *features, struct events *events, unsigned number,
                    const void *bytes, size_t size, struct diag *diag);

/* Takes one entry of the build-id section; in a pipe each entry is a separate record. */
int features_add_build_id(struct features *features, const void *bytes, size_t size,
                          struct diag *diag);

#endif
