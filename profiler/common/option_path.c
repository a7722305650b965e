/* SPDX-License-Identifier: MIT */
#include "option_path.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const char *option, const char *path, int code, struct diag *diag)
{
        if (!*path)
                return diag_set(diag, code, "%s: the path is empty; nothing was done",
                                option);
        return diag_set(diag, code, "%s: %s: %s; nothing was done", option, path,
                        strerror(-code));
}

/* Which directory OPTION wants. */
static const char *wanted_directory(const char *option)
{
        static const char *const wanted[][2] = {
            {"--symfs", "give the directory that stands for the machine's root: with DIR "
                        "/usr/bin/program is DIR/usr/bin/program"},
            {"--debuginfo-path",
             "give a directory like /usr/lib/debug: with DIR the file "
             "is found as DIR/.build-id/12/3456.debug"},
            {"--build-id-dir", "give a directory like perf's ~/.debug"},
        };
        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
                if (strcmp(option, wanted[i][0]) == 0)
                        return wanted[i][1];
        return "give a directory";
}

int option_directory(const char *option, const char *path, struct diag *diag)
{
        struct stat status;
        if (stat(path, &status) != 0)
                return refuse(option, path, -errno, diag);
        if (!S_ISDIR(status.st_mode))
                return diag_set(diag, -ENOTDIR, "%s: %s: a file; %s; nothing was done",
                                option, path, wanted_directory(option));
        return access(path, X_OK) == 0 ? 0 : refuse(option, path, -errno, diag);
}

/* Never waits for the other side of a pipe. */
static int open_file(const char *option, const char *path, int *fd, struct diag *diag)
{
        struct stat status;
        *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (*fd < 0)
                return refuse(option, path, -errno, diag);
        if (fstat(*fd, &status) == 0 && !S_ISDIR(status.st_mode))
                return 0;
        close(*fd);
        return refuse(option, path, -EISDIR, diag);
}

int option_file(const char *option, const char *path, struct diag *diag)
{
        int fd, code = open_file(option, path, &fd, diag);
        if (code == 0)
                close(fd);
        return code;
}

int option_elf_file(const char *option, const char *path, struct diag *diag)
{
        char magic[SELFMAG];
        int fd, code = open_file(option, path, &fd, diag);
        if (code)
                return code;
        if (read(fd, magic, sizeof(magic)) != sizeof(magic) ||
            memcmp(magic, ELFMAG, SELFMAG) != 0)
                code = diag_set(diag, -ENOEXEC,
                                "%s: %s: not an ELF file (a packed kernel, vmlinuz, is "
                                "none); nothing was done",
                                option, path);
        close(fd);
        return code;
}
