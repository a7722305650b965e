/* SPDX-License-Identifier: MIT */
/* Which file a command names, and whether it is a program that can be recorded:
 * said before anything is started, in one line, with the status that shells and
 * env, nice and timeout use. */
#ifndef MEMLAG_TARGET_FILE_H
#define MEMLAG_TARGET_FILE_H

#include "diag.h"

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* Looks for COMMAND as execvp does, in PATH when it has no '/', and checks that it
 * is a 64-bit x86 ELF program, or a script whose interpreter is one. 0, or
 * EXIT_NOT_FOUND or EXIT_CANNOT_RUN with the reason in DIAG. */
int target_file_check(const char *command, struct diag *diag);

#endif
