/* SPDX-License-Identifier: MIT */
/* The profiler stage's command. */
#ifndef MEMLAG_RECORD_H
#define MEMLAG_RECORD_H

/* memlag record; see doc/memlag-record.md. */
int cmd_record(int argc, char **argv);

#endif
