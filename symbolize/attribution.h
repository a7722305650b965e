/* SPDX-License-Identifier: MIT */
/* What each sample is attributed to: a row for each, and what they have in common. */
#ifndef MEMLAG_SYMBOLIZE_ATTRIBUTION_H
#define MEMLAG_SYMBOLIZE_ATTRIBUTION_H

#include "object.h"
#include "resolution.h"
#include "result_type.h"
#include "sample_type.h"

struct attribution {
        struct objects objects; /* that samples touched */
        struct sample_types sample_types;
        struct type_rows type_rows; /* that samples met */
        struct resolution resolution;
};

/* Both write the table attribution, which is empty, inside the caller's transaction. 0 or
 * a negative errno value. */

/* Runs SWEEP, whose samples have no data addresses: where they are is all that there is
 * to write, and needs no names. */
int attribution_write_places(struct sweep *sweep, struct db *db, struct diag *diag);
/* For FROM's sweep; of samples without addresses only what they have in common is left to
 * do. In any case ATTRIBUTION is to be freed. */
int attribution_write(struct attribution *attribution, const struct object_sources *from,
                      struct db *db, struct diag *diag);
void attribution_free(struct attribution *attribution);

#endif
