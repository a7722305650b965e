/* SPDX-License-Identifier: MIT */
/* Reads /proc/PID/status and /proc/PID/task/TID/status. NSpid has a number for each PID
 * namespace, from the namespace of /proc down to the process's namespace. */
#include "thread_gone.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 64, LINE_BYTES = 256 };

struct task_status {
        bool ended; /* a zombie, as a process's first thread is until the others end */
        bool in_our_namespace;
};

static void read_line(const char *line, struct task_status *status)
{
        unsigned first, second;
        char state;
        if (sscanf(line, "State: %c", &state) == 1)
                status->ended = state == 'Z' || state == 'X';
        else if (strncmp(line, "NSpid:", 6) == 0)
                status->in_our_namespace =
                    sscanf(line, "NSpid: %u %u", &first, &second) == 1;
}

/* A negative errno value: it cannot be read. */
static int read_status(const char *path, struct task_status *status)
{
        char line[LINE_BYTES];
        *status = (struct task_status){0};
        FILE *file = fopen(path, "re");
        if (!file)
                return -errno;
        while (fgets(line, sizeof(line), file))
                read_line(line, status);
        fclose(file);
        return 0;
}

bool thread_has_gone(uint32_t pid, uint32_t tid)
{
        char path[PATH_BYTES];
        struct task_status process, thread;
        snprintf(path, sizeof(path), "/proc/%u/status", pid);
        if (read_status(path, &process) < 0 || !process.in_our_namespace)
                return false;
        snprintf(path, sizeof(path), "/proc/%u/task/%u/status", pid, tid);
        int rc = read_status(path, &thread);
        return rc < 0 ? rc == -ENOENT || rc == -ESRCH : thread.ended;
}
