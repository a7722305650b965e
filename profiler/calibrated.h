/* SPDX-License-Identifier: MIT */
/* What the calibration of this machine says, as facts for the recording's analysis. */
#ifndef MEMLAG_CALIBRATED_H
#define MEMLAG_CALIBRATED_H

#include "source.h"

/* Gives SINK the facts of this machine's calibration, with its date as their origin. 0
 * also where there is none: the analysis then goes by the run's own quiet intervals, and
 * says so. -EBADMSG when it is damaged. */
int calibrated_machine(struct sink *sink, struct diag *diag);

/* The same for the simulated host, whose own preset has all but what only several threads
 * tell; says on stderr when the calibration is a poor one. */
int calibrated_host(struct sink *sink, struct diag *diag);

#endif
