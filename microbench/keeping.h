/* SPDX-License-Identifier: MIT */
/* Keeps a calibration, unless the one that is there tells more. */
#ifndef MEMLAG_KEEPING_H
#define MEMLAG_KEEPING_H

#include <jansson.h>
#include <stdbool.h>

#include "calibration.h"
#include "diag.h"

/* What decides between two of them. */
struct worth {
        bool quick;
        bool poor;       /* calibration_is_poor */
        bool lacks_host; /* no CPU to simulate can be made of it */
};

/* Whether EARLIER stays in use, and what is measured NOW is not kept: the rule of
 * doc/memlag-calibrate.md. */
bool keeping_is_better(struct worth earlier, struct worth now);

/* Two calibrations' figure that differs most: its NAME in words (NULL: they have none in
 * common) and what each has. */
struct difference {
        const char *name;
        const char *unit;
        double earlier;
        double now;
};

struct difference keeping_difference(const json_t *earlier, const json_t *now);

/* Whether DOCUMENT is without memory's latency, by which verdicts go. Says so on stderr,
 * as COMMAND. */
bool keeping_lacks_memory(const char *command, const json_t *document);

/* Whether DOCUMENT contradicts itself (calibration_check_sense). Says so likewise, and with
 * FORCE that it is kept, without a preset of this machine. */
bool keeping_contradicts_itself(const char *command, const json_t *document, bool force);

/* Whether the calibration that is there is better than DOCUMENT: a machine that is busy
 * or limited for a while, or a quick look at it, must not cost what it told before. Says
 * so on stderr, as COMMAND, and which full one a quick one replaces. */
bool keeping_earlier(const char *command, const json_t *document);

/* Writes the files of *DOCUMENT, says so as COMMAND, and puts what can be read of them
 * into *DOCUMENT (NULL on failure): the file rounds its numbers, and what is shown is
 * what was kept. 0 or a negative errno with DIAG. */
int keeping_replace(const char *command, const struct machine_identity *identity,
                    json_t **document, struct diag *diag);

#endif
