/* SPDX-License-Identifier: MIT */
/* Tracks processes, threads and mappings by the records in time order. Stores only the
 * kernel's mappings; the sink stores the mappings of processes. */
#include "perf_tasks.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "array.h"
#include "db.h"
#include "keyed.h"
#include "user_stack.h"

#ifndef PERF_RECORD_MISC_FORK_EXEC
#define PERF_RECORD_MISC_FORK_EXEC (1 << 13)
#endif

/* Code in a process's memory; length 0: none. */
struct code_range {
        uint64_t start_addr;
        uint64_t length_bytes;
};

struct thread {
        uint32_t pid;
        image_key image; /* the thread's first image */
        char *name;      /* NULL: not known */
        bool ended;
};

struct perf_process {
        uint32_t pid;
        image_key image;  /* 0: none was begun yet */
        image_key parent; /* of the pending image */
        bool ended;
        bool pending; /* an image begins when its executable is known */
        int64_t pending_ns;
        char *name;         /* the pending image's name if no other is known */
        bool holds_mapping; /* the pending image's stack came before its executable */
        struct event_mapping held;
        size_t threads_alive;
        struct code_range tracker; /* of the image */
        struct code_range vdso;
        bool *kernel_told; /* which kernel mappings the image has */
        size_t kernel_told_count;
};

struct kernel_mapping {
        struct event_mapping event;
        char *path;
};

struct perf_tasks {
        struct sink *sink;
        struct user_stacks *user_stacks; /* NULL: copied stacks are left out */
        const char *tracker_path;        /* NULL: there is no tracker in the target */
        image_key images;                /* begun so far */
        struct keyed processes;          /* by (0, pid) */
        struct keyed threads;            /* by (0, tid) */
        struct kernel_mapping *kernel;
        size_t kernel_count, kernel_capacity;
};

struct perf_tasks *perf_tasks_new(struct sink *sink)
{
        struct perf_tasks *tasks = calloc(1, sizeof(*tasks));
        if (!tasks)
                return NULL;
        tasks->sink = sink;
        if (keyed_open(&tasks->processes, sizeof(struct perf_process)) < 0 ||
            keyed_open(&tasks->threads, sizeof(struct thread)) < 0) {
                perf_tasks_free(tasks);
                return NULL;
        }
        return tasks;
}

void perf_tasks_free(struct perf_tasks *tasks)
{
        if (!tasks)
                return;
        for (size_t i = 0; i < tasks->processes.count; i++) {
                struct perf_process *process = keyed_at(&tasks->processes, i);
                free(process->name);
                free(process->kernel_told);
        }
        for (size_t i = 0; i < tasks->threads.count; i++)
                free(((struct thread *)keyed_at(&tasks->threads, i))->name);
        for (size_t i = 0; i < tasks->kernel_count; i++)
                free(tasks->kernel[i].path);
        keyed_close(&tasks->processes);
        keyed_close(&tasks->threads);
        free(tasks->kernel);
        free(tasks);
}

void perf_tasks_set_user_stacks(struct perf_tasks *tasks, struct user_stacks *stacks)
{
        tasks->user_stacks = stacks;
}

void perf_tasks_set_tracker(struct perf_tasks *tasks, const char *path)
{
        tasks->tracker_path = path;
}

image_key perf_process_image(const struct perf_process *process)
{
        return process->image;
}

static bool is_in(const struct code_range *range, uint64_t addr)
{
        return addr - range->start_addr < range->length_bytes;
}

bool perf_process_has_tracker(const struct perf_process *process)
{
        return process->tracker.length_bytes > 0;
}

bool perf_process_in_tracker(const struct perf_process *process, uint64_t addr)
{
        return is_in(&process->tracker, addr);
}

bool perf_process_in_vdso(const struct perf_process *process, uint64_t addr)
{
        return is_in(&process->vdso, addr);
}

/* ---- processes ---- */

static struct perf_process *find_process(const struct perf_tasks *tasks, uint32_t pid)
{
        return keyed_find(&tasks->processes, 0, pid);
}

/* Finds or makes process PID; an unknown process has no image yet. NULL: no memory. */
static struct perf_process *place_process(struct perf_tasks *tasks, uint32_t pid)
{
        bool new;
        struct perf_process *process = keyed_place(&tasks->processes, 0, pid, &new);
        if (process && new)
                process->pid = pid;
        return process;
}

