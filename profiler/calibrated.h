/* SPDX-License-Identifier: MIT */
/* What the calibration of this machine says, as facts for the recording's analysis; and
 * all of it, so that the recording can tell on another machine what it was made with. */
#ifndef MEMLAG_CALIBRATED_H
#define MEMLAG_CALIBRATED_H

#include "db.h"
#include "source.h"

/* Stores this machine's calibration in DB, and gives SINK its facts, with its date as
 * their origin. 0 also where there is none: the analysis then goes by the run's own quiet
 * intervals, and says so; and where it is out of reach, which is said on stderr. -EBADMSG
 * when it is damaged. */
int calibrated_machine(struct db *db, struct sink *sink, struct diag *diag);

/* The same for the simulated host, whose own preset has all but what only several threads
 * tell; says on stderr when the calibration is a poor one. */
int calibrated_host(struct db *db, struct sink *sink, struct diag *diag);

#endif
