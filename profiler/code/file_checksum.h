/* SPDX-License-Identifier: MIT */
/* What tells whether a file without a build-id is the same: the checksum of its bytes. */
#ifndef MEMLAG_CODE_FILE_CHECKSUM_H
#define MEMLAG_CODE_FILE_CHECKSUM_H

#include <stdbool.h>
#include <stdint.h>

/* The CRC-32 of all of the file FD, as gzip and .gnu_debuglink have it; false when it
 * cannot be read. */
bool file_checksum(int fd, uint32_t *checksum);

/* The same of the ELF file PATH; false also when it is none, or larger than MOST_BYTES.
 */
bool file_checksum_of_elf(const char *path, uint64_t most_bytes, uint32_t *checksum);

#endif
