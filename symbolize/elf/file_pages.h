/* SPDX-License-Identifier: MIT */
/* Pages of a file in the place of memory, without a copy. A file that somebody cuts short
 * meanwhile gives zeros and does not end the program, as a plain mapping would. */
#ifndef MEMLAG_SYMBOLIZE_FILE_PAGES_H
#define MEMLAG_SYMBOLIZE_FILE_PAGES_H

#include <stddef.h>
#include <stdint.h>

enum { FILE_PAGE_BYTES = 4096 };

/* Maps BYTES, whole pages, of FD from OFFSET on over the caller's memory at START.
 * Writes there do not reach the file. 0, or -ENOTSUP: the caller must read them. */
int file_pages_lend(char *start, size_t bytes, int fd, uint64_t offset);

/* Makes all that was lent in the memory from START on plain memory again, of no value. */
void file_pages_return(char *start, size_t bytes);

#endif
