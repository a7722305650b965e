/* SPDX-License-Identifier: MIT */
/* A complete calibration. Writes no file, except for the prefetchers' settings while they
 * are off. */
#ifndef MEMLAG_CALIBRATE_H
#define MEMLAG_CALIBRATE_H

#include <jansson.h>
#include <stdbool.h>

#include "calibration.h"

/* Measures this machine, described by IDENTITY, into DOCUMENT, an empty object. QUICK
 * takes at most half a minute, otherwise four minutes. Binds the calling thread to a
 * CPU, and shows progress on a terminal. Returns 0 or a negative errno value. DIAG then
 * says how to help, and DOCUMENT is useless. */
int calibrate(bool quick, const struct machine_identity *identity, json_t *document,
              struct diag *diag);

/* Restores the prefetchers that a killed calibration left off. Returns the number of
 * restored CPUs, 0 if there was nothing to restore, or a negative errno value. */
int calibrate_recover(const struct machine_identity *identity, struct diag *diag);

#endif
