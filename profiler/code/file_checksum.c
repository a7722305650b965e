/* SPDX-License-Identifier: MIT */
/* Bytes are read, not mapped: a file that becomes shorter must not end memlag. */
#include "file_checksum.h"

#include <elf.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_checksum(int fd, uint32_t *checksum)
{
        unsigned char part[65536];
        uint32_t sum = 0;
        ssize_t bytes;

        for (off_t at = 0; (bytes = pread(fd, part, sizeof(part), at)) > 0; at += bytes)
                sum = libdeflate_crc32(sum, part, (size_t)bytes);
        *checksum = sum;
        return bytes == 0;
}

int file_checksum_open_elf(const char *path, uint64_t most_bytes)
{
        char magic[SELFMAG];
        struct stat status;
        /* O_NONBLOCK: a pipe must not block. */
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

        if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                       (uint64_t)status.st_size <= most_bytes &&
                       pread(fd, magic, SELFMAG, 0) == SELFMAG &&
                       memcmp(magic, ELFMAG, SELFMAG) == 0))
                return fd;
        close(fd);
        return -1;
}
