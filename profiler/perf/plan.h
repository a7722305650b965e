/* SPDX-License-Identifier: MIT */
/* Which perf events to open together, as plain data. The planners (plan_pebs.h,
 * plan_ibs.h) make plans from facts about the machine; the session opens them on tasks
 * or CPUs. A plan knows no file descriptor, ring or database. */
#ifndef MEMLAG_PERF_PLAN_H
#define MEMLAG_PERF_PLAN_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validation.h"

enum plan_use {
        PLAN_LOADS,     /* samples that are loads (ibs: any operation) */
        PLAN_STORES,    /* samples that are stores */
        PLAN_AUXILIARY, /* a leader that the CPU wants, and that says nothing itself */
        PLAN_COUNTER    /* read at the interval */
};

/* ATTR says what to measure and the form of its samples: type, config, config1, config2,
 * precise_ip, sample_period or freq, sample_type, sample_regs_user, sample_stack_user,
 * exclude_*, pinned, and for counters read_format with GROUP and both times. How to run
 * it (disabled, enable_on_exec, inherit, task, comm, mmap, mmap2, sample_id_all, wake-up,
 * further bits of read_format) is the session's.
 *
 * NAME is the counter's in the database. Events of the same NAME and code may stand in
 * several groups; each is then an estimate of the same rate, and what they gained between
 * two readings is
 *         time there * (sum of gains) / (sum of times running),
 * where the time there is that in which they could have run. Events of the same NAME and
 * different codes count different things, such as two memory controllers, and are added
 * up. A counter that was not running at all between two readings gained an unknown
 * amount, not nothing: its reading spans on to the next at which it ran. */
struct plan_event {
        struct perf_event_attr attr;
        enum plan_use use;
        const char *name; /* static */
        const char *unit; /* static: "cycles", "bytes" ... of SCALE counts */
        /* The usual event in whose place a validation put this one; NULL: none. Static.
         */
        const char *stands_for;
        uint64_t scale; /* multiply the count by this */
};

enum { PLAN_GROUP_EVENTS_MAX = 16 }; /* more than any CPU has counters for */

/* Events that are always on the PMU together; events[0] is the leader. A group whose
 * leader is pinned never waits for counters: when it cannot have them, its event reads as
 * end of file. */
struct plan_group {
        struct plan_event events[PLAN_GROUP_EVENTS_MAX];
        size_t count;
        /* Where the PMU is: of a hybrid CPU's cores, or of a package's memory controller,
         * ascending; cpu_count 0: on every CPU. Owned by the plan. */
        int *cpus;
        size_t cpu_count;
        /* Counts whatever runs there: open it on each of its CPUs with pid -1 also when
         * the others follow a task. When that is forbidden the run goes on without it. */
        bool system_wide;
};

enum { PLAN_LEFT_OUT_MAX = 32 };

struct plan {
        struct plan_group *groups; /* in the order in which to open them */
        size_t group_count;
        /* Counters that do not fit beside each other take turns; their readings are
         * estimates. */
        bool counters_rotate;
        /* The samples take turns with the counters too. */
        bool samples_rotate;
        /* Counters that found no place at all, by name (static). */
        const char *left_out[PLAN_LEFT_OUT_MAX];
        size_t left_out_count;
};

/* What the user asks for. */
struct plan_options {
        uint64_t period;       /* events from sample to sample; 0: by frequency */
        uint64_t store_period; /* the same of stores; 0: by frequency */
        uint64_t frequency_hz; /* samples a second that the kernel should aim at */
        uint32_t ldlat_cycles;
        bool stores; /* sample them too */
        enum { PLAN_STACK_NONE, PLAN_STACK_FRAME_POINTERS, PLAN_STACK_COPY } stack;
        uint32_t stack_bytes; /* of PLAN_STACK_COPY: a multiple of 8, not 0 */
        bool phys_addr;
        bool data_page_size;
        bool counters;
        struct validated_counters validated;
        bool whole_cpus; /* whatever runs there is recorded, and no task alone */
};

/* Adds an empty group, on all CPUs or on those of the list; NULL when there is no memory.
 */
struct plan_group *plan_add_group(struct plan *plan);
struct plan_group *plan_add_group_on(struct plan *plan, const int *cpus,
                                     size_t cpu_count);
/* Adds an event to GROUP, which has room for it. */
struct plan_event *plan_add_event(struct plan_group *group, enum plan_use use,
                                  const struct perf_event_attr *attr);
void plan_free(struct plan *plan);

/* Why the kernel cannot collect many samples of ATTR with one interrupt (large PEBS), in
 * the form "... is asked for"; NULL when it can. Linux, arch/x86/events/intel/core.c. */
const char *plan_large_pebs_obstacle(const struct perf_event_attr *attr);

#endif
