/* SPDX-License-Identifier: MIT */
/* The debug information of a file as a file in memory, in which sections that are packed
 * are unpacked, and several sections for the units of types joined. A small file may
 * claim to unpack to any size; that is checked before. */
#ifndef MEMLAG_SYMBOLIZE_DEBUG_IMAGE_H
#define MEMLAG_SYMBOLIZE_DEBUG_IMAGE_H

#include "elf_file.h"

struct debug_image {
        Elf *elf;
        bool made;   /* it is in memory; else, of other processors, ELF is the file's */
        char *bytes; /* of what was made, unless they are shared; owned */
        size_t bytes_count;
};

/* Reads that of FILE, which must stay open, where variables are only WITH_LOCATIONS: 0;
 * -EFBIG when that would take more than half of the machine's memory; -EINVAL when it
 * cannot be unpacked; -ENOMEM. On error IMAGE needs no close. */
int debug_image_open(struct debug_image *image, const struct elf_file *file,
                     bool with_locations);
/* A reader of its own, for another thread, of an IMAGE that was made, which must stay
 * open. 0 or -ENOMEM. */
int debug_image_share(struct debug_image *copy, const struct debug_image *image);
void debug_image_close(struct debug_image *image);

#endif
