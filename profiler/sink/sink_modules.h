/* SPDX-License-Identifier: MIT */
/* The modules of a recording: each version of a mapped file has one row. For the sink
 * only. */
#ifndef MEMLAG_SINK_MODULES_H
#define MEMLAG_SINK_MODULES_H

#include "db.h"
#include "source.h"

struct sink_modules;

/* WRITER must outlive them. NULL: no memory. */
struct sink_modules *sink_modules_new(struct writer *writer);
void sink_modules_free(struct sink_modules *modules);

/* Marks the mappings as imported, maybe from another machine: no file is opened. */
void sink_modules_set_imported(struct sink_modules *modules);

/* Finds the module that EVENT maps; 0: none. A file that has changed since an earlier
 * mapping is another module. */
int sink_modules_find(struct sink_modules *modules, const struct event_mapping *event,
                      int64_t *module_id, struct diag *diag);

/* After the recording, reads the large files without a build-id and stores their
 * checksums. *UNREAD: the count of skipped files, each reported on standard error; the
 * limit for all together is 1 GiB. */
int sink_modules_finish(struct sink_modules *modules, uint64_t *unread,
                        struct diag *diag);

/* The path of a module that was found by its file, or NULL; the modules own it. */
const char *sink_modules_path(const struct sink_modules *modules, int64_t module_id);

#endif
