/* SPDX-License-Identifier: MIT */
/* What decided on the types of the samples at one instruction, by the database. */
#ifndef MEMLAG_SYMBOLIZE_TRACE_TYPES_H
#define MEMLAG_SYMBOLIZE_TRACE_TYPES_H

#include <stdint.h>

#include "db.h"

/* Whether a sample of DB is at ADDRESS: 0, or a negative errno value with a message in
 * DIAG; -ENOENT: there is none. */
int trace_types_check(struct db *db, uint64_t address, struct diag *diag);

/* Prints to standard output each type, field and object of the samples of DB at ADDRESS,
 * with their number and the evidence that decided, or why there is no type. 0, or a
 * negative errno value with a message in DIAG. */
int trace_types_print(struct db *db, uint64_t address, struct diag *diag);

#endif
