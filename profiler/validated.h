/* SPDX-License-Identifier: MIT */
/* Which counters `memlag validate` found to be no measure of anything: they are not
 * recorded. */
#ifndef MEMLAG_VALIDATED_H
#define MEMLAG_VALIDATED_H

#include <jansson.h>

#include "sink.h"
#include "source.h"

struct validated {
        json_t *document;      /* NULL: nothing has been validated */
        const char **names;    /* of the counters, NULL-terminated; NULL: none */
        bool without_prefetch; /* the run has none, the validation had */
};

/* Reads the validation of the counters that OPS records; nothing where there is none.
 * validated_free in any case. */
int validated_read(const struct source_ops *ops, const struct source_options *options,
                   struct validated *validated, struct diag *diag);
void validated_free(struct validated *validated);

/* Puts into the ledger which counters are not recorded, and why. */
int validated_tell(const struct validated *validated, struct sink *sink,
                   struct diag *diag);

#endif
