/* SPDX-License-Identifier: MIT */
/* Whether the dynamic linker will see what is put into a program's environment. Used in
 * memlag and, before programs are executed, inside the target. */
#ifndef MEMLAG_HEAP_PROGRAM_H
#define MEMLAG_HEAP_PROGRAM_H

#include <stdbool.h>

/* False: the program at PATH is statically linked and would find LD_PRELOAD in its
 * environment, or has rights of its own and ignores it, or has 32 bits or another C
 * library, or GNU's before 2.35, whose linker complains of it, or is built with a
 * sanitizer, whose runtime ends a process in which another library stands before it. True
 * for scripts, and where it cannot be told. Allocates nothing. */
bool program_takes_preload(const char *path);

/* The same for FILE as execvp would find it. */
bool program_in_path_takes_preload(const char *file);

#endif
