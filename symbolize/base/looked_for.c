/* SPDX-License-Identifier: MIT */
/* A file is the same when its size and time of modification are. */
#include "looked_for.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "array.h"

static bool look(const char *path, uint64_t *size_bytes, int64_t *modified_ns)
{
        struct stat status;

        if (stat(path, &status) != 0)
                return false;
        *size_bytes = (uint64_t)status.st_size;
        *modified_ns =
            status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
        return true;
}

int looked_for_add(struct looked_for *files, const char *path)
{
        struct looked_for_file file = {0};

        if (!files)
                return 0;
        file.path = strdup(path);
        if (!file.path || array_reserve(&files->items, &files->capacity, files->count,
                                        sizeof(file)) < 0) {
                free(file.path);
                return -ENOMEM;
        }
        look(path, &file.size_bytes, &file.modified_ns);
        files->items[files->count++] = file;
        return 0;
}

bool looked_for_changed(const char *path, uint64_t size_bytes, int64_t modified_ns)
{
        uint64_t size_now;
        int64_t modified_now;

        return look(path, &size_now, &modified_now) &&
               (size_now != size_bytes || modified_now != modified_ns);
}

void looked_for_free(struct looked_for *files)
{
        for (size_t i = 0; i < files->count; i++)
                free(files->items[i].path);
        free(files->items);
        *files = (struct looked_for){0};
}
