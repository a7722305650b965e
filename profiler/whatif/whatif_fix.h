/* SPDX-License-Identifier: MIT */
/* The fixes of `memlag whatif`: each is the simulated machine without one cost, or with
 * the program's data placed in another way. Knows the parameters of the machine, not
 * recordings. */
#ifndef MEMLAG_WHATIF_FIX_H
#define MEMLAG_WHATIF_FIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "layout_fix.h"
#include "sim_preset.h"

/* All costs of memory at once; and the prefetchers, which are no parameter. */
#define WHATIF_MEMORY      "memory"
#define WHATIF_PREFETCHERS "prefetchers"

enum { WHATIF_NAME_BYTES = 192 };

struct whatif_fix {
        char name[WHATIF_NAME_BYTES]; /* as in gain_view: "l2", "dram-latency+l2" */
        char **settings;              /* for --sim-set, NULL-terminated */
        size_t count;
        bool prefetches;                /* all prefetchers are on */
        struct simpmu_in_time *in_time; /* instructions whose data arrives without
                                           delay */
        size_t in_time_count;
        struct simpmu_plan *plan; /* with its arrays; NULL: nothing is moved */
        size_t plan_bytes;
};

/* What a fix changes: the machine, or of the program the lines "line:FILE:LINE=in-time",
 * an object "object:NAME=hugepages", or a type "type:NAME=soa". */
enum whatif_subject { WHATIF_MACHINE, WHATIF_LINE, WHATIF_OBJECT, WHATIF_TYPE };

struct whatif_target {
        enum whatif_subject subject;
        char name[WHATIF_NAME_BYTES]; /* of the file, object or type */
        int64_t line;
        enum simpmu_change change;
        struct layout_request layout; /* refers to FIELDS */
        char fields[WHATIF_NAME_BYTES];
};

/* Reads NAME into TARGET, which must stay where it is. -EINVAL: no fix of the program has
 * that form. */
int whatif_fix_target(const char *name, struct whatif_target *target, struct diag *diag);

/* Makes the settings of the fix called NAME, or of several fixes joined by '+', on the
 * machine PRESET. The caller adds the instructions or the plan of a fix of the program.
 * -EINVAL: there is no such fix. Freed by whatif_fix_free in any case. */
int whatif_fix_make(const char *name, const struct sim_preset *preset,
                    struct whatif_fix *fix, struct diag *diag);
void whatif_fix_free(struct whatif_fix *fix);

#endif
