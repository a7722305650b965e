/* SPDX-License-Identifier: MIT */
/* Finds the file that a command names, and checks before the start whether it can be
 * recorded. Reports one line and the exit status that shells and env, nice and timeout
 * use. */
#ifndef MEMLAG_TARGET_FILE_H
#define MEMLAG_TARGET_FILE_H

#include <stdbool.h>

#include "diag.h"

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* Looks for COMMAND as execvp does, in PATH when it has no '/'. Checks that it is a
 * 64-bit x86 ELF program, or a script with such an interpreter. SIMULATED: checks also
 * that the simulated PMU leaves room for it, and its sanitizer. 0, or EXIT_NOT_FOUND or
 * EXIT_CANNOT_RUN with the reason in DIAG. */
int target_file_check(const char *command, bool simulated, struct diag *diag);

#endif
