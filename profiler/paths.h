/* SPDX-License-Identifier: MIT */
/* Where memlag's other parts lie, found from the running program's own place, so
 * that a build tree, an installation and a moved installation all work. */
#ifndef MEMLAG_PATHS_H
#define MEMLAG_PATHS_H

#include "diag.h"

/* The absolute path of NAME below libexec/memlag or share/memlag; the caller
 * frees it. NULL with a message when it is not there: NAME is expected to exist. */
char *path_libexec(const char *name, struct diag *diag);
char *path_data(const char *name, struct diag *diag);

#endif
