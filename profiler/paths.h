/* SPDX-License-Identifier: MIT */
/* Finds memlag's other parts relative to the running program. A build tree, an
 * installation and a moved installation all work. */
#ifndef MEMLAG_PATHS_H
#define MEMLAG_PATHS_H

#include "diag.h"

/* Returns the absolute path of NAME below libexec/memlag or share/memlag; the caller
 * frees it. NULL with a message when it is missing: NAME is expected to exist. */
char *path_libexec(const char *name, struct diag *diag);
char *path_data(const char *name, struct diag *diag);

#endif
