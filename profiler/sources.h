/* SPDX-License-Identifier: MIT */
/* The sources of samples that `record` knows. */
#ifndef MEMLAG_SOURCES_H
#define MEMLAG_SOURCES_H

#include "source.h"

/* The source of this name, or NULL. */
const struct source_ops *sources_find(const char *name);

/* The first source that works with OPTIONS of those that may be chosen without being
 * asked for; NULL with the reason of the last in DIAG. Says on stderr which ones only
 * want a right. */
const struct source_ops *sources_choose(const struct source_options *options,
                                        struct diag *diag);

/* 0 when OPS can record what OPTIONS ask for, else a negative errno value with the reason
 * and the remedy in DIAG. */
int sources_check(const struct source_ops *ops, const struct source_options *options,
                  struct diag *diag);

#endif
