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
        PLAN_AUXILIARY, /* a leader that the CPU requires, without data */
        PLAN_COUNTER    /* read at the interval */
};

/* ATTR defines the measured event and the form of its samples: type, config, config1,
 * config2, precise_ip, sample_period or freq, sample_type, sample_regs_user,
 * sample_stack_user, exclude_*, pinned. For counters it also has read_format with GROUP
 * and both times. The session sets the run-time attributes (disabled, enable_on_exec,
 * inherit, task, comm, mmap, mmap2, sample_id_all, wake-up, further bits of
 * read_format).
 *
 * NAME is the counter's name in the database. Events with the same NAME and code may be
 * in several groups. Each is then an estimate of the same rate. Their increment between
 * two readings is time there * (sum of gains) / (sum of times running). The time there
 * is the time in which they could have run.
 *
 * Events with the same NAME and different codes count different things, such as two
 * memory controllers, and are added up. A counter that did not run between two readings
 * has an unknown increment, not zero. Its interval extends to the next reading at which
 * it ran. */
struct plan_event {
        struct perf_event_attr attr;
        enum plan_use use;
        const char *name; /* static */
        const char *unit; /* static: "cycles", "bytes" ... of SCALE counts */
        /* The usual event that a validation replaced by this event; NULL: none.
         * Static. */
        const char *stands_for;
        uint64_t scale; /* multiply the count by this */
};

enum { PLAN_GROUP_EVENTS_MAX = 16 }; /* more than any CPU has counters for */

/* Events that are always on the PMU together; events[0] is the leader. A pinned leader's
 * group never waits for counters: if it cannot have them, its event reads as end of
 * file. */
struct plan_group {
        struct plan_event events[PLAN_GROUP_EVENTS_MAX];
        size_t count;
        /* Where the PMU is: of a hybrid CPU's cores, or of a package's memory controller,
         * ascending; cpu_count 0: on every CPU. Owned by the plan. */
        int *cpus;
        size_t cpu_count;
        /* Counts all tasks: open it on each of its CPUs with pid -1, even if the other
         * groups follow a task. If that is forbidden, the run continues without it. */
        bool system_wide;
};

enum { PLAN_LEFT_OUT_MAX = 32 };

struct plan {
        struct plan_group *groups; /* in opening order */
        size_t group_count;
        /* Counters that do not fit together are multiplexed; their values are
         * estimates. */
        bool counters_rotate;
        /* The samples are multiplexed with the counters too. */
        bool samples_rotate;
        /* Counters that did not fit at all, by name (static). */
        const char *left_out[PLAN_LEFT_OUT_MAX];
        size_t left_out_count;
};

/* The user's options. */
struct plan_options {
        uint64_t period;       /* events from sample to sample; 0: by frequency */
        uint64_t store_period; /* period of stores; 0: by frequency */
        uint64_t frequency_hz; /* samples a second that the kernel should aim at */
        uint32_t ldlat_cycles;
        bool stores;         /* sample them too */
        bool stores_if_free; /* the same if that costs LMRL nothing (plan_try_pebs) */
        enum { PLAN_STACK_NONE, PLAN_STACK_FRAME_POINTERS, PLAN_STACK_COPY } stack;
        uint32_t stack_bytes; /* of PLAN_STACK_COPY: a multiple of 8, not 0 */
        bool phys_addr;
        bool data_page_size;
        bool counters;
        struct validated_counters validated;
        bool whole_cpus; /* records all tasks on the CPUs, no single task */
};

/* Adds an empty group, on all CPUs or on the listed CPUs; NULL when there is no
 * memory. */
struct plan_group *plan_add_group(struct plan *plan);
struct plan_group *plan_add_group_on(struct plan *plan, const int *cpus,
                                     size_t cpu_count);
/* Adds an event to GROUP, which has room for it. */
struct plan_event *plan_add_event(struct plan_group *group, enum plan_use use,
                                  const struct perf_event_attr *attr);
void plan_free(struct plan *plan);

/* Returns why the kernel cannot collect many samples of ATTR with one interrupt (large
 * PEBS), in the form "... is asked for"; NULL: it can. Linux,
 * arch/x86/events/intel/core.c. */
const char *plan_large_pebs_obstacle(const struct perf_event_attr *attr);

#endif
