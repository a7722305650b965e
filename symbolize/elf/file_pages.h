/* SPDX-License-Identifier: MIT */
/* Pages of a file in the place of memory, without a copy. A file that somebody cuts short
 * meanwhile gives zeros and does not end the program, as a plain mapping would. */
#ifndef MEMLAG_SYMBOLIZE_FILE_PAGES_H
#define MEMLAG_SYMBOLIZE_FILE_PAGES_H

#include <stddef.h>
#include <stdint.h>

enum { FILE_PAGE_BYTES = 4096 };

/* Puts BYTES, whole pages, of FD from OFFSET on in the place of the memory at START,
 * which is the caller's own; what is written there does not get into the file. 0, or
 * -ENOTSUP: they are to be read. */
int file_pages_lend(char *start, size_t bytes, int fd, uint64_t offset);

/* Makes all that was lent in the memory from START on plain memory again, of no value. */
void file_pages_return(char *start, size_t bytes);

#endif
