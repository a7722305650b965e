/* SPDX-License-Identifier: MIT */
/* The public interface of the analysis stage: its commands. */
#ifndef MEMLAG_ANALYSIS_H
#define MEMLAG_ANALYSIS_H

int cmd_analyze(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_export(int argc, char **argv);

#endif
