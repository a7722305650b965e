/* SPDX-License-Identifier: MIT */
/* A signal that ends an import leaves no part of a database behind. */
#ifndef MEMLAG_IMPORT_INTERRUPT_H
#define MEMLAG_IMPORT_INTERRUPT_H

#include "diag.h"

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT remove the database at PATH with what
 * SQLite has beside it, and end the process as they would have. One that is ignored stays
 * so; one that has a handler goes to that the first time. 0 or -ENOMEM. One at a time. */
int import_interrupt_begin(const char *path, struct diag *diag);

/* Signals are what they were before. Without a begin nothing happens. */
void import_interrupt_end(void);

#endif
