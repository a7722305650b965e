/* SPDX-License-Identifier: MIT */
/* Reads /proc/PID (proc(5)) and passes it to perf_tasks.h. */
#include "perf_existing.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "array.h"
#include "db.h"

#define STACK_BYTES_MAX (UINT64_C(1) << 30) /* of an unlimited stack */

static FILE *open_file(pid_t pid, const char *name)
{
        char path[128];
        snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
        return fopen(path, "re");
}

/* ---- lists of tasks ---- */

static int compare_tasks(const void *a, const void *b)
{
        return (*(const pid_t *)a > *(const pid_t *)b) -
               (*(const pid_t *)a < *(const pid_t *)b);
}

/* The entries of DIRECTORY that are numbers, ascending. The caller frees *NUMBERS, also
 * on error. */
static int list_numbers(const char *directory, pid_t **numbers, size_t *count)
{
        *numbers = NULL;
        *count = 0;
        DIR *entries = opendir(directory);
        if (!entries)
                return -errno;
        size_t capacity = 0;
        int rc = 0;
        const struct dirent *entry;
        while (rc == 0 && (entry = readdir(entries))) {
                char *end;
                long number = strtol(entry->d_name, &end, 10);
                if (*end || number <= 0 || number > INT_MAX)
                        continue;
                rc = array_reserve(numbers, &capacity, *count, sizeof(**numbers));
                if (rc == 0)
                        (*numbers)[(*count)++] = (pid_t)number;
        }
        closedir(entries);
        if (*count)
                qsort(*numbers, *count, sizeof(**numbers), compare_tasks);
        return rc;
}

int perf_existing_threads(pid_t pid, pid_t **threads, size_t *count, struct diag *diag)
{
        char directory[64];
        snprintf(directory, sizeof(directory), "/proc/%d/task", (int)pid);
        int rc = list_numbers(directory, threads, count);
        if (rc == 0 && *count > 0)
                return 0;
        free(*threads);
        *threads = NULL;
        if (rc == -ENOMEM)
                return diag_no_memory(diag);
        return diag_set(diag, -ESRCH, "there is no process %d", (int)pid);
}

/* ---- one process ---- */

/* NAME becomes "" for a thread that has ended. */
static void read_name(pid_t pid, pid_t tid, char name[64])
{
        char file_name[64];
        snprintf(file_name, sizeof(file_name), "task/%d/comm", (int)tid);
        FILE *file = open_file(pid, file_name);
        name[0] = '\0';
        if (!file)
                return;
        if (fgets(name, 64, file))
                name[strcspn(name, "\n")] = '\0';
        fclose(file);
}

static int tell_threads(struct perf_tasks *tasks, int64_t time_ns, pid_t pid,
                        const pid_t *threads, size_t count, struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < count; i++) {
                char name[64];
                read_name(pid, threads[i], name);
                rc = perf_tasks_thread(tasks, time_ns, (uint32_t)pid,
                                       (uint32_t)threads[i], *name ? name : NULL, diag);
        }
        return rc;
}

/* The kernel writes a newline in a name as \012. */
static void unescape(char *path)
{
        char *to = path;
        for (const char *from = path; *from; from++, to++) {
                *to = *from;
                if (strncmp(from, "\\012", 4) == 0) {
                        *to = '\n';
                        from += 3;
                }
        }
        *to = '\0';
}

/* A line of /proc/PID/maps; PATH points into LINE. */
static bool parse_mapping(char *line, struct event_mapping *event, char **path)
{
        uint64_t end;
        char protection[5];
        int name_at = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n",
                   &event->start_addr, &end, protection, &event->file_offset_bytes,
                   &name_at) != 4 ||
            name_at == 0 || end <= event->start_addr)
                return false;
        event->length_bytes = end - event->start_addr;
        memcpy(event->protection, protection, 3);
        event->protection[3] = '\0';
        *path = line + name_at;
        (*path)[strcspn(*path, "\n")] = '\0';
        unescape(*path);
        return true;
}