static bool runs(const struct perf_process *process)
{
        return process && process->image && !process->ended;
}

static void end_user_stacks(struct perf_tasks *tasks, const struct perf_process *process)
{
        if (tasks->user_stacks && process->image)
                user_stacks_end(tasks->user_stacks, process->image);
}

static int end_process(struct perf_tasks *tasks, struct perf_process *process,
                       int64_t time_ns, struct diag *diag)
{
        if (!runs(process))
                return 0;
        process->ended = true;
        end_user_stacks(tasks, process);
        return sink_process_end(tasks->sink, time_ns, process->image, diag);
}

/* Begins the next image of PROCESS; the previous image has ended. */
static int begin_image(struct perf_tasks *tasks, struct perf_process *process,
                       int64_t time_ns, image_key parent, const char *executable,
                       bool forked, struct diag *diag)
{
        end_user_stacks(tasks, process);
        process->image = ++tasks->images;
        process->ended = false;
        process->pending = false;
        free(process->kernel_told);
        process->kernel_told = NULL;
        process->kernel_told_count = 0;
        process->threads_alive = 0;
        if (!forked)
                process->tracker = process->vdso = (struct code_range){0, 0};
        struct event_process event = {.image = process->image,
                                      .parent = parent,
                                      .pid = process->pid,
                                      .executable = executable,
                                      .forked = forked};
        if (forked && tasks->user_stacks &&
            user_stacks_fork(tasks->user_stacks, parent, process->image) < 0)
                return diag_no_memory(diag);
        return sink_process(tasks->sink, time_ns, &event, diag);
}

static struct thread *find_thread(const struct perf_tasks *tasks, uint32_t tid)
{
        return keyed_find(&tasks->threads, 0, tid);
}

/* Returns the running process of THREAD. NULL: the thread or its image has ended. */
static struct perf_process *process_of(const struct perf_tasks *tasks,
                                       const struct thread *thread)
{
        if (!thread || thread->ended || !thread->image)
                return NULL;
        struct perf_process *process = find_process(tasks, thread->pid);
        return process && process->image == thread->image ? process : NULL;
}

static const char *thread_name(const struct perf_tasks *tasks, uint32_t tid)
{
        const struct thread *thread = find_thread(tasks, tid);
        return thread ? thread->name : NULL;
}

/* Begins thread TID of PROCESS; TID may have belonged to another process before. NAME
 * may be the name that TID had until now. */
static int begin_thread(struct perf_tasks *tasks, struct perf_process *process,
                        uint32_t tid, const char *name, int64_t time_ns,
                        struct diag *diag)
{
        char *copy = name ? strdup(name) : NULL;
        bool new;
        struct thread *thread = keyed_place(&tasks->threads, 0, tid, &new);
        if ((name && !copy) || !thread) {
                free(copy);
                return diag_no_memory(diag);
        }
        struct perf_process *before = process_of(tasks, thread);
        if (before)
                before->threads_alive--;
        free(thread->name);
        *thread =
            (struct thread){.pid = process->pid, .image = process->image, .name = copy};
        process->threads_alive++;
        return sink_thread(tasks->sink, time_ns, process->image, tid, copy, diag);
}

/* Begins the image that waits for its executable's name. */
static int begin_pending(struct perf_tasks *tasks, struct perf_process *process,
                         const char *executable, struct diag *diag)
{
        if (!process || !process->pending)
                return 0;
        const char *name = executable ? executable : process->name;
        int64_t time_ns = process->pending_ns;
        int rc = begin_image(tasks, process, time_ns, process->parent, name, false, diag);
        if (rc == 0)
                rc = begin_thread(tasks, process, process->pid, process->name, time_ns,
                                  diag);
        if (rc < 0 || !process->holds_mapping)
                return rc;
        process->holds_mapping = false;
        process->held.image = process->image;
        return sink_mapping(tasks->sink, time_ns, &process->held, diag);
}

/* Marks an image of PROCESS as pending until its executable is known. */
static int expect_image(struct perf_process *process, int64_t time_ns, image_key parent,
                        const char *name, struct diag *diag)
{
        char *copy = name ? strdup(name) : NULL;
        if (name && !copy)
                return diag_no_memory(diag);
        free(process->name);
        process->name = copy;
        process->pending = true;
        process->holds_mapping = false;
        process->pending_ns = time_ns;
        process->parent = parent;
        return 0;
}

