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

/* A flame graph as a picture in SVG. */
int export_svg(struct db *db, const struct report_summary *summary,
               enum export_weight weight, FILE *out, struct diag *diag);

/* For speedscope: the tree of calls, a profile for each weight that the recording has. */
int export_speedscope(struct db *db, const struct report_summary *summary, FILE *out,
                      struct diag *diag);

/* For pprof: the same with all weights. */
int export_pprof(struct db *db, const struct report_summary *summary, FILE *out,
                 struct diag *diag);

/* For the Firefox Profiler: the calls of each thread, over time. Makes the temporary
 * tables of page_samples_prepare. */
int export_firefox(struct db *db, const struct report_summary *summary,
                   enum export_weight weight, FILE *out, struct diag *diag);

/* Where the numbers are from, as one line, which the caller frees; NULL without memory.
 */
char *export_provenance(const struct report_summary *summary);

#endif
