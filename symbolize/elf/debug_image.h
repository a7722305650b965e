/* SPDX-License-Identifier: MIT */
/* The debug information of a file as a file in memory. Compressed sections are
 * unpacked, and several sections for the units of types joined. A small file may claim
 * to unpack to any size; the claim is checked first. */
#ifndef MEMLAG_SYMBOLIZE_DEBUG_IMAGE_H
#define MEMLAG_SYMBOLIZE_DEBUG_IMAGE_H

#include "elf_file.h"

struct debug_image {
        Elf *elf;
        bool made;   /* it is in memory; else ELF is the file's */
        char *bytes; /* of a made image; owned */
};

/* Reads the debug information of FILE, which must stay open. WITH_LOCATIONS: variables
 * are wanted, too. 0; -EFBIG if it would take more than half of the machine's memory;
 * -EINVAL if it cannot be unpacked; -ENOMEM. On error IMAGE needs no close. */
int debug_image_open(struct debug_image *image, const struct elf_file *file,
                     bool with_locations);
void debug_image_close(struct debug_image *image);

#endif