/* Returns process PID with an image: any event in a process proves that it runs. */
int perf_tasks_running(struct perf_tasks *tasks, uint32_t pid, int64_t time_ns,
                       struct perf_process **result, struct diag *diag)
{
        struct perf_process *process = *result = place_process(tasks, pid);
        if (!process)
                return diag_no_memory(diag);
        if (process->pending)
                return begin_pending(tasks, process, NULL, diag);
        return process->image
                   ? 0
                   : begin_image(tasks, process, time_ns, 0, NULL, false, diag);
}

image_key perf_tasks_image(const struct perf_tasks *tasks, uint32_t pid)
{
        const struct perf_process *process = find_process(tasks, pid);
        return runs(process) ? process->image : 0;
}

int perf_tasks_process(struct perf_tasks *tasks, int64_t time_ns, uint32_t pid,
                       uint32_t parent_pid, const char *executable, struct diag *diag)
{
        image_key parent = perf_tasks_image(tasks, parent_pid);
        struct perf_process *process = place_process(tasks, pid);
        if (!process)
                return diag_no_memory(diag);
        int rc = end_process(tasks, process, time_ns, diag);
        return rc == 0
                   ? begin_image(tasks, process, time_ns, parent, executable, false, diag)
                   : rc;
}

int perf_tasks_thread(struct perf_tasks *tasks, int64_t time_ns, uint32_t pid,
                      uint32_t tid, const char *name, struct diag *diag)
{
        struct perf_process *process = NULL;
        int rc = perf_tasks_running(tasks, pid, time_ns, &process, diag);
        return rc == 0 ? begin_thread(tasks, process, tid, name, time_ns, diag) : rc;
}

static int forked_process(struct perf_tasks *tasks, int64_t time_ns,
                          const struct record_task *task, bool existed, struct diag *diag)
{
        struct perf_process *parent = find_process(tasks, task->parent_pid);
        int rc = begin_pending(tasks, parent, NULL, diag);
        image_key parent_image = runs(parent) ? parent->image : 0;
        struct perf_process *process = rc == 0 ? place_process(tasks, task->pid) : NULL;
        if (rc < 0)
                return rc;
        if (!process)
                return diag_no_memory(diag);
        rc = end_process(tasks, process, time_ns, diag);
        if (existed)
                return rc == 0 ? expect_image(process, time_ns, parent_image, NULL, diag)
                               : rc;
        parent = find_process(tasks, task->parent_pid); /* it may have moved */
        process->tracker = parent ? parent->tracker : (struct code_range){0, 0};
        process->vdso = parent ? parent->vdso : (struct code_range){0, 0};
        if (rc == 0)
                rc = begin_image(tasks, process, time_ns, parent_image, NULL, true, diag);
        return rc == 0 ? begin_thread(tasks, process, task->tid,
                                      thread_name(tasks, task->parent_tid), time_ns, diag)
                       : rc;
}

static int take_fork(struct perf_tasks *tasks, int64_t time_ns,
                     const struct record *record, struct diag *diag)
{
        const struct record_task *task = &record->task;
        bool existed = record->misc & PERF_RECORD_MISC_FORK_EXEC;
        if (task->pid != task->parent_pid && task->pid == task->tid)
                return forked_process(tasks, time_ns, task, existed, diag);
        struct perf_process *process = NULL;
        int rc = perf_tasks_running(tasks, task->pid, time_ns, &process, diag);
        const char *name = existed ? NULL : thread_name(tasks, task->parent_tid);
        return rc == 0 ? begin_thread(tasks, process, task->tid, name, time_ns, diag)
                       : rc;
}

static int take_exit(struct perf_tasks *tasks, int64_t time_ns,
                     const struct record_task *task, struct diag *diag)
{
        struct perf_process *process = find_process(tasks, task->pid);
        int rc = begin_pending(tasks, process, NULL, diag);
        if (rc < 0 || !runs(process))
                return rc;
        struct thread *thread = find_thread(tasks, task->tid);
        if (process_of(tasks, thread) == process) {
                thread->ended = true;
                process->threads_alive--;
                rc = sink_thread_end(tasks->sink, time_ns, process->image, task->tid,
                                     diag);
        }
        return rc == 0 && process->threads_alive == 0
                   ? end_process(tasks, process, time_ns, diag)
                   : rc;
}

