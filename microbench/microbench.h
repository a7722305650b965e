/* SPDX-License-Identifier: MIT */
/* The commands that measure the machine. */
#ifndef MEMLAG_MICROBENCH_H
#define MEMLAG_MICROBENCH_H

int cmd_bench(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_validate(int argc, char **argv);

#endif
