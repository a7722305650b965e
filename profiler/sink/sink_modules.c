/* SPDX-License-Identifier: MIT */
/* Finds the module of a mapping. Opens files of this machine to identify them and to
 * read their build-ids; knows nothing of processes. */
#include "sink_modules.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "build_id.h"
#include "file_checksum.h"
#include "intern.h"

/* A file that was mapped. */
struct file {
        int64_t module_id;
        char *path;
};

/* Identity of a file and its version. */
struct file_identity {
        uint64_t device, inode, size_bytes;
        int64_t modified_s, modified_ns;
};

/* A file whose checksum is computed after the recording. Computing it earlier could lose
 * samples. */
struct large_file {
        int64_t module_id;
        int fd; /* keeps the file alive even if its name is reused */
        struct file_identity identity;
};

struct sink_modules {
        struct writer *writer;
        bool imported;
        struct intern *file_index; /* a file's identity → index + 1 */
        struct file *files;
        size_t file_count;
        struct large_file *large;
        size_t large_count, large_capacity;
};

struct sink_modules *sink_modules_new(struct writer *writer)
{
        struct sink_modules *modules = calloc(1, sizeof(*modules));
        if (!modules)
                return NULL;
        modules->writer = writer;
        modules->file_index = intern_new();
        if (!modules->file_index) {
                free(modules);
                return NULL;
        }
        return modules;
}

void sink_modules_free(struct sink_modules *modules)
{
        if (!modules)
                return;
        for (size_t i = 0; i < modules->file_count; i++)
                free(modules->files[i].path);
        for (size_t i = 0; i < modules->large_count; i++)
                close(modules->large[i].fd);
        intern_free(modules->file_index);
        free(modules->files);
        free(modules->large);
        free(modules);
}

void sink_modules_set_imported(struct sink_modules *modules)
{
        modules->imported = true;
}

static struct file_identity identity_of(const struct stat *status)
{
        return (struct file_identity){
            .device = status->st_dev,
            .inode = status->st_ino,
            .size_bytes = (uint64_t)status->st_size,
            .modified_s = status->st_mtim.tv_sec,
            .modified_ns = status->st_mtim.tv_nsec,
        };
}

static struct file_identity identify(const char *path)
{
        struct stat status;
        return stat(path, &status) == 0 ? identity_of(&status)
                                        : (struct file_identity){0};
}

/* Returns true if FD is still the unchanged file of IDENTITY. */
static bool is_unchanged(int fd, const struct file_identity *identity)
{
        struct stat status;
        if (fstat(fd, &status) != 0)
                return false;
        struct file_identity now = identity_of(&status);
        return memcmp(&now, identity, sizeof(now)) == 0;
}

enum {
        /* Reading a larger file takes so long, on a slow disk some 20 ms, that samples
         * could be lost meanwhile. */
        CHECKSUM_AT_ONCE_BYTES = 4 << 20,
        /* Limit of held descriptors; further files are read at once. */
        LARGE_FILES_MAX = 64
};

/* Larger files take long to read, and may contain anything. The total after the
 * recording has the same limit, as the user waits. */
static const uint64_t checksum_most_bytes = UINT64_C(1) << 30;

/* Stores identity and checksum of the readable file FD, to detect later changes. */
static int write_checksum(struct sink_modules *modules, int64_t module_id, int fd,
                          const struct file_identity *identity, struct diag *diag)
{
        struct module_file_row row = {.size_bytes = identity->size_bytes,
                                      .modified_ns =
                                          identity->modified_s * INT64_C(1000000000) +
                                          identity->modified_ns,
                                      .changed = !is_unchanged(fd, identity)};
        if (!row.changed && !file_checksum(fd, &row.checksum))
                return 0;
        /* Or while it was read. */
        row.changed = row.changed || !is_unchanged(fd, identity);
        return writer_module_file(modules->writer, module_id, &row, diag);
}

/* Gives the ELF file FD, which has no build-id and is closed, a row, with its checksum
 * now or later. */
static int add_without_build_id(struct sink_modules *modules, const char *path, int fd,
                                const struct file_identity *identity, int64_t *module_id,
                                struct diag *diag)
{
        int rc = writer_new_module(modules->writer, path, module_id, diag);
        if (!rc && identity->size_bytes > CHECKSUM_AT_ONCE_BYTES &&
            modules->large_count < LARGE_FILES_MAX &&
            array_reserve(&modules->large, &modules->large_capacity, modules->large_count,
                          sizeof(*modules->large)) == 0) {
                modules->large[modules->large_count++] =
                    (struct large_file){*module_id, fd, *identity};
                return 0;
        }
        if (!rc)
                rc = write_checksum(modules, *module_id, fd, identity, diag);
        close(fd);
        return rc;
}

/* Gives the file PATH a row with its identity: its build-id, or without a build-id its
 * size, time and checksum. */
