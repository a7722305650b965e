/* SPDX-License-Identifier: MIT */
/* Stores a calibration, unless the stored one is better. */
#ifndef MEMLAG_KEEPING_H
#define MEMLAG_KEEPING_H

#include <jansson.h>
#include <stdbool.h>

#include "calibration.h"
#include "diag.h"

/* Properties that decide between two calibrations. */
struct worth {
        bool quick;
        bool poor;       /* calibration_is_poor */
        bool lacks_host; /* lacks figures for a simulated CPU */
};

/* Whether EARLIER is retained and NOW is dropped. */
bool keeping_is_better(struct worth earlier, struct worth now);

/* The figure with the largest difference between two calibrations: its NAME in words
 * (NULL: no common figure), and both values. */
struct difference {
        const char *name;
        const char *unit;
        double earlier;
        double now;
};

struct difference keeping_difference(const json_t *earlier, const json_t *now);

/* Whether DOCUMENT lacks memory's latency, which verdicts need. Reports it on stderr as
 * COMMAND. */
bool keeping_lacks_memory(const char *command, const json_t *document);

/* Whether DOCUMENT contradicts itself (calibration_check_sense). Reports it on stderr as
 * COMMAND; with FORCE also that it is stored, without a preset of this machine. */
bool keeping_contradicts_itself(const char *command, const json_t *document, bool force);

/* Whether the stored calibration is better than DOCUMENT: a busy or limited machine, or a
 * quick calibration, must not destroy better data. Reports it on stderr as COMMAND, also
 * when a quick calibration replaces a full one. */
bool keeping_earlier(const char *command, const json_t *document);

/* Writes the files of *DOCUMENT and reports it as COMMAND. Then reads them back into
 * *DOCUMENT (NULL on failure): files have rounded numbers, and output must match them.
 * Returns 0 or a negative errno value with DIAG. */
int keeping_replace(const char *command, const struct machine_identity *identity,
                    json_t **document, struct diag *diag);

#endif
