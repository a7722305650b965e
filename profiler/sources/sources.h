/* SPDX-License-Identifier: MIT */
/* The sources of samples that `record` knows. */
#ifndef MEMLAG_SOURCES_H
#define MEMLAG_SOURCES_H

#include "source.h"

/* The source of this name, or NULL. */
const struct source_ops *sources_find(const char *name);

/* Returns the first source that works with OPTIONS and that may be selected
 * automatically; NULL with the last error in DIAG. Reports sources that only lack a
 * permission on stderr. */
const struct source_ops *sources_choose(const struct source_options *options,
                                        struct diag *diag);

/* Returns 0 if OPS can record with OPTIONS, else a negative errno value with reason and
 * remedy in DIAG. */
int sources_check(const struct source_ops *ops, const struct source_options *options,
                  struct diag *diag);

#endif
