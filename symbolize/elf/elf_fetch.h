/* SPDX-License-Identifier: MIT */
/* Requests for files that are not on this machine. */
#ifndef MEMLAG_SYMBOLIZE_ELF_FETCH_H
#define MEMLAG_SYMBOLIZE_ELF_FETCH_H

#include "elf_file.h"

/* A request: the debug information of the file with BUILD_ID. */
struct elf_wanted {
        const char *path; /* of the program or library, for messages; or NULL */
        const uint8_t *build_id;
        size_t build_id_bytes;
};

/* Opens it in FILE, which has the build-id: 0, -ENOENT when it is not to be had, -ENOMEM.
 */
typedef int elf_fetch(void *context, const struct elf_wanted *wanted,
                      struct elf_file *file);

#endif
