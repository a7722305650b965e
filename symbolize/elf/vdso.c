/* SPDX-License-Identifier: MIT */
/* A copy in memory, because ELF files are read from descriptors here. */
#include "vdso.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "own_vdso.h"

const char vdso_module[] = "[vdso]";

static int open_copy(struct elf_file *file, const uint8_t *image, size_t bytes)
{
        /* Always the same time: names made from it stay while the kernel does. */
        static const struct timespec times[2];
        int fd = memfd_create("memlag-vdso", MFD_CLOEXEC);

        if (fd < 0)
                return -ENOENT;
        if (write(fd, image, bytes) != (ssize_t)bytes || futimens(fd, times) != 0) {
                close(fd);
                return -ENOENT;
        }
        return elf_file_open_fd(file, fd);
}

int vdso_open(struct elf_file *file)
{
        size_t bytes;
        const uint8_t *image = own_vdso_bytes(&bytes);
        int error = image ? open_copy(file, image, bytes) : -ENOENT;

        if (error)
                return error == -ENOMEM ? error : -ENOENT;
        file->path = strdup(vdso_module);
        if (!file->path)
                elf_file_close(file);
        return file->fd < 0 ? -ENOMEM : 0;
}
