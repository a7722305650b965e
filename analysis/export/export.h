/* SPDX-License-Identifier: MIT */
/* Exports an analysed database to formats of drawing programs. */
#ifndef MEMLAG_EXPORT_H
#define MEMLAG_EXPORT_H

#include <stdio.h>

#include "db.h"
#include "report.h"

/* The measure of a function or line. Shares are whole millionths, because these formats
 * only have integers. */
enum export_weight {
        EXPORT_STALLED, /* share of the run's cycles that its loads stalled */
        EXPORT_LATENCY, /* share of all latency; for timer samples: share of time */
        EXPORT_SAMPLES,
};

/* Finds the weight called NAME ("stalled", "latency", "samples"); false for other names.
 */
bool export_weight_named(const char *name, enum export_weight *weight);

/* Collapsed stacks for flame graphs: one line per path of the calling-context tree with a
 * weight. A line has the names from the outermost function, joined by ';', and the
 * weight. The outermost name is the source of the numbers. */
int export_folded(struct db *db, const struct report_summary *summary,
                  enum export_weight weight, FILE *out, struct diag *diag);

/* Functions with their lines and calls, for callgrind_annotate and KCachegrind. All known
 * weights become events. The number of calls is unknown: the samples below the call
 * replace it. */
int export_callgrind(struct db *db, const struct report_summary *summary, FILE *out,
                     struct diag *diag);

/* A flame graph as an SVG picture. */
int export_svg(struct db *db, const struct report_summary *summary,
               enum export_weight weight, FILE *out, struct diag *diag);

/* For speedscope: the tree of calls, with a profile per known weight. */
int export_speedscope(struct db *db, const struct report_summary *summary, FILE *out,
                      struct diag *diag);

/* For pprof: the tree of calls with all weights. */
int export_pprof(struct db *db, const struct report_summary *summary, FILE *out,
                 struct diag *diag);

/* For the Firefox Profiler: the calls of each thread over time. Creates the temporary
 * tables of page_samples_prepare. */
int export_firefox(struct db *db, const struct report_summary *summary,
                   enum export_weight weight, FILE *out, struct diag *diag);

/* The source of the numbers as one line, which the caller frees; NULL without memory. */
char *export_provenance(const struct report_summary *summary);

#endif
