/* SPDX-License-Identifier: MIT */
/* Finds memlag's parts relative to /proc/self/exe. Knows the layout of an installation,
 * not the purpose of the parts. */
#include "paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *resolve(const char *relative_dir, const char *name, struct diag *diag)
{
        char *program = realpath("/proc/self/exe", NULL);
        if (!program) {
                diag_set(diag, -errno,
                         "cannot find memlag's own place: /proc/self/exe: %s",
                         strerror(errno));
                return NULL;
        }
        *strrchr(program, '/') = '\0';

        char *joined = NULL;
        char *path = NULL;
        if (asprintf(&joined, "%s/%s/%s", program, relative_dir, name) < 0) {
                diag_no_memory(diag);
        } else {
                path = realpath(joined, NULL);
                if (!path)
                        diag_set(
                            diag, -errno,
                            "a part of memlag is missing: %s: %s; install memlag again",
                            joined, strerror(errno));
                free(joined);
        }
        free(program);
        return path;
}

char *path_libexec(const char *name, struct diag *diag)
{
        return resolve(MEMLAG_BIN_TO_LIBEXEC, name, diag);
}

char *path_data(const char *name, struct diag *diag)
{
        return resolve(MEMLAG_BIN_TO_DATA, name, diag);
}
