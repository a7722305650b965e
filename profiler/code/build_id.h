/* SPDX-License-Identifier: MIT */
/* Reads the GNU build-id of a file. Files are hostile and may change meanwhile. */
#ifndef MEMLAG_CODE_BUILD_ID_H
#define MEMLAG_CODE_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

enum { BUILD_ID_MAX_BYTES = 64 };

/* Copies the build-id of the ELF file PATH to ID and returns its length; 0 when it is no
 * ELF file, lacks a build-id, or is unreadable. */
size_t build_id_read(const char *path, uint8_t id[BUILD_ID_MAX_BYTES]);

/* Does the same for the file that the kernel maps into every 64-bit process ("[vdso]");
 * 0: it maps none. */
size_t build_id_read_vdso(uint8_t id[BUILD_ID_MAX_BYTES]);

#endif
