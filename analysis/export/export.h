/* SPDX-License-Identifier: MIT */
/* An analysed database in formats that other programs draw. */
#ifndef MEMLAG_EXPORT_H
#define MEMLAG_EXPORT_H

#include <stdio.h>

#include "db.h"
#include "report.h"

/* What a figure of one function or line stands for. Shares are whole millionths, as these
 * formats have whole numbers only. */
enum export_weight {
        EXPORT_STALLED, /* of the run's cycles, for which its loads held up others */
        EXPORT_LATENCY, /* of the latency of all samples; of timer samples: their time */
        EXPORT_SAMPLES,
};

/* The weight called NAME ("stalled", "latency", "samples"): false for any other. */
bool export_weight_named(const char *name, enum export_weight *weight);

/* Each path of the calling-context tree that ends in a function with a weight, as a line
 * of names from the outermost function on, joined by ';', and the weight: the collapsed
 * stacks that flame graphs are made of. Outermost is where the numbers are from. */
int export_folded(struct db *db, const struct report_summary *summary,
                  enum export_weight weight, FILE *out, struct diag *diag);

/* Functions with their lines and calls, as callgrind_annotate and KCachegrind read them.
 * All weights that the recording has are events; the number of a call's calls is not
 * known, and is that of the samples below it. */
int export_callgrind(struct db *db, const struct report_summary *summary, FILE *out,
                     struct diag *diag);

#endif
