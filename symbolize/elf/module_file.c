/* SPDX-License-Identifier: MIT */
/* perf's cache: DIR/.build-id/xx/yyyy is the file, or (since perf 4.7) a directory with
 * the file "elf", and of the kernel "kallsyms". */
#include "module_file.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_checksum.h"
#include "own_vdso.h"

const char kernel_module[] = "[kernel.kallsyms]";
const char vdso_module[] = "[vdso]";

struct module_identity module_identity_of_row(sqlite3_stmt *row, int column)
{
        return (struct module_identity){
            .path = (const char *)sqlite3_column_text(row, column),
            .build_id = sqlite3_column_blob(row, column + 1),
            .build_id_bytes = (size_t)sqlite3_column_bytes(row, column + 1),
            .file = {.known = sqlite3_column_type(row, column + 2) != SQLITE_NULL,
                     .size_bytes = (uint64_t)sqlite3_column_int64(row, column + 2),
                     .checksum = sqlite3_column_int64(row, column + 3)}};
}

/* Whether FILE is the recorded file without a build-id. The modification time is no
 * evidence: a copied or touched file has another one, and on systems that normalise times
 * all files have the same. */
static bool is_recorded_file(const struct recorded_file *recorded,
                             const struct elf_file *file)
{
        struct stat status;
        uint32_t checksum;

        return recorded->checksum >= 0 && fstat(file->fd, &status) == 0 &&
               (uint64_t)status.st_size == recorded->size_bytes &&
               file_checksum(file->fd, &checksum) && checksum == recorded->checksum;
}

bool module_identity_is(const struct module_identity *identity,
                        const struct elf_file *file)
{
        if (identity->build_id_bytes > 0)
                return identity->build_id_bytes == file->build_id_bytes &&
                       memcmp(identity->build_id, file->build_id, file->build_id_bytes) ==
                           0;
        return !identity->file.known || is_recorded_file(&identity->file, file);
}

/* Opens IMAGE as a file in memory, because ELF files are read from descriptors here. */
static int open_copy(struct elf_file *file, const uint8_t *image, size_t bytes)
{
        /* Always the same time: the names made from it stay valid with the kernel. */
        static const struct timespec times[2];
        int fd = memfd_create("memlag-vdso", MFD_CLOEXEC);

        if (fd < 0)
                return -ENOENT;
        if (write(fd, image, bytes) != (ssize_t)bytes || futimens(fd, times) != 0) {
                close(fd);
                return -ENOENT;
        }
        return elf_file_open_fd(file, fd, vdso_module);
}

/* Opens a copy of memlag's vDSO, the running kernel's. 0; -ENOENT: none; -ENOMEM. */
static int open_own_vdso(struct elf_file *file)
{
        size_t bytes;
        const uint8_t *image = own_vdso_bytes(&bytes);
        int error = image ? open_copy(file, image, bytes) : -ENOENT;

        return error && error != -ENOMEM ? -ENOENT : error;
}

/* Opens the running kernel's vDSO, if it is the recorded one: without a build-id it may
 * be any kernel's. */
static int open_vdso(const struct module_identity *identity, struct elf_file *file)
{
        int error = identity->build_id_bytes > 0 ? open_own_vdso(file) : -ENOENT;

        if (error || module_identity_is(identity, file))
                return error;
        elf_file_close(file);
        return -ENOENT;
}

/* Opens PATH (NULL: no memory) if it is the right file, and frees PATH. */
static int open_right(const struct module_identity *identity, char *path,
                      struct elf_file *file)
{
        if (!path)
                return -ENOMEM;
        int error = elf_file_open(file, path);

        free(path);
        if (error)
                return error == -ENOMEM || error == -ENOEXEC ? error : -ENOENT;
        if (module_identity_is(identity, file))
                return 0;
        elf_file_close(file);
        return -ESTALE;
}

static char *join(const char *directory, const char *path)
{
        char *joined;

        return asprintf(&joined, "%s%s", directory, path) < 0 ? NULL : joined;
}

/* DIRECTORY/.build-id/xx/yyyy and NAME. */
static char *cached_path(const struct module_identity *identity, const char *directory,
                         const char *name)
{
        char hex[ELF_BUILD_ID_HEX];
        char *path;

        elf_build_id_hex(identity->build_id, identity->build_id_bytes, hex);
        return asprintf(&path, "%s/.build-id/%.2s/%s%s", directory, hex, hex + 2, name) <
                       0
                   ? NULL
                   : path;
}

static int open_cached(const struct module_identity *identity,
                       const struct module_search *search, struct elf_file *file)
{
        static const char *const names[] = {"/elf", "/vdso", ""};
        int error = -ENOENT;

        if (identity->build_id_bytes < 2)
                return -ENOENT;
        for (const char *const *at = search->build_id_directories;
             at && *at && error != 0 && error != -ENOMEM; at++)
                for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && error != 0 &&
                                   error != -ENOMEM;
                     i++)
                        error = open_right(identity, cached_path(identity, *at, names[i]),
                                           file);
        return error == 0 || error == -ENOMEM ? error : -ENOENT;
}

int module_file_open(const struct module_identity *identity,
                     const struct module_search *search, struct elf_file *file)
{
        bool kernel = strcmp(identity->path, kernel_module) == 0;
        int error = -ENOENT;

        if (kernel && search->vmlinux)
                error = open_right(identity, strdup(search->vmlinux), file);
        else if (strcmp(identity->path, vdso_module) == 0)
                error = open_vdso(identity, file);
        else if (!kernel && search->symfs)
                error = open_right(identity, join(search->symfs, identity->path), file);
        else if (!kernel)
                error = open_right(identity, strdup(identity->path), file);
        if (error == 0 || error == -ENOMEM)
                return error;
        int cached = open_cached(identity, search, file);

        return cached == -ENOENT ? error : cached;
}

char *module_file_kallsyms(const struct module_identity *identity,
                           const struct module_search *search)
{
        char *path = NULL;

        for (const char *const *at = search->build_id_directories; at && *at && !path;
             at++) {
                path = cached_path(identity, *at, "/kallsyms");
                if (path && access(path, R_OK) != 0) {
                        free(path);
                        path = NULL;
                }
        }
        return path;
}
