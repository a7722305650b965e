/* SPDX-License-Identifier: MIT */
/* The section .gnu_debugdata of stripped programs: a small ELF file with their symbols,
 * packed by xz. */
#ifndef MEMLAG_SYMBOLIZE_MINI_DEBUG_H
#define MEMLAG_SYMBOLIZE_MINI_DEBUG_H

#include "elf_file.h"

/* Unpacks BYTES bytes at PACKED into *IMAGE, which the caller frees. 0, -EINVAL when they
 * are damaged or would become implausibly large, -ENOMEM. */
int mini_debug_unpack(const void *packed, size_t bytes, char **image,
                      size_t *image_bytes);

/* Opens the packed symbols in FILE as *ELF, in the memory *IMAGE; the caller owns both.
 * 0, -ENOENT when there are none, -ENOMEM. */
int mini_debug_open(const struct elf_file *file, Elf **elf, char **image);

#endif
