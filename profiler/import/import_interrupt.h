/* SPDX-License-Identifier: MIT */
/* A signal that ends an import leaves no part of a database behind. */
#ifndef MEMLAG_IMPORT_INTERRUPT_H
#define MEMLAG_IMPORT_INTERRUPT_H

#include "diag.h"

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT remove the database at PATH with
 * SQLite's side files, and then end the process as usual. Ignored signals stay ignored;
 * a handled signal goes to its previous handler the first time. Only one database at a
 * time. 0 or -ENOMEM. */
int import_interrupt_begin(const char *path, struct diag *diag);

/* Restores the previous signal actions. Without a begin nothing happens. */
void import_interrupt_end(void);

#endif
