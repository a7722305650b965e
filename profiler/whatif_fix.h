/* SPDX-License-Identifier: MIT */
/* The fixes of `memlag whatif`: each is the simulated machine without one cost. Knows
 * the parameters of the machine, not recordings. */
#ifndef MEMLAG_WHATIF_FIX_H
#define MEMLAG_WHATIF_FIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "sim_preset.h"

/* All costs of memory at once; and the prefetchers, which are no parameter. */
#define WHATIF_MEMORY      "memory"
#define WHATIF_PREFETCHERS "prefetchers"

enum { WHATIF_NAME_BYTES = 128 };

struct whatif_fix {
        char name[WHATIF_NAME_BYTES]; /* as in gain_view: "l2", "dram-latency+l2" */
        char **settings;              /* for --sim-set, NULL-terminated */
        size_t count;
        bool prefetches;                /* all prefetchers are on */
        struct simpmu_in_time *in_time; /* instructions whose data arrives without
                                           delay */
        size_t in_time_count;
};

/* A fix of the program has the name "line:FILE:LINE=in-time". Copies FILE, of SIZE
 * bytes, and returns LINE; 0: NAME has another form. */
int64_t whatif_fix_line(const char *name, char *file, size_t size);

/* Makes the settings of the fix called NAME, or of several fixes joined by '+', on the
 * machine PRESET. The caller adds the instructions of a line. -EINVAL: there is no such
 * fix. Freed by whatif_fix_free in any case. */
int whatif_fix_make(const char *name, const struct sim_preset *preset,
                    struct whatif_fix *fix, struct diag *diag);
void whatif_fix_free(struct whatif_fix *fix);

#endif