static int add_module(struct sink_modules *modules, const char *path,
                      const struct file_identity *identity, int64_t *module_id,
                      struct diag *diag)
{
        uint8_t id[BUILD_ID_MAX_BYTES];
        size_t length = build_id_read(path, id);
        int fd = length ? -1 : file_checksum_open_elf(path, checksum_most_bytes);
        if (fd < 0)
                return writer_module(modules->writer, path, id, length, module_id, diag);
        return add_without_build_id(modules, path, fd, identity, module_id, diag);
}

/* Makes an entry for a file called PATH, whose module is not known yet. NULL: no
 * memory. */
static struct file *new_file(struct sink_modules *modules, const char *path)
{
        struct file *files =
            reallocarray(modules->files, modules->file_count + 1, sizeof(*files));
        if (!files)
                return NULL;
        modules->files = files;
        struct file file = {.path = strdup(path)};
        if (!file.path)
                return NULL;
        files[modules->file_count] = file;
        return &files[modules->file_count++];
}

static int add_file(struct sink_modules *modules, const char *path,
                    const struct file_identity *identity, struct diag *diag)
{
        struct file *file = new_file(modules, path);
        return file ? add_module(modules, path, identity, &file->module_id, diag)
                    : diag_no_memory(diag);
}

static int module_of_file(struct sink_modules *modules, const char *path,
                          int64_t *module_id, struct diag *diag)
{
        struct file_identity identity = identify(path);
        size_t path_size = strlen(path) + 1;
        char *key = malloc(sizeof(identity) + path_size);
        if (!key)
                return diag_no_memory(diag);
        memcpy(key, &identity, sizeof(identity));
        memcpy(key + sizeof(identity), path, path_size);
        int64_t *place =
            intern_place(modules->file_index, key, sizeof(identity) + path_size);
        free(key);
        if (!place)
                return diag_no_memory(diag);
        int rc = 0;
        if (*place == 0) {
                rc = add_file(modules, path, &identity, diag);
                *place = (int64_t)modules->file_count;
        }
        if (rc == 0)
                *module_id = modules->files[*place - 1].module_id;
        return rc;
}

/* A recording of this machine has the running kernel's vDSO. A 32-bit process has a
 * different vDSO. */
static int module_of_vdso(struct sink_modules *modules, const struct event_mapping *event,
                          int64_t *module_id, struct diag *diag)
{
        uint8_t id[BUILD_ID_MAX_BYTES];
        bool own = !modules->imported && event->start_addr > UINT32_MAX;
        size_t length = own ? build_id_read_vdso(id) : 0;
        return writer_module(modules->writer, "[vdso]", id, length, module_id, diag);
}

/* The source has read the build-id itself. */
static int module_of_build_id(struct sink_modules *modules,
                              const struct event_mapping *event, int64_t *module_id,
                              struct diag *diag)
{
        int rc = writer_module(modules->writer, event->path, event->build_id,
                               event->build_id_bytes, module_id, diag);
        if (rc < 0 || modules->imported || sink_modules_path(modules, *module_id))
                return rc;
        struct file *file = new_file(modules, event->path);
        if (!file)
                return diag_no_memory(diag);
        file->module_id = *module_id;
        return rc;
}

int sink_modules_find(struct sink_modules *modules, const struct event_mapping *event,
                      int64_t *module_id, struct diag *diag)
{
        *module_id = 0;
        if (event->kind == MAPPING_VDSO)
                return module_of_vdso(modules, event, module_id, diag);
        if (!event->path || !*event->path)
                return 0;
        if (event->build_id_bytes || event->path[0] == '[' || modules->imported)
                return module_of_build_id(modules, event, module_id, diag);
        return module_of_file(modules, event->path, module_id, diag);
}

int sink_modules_finish(struct sink_modules *modules, uint64_t *unread, struct diag *diag)
{
        uint64_t bytes_left = checksum_most_bytes;
        int rc = 0;
        *unread = 0;
        for (size_t i = 0; rc == 0 && i < modules->large_count; i++) {
                const struct large_file *file = &modules->large[i];
                if (file->identity.size_bytes > bytes_left) {
                        ++*unread;
                        diag_printf("record",
                                    "%s has no build-id and is too large to read now: "
                                    "that it is the same file will not be checked when "
                                    "names are made",
                                    sink_modules_path(modules, file->module_id));
                        continue;
                }
                bytes_left -= file->identity.size_bytes;
                rc = write_checksum(modules, file->module_id, file->fd, &file->identity,
                                    diag);
        }
        return rc;
}

const char *sink_modules_path(const struct sink_modules *modules, int64_t module_id)
{
        for (size_t i = 0; i < modules->file_count; i++)
                if (modules->files[i].module_id == module_id)
                        return modules->files[i].path;
        return NULL;
}
