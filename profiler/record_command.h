/* SPDX-License-Identifier: MIT */
/* The recording commands of the profiler stage. */
#ifndef MEMLAG_RECORD_COMMAND_H
#define MEMLAG_RECORD_COMMAND_H

#include <stdbool.h>

struct record_options;

/* memlag record, import and whatif; see doc/memlag-record.md, doc/memlag-import.md and
 * doc/memlag-whatif.md. */
int cmd_record(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_whatif(int argc, char **argv);

/* The last stage of a recording. */
enum record_end { RECORD_FINDINGS, RECORD_REPORT };

/* Records as OPTIONS request, symbolizes and analyses; with RECORD_REPORT also prints
 * the short report. Returns the exit status of `memlag record`; *RECORDED: the database
 * is complete. */
int record_run(struct record_options *options, enum record_end end, bool *recorded);

#endif
