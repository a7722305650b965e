/* SPDX-License-Identifier: MIT */
/* Tracks processes, threads and mappings by perf's records and by other knowledge, and
 * informs the sink. Knows neither samples, rings nor the database.
 *
 * FORK, COMM and EXIT begin and end processes and threads. COMM with the exec flag
 * begins a new image; the first file that is mapped then is its executable. MMAP
 * replaces overlapping mappings. A FORK with PERF_RECORD_MISC_FORK_EXEC describes an
 * existing process, which inherits nothing. */
#ifndef MEMLAG_PERF_TASKS_H
#define MEMLAG_PERF_TASKS_H

#include "perf/records/record.h"
#include "source.h"

/* The pid of tasks that are gone, and of the kernel. */
#define PERF_NO_TASK UINT32_MAX

struct perf_tasks;
struct perf_process;
struct user_stacks;

/* SINK must outlive it. NULL: no memory. */
struct perf_tasks *perf_tasks_new(struct sink *sink);
void perf_tasks_free(struct perf_tasks *tasks);

/* STACKS receives executable mappings, and must outlive TASKS. */
void perf_tasks_set_user_stacks(struct perf_tasks *tasks, struct user_stacks *stacks);
/* PATH is the heap tracker's file, and must outlive TASKS. */
void perf_tasks_set_tracker(struct perf_tasks *tasks, const char *path);

/* Takes a FORK, COMM, EXIT or MMAP record; ignores other records. */
int perf_tasks_record(struct perf_tasks *tasks, int64_t time_ns,
                      const struct record *record, struct diag *diag);

/* ---- state from other sources, such as processes that exist already ---- */

/* Begins a process; EXECUTABLE may be NULL. It replaces a known process PID. */
int perf_tasks_process(struct perf_tasks *tasks, int64_t time_ns, uint32_t pid,
                       uint32_t parent_pid, const char *executable, struct diag *diag);
/* NAME may be NULL. */
int perf_tasks_thread(struct perf_tasks *tasks, int64_t time_ns, uint32_t pid,
                      uint32_t tid, const char *name, struct diag *diag);
/* EVENT's image is filled in. */
int perf_tasks_mapping(struct perf_tasks *tasks, int64_t time_ns, uint32_t pid,
                       struct event_mapping *event, struct diag *diag);

/* Returns the kind of mapping (enum mapping_kind) for perf's name. *PATH becomes NULL if
 * it is no file. */
int perf_tasks_mapping_kind(const char **path);

/* Returns the sink's current key for process PID; 0: unknown. */
image_key perf_tasks_image(const struct perf_tasks *tasks, uint32_t pid);

/* ---- for samples ---- */

/* Returns process PID with an image in *PROCESS: any event in a process proves that it
 * runs. Valid until the next record. */
int perf_tasks_running(struct perf_tasks *tasks, uint32_t pid, int64_t time_ns,
                       struct perf_process **process, struct diag *diag);
image_key perf_process_image(const struct perf_process *process);
/* Gets whether the heap tracker was loaded into the process, and whether ADDR is in the
 * tracker's code, or in the kernel's code that every program has (the vdso). */
bool perf_process_has_tracker(const struct perf_process *process);
bool perf_process_in_tracker(const struct perf_process *process, uint64_t addr);
bool perf_process_in_vdso(const struct perf_process *process, uint64_t addr);

/* Delivers the kernel's mapping at IP to the sink, once an image. */
int perf_tasks_tell_kernel(struct perf_tasks *tasks, struct perf_process *process,
                           int64_t time_ns, uint64_t ip, struct diag *diag);

/* Counts surviving processes: no record reported their end, and the kernel knows
 * them. */
size_t perf_tasks_alive(const struct perf_tasks *tasks);

/* No more records come. */
int perf_tasks_finish(struct perf_tasks *tasks, struct diag *diag);

#endif
