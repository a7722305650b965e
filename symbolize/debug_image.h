/* SPDX-License-Identifier: MIT */
/* The debug information of a file whose sections are packed, or that has several sections
 * for the units of types: a file in memory with them unpacked and joined. A small file
 * may claim to unpack to any size; that is checked before. */
#ifndef MEMLAG_SYMBOLIZE_DEBUG_IMAGE_H
#define MEMLAG_SYMBOLIZE_DEBUG_IMAGE_H

#include "elf_file.h"

struct debug_image {
        Elf *elf;
        char *bytes; /* NULL: nothing to do; ELF is the file's own */
};

/* Unpacks and joins that of FILE, which must stay open, where variables are only
 * WITH_LOCATIONS: 0; -EFBIG when that would take more than half of the machine's memory;
 * -EINVAL when it cannot be unpacked; -ENOMEM. On error IMAGE needs no close. */
int debug_image_open(struct debug_image *image, const struct elf_file *file,
                     bool with_locations);
void debug_image_close(struct debug_image *image);

#endif
