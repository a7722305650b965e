/* SPDX-License-Identifier: MIT */
/* From perf records to events of source.h. Keeps the processes and threads
 * that the records have told of, and nothing of memory but the kernel's mappings: what is
 * mapped in a process is the sink's to know. */
#include "perf_deliver.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "array.h"
#include "db.h"
#include "intern.h"
#include "perf/datasrc.h"
#include "user_stack.h"

#ifndef PERF_RECORD_MISC_FORK_EXEC
#define PERF_RECORD_MISC_FORK_EXEC (1 << 13)
#endif

#define CPUS_IMAGE    UINT64_MAX /* the process that CPUs are threads of */
#define NO_TASK       UINT32_MAX /* the pid of tasks that are gone, and of the kernel */
#define FIRST_CONTEXT ((uint64_t)PERF_CONTEXT_MAX) /* the markers are from here on */

/* Code in a process's memory; of no length: there is none. */
struct code_range {
        uint64_t start_addr;
        uint64_t length_bytes;
};

struct thread {
        uint32_t tid;
        size_t process;  /* index */
        image_key image; /* in which it began */
        char *name;      /* NULL: not known */
        int64_t start_ns;
        bool ended;
};

struct process {
        uint32_t pid;
        image_key image;  /* 0: none was begun yet */
        image_key parent; /* of the image that is to begin */
        bool ended;
        bool pending; /* an image begins when its executable is known */
        int64_t pending_ns;
        char *name;         /* that the pending image has if nothing else is told */
        bool holds_mapping; /* the pending image's stack, told of before its executable */
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

struct throttle {
        int64_t since_ns;
        bool active;
};

struct perf_deliver {
        struct sink *sink;
        struct user_stacks *user_stacks; /* NULL: copied stacks are left out */
        perf_deliver_amend amend;        /* NULL: samples stay as they are */
        void *amend_context;
        const char *tracker_path; /* NULL: there is no tracker in the target */
        image_key images;         /* begun so far */
        struct process *processes;
        size_t process_count, process_capacity;
        struct thread *threads;
        size_t thread_count, thread_capacity;
        struct context_intern *process_index; /* (0, pid) → index + 1 */
        struct context_intern *thread_index;  /* (0, tid) → index + 1 */
        struct kernel_mapping *kernel;
        size_t kernel_count;
        struct throttle *throttles;
        size_t throttle_count;
        struct context_intern *throttle_index; /* (0, stream id) → index + 1 */
        bool cpus_begun;
        struct context_intern *cpu_index; /* (0, CPU) → 1 */
        uint64_t *frames;                 /* of the sample in hand */
        size_t frame_capacity;
};

static int loss(struct perf_deliver *deliver, const char *kind, uint64_t count,
                const char *unit, struct diag *diag)
{
        return sink_loss(deliver->sink, kind, count, unit) < 0 ? diag_no_memory(diag) : 0;
}

struct perf_deliver *perf_deliver_new(struct sink *sink)
{
        struct perf_deliver *deliver = calloc(1, sizeof(*deliver));
        if (!deliver)
                return NULL;
        deliver->sink = sink;
        deliver->process_index = context_intern_new();
        deliver->thread_index = context_intern_new();
        deliver->throttle_index = context_intern_new();
        deliver->cpu_index = context_intern_new();
        if (!deliver->process_index || !deliver->thread_index ||
            !deliver->throttle_index || !deliver->cpu_index) {
                perf_deliver_free(deliver);
                return NULL;
        }
        return deliver;
}

void perf_deliver_free(struct perf_deliver *deliver)
{
        if (!deliver)
                return;
        for (size_t i = 0; i < deliver->process_count; i++) {
                free(deliver->processes[i].name);
                free(deliver->processes[i].kernel_told);
        }
        for (size_t i = 0; i < deliver->thread_count; i++)
                free(deliver->threads[i].name);
        for (size_t i = 0; i < deliver->kernel_count; i++)
                free(deliver->kernel[i].path);
        context_intern_free(deliver->process_index);
        context_intern_free(deliver->thread_index);
        context_intern_free(deliver->throttle_index);
        context_intern_free(deliver->cpu_index);
        free(deliver->processes);
        free(deliver->threads);
        free(deliver->kernel);
        free(deliver->throttles);
        free(deliver->frames);
        free(deliver);
}

void perf_deliver_set_user_stacks(struct perf_deliver *deliver,
                                  struct user_stacks *stacks)
{
        deliver->user_stacks = stacks;
}

void perf_deliver_set_tracker(struct perf_deliver *deliver, const char *path)
{
        deliver->tracker_path = path;
}

/* ---- processes ----------------------------------------------------------------- */

static struct process *find_process(const struct perf_deliver *deliver, uint32_t pid)
{
        int64_t index = context_intern_find(deliver->process_index, 0, pid);
        return index ? &deliver->processes[index - 1] : NULL;
}

/* The process PID, which has no image yet when nothing was heard of it. NULL: no
 * memory. */
static struct process *place_process(struct perf_deliver *deliver, uint32_t pid)
{
        struct context_node *node = context_intern_place(deliver->process_index, 0, pid);
        if (!node)
                return NULL;
        if (node->id)
                return &deliver->processes[node->id - 1];
        if (array_reserve(&deliver->processes, &deliver->process_capacity,
                          deliver->process_count, sizeof(*deliver->processes)) < 0)
                return NULL;
        struct process *process = &deliver->processes[deliver->process_count++];
        *process = (struct process){.pid = pid};
        node->id = (int64_t)deliver->process_count;
        return process;
}

static bool runs(const struct process *process)
{
        return process && process->image && !process->ended;
}

static int end_process(struct perf_deliver *deliver, struct process *process,
                       int64_t time_ns, struct diag *diag)
{
        if (!runs(process))
                return 0;
        process->ended = true;
        if (deliver->user_stacks)
                user_stacks_end(deliver->user_stacks, process->image);
        return sink_process_end(deliver->sink, time_ns, process->image, diag);
}

/* Begins the next image of PROCESS; what it was before has ended. */
static int begin_image(struct perf_deliver *deliver, struct process *process,
                       int64_t time_ns, image_key parent, const char *executable,
                       bool forked, struct diag *diag)
{
        process->image = ++deliver->images;
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
        if (forked && deliver->user_stacks &&
            user_stacks_fork(deliver->user_stacks, parent, process->image) < 0)
                return diag_no_memory(diag);
        return sink_process(deliver->sink, time_ns, &event, diag);
}

static struct thread *find_thread(const struct perf_deliver *deliver, uint32_t tid)
{
        int64_t index = context_intern_find(deliver->thread_index, 0, tid);
        return index ? &deliver->threads[index - 1] : NULL;
}

/* It has not ended, neither by itself nor with its image. */
static bool thread_runs(const struct perf_deliver *deliver, const struct thread *thread)
{
        return thread && !thread->ended &&
               thread->image == deliver->processes[thread->process].image;
}

static const char *thread_name(const struct perf_deliver *deliver, uint32_t tid)
{
        const struct thread *thread = find_thread(deliver, tid);
        return thread ? thread->name : NULL;
}

/* Begins thread TID of PROCESS, which may have been another's before. */
static int begin_thread(struct perf_deliver *deliver, struct process *process,
                        uint32_t tid, const char *name, int64_t time_ns,
                        struct diag *diag)
{
        char *copy = name ? strdup(name) : NULL;
        struct context_node *node = context_intern_place(deliver->thread_index, 0, tid);
        if ((name && !copy) || !node ||
            array_reserve(&deliver->threads, &deliver->thread_capacity,
                          deliver->thread_count, sizeof(*deliver->threads)) < 0) {
                free(copy);
                return diag_no_memory(diag);
        }
        if (!node->id) {
                deliver->threads[deliver->thread_count] = (struct thread){.tid = tid};
                node->id = (int64_t)++deliver->thread_count;
        }
        struct thread *thread = &deliver->threads[node->id - 1];
        if (thread_runs(deliver, thread))
                deliver->processes[thread->process].threads_alive--;
        free(thread->name);
        thread->name = copy;
        thread->process = (size_t)(process - deliver->processes);
        thread->image = process->image;
        thread->start_ns = time_ns;
        thread->ended = false;
        process->threads_alive++;
        return sink_thread(deliver->sink, time_ns, process->image, tid, name, diag);
}

/* Begins the image that waits for its executable's name. */
static int begin_pending(struct perf_deliver *deliver, struct process *process,
                         const char *executable, struct diag *diag)
{
        if (!process || !process->pending)
                return 0;
        const char *name = executable ? executable : process->name;
        int64_t time_ns = process->pending_ns;
        int rc =
            begin_image(deliver, process, time_ns, process->parent, name, false, diag);
        if (rc == 0)
                rc = begin_thread(deliver, process, process->pid, process->name, time_ns,
                                  diag);
        if (rc < 0 || !process->holds_mapping)
                return rc;
        process->holds_mapping = false;
        process->held.image = process->image;
        return sink_mapping(deliver->sink, time_ns, &process->held, diag);
}

/* An image of PROCESS is to begin when its executable is told of. */
static int expect_image(struct process *process, int64_t time_ns, image_key parent,
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

/* The process PID with an image: whatever happens in it proves that it runs. */
static int running_process(struct perf_deliver *deliver, uint32_t pid, int64_t time_ns,
                           struct process **result, struct diag *diag)
{
        struct process *process = *result = place_process(deliver, pid);
        if (!process)
                return diag_no_memory(diag);
        if (process->pending)
                return begin_pending(deliver, process, NULL, diag);
        return process->image
                   ? 0
                   : begin_image(deliver, process, time_ns, 0, NULL, false, diag);
}

image_key perf_deliver_image(const struct perf_deliver *deliver, uint32_t pid)
{
        const struct process *process = find_process(deliver, pid);
        return runs(process) ? process->image : 0;
}

int perf_deliver_process(struct perf_deliver *deliver, int64_t time_ns, uint32_t pid,
                         uint32_t parent_pid, const char *executable, struct diag *diag)
{
        image_key parent = perf_deliver_image(deliver, parent_pid);
        struct process *process = place_process(deliver, pid);
        if (!process)
                return diag_no_memory(diag);
        int rc = end_process(deliver, process, time_ns, diag);
        return rc == 0 ? begin_image(deliver, process, time_ns, parent, executable, false,
                                     diag)
                       : rc;
}

int perf_deliver_thread(struct perf_deliver *deliver, int64_t time_ns, uint32_t pid,
                        uint32_t tid, const char *name, struct diag *diag)
{
        struct process *process = NULL;
        int rc = running_process(deliver, pid, time_ns, &process, diag);
        return rc == 0 ? begin_thread(deliver, process, tid, name, time_ns, diag) : rc;
}

static int forked_process(struct perf_deliver *deliver, int64_t time_ns,
                          const struct record_task *task, bool existed, struct diag *diag)
{
        struct process *parent = find_process(deliver, task->parent_pid);
        int rc = begin_pending(deliver, parent, NULL, diag);
        image_key parent_image = runs(parent) ? parent->image : 0;
        struct process *process = rc == 0 ? place_process(deliver, task->pid) : NULL;
        if (rc < 0)
                return rc;
        if (!process)
                return diag_no_memory(diag);
        rc = end_process(deliver, process, time_ns, diag);
        if (existed)
                return rc == 0 ? expect_image(process, time_ns, parent_image, NULL, diag)
                               : rc;
        parent = find_process(deliver, task->parent_pid); /* it may have moved */
        process->tracker = parent ? parent->tracker : (struct code_range){0, 0};
        process->vdso = parent ? parent->vdso : (struct code_range){0, 0};
        if (rc == 0)
                rc = begin_image(deliver, process, time_ns, parent_image, NULL, true,
                                 diag);
        return rc == 0
                   ? begin_thread(deliver, process, task->tid,
                                  thread_name(deliver, task->parent_tid), time_ns, diag)
                   : rc;
}

static int deliver_fork(struct perf_deliver *deliver, int64_t time_ns,
                        const struct record *record, struct diag *diag)
{
        const struct record_task *task = &record->task;
        bool existed = record->misc & PERF_RECORD_MISC_FORK_EXEC;
        if (task->pid != task->parent_pid && task->pid == task->tid)
                return forked_process(deliver, time_ns, task, existed, diag);
        struct process *process = NULL;
        int rc = running_process(deliver, task->pid, time_ns, &process, diag);
        const char *name = existed ? NULL : thread_name(deliver, task->parent_tid);
        return rc == 0 ? begin_thread(deliver, process, task->tid, name, time_ns, diag)
                       : rc;
}

static int deliver_exit(struct perf_deliver *deliver, int64_t time_ns,
                        const struct record_task *task, struct diag *diag)
{
        struct process *process = find_process(deliver, task->pid);
        int rc = begin_pending(deliver, process, NULL, diag);
        if (rc < 0 || !runs(process))
                return rc;
        struct thread *thread = find_thread(deliver, task->tid);
        if (thread_runs(deliver, thread) && thread->image == process->image) {
                thread->ended = true;
                process->threads_alive--;
                rc = sink_thread_end(deliver->sink, time_ns, process->image, task->tid,
                                     diag);
        }
        return rc == 0 && process->threads_alive == 0
                   ? end_process(deliver, process, time_ns, diag)
                   : rc;
}

/* All threads but one end by exec; that one goes on under the process's id. */
static int deliver_exec(struct perf_deliver *deliver, int64_t time_ns,
                        const struct record_comm *comm, struct diag *diag)
{
        struct process *process = place_process(deliver, comm->pid);
        if (!process)
                return diag_no_memory(diag);
        int rc = begin_pending(deliver, process, NULL, diag);
        if (rc == 0)
                rc = end_process(deliver, process, time_ns, diag);
        return rc == 0 ? expect_image(process, time_ns, process->image, comm->name, diag)
                       : rc;
}

static int deliver_comm(struct perf_deliver *deliver, int64_t time_ns,
                        const struct record_comm *comm, struct diag *diag)
{
        if (comm->exec)
                return deliver_exec(deliver, time_ns, comm, diag);
        struct process *process = place_process(deliver, comm->pid);
        if (!process)
                return diag_no_memory(diag);
        if (comm->pid == comm->tid && (process->pending || !process->image))
                return expect_image(
                    process, process->pending ? process->pending_ns : time_ns,
                    process->pending ? process->parent : 0, comm->name, diag);
        int rc = running_process(deliver, comm->pid, time_ns, &process, diag);
        struct thread *thread = find_thread(deliver, comm->tid);
        if (rc < 0)
                return rc;
        if (!thread_runs(deliver, thread) || thread->image != process->image)
                return begin_thread(deliver, process, comm->tid, comm->name, time_ns,
                                    diag);
        char *name = strdup(comm->name);
        if (!name)
                return diag_no_memory(diag);
        free(thread->name);
        thread->name = name;
        return sink_thread_name(deliver->sink, process->image, comm->tid, name, diag);
}

/* ---- mappings -------------------------------------------------------------------- */

int perf_deliver_mapping_kind(const char **path)
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

static void note_code(const struct perf_deliver *deliver, struct process *process,
                      const struct event_mapping *event)
{
        struct code_range range = {event->start_addr, event->length_bytes};
        if (!deliver->tracker_path || event->protection[2] != 'x')
                return;
        if (event->kind == MAPPING_VDSO)
                process->vdso = range;
        else if (event->path && strcmp(event->path, deliver->tracker_path) == 0)
                process->tracker = range;
}

int perf_deliver_mapping(struct perf_deliver *deliver, int64_t time_ns, uint32_t pid,
                         struct event_mapping *event, struct diag *diag)
{
        struct process *process = place_process(deliver, pid);
        if (!process)
                return diag_no_memory(diag);
        if (process->pending && !process->holds_mapping && event->kind != MAPPING_FILE) {
                process->held = *event;
                process->held.path = NULL;
                process->holds_mapping = true;
                return 0;
        }
        int rc = begin_pending(deliver, process,
                               event->kind == MAPPING_FILE ? event->path : NULL, diag);
        if (rc == 0)
                rc = running_process(deliver, pid, time_ns, &process, diag);
        event->image = process->image;
        if (rc == 0)
                note_code(deliver, process, event);
        if (rc == 0 && deliver->user_stacks &&
            user_stacks_map(deliver->user_stacks, event) < 0)
                return diag_no_memory(diag);
        return rc == 0 ? sink_mapping(deliver->sink, time_ns, event, diag) : rc;
}

static void set_protection(const struct record_mmap *map, char protection[4])
{
        uint32_t bits = map->protection;
        if (!map->has_protection) /* MMAP tells whether it can be executed, no more */
                bits = map->is_data ? PROT_READ : PROT_READ | PROT_EXEC;
        protection[0] = bits & PROT_READ ? 'r' : '-';
        protection[1] = bits & PROT_WRITE ? 'w' : '-';
        protection[2] = bits & PROT_EXEC ? 'x' : '-';
        protection[3] = '\0';
}

/* Keeps a mapping of the kernel; where samples are in it, the process gets it. */
static int keep_kernel_mapping(struct perf_deliver *deliver,
                               const struct record_mmap *map, struct diag *diag)
{
        struct kernel_mapping *all =
            reallocarray(deliver->kernel, deliver->kernel_count + 1, sizeof(*all));
        if (!all)
                return diag_no_memory(diag);
        deliver->kernel = all;
        /* "[kernel.kallsyms]_text" names the symbol at its start, too. */
        const char *bracket = map->path[0] == '[' ? strchr(map->path, ']') : NULL;
        char *path = bracket ? strndup(map->path, (size_t)(bracket - map->path) + 1)
                             : strdup(map->path);
        if (!path)
                return diag_no_memory(diag);
        struct kernel_mapping *kept = &all[deliver->kernel_count++];
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

static int deliver_mmap(struct perf_deliver *deliver, int64_t time_ns,
                        const struct record *record, struct diag *diag)
{
        const struct record_mmap *map = &record->mmap;
        if (map->pid == NO_TASK)
                return keep_kernel_mapping(deliver, map, diag);
        const char *path = map->path;
        struct event_mapping event = {
            .start_addr = map->addr,
            .length_bytes = map->length_bytes,
            .file_offset_bytes = map->file_offset_bytes,
            .kind = perf_deliver_mapping_kind(&path),
            .build_id_bytes = map->build_id_bytes,
        };
        event.path = path;
        event.stack_tid = event.kind == MAPPING_STACK ? map->pid : 0;
        memcpy(event.build_id, map->build_id, map->build_id_bytes);
        set_protection(map, event.protection);
        return perf_deliver_mapping(deliver, time_ns, map->pid, &event, diag);
}

/* Of 64-bit machines; what is below may be a 32-bit kernel's or a process's. */
static bool is_kernel_addr(uint64_t ip)
{
        return ip >> 63;
}

/* Tells the sink of the kernel's mapping at IP, once an image. */
static int tell_kernel_mapping(struct perf_deliver *deliver, struct process *process,
                               int64_t time_ns, uint64_t ip, struct diag *diag)
{
        size_t i = deliver->kernel_count; /* the latest counts */
        while (i && ip - deliver->kernel[i - 1].event.start_addr >=
                        deliver->kernel[i - 1].event.length_bytes)
                i--;
        if (i == 0 || (i <= process->kernel_told_count && process->kernel_told[i - 1]))
                return 0;
        if (process->kernel_told_count < deliver->kernel_count) {
                bool *told = reallocarray(process->kernel_told, deliver->kernel_count,
                                          sizeof(*told));
                if (!told)
                        return diag_no_memory(diag);
                memset(told + process->kernel_told_count, 0,
                       (deliver->kernel_count - process->kernel_told_count) *
                           sizeof(*told));
                process->kernel_told = told;
                process->kernel_told_count = deliver->kernel_count;
        }
        process->kernel_told[i - 1] = true;
        struct event_mapping event = deliver->kernel[i - 1].event;
        event.image = process->image;
        return sink_mapping(deliver->sink, time_ns, &event, diag);
}

/* ---- counters --------------------------------------------------------------------- */

void perf_deliver_set_amend(struct perf_deliver *deliver, perf_deliver_amend amend,
                            void *context)
{
        deliver->amend = amend;
        deliver->amend_context = context;
}

/* The first reading on a CPU gives it its name. */
static int begin_cpu(struct perf_deliver *deliver, uint32_t cpu, int64_t start_ns,
                     struct diag *diag)
{
        struct context_node *node = context_intern_place(deliver->cpu_index, 0, cpu);
        if (!node)
                return diag_no_memory(diag);
        if (node->id)
                return 0;
        int rc = 0;
        if (!deliver->cpus_begun) {
                struct event_process event = {.image = CPUS_IMAGE,
                                              .executable = "[CPUs]"};
                deliver->cpus_begun = true;
                rc = sink_process(deliver->sink, start_ns, &event, diag);
        }
        node->id = 1;
        char name[32];
        snprintf(name, sizeof(name), "CPU %u", cpu);
        return rc == 0 ? sink_thread(deliver->sink, start_ns, CPUS_IMAGE, cpu, name, diag)
                       : rc;
}

int perf_deliver_cpu_counters(struct perf_deliver *deliver, int64_t start_ns,
                              int64_t end_ns, uint32_t cpu,
                              const struct event_counter *counters, size_t count,
                              struct diag *diag)
{
        int rc = begin_cpu(deliver, cpu, start_ns, diag);
        return rc == 0 ? sink_counters(deliver->sink, start_ns, end_ns, CPUS_IMAGE, cpu,
                                       counters, count, diag)
                       : rc;
}

/* ---- the heap tracker -------------------------------------------------------------- */

static bool is_in(const struct code_range *range, uint64_t addr)
{
        return addr - range->start_addr < range->length_bytes;
}

/* Frames from the clock's function in the vdso to the tracker, by way of the C library.
 */
enum { CLOCK_CALLERS = 3 };

/* Whether the tracker was at work: itself, or the clock that it had called. */
static bool is_of_tracker(const struct process *process, const struct event_sample *event)
{
        if (is_in(&process->tracker, event->ip))
                return true;
        if (process->tracker.length_bytes == 0 || !is_in(&process->vdso, event->ip))
                return false;
        for (size_t i = 1; i < event->depth && i <= CLOCK_CALLERS; i++)
                if (is_in(&process->tracker, event->frames[i]))
                        return true;
        return false;
}

/* Leaves the tracker's functions out of the call stack: what they call seems to be called
 * by the program, as it is without them. */
static void skip_tracker(struct perf_deliver *deliver, const struct process *process,
                         struct event_sample *event)
{
        size_t kept = 0;
        if (process->tracker.length_bytes == 0)
                return;
        for (size_t i = 0; i < event->depth; i++)
                if (!is_in(&process->tracker, deliver->frames[i]))
                        deliver->frames[kept++] = deliver->frames[i];
        event->depth = kept;
}

/* ---- samples ---------------------------------------------------------------------- */

/* What the copied stack tells, behind the DEPTH frames that are known; how many. */
static size_t add_user_frames(struct perf_deliver *deliver,
                              const struct record_sample *sample,
                              const struct event_sample *event, size_t depth)
{
        uint64_t *frames = deliver->frames + depth;
        size_t count =
            user_stacks_unwind(deliver->user_stacks, event->image, sample, frames);
        if (count == 0)
                return 0;
        if (depth > 1 || frames[0] != deliver->frames[0]) {
                frames[0]++; /* as in set_frames */
                return count;
        }
        memmove(frames, frames + 1, (count - 1) * sizeof(*frames)); /* ip is there */
        return count - 1;
}

/* The call stack without markers of context, beginning with IP, into deliver->frames.
 * What a process did when the kernel took over is an instruction and not a return
 * address: one is added, so that it is found as the last byte before, like calls. */
static int set_frames(struct perf_deliver *deliver, const struct record_sample *sample,
                      struct event_sample *event, struct diag *diag)
{
        bool copied = deliver->user_stacks && sample->user_stack_bytes;
        if (sample->callchain_count == 0 && !copied)
                return 0;
        size_t room = sample->callchain_count + 1 + (copied ? USER_STACK_FRAMES_MAX : 0);
        if (room > deliver->frame_capacity) {
                uint64_t *frames = reallocarray(deliver->frames, room, sizeof(*frames));
                if (!frames)
                        return diag_no_memory(diag);
                deliver->frames = frames;
                deliver->frame_capacity = room;
        }
        size_t depth = 0;
        bool in_kernel = false, interrupted = false;
        deliver->frames[depth++] = sample->ip;
        for (size_t i = 0; i < sample->callchain_count; i++) {
                uint64_t ip = sample->callchain[i];
                bool repeated = depth == 1 && ip == sample->ip;
                if (ip >= FIRST_CONTEXT) {
                        interrupted = in_kernel && ip == PERF_CONTEXT_USER;
                        in_kernel = ip == PERF_CONTEXT_KERNEL;
                        continue;
                }
                if (!repeated)
                        deliver->frames[depth++] = ip + interrupted;
                interrupted = false;
        }
        if (copied)
                depth += add_user_frames(deliver, sample, event, depth);
        event->frames = deliver->frames;
        event->depth = depth;
        return 0;
}

static void set_memory(const struct perf_stream *stream,
                       const struct record_sample *sample, struct event_sample *event,
                       struct data_source_row *row)
{
        uint64_t type = stream->layout.sample_type;
        if (type & PERF_SAMPLE_DATA_SRC) {
                datasrc_decode(sample->data_src, row);
                event->data_source = row;
        }
        event->addr = sample->addr;
        event->has_addr = type & PERF_SAMPLE_ADDR && sample->addr != 0;
        event->phys_addr = sample->phys_addr;
        event->page_bytes =
            sample->data_page_size <= INT64_MAX ? (int64_t)sample->data_page_size : 0;
        event->latency_cycles = -1;
        if (!(type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)))
                return;
        uint64_t latency = datasrc_weight(type, sample->weight).latency_cycles;
        if (latency > 0 && latency <= INT64_MAX)
                event->latency_cycles = (int64_t)latency;
}

static int tell_kernel_mappings(struct perf_deliver *deliver, struct process *process,
                                int64_t time_ns, const struct event_sample *event,
                                uint16_t misc, struct diag *diag)
{
        bool kernel_mode =
            (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
        int rc = kernel_mode || is_kernel_addr(event->ip)
                     ? tell_kernel_mapping(deliver, process, time_ns, event->ip, diag)
                     : 0;
        for (size_t i = 1; rc == 0 && i < event->depth; i++)
                if (is_kernel_addr(event->frames[i]))
                        rc = tell_kernel_mapping(deliver, process, time_ns,
                                                 event->frames[i], diag);
        return rc;
}

static int deliver_sample(struct perf_deliver *deliver, int64_t time_ns,
                          const struct perf_stream *stream, const struct record *record,
                          struct diag *diag)
{
        const struct record_sample *sample = &record->sample;
        bool known = record->id.present & PERF_SAMPLE_TID;
        uint32_t pid = known ? record->id.pid : NO_TASK;
        if (pid == NO_TASK &&
            loss(deliver, "samples of unknown threads", 1, "samples", diag) < 0)
                return -ENOMEM;
        struct process *process = NULL;
        int rc = running_process(deliver, pid, time_ns, &process, diag);
        if (rc < 0)
                return rc;
        struct data_source_row row;
        struct event_sample event = {
            .image = process->image,
            .tid = known ? record->id.tid : NO_TASK,
            .cpu = record->id.present & PERF_SAMPLE_CPU ? (int32_t)record->id.cpu : -1,
            .ip = sample->ip,
        };
        set_memory(stream, sample, &event, &row);
        rc = set_frames(deliver, sample, &event, diag);
        if (rc == 0 && is_of_tracker(process, &event))
                return loss(deliver, "samples in the heap tracker", 1, "samples", diag);
        if (rc == 0)
                skip_tracker(deliver, process, &event);
        if (rc == 0 && deliver->amend)
                rc = deliver->amend(deliver->amend_context, sample, &event, diag);
        if (event.depth && event.frames == deliver->frames)
                deliver->frames[0] = event.ip;
        if (rc == 0)
                rc = tell_kernel_mappings(deliver, process, time_ns, &event, record->misc,
                                          diag);
        return rc == 0 ? sink_sample(deliver->sink, time_ns, &event, diag) : rc;
}

/* ---- what is missing ----------------------------------------------------------------
 */

static int deliver_throttle(struct perf_deliver *deliver, int64_t time_ns,
                            const struct record *record, struct diag *diag)
{
        const struct record_throttle *event = &record->throttle;
        struct context_node *node =
            context_intern_place(deliver->throttle_index, event->id, event->stream_id);
        if (!node)
                return diag_no_memory(diag);
        if (!node->id) {
                struct throttle *all = reallocarray(
                    deliver->throttles, deliver->throttle_count + 1, sizeof(*all));
                if (!all)
                        return diag_no_memory(diag);
                deliver->throttles = all;
                all[deliver->throttle_count++] = (struct throttle){0};
                node->id = (int64_t)deliver->throttle_count;
        }
        struct throttle *throttle = &deliver->throttles[node->id - 1];
        bool was_active = throttle->active;
        throttle->active = record->kind == RECORD_THROTTLE;
        if (throttle->active) {
                throttle->since_ns = was_active ? throttle->since_ns : time_ns;
                return loss(deliver, "times throttled", 1, "times", diag);
        }
        if (!was_active || time_ns <= throttle->since_ns)
                return 0;
        return loss(deliver, "throttled time", (uint64_t)(time_ns - throttle->since_ns),
                    "ns", diag);
}

int perf_deliver_record(struct perf_deliver *deliver, int64_t time_ns,
                        const struct perf_stream *stream, const struct record *record,
                        struct diag *diag)
{
        switch (record->kind) {
        case RECORD_SAMPLE:
                return deliver_sample(deliver, time_ns, stream, record, diag);
        case RECORD_MMAP:
                return deliver_mmap(deliver, time_ns, record, diag);
        case RECORD_COMM:
                return deliver_comm(deliver, time_ns, &record->comm, diag);
        case RECORD_FORK:
                return deliver_fork(deliver, time_ns, record, diag);
        case RECORD_EXIT:
                return deliver_exit(deliver, time_ns, &record->task, diag);
        case RECORD_LOST:
                return loss(deliver, "records lost", record->lost.count, "records", diag);
        case RECORD_LOST_SAMPLES:
                return loss(deliver, "samples lost by the CPU", record->lost.count,
                            "records", diag);
        case RECORD_THROTTLE:
        case RECORD_UNTHROTTLE:
                return deliver_throttle(deliver, time_ns, record, diag);
        case RECORD_OTHER:
                return 0; /* known, and not needed */
        case RECORD_UNKNOWN:
                return loss(deliver, "records of unknown types", 1, "entries", diag);
        }
        return 0;
}

int perf_deliver_finish(struct perf_deliver *deliver, struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < deliver->process_count; i++)
                rc = begin_pending(deliver, &deliver->processes[i], NULL, diag);
        return rc;
}
