/* SPDX-License-Identifier: MIT */
/* The directory is open to everybody: a list may be anybody's, and anything. */
#include "perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIST_MAX_BYTES = 256 << 20 };

/* A hexadecimal number at *AT, before END; *AT moves behind it. */
static bool take_number(const char **at, const char *end, uint64_t *number)
{
        const char *start = *at;

        *number = 0;
        if (end - *at > 2 && start[0] == '0' && (start[1] == 'x' || start[1] == 'X'))
                start = *at += 2;
        for (; *at < end && *at - start < 16; ++*at) {
                char c = **at;
                int digit = c >= '0' && c <= '9'   ? c - '0'
                            : c >= 'a' && c <= 'f' ? c - 'a' + 10
                            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                   : -1;

                if (digit < 0)
                        break;
                *number = *number << 4 | (uint64_t)digit;
        }
        return *at > start;
}

static int take_line(const char *line, const char *end, struct interval_map *map,
                     struct string_pool *names)
{
        uint64_t start, bytes;

        if (!take_number(&line, end, &start) || line == end || *line++ != ' ' ||
            !take_number(&line, end, &bytes) || line == end || *line++ != ' ' ||
            line == end || bytes == 0 || start + bytes < start)
                return 0;
        char *name = strndup(line, (size_t)(end - line));
        int error = name ? interval_map_put(map, start, start + bytes,
                                            string_pool_put(names, name))
                         : -ENOMEM;

        free(name);
        return error;
}

int perf_map_parse(const char *text, size_t bytes, struct interval_map *map,
                   struct string_pool *names)
{
        const char *end = text + bytes;
        int error = 0;

        for (const char *next; text < end && !error; text = next + 1) {
                next = memchr(text, '\n', (size_t)(end - text));
                if (!next)
                        next = end;
                error = take_line(text, next, map, names);
        }
        return error;
}

/* At most the first BYTES bytes of FD; the caller frees the text. */
static char *read_all(int fd, size_t bytes, size_t *got)
{
        char *text = malloc(bytes + 1);
        ssize_t part = 1;

        *got = 0;
        while (text && *got < bytes && (part = read(fd, text + *got, bytes - *got)) > 0)
                *got += (size_t)part;
        return text;
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
        size_t bytes;

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
        if (is_list && *owner == PERF_MAP_OWN) {
                char *text = read_all(fd, (size_t)status.st_size, &bytes);

                error = text ? perf_map_parse(text, bytes, map, names) : -ENOMEM;
                free(text);
        }
        close(fd);
        return error;
}
