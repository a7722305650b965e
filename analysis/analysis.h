/* SPDX-License-Identifier: MIT */
/* The analysis stage as the rest of memlag sees it: its commands. */
#ifndef MEMLAG_ANALYSIS_H
#define MEMLAG_ANALYSIS_H

int cmd_analyze(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_export(int argc, char **argv);

#endif
