/* SPDX-License-Identifier: MIT */
/* Identifies a file without a build-id by the checksum of its bytes. */
#ifndef MEMLAG_CODE_FILE_CHECKSUM_H
#define MEMLAG_CODE_FILE_CHECKSUM_H

#include <stdbool.h>
#include <stdint.h>

/* The CRC-32 of all of the file FD, as gzip and .gnu_debuglink have it; false when it
 * cannot be read. */
bool file_checksum(int fd, uint32_t *checksum);

/* Opens the ELF file PATH for the checksum; -1 when it is no ELF file, unreadable, or
 * larger than MOST_BYTES. */
int file_checksum_open_elf(const char *path, uint64_t most_bytes);

#endif
