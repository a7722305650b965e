/* SPDX-License-Identifier: MIT */
/* A file is unchanged if its size and modification time are. */
#include "looked_for.h"

#include <sys/stat.h>

#include "append.h"

static int64_t modified(const struct stat *status)
{
        return status->st_mtim.tv_sec * INT64_C(1000000000) + status->st_mtim.tv_nsec;
}

int looked_for_put(struct looked_for *files, int64_t module_id, const char *role,
                   const char *path, const struct stat *status)
{
        struct looked_for_file file = {
            .module_id = module_id, .role = role, .path = strdup(path)};

        if (status) {
                file.size_bytes = (uint64_t)status->st_size;
                file.modified_ns = modified(status);
        }
        if (file.path && PUSH(files, file) == 0)
                return 0;
        free(file.path);
        return -ENOMEM;
}

int looked_for_add(struct looked_for *files, const char *path)
{
        struct stat status;

        return files ? looked_for_put(files, 0, "file", path,
                                      stat(path, &status) == 0 ? &status : NULL)
                     : 0;
}

bool looked_for_changed(const char *path, uint64_t size_bytes, int64_t modified_ns)
{
        struct stat status;

        return stat(path, &status) == 0 && ((uint64_t)status.st_size != size_bytes ||
                                            modified(&status) != modified_ns);
}

void looked_for_free(struct looked_for *files)
{
        for (size_t i = 0; i < files->count; i++)
                free(files->items[i].path);
        free(files->items);
        *files = (struct looked_for){0};
}
