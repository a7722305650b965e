/* SPDX-License-Identifier: MIT */
/* Looks for the interpreter in a program's headers. */
#include "program.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs have some ten headers. */
#define HEADERS_MAX 64

static bool has_interpreter(int fd, const Elf64_Ehdr *header)
{
        Elf64_Phdr program;
        if (header->e_phnum > HEADERS_MAX || header->e_phentsize != sizeof(program))
                return true;
        for (unsigned i = 0; i < header->e_phnum; i++) {
                off_t place = (off_t)(header->e_phoff + i * sizeof(program));
                if (pread(fd, &program, sizeof(program), place) !=
                        (ssize_t)sizeof(program) ||
                    program.p_type == PT_INTERP)
                        return true;
        }
        return false;
}

bool program_takes_preload(const char *path)
{
        Elf64_Ehdr header;
        struct stat status;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return true;
        if (fstat(fd, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID))) {
                close(fd);
                return false;
        }
        bool takes = pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
                     memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
                     header.e_ident[EI_CLASS] != ELFCLASS64 ||
                     has_interpreter(fd, &header);
        close(fd);
        return takes;
}

bool program_in_path_takes_preload(const char *file)
{
        char path[PATH_MAX];
        size_t file_length = strlen(file);
        if (strchr(file, '/'))
                return program_takes_preload(file);
        for (const char *at = getenv("PATH"); at;) {
                size_t length = strcspn(at, ":");
                if (length + file_length + 2 <= sizeof(path)) {
                        memcpy(path, at, length);
                        path[length] = '/';
                        memcpy(path + length + (length > 0), file, file_length + 1);
                        if (access(path, X_OK) == 0)
                                return program_takes_preload(path);
                }
                at = at[length] ? at + length + 1 : NULL;
        }
        return true;
}
