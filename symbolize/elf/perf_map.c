/* SPDX-License-Identifier: MIT */
/* Everybody can write to the directory: a list may contain anything. */
#include "perf_map.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIST_MAX_BYTES = 256 << 20 };

static int take_line(char *line, struct interval_map *map, struct string_pool *names)
{
        uint64_t start, bytes;

        if (!isxdigit((unsigned char)*line))
                return 0;
        start = strtoull(line, &line, 16);
        if (*line++ != ' ' || !isxdigit((unsigned char)*line))
                return 0;
        bytes = strtoull(line, &line, 16);
        if (*line++ != ' ' || !*line || bytes == 0 || start + bytes < start)
                return 0;
        line[strcspn(line, "\n")] = '\0';
        return interval_map_put(map, start, start + bytes, string_pool_put(names, line));
}

int perf_map_parse(FILE *list, struct interval_map *map, struct string_pool *names)
{
        char *line = NULL;
        size_t capacity = 0;
        int64_t left = LIST_MAX_BYTES;
        ssize_t bytes;
        int error = 0;

        while (!error && left > 0 && (bytes = getline(&line, &capacity, list)) > 0) {
                error = take_line(line, map, names);
                left -= bytes;
        }
        free(line);
        return error;
}

static bool believed(const struct stat *status)
{
        return S_ISREG(status->st_mode) &&
               (status->st_uid == geteuid() || status->st_uid == 0) &&
               status->st_size <= LIST_MAX_BYTES;
}

static enum perf_map_owner owner_of(const struct perf_map_process *process,
                                    const struct stat *status)
{
        return status->st_mtim.tv_sec < process->begun_s   ? PERF_MAP_OF_EARLIER
               : status->st_mtim.tv_sec > process->ended_s ? PERF_MAP_OF_LATER
                                                           : PERF_MAP_OWN;
}

int perf_map_read(const struct perf_map_process *process, struct interval_map *map,
                  struct string_pool *names, struct looked_for *looked_for,
                  enum perf_map_owner *owner)
{
        char path[64];
        struct stat status;

        snprintf(path, sizeof(path), "/tmp/perf-%" PRId64 ".map", process->pid);
        int error = looked_for_add(looked_for, path);

        *owner = PERF_MAP_OWN;
        if (error)
                return error;
        int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);

        if (fd < 0)
                return 0;
        bool is_list = fstat(fd, &status) == 0 && believed(&status);

        if (is_list)
                *owner = owner_of(process, &status);
        FILE *list = is_list && *owner == PERF_MAP_OWN ? fdopen(fd, "r") : NULL;

        if (!list) {
                close(fd);
                return 0;
        }
        error = perf_map_parse(list, map, names);
        fclose(list);
        return error;
}
