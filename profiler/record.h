/* SPDX-License-Identifier: MIT */
/* The profiler stage's commands that take samples. */
#ifndef MEMLAG_RECORD_H
#define MEMLAG_RECORD_H

/* memlag record and import; see doc/memlag-record.md and doc/memlag-import.md. */
int cmd_record(int argc, char **argv);
int cmd_import(int argc, char **argv);

#endif
