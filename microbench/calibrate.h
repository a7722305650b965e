/* SPDX-License-Identifier: MIT */
/* A calibration from beginning to end. Writes to no file but the one that the
 * prefetchers' settings stand in while they are off. */
#ifndef MEMLAG_CALIBRATE_H
#define MEMLAG_CALIBRATE_H

#include <jansson.h>
#include <stdbool.h>

#include "calibration.h"

/* Measures this machine, which IDENTITY describes, into DOCUMENT, an empty object: QUICK
 * in half a minute at most, else within three. Binds the calling thread to a CPU, and
 * shows its progress on a terminal. 0, or a negative errno value with what to do about it
 * in DIAG; DOCUMENT is then of no use. */
int calibrate(bool quick, const struct machine_identity *identity, json_t *document,
              struct diag *diag);

/* Sets the prefetchers that a killed calibration left off as they were before it. Returns
 * of how many CPUs, 0 where there was nothing to do, or a negative errno value. */
int calibrate_recover(const struct machine_identity *identity, struct diag *diag);

#endif