/* exec ends all threads but one, which continues under the process's id. */
static int take_exec(struct perf_tasks *tasks, int64_t time_ns,
                     const struct record_comm *comm, struct diag *diag)
{
        struct perf_process *process = place_process(tasks, comm->pid);
        if (!process)
                return diag_no_memory(diag);
        int rc = begin_pending(tasks, process, NULL, diag);
        if (rc == 0)
                rc = end_process(tasks, process, time_ns, diag);
        return rc == 0 ? expect_image(process, time_ns, process->image, comm->name, diag)
                       : rc;
}

static int take_comm(struct perf_tasks *tasks, int64_t time_ns,
                     const struct record_comm *comm, struct diag *diag)
{
        if (comm->exec)
                return take_exec(tasks, time_ns, comm, diag);
        struct perf_process *process = place_process(tasks, comm->pid);
        if (!process)
                return diag_no_memory(diag);
        if (comm->pid == comm->tid && (process->pending || !process->image))
                return expect_image(
                    process, process->pending ? process->pending_ns : time_ns,
                    process->pending ? process->parent : 0, comm->name, diag);
        int rc = perf_tasks_running(tasks, comm->pid, time_ns, &process, diag);
        struct thread *thread = find_thread(tasks, comm->tid);
        if (rc < 0)
                return rc;
        if (process_of(tasks, thread) != process)
                return begin_thread(tasks, process, comm->tid, comm->name, time_ns, diag);
        char *name = strdup(comm->name);
        if (!name)
                return diag_no_memory(diag);
        free(thread->name);
        thread->name = name;
        return sink_thread_name(tasks->sink, process->image, comm->tid, name, diag);
}

/* ---- mappings ---- */

int perf_tasks_mapping_kind(const char **path)
{
        const char *name = *path;
        if (name && name[0] == '/' && name[1] != '/')
                return MAPPING_FILE;
        *path = NULL; /* "//anon", "[heap]", or nothing known */
        if (!name)
                return MAPPING_ANON;
        if (strcmp(name, "[heap]") == 0)
                return MAPPING_HEAP;
        if (strncmp(name, "[stack", 6) == 0)
                return MAPPING_STACK;
        return strcmp(name, "[vdso]") == 0 ? MAPPING_VDSO : MAPPING_ANON;
}

static void note_code(const struct perf_tasks *tasks, struct perf_process *process,
                      const struct event_mapping *event)
{
        struct code_range range = {event->start_addr, event->length_bytes};
        if (!tasks->tracker_path || event->protection[2] != 'x')
                return;
        if (event->kind == MAPPING_VDSO)
                process->vdso = range;
        else if (event->path && strcmp(event->path, tasks->tracker_path) == 0)
                process->tracker = range;
}

int perf_tasks_mapping(struct perf_tasks *tasks, int64_t time_ns, uint32_t pid,
                       struct event_mapping *event, struct diag *diag)
{
        struct perf_process *process = place_process(tasks, pid);
        if (!process)
                return diag_no_memory(diag);
        if (process->pending && !process->holds_mapping && event->kind != MAPPING_FILE) {
                process->held = *event;
                process->held.path = NULL;
                process->holds_mapping = true;
                return 0;
        }
        int rc = begin_pending(tasks, process,
                               event->kind == MAPPING_FILE ? event->path : NULL, diag);
        if (rc == 0)
                rc = perf_tasks_running(tasks, pid, time_ns, &process, diag);
        event->image = process->image;
        if (rc == 0)
                note_code(tasks, process, event);
        if (rc == 0 && tasks->user_stacks &&
            user_stacks_map(tasks->user_stacks, event) < 0)
                return diag_no_memory(diag);
        return rc == 0 ? sink_mapping(tasks->sink, time_ns, event, diag) : rc;
}

static void set_protection(const struct record_mmap *map, char protection[4])
{
        uint32_t bits = map->protection;
        if (!map->has_protection) /* MMAP records only whether it is executable */
                bits = map->is_data ? PROT_READ : PROT_READ | PROT_EXEC;
        protection[0] = bits & PROT_READ ? 'r' : '-';
        protection[1] = bits & PROT_WRITE ? 'w' : '-';
        protection[2] = bits & PROT_EXEC ? 'x' : '-';
        protection[3] = '\0';
}

