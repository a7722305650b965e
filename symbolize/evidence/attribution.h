/* SPDX-License-Identifier: MIT */
/* The object and location of each sample, and properties common to all samples. */
#ifndef MEMLAG_SYMBOLIZE_ATTRIBUTION_H
#define MEMLAG_SYMBOLIZE_ATTRIBUTION_H

#include "object.h"
#include "resolution.h"
#include "result_type.h"
#include "sample_type.h"

struct attribution {
        struct objects objects; /* the samples' objects */
        struct sample_types sample_types;
        struct type_rows type_rows;       /* the samples' types */
        struct type_sources type_sources; /* evidence for the types */
        struct wide_reads wide_reads;
        struct resolution resolution;
};

/* Writes the empty tables attribution and ip_location, for FROM's sweep, inside the
 * caller's transaction. 0 or a negative errno value; the caller frees ATTRIBUTION in
 * any case. */
int attribution_write(struct attribution *attribution, const struct object_sources *from,
                      struct db *db, struct diag *diag);
void attribution_free(struct attribution *attribution);

#endif
