/* SPDX-License-Identifier: MIT */
/* A copy in memory, because ELF files are read from descriptors here. */
#include "vdso.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char vdso_module[] = "[vdso]";

/* Its sections' headers come last. */
static size_t image_bytes(const Elf64_Ehdr *header)
{
        return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

static int open_copy(struct elf_file *file, const Elf64_Ehdr *image)
{
        /* Always the same time: names made from it stay while the kernel does. */
        static const struct timespec times[2];
        size_t bytes = image_bytes(image);
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
        const Elf64_Ehdr *image = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
        int error = image ? open_copy(file, image) : -ENOENT;

        if (error)
                return error == -ENOMEM ? error : -ENOENT;
        file->path = strdup(vdso_module);
        if (!file->path)
                elf_file_close(file);
        return file->fd < 0 ? -ENOMEM : 0;
}
