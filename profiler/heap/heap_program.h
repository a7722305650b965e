/* SPDX-License-Identifier: MIT */
/* Checks whether the dynamic linker will read a program's environment. Used in memlag
 * and, before programs are executed, inside the target. */
#ifndef MEMLAG_HEAP_PROGRAM_H
#define MEMLAG_HEAP_PROGRAM_H

#include <stdbool.h>

/* Returns false if the tracker cannot be loaded into the program at PATH. Causes: it is
 * statically linked and would see LD_PRELOAD, or it is privileged and ignores
 * LD_PRELOAD. It has 32 bits, another C library, or a GNU C library before 2.35, whose
 * linker rejects the tracker. It is built with a sanitizer, whose runtime aborts a
 * process in which another library precedes it.
 *
 * True for scripts, and if the program cannot be checked. Allocates nothing. */
bool program_takes_preload(const char *path);

/* The same for FILE as execvp would find it. */
bool program_in_path_takes_preload(const char *file);

#endif
