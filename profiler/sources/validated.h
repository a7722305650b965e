/* SPDX-License-Identifier: MIT */
/* Results of `memlag validate` for the counters to be recorded: unusable counters, and
 * better replacements for the usual counters. */
#ifndef MEMLAG_VALIDATED_H
#define MEMLAG_VALIDATED_H

#include <jansson.h>

#include "sink.h"
#include "source.h"
#include "validation.h"

struct validated {
        json_t *document;                   /* NULL: nothing has been validated */
        bool without_prefetch;              /* the run has no prefetchers, the validation
                                               had */
        struct validated_counters counters; /* their names are the document's */
};

/* Reads the validation of the counters that OPS records. The result is empty without a
 * validation, as for a simulated CPU with user settings. An inaccessible validation is
 * reported on stderr. -EBADMSG when it is damaged. Call validated_free in any case. */
int validated_read(const struct source_ops *ops, const struct source_options *options,
                   struct validated *validated, struct diag *diag);
void validated_free(struct validated *validated);

/* Puts into the ledger which counters are not recorded, and why. */
int validated_tell(const struct validated *validated, struct sink *sink,
                   struct diag *diag);

#endif
