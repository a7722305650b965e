/* SPDX-License-Identifier: MIT */
#include "heap_preload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paths.h"

#define TRACKER_DIRECTORY "valgrind"
#define TRACKER_NAME      "vgpreload_memlag-amd64-linux.so"

/* Stores the tracker's path in a form for LD_PRELOAD. The dynamic linker splits
 * LD_PRELOAD at spaces and colons; a path with such characters is replaced by a path
 * through a descriptor. */
static int name_path(struct heap_preload *preload, const char *directory)
{
        if (!strpbrk(directory, " \t\n:"))
                return asprintf(&preload->path, "%s/%s", directory, TRACKER_NAME);
        preload->directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return asprintf(&preload->path, "/proc/%d/fd/%d/%s", (int)getpid(),
                        preload->directory, TRACKER_NAME);
}

int heap_preload_find(struct heap_preload *preload, struct diag *diag)
{
        char *directory = path_libexec(TRACKER_DIRECTORY, diag);
        if (!directory)
                return -ENOENT;
        int length = name_path(preload, directory);
        free(directory);
        if (length < 0) {
                preload->path = NULL;
                return diag_no_memory(diag);
        }
        if (access(preload->path, R_OK) != 0)
                return diag_set(
                    diag, -errno,
                    "a part of memlag is missing: %s: %s; install memlag again",
                    preload->path, strerror(errno));
        preload->real_path = realpath(preload->path, NULL);
        return preload->real_path ? 0 : diag_no_memory(diag);
}

void heap_preload_free(struct heap_preload *preload)
{
        if (preload->directory >= 0)
                close(preload->directory);
        free(preload->path);
        free(preload->real_path);
        free(preload->variable);
        free(preload->environment);
}

int heap_preload_environment(struct heap_preload *preload, char *channel,
                             char **environment, char ***result, struct diag *diag)
{
        static const char name[] = "LD_PRELOAD=";
        const char *users = NULL;
        size_t count = 0;
        for (; environment[count]; count++)
                if (strncmp(environment[count], name, strlen(name)) == 0)
                        users = environment[count] + strlen(name);
        char **all = calloc(count + 3, sizeof(*all));
        /* An empty value of the user's is restored, too. */
        if (!all || asprintf(&preload->variable, "%s%s%s%s", name, preload->path,
                             users ? ":" : "", users ? users : "") < 0) {
                free(all);
                preload->variable = NULL;
                return diag_no_memory(diag);
        }
        /* In the user's order. */
        char **end = all;
        for (size_t i = 0; i < count; i++)
                *end++ = strncmp(environment[i], name, strlen(name)) == 0
                             ? preload->variable
                             : environment[i];
        if (!users)
                *end++ = preload->variable;
        *end = channel;
        preload->environment = all;
        *result = all;
        return 0;
}
