/* SPDX-License-Identifier: MIT */
/* The file that the running kernel maps into every 64-bit process, and that no disk has.
 */
#ifndef MEMLAG_SYMBOLIZE_VDSO_H
#define MEMLAG_SYMBOLIZE_VDSO_H

#include "elf_file.h"

/* The name of its mappings. */
extern const char vdso_module[];

/* Opens a copy of this process's own. 0; -ENOENT when it has none; -ENOMEM. */
int vdso_open(struct elf_file *file);

#endif
