/* SPDX-License-Identifier: MIT */
/* The section .gnu_debugdata of stripped programs: a small ELF file with their symbols,
 * packed by xz. */
#ifndef MEMLAG_SYMBOLIZE_MINI_DEBUG_H
#define MEMLAG_SYMBOLIZE_MINI_DEBUG_H

#include "elf_file.h"

/* Unpacks the BYTES bytes at PACKED into *IMAGE, which the caller frees: 0, -EINVAL when
 * they are damaged or would become implausibly large, -ENOMEM. */
int mini_debug_unpack(const void *packed, size_t bytes, char **image,
                      size_t *image_bytes);

/* Opens the symbols that FILE carries, as *ELF in the memory *IMAGE, both the caller's:
 * 0, -ENOENT when it has none, -ENOMEM. */
int mini_debug_open(const struct elf_file *file, Elf **elf, char **image);

#endif
