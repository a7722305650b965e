/* SPDX-License-Identifier: MIT */
/* The heap tracker's file, and the environment with which the dynamic linker loads it
 * into a program. */
#ifndef MEMLAG_HEAP_PRELOAD_H
#define MEMLAG_HEAP_PRELOAD_H

#include "diag.h"

struct heap_preload {
        int directory;   /* -1: LD_PRELOAD can express the path */
        char *path;      /* for the target */
        char *real_path; /* as the kernel calls it */
        char *variable;  /* "LD_PRELOAD=...", as the target gets it */
        char **environment;
};

/* Fills PRELOAD, which is empty but for a directory of -1. -ENOENT: a part of memlag is
 * missing; -ENOMEM. Call heap_preload_free after both. */
int heap_preload_find(struct heap_preload *preload, struct diag *diag);
void heap_preload_free(struct heap_preload *preload);

/* Returns ENVIRONMENT with the variables that load the tracker and, last, CHANNEL.
 * RESULT is a NULL-terminated array that PRELOAD owns; it refers to CHANNEL and
 * ENVIRONMENT. -ENOMEM. */
int heap_preload_environment(struct heap_preload *preload, char *channel,
                             char **environment, char ***result, struct diag *diag);

#endif
