/* SPDX-License-Identifier: MIT */
/* Delivers values of this machine's calibration as facts for the recording's
 * analysis. Stores the whole calibration too: a report on another machine then knows
 * its values. */
#ifndef MEMLAG_CALIBRATED_H
#define MEMLAG_CALIBRATED_H

#include "db.h"
#include "source.h"

/* Stores this machine's calibration in DB, and gives SINK its facts, with its date as
 * their origin. Returns 0 also without a calibration: the analysis then uses the run's
 * quiet intervals and reports that. Returns 0 and prints a message to stderr when the
 * calibration is inaccessible. -EBADMSG: it is damaged. */
int calibrated_machine(struct db *db, struct sink *sink, struct diag *diag);

/* Does the same for the simulated host. The host's preset already has all
 * single-threaded values. Prints a warning to stderr when the calibration is poor. */
int calibrated_host(struct db *db, struct sink *sink, struct diag *diag);

#endif
