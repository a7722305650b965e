/* SPDX-License-Identifier: MIT */
/* Finds the module of a mapping. Looks at files of this machine to tell them apart and to
 * read their build-ids, and knows nothing of processes. */
#include "sink_modules.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "build_id.h"
#include "file_checksum.h"
#include "intern.h"

/* A file that was mapped. */
struct file {
        int64_t module_id;
        char *path;
};

struct sink_modules {
        struct writer *writer;
        bool imported;
        struct intern *file_index; /* a file's identity → index + 1 */
        struct file *files;
        size_t file_count;
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
        intern_free(modules->file_index);
        free(modules->files);
        free(modules);
}

void sink_modules_set_imported(struct sink_modules *modules)
{
        modules->imported = true;
}

/* What tells a file from others, and from itself after a change. */
struct file_identity {
        uint64_t device, inode, size_bytes;
        int64_t modified_s, modified_ns;
};

static struct file_identity identify(const char *path)
{
        struct file_identity identity = {0};
        struct stat status;
        if (stat(path, &status) == 0) {
                identity.device = status.st_dev;
                identity.inode = status.st_ino;
                identity.size_bytes = (uint64_t)status.st_size;
                identity.modified_s = status.st_mtim.tv_sec;
                identity.modified_ns = status.st_mtim.tv_nsec;
        }
        return identity;
}

/* Larger ones take long to read, and may be anything. */
static const uint64_t checksum_most_bytes = UINT64_C(1) << 30;

/* Gives the file PATH a row, with what tells it from what it is later: its build-id, or
 * without one what can be said of all files. */
static int add_module(struct sink_modules *modules, const char *path,
                      const struct file_identity *identity, int64_t *module_id,
                      struct diag *diag)
{
        uint8_t id[BUILD_ID_MAX_BYTES];
        size_t length = build_id_read(path, id);
        struct module_file_row row = {.size_bytes = identity->size_bytes,
                                      .modified_ns =
                                          identity->modified_s * INT64_C(1000000000) +
                                          identity->modified_ns};
        if (length || !file_checksum_of_elf(path, checksum_most_bytes, &row.checksum))
                return writer_module(modules->writer, path, id, length, module_id, diag);
        return writer_module_file(modules->writer, path, &row, module_id, diag);
}

static int add_file(struct sink_modules *modules, const char *path,
                    const struct file_identity *identity, struct diag *diag)
{
        struct file *files =
            reallocarray(modules->files, modules->file_count + 1, sizeof(*files));
        if (!files)
                return diag_no_memory(diag);
        modules->files = files;
        struct file file = {.path = strdup(path)};
        if (!file.path)
                return diag_no_memory(diag);
        int rc = add_module(modules, path, identity, &file.module_id, diag);
        files[modules->file_count++] = file;
        return rc;
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

/* A recording of this machine has its kernel's. That of a 32-bit process is another. */
static int module_of_vdso(struct sink_modules *modules, const struct event_mapping *event,
                          int64_t *module_id, struct diag *diag)
{
        uint8_t id[BUILD_ID_MAX_BYTES];
        bool own = !modules->imported && event->start_addr > UINT32_MAX;
        size_t length = own ? build_id_read_vdso(id) : 0;
        return writer_module(modules->writer, "[vdso]", id, length, module_id, diag);
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
                return writer_module(modules->writer, event->path, event->build_id,
                                     event->build_id_bytes, module_id, diag);
        return module_of_file(modules, event->path, module_id, diag);
}

const char *sink_modules_path(const struct sink_modules *modules, int64_t module_id)
{
        for (size_t i = 0; i < modules->file_count; i++)
                if (modules->files[i].module_id == module_id)
                        return modules->files[i].path;
        return NULL;
}