static uint64_t stack_limit(pid_t pid)
{
        struct rlimit limit;
        if (prlimit(pid, RLIMIT_STACK, NULL, &limit) != 0 ||
            limit.rlim_cur > STACK_BYTES_MAX)
                return STACK_BYTES_MAX;
        return limit.rlim_cur & ~UINT64_C(4095);
}

/* Extends the stack down to its growth limit, but not into the mapping below. */
static void widen_stack(struct event_mapping *event, pid_t pid, uint64_t end_below)
{
        uint64_t end = event->start_addr + event->length_bytes;
        uint64_t limit = stack_limit(pid);
        uint64_t start = end > limit ? end - limit : 0;
        if (start < end_below)
                start = end_below;
        if (start < event->start_addr) {
                event->start_addr = start;
                event->length_bytes = end - start;
        }
}

/* Delivers the mappings of PID, as its thread WITNESS sees them. */
static int tell_mappings(struct perf_tasks *tasks, int64_t time_ns, pid_t pid,
                         pid_t witness, bool stack_only, struct diag *diag)
{
        FILE *file = open_file(witness, "maps");
        if (!file)
                return 0;
        char *line = NULL;
        size_t size = 0;
        uint64_t end_below = 0;
        int rc = 0;
        while (rc == 0 && getline(&line, &size, file) > 0) {
                struct event_mapping event = {0};
                char *path;
                if (!parse_mapping(line, &event, &path))
                        continue;
                uint64_t end = event.start_addr + event.length_bytes;
                event.path = *path ? path : NULL;
                event.kind = perf_tasks_mapping_kind(&event.path);
                if (event.kind == MAPPING_STACK) {
                        event.stack_tid = (uint32_t)pid;
                        widen_stack(&event, pid, end_below);
                }
                end_below = end;
                if (!stack_only || event.kind == MAPPING_STACK)
                        rc = perf_tasks_mapping(tasks, time_ns, (uint32_t)pid, &event,
                                                diag);
        }
        free(line);
        fclose(file);
        return rc;
}

int perf_existing_stack(struct perf_tasks *tasks, int64_t time_ns, pid_t pid,
                        struct diag *diag)
{
        return tell_mappings(tasks, time_ns, pid, pid, true, diag);
}

/* Returns -1 for an ended process or a kernel thread. */
static ssize_t read_executable(pid_t pid, char path[PATH_MAX])
{
        char link[64];
        snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
        ssize_t length = readlink(link, path, PATH_MAX - 1);
        if (length > 0)
                path[length] = '\0';
        return length;
}

int perf_existing_process(struct perf_tasks *tasks, int64_t time_ns, pid_t pid,
                          struct diag *diag)
{
        pid_t *threads;
        size_t count;
        int rc = perf_existing_threads(pid, &threads, &count, diag);
        if (rc < 0)
                return rc == -ENOMEM ? rc : 0;
        /* A first thread that has ended sees nothing of its process any more. */
        char executable[PATH_MAX];
        size_t witness = 0;
        while (witness < count && read_executable(threads[witness], executable) <= 0)
                witness++;
        bool known = witness < count;
        rc = perf_tasks_process(tasks, time_ns, (uint32_t)pid, 0,
                                known ? executable : NULL, diag);
        if (rc == 0)
                rc = tell_threads(tasks, time_ns, pid, threads, count, diag);
        if (rc == 0 && known)
                rc = tell_mappings(tasks, time_ns, pid, threads[witness], false, diag);
        free(threads);
        return rc;
}

int perf_existing_all(struct perf_tasks *tasks, int64_t time_ns, struct diag *diag)
{
        pid_t *processes;
        size_t count;
        int rc = list_numbers("/proc", &processes, &count);
        if (rc < 0)
                diag_set(diag, rc, "cannot list the processes in /proc: %s",
                         strerror(-rc));
        for (size_t i = 0; rc == 0 && i < count; i++)
                if (processes[i] != getpid())
                        rc = perf_existing_process(tasks, time_ns, processes[i], diag);
        free(processes);
        return rc;
}