/* Keeps a mapping of the kernel; where samples are in it, the process gets it. */
static int keep_kernel_mapping(struct perf_tasks *tasks, const struct record_mmap *map,
                               struct diag *diag)
{
        if (array_reserve(&tasks->kernel, &tasks->kernel_capacity, tasks->kernel_count,
                          sizeof(*tasks->kernel)) < 0)
                return diag_no_memory(diag);
        /* "[kernel.kallsyms]_text" names the symbol at its start, too. */
        const char *bracket = map->path[0] == '[' ? strchr(map->path, ']') : NULL;
        char *path = bracket ? strndup(map->path, (size_t)(bracket - map->path) + 1)
                             : strdup(map->path);
        if (!path)
                return diag_no_memory(diag);
        struct kernel_mapping *kept = &tasks->kernel[tasks->kernel_count++];
        *kept = (struct kernel_mapping){
            .event = {.start_addr = map->addr,
                      .length_bytes = map->length_bytes,
                      .file_offset_bytes = map->file_offset_bytes,
                      .kind = MAPPING_FILE,
                      .protection = "r-x",
                      .path = path,
                      .build_id_bytes = map->build_id_bytes},
            .path = path,
        };
        memcpy(kept->event.build_id, map->build_id, map->build_id_bytes);
        return 0;
}

static int take_mmap(struct perf_tasks *tasks, int64_t time_ns,
                     const struct record *record, struct diag *diag)
{
        const struct record_mmap *map = &record->mmap;
        if (map->pid == PERF_NO_TASK)
                return keep_kernel_mapping(tasks, map, diag);
        const char *path = map->path;
        struct event_mapping event = {
            .start_addr = map->addr,
            .length_bytes = map->length_bytes,
            .file_offset_bytes = map->file_offset_bytes,
            .kind = perf_tasks_mapping_kind(&path),
            .build_id_bytes = map->build_id_bytes,
        };
        event.path = path;
        event.stack_tid = event.kind == MAPPING_STACK ? map->pid : 0;
        memcpy(event.build_id, map->build_id, map->build_id_bytes);
        set_protection(map, event.protection);
        return perf_tasks_mapping(tasks, time_ns, map->pid, &event, diag);
}

/* Delivers the kernel's mapping at IP to the sink, once an image. */
int perf_tasks_tell_kernel(struct perf_tasks *tasks, struct perf_process *process,
                           int64_t time_ns, uint64_t ip, struct diag *diag)
{
        size_t i = tasks->kernel_count; /* the latest counts */
        while (i && ip - tasks->kernel[i - 1].event.start_addr >=
                        tasks->kernel[i - 1].event.length_bytes)
                i--;
        if (i == 0 || (i <= process->kernel_told_count && process->kernel_told[i - 1]))
                return 0;
        if (process->kernel_told_count < tasks->kernel_count) {
                bool *told = reallocarray(process->kernel_told, tasks->kernel_count,
                                          sizeof(*told));
                if (!told)
                        return diag_no_memory(diag);
                memset(told + process->kernel_told_count, 0,
                       (tasks->kernel_count - process->kernel_told_count) *
                           sizeof(*told));
                process->kernel_told = told;
                process->kernel_told_count = tasks->kernel_count;
        }
        process->kernel_told[i - 1] = true;
        struct event_mapping event = tasks->kernel[i - 1].event;
        event.image = process->image;
        return sink_mapping(tasks->sink, time_ns, &event, diag);
}

/* ---- records ---- */

int perf_tasks_record(struct perf_tasks *tasks, int64_t time_ns,
                      const struct record *record, struct diag *diag)
{
        switch (record->kind) {
        case RECORD_MMAP:
                return take_mmap(tasks, time_ns, record, diag);
        case RECORD_COMM:
                return take_comm(tasks, time_ns, &record->comm, diag);
        case RECORD_FORK:
                return take_fork(tasks, time_ns, record, diag);
        case RECORD_EXIT:
                return take_exit(tasks, time_ns, &record->task, diag);
        default:
                return 0;
        }
}

/* The kernel disables the events of a process that executes a privileged (set-user-ID)
 * program. */
static bool exists(uint32_t pid)
{
        return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

size_t perf_tasks_alive(const struct perf_tasks *tasks)
{
        size_t alive = 0;
        for (size_t i = 0; i < tasks->processes.count; i++) {
                const struct perf_process *process = keyed_at(&tasks->processes, i);
                alive += (runs(process) || process->pending) && exists(process->pid);
        }
        return alive;
}

int perf_tasks_finish(struct perf_tasks *tasks, struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < tasks->processes.count; i++)
                rc = begin_pending(tasks, keyed_at(&tasks->processes, i), NULL, diag);
        return rc;
}
