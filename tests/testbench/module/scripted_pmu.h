/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A core PMU ("cpu", type 4) that plays a script, for virtual machines without one: the
 * interfaces of its parts. README.md describes the script. */
#ifndef SCRIPTED_PMU_H
#define SCRIPTED_PMU_H

#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/types.h>

/* Event select and unit mask, as in config:0-15. */
enum {
        EVENT_CYCLES = 0x003c,
        EVENT_INSTRUCTIONS = 0x00c0,
        EVENT_LOAD_LATENCY = 0x01cd,
        EVENT_LOAD_LATENCY_SMALL = 0x05d0, /* of small cores */
        EVENT_STORE_SAMPLE = 0x02cd,       /* from Ice Lake's successors on */
        EVENT_ALL_STORES = 0x82d0,         /* mem-stores before */
        EVENT_LOAD_LATENCY_AUX = 0x8203,
        EVENT_IBS_OP = 0xffff, /* our name for the event of ibs_op */
};

/* A memory access, as a program publishes it in user memory. */
struct published_access {
        u64 ip;
        u64 addr;
        u64 data_src;
        u32 latency;
        u32 instruction_latency;
};

/* main.c: the properties of the PMU that a machine's CPU decides. */
extern bool load_latency_needs_aux;
extern bool knows_weight_struct;
extern int max_precise;
extern uint sampling_floor_ns;

/* kernel.c: kernel functions that are not exported to modules. */
int kernel_symbols_find(void);
int kernel_overflow(struct perf_event *event, struct perf_sample_data *data,
                    struct pt_regs *regs);
int kernel_watch_switches(void (*before_switch)(void));
void kernel_unwatch_switches(void);

/* script.c: the scripts of threads. A script stays until it is forgotten, also after its
 * thread has ended: its last counts are read then. Functions that take a SCRIPT are
 * called under rcu_read_lock, or with interrupts off. */
struct script;
struct script *script_of_current(void);
/* Events of CONFIG between the script's begin and NOW_NS. */
u64 script_count(const struct script *script, u64 config, u64 now_ns);
u64 script_rate(const struct script *script, u64 config, u64 now_ns); /* per ms */
/* The current thread's access; false: it publishes none. */
bool script_published(const struct script *script, struct published_access *access);
int script_add(char *text); /* TEXT is consumed */
void scripts_forget(void);

/* journal.c: the samples that were handed to perf, one a line. */
int journal_open(void);
void journal_close(void);
void journal_clear(void);
void journal_sample(struct perf_event *event, const struct published_access *access);
void journal_throttled(void);
extern const struct proc_ops journal_proc_ops;

/* control.c: the files in /proc/scripted_pmu. */
int control_open(void);
void control_close(void);

/* events.c */
struct scripted_event { /* perf_event.pmu_private */
        struct perf_event *event;
        struct list_head running; /* on this CPU's list of running events */
        u64 counted_to_ns;
        struct hrtimer timer; /* of the next sample */
        u64 left_ns;          /* until then, while it is stopped; 0: a whole period */
};
extern struct pmu scripted_pmu;
int events_open(void);
void events_close(void);
/* For each PMU that samples accesses. */
int event_prepare(struct perf_event *event);
int event_add(struct perf_event *event, int flags);
void event_del(struct perf_event *event, int flags);
void event_start(struct perf_event *event, int flags);
void event_stop(struct perf_event *event, int flags);
void event_read(struct perf_event *event);
/* The event as in attr.config, also for the kernel's generic events. */
u64 event_config(const struct perf_event *event);
u16 event_code(const struct perf_event *event); /* its lowest 16 bits */
bool event_samples_accesses(const struct perf_event *event);
bool event_is_load_latency(const struct perf_event *event);
void event_count(struct perf_event *event);
/* The number of the opened event, also for an event inherited from it. */
u64 event_id(const struct perf_event *event);

/* A program that makes single accesses, and their count by event since its last sample.
 * The kernel exchanges the inherited events of two threads when it switches from one to
 * the other: the event cannot keep the count. */
struct stepper {
        int counts;
        struct {
                u64 event_id;
                u64 steps;
        } count[8];
};
/* STEPPER's access, which the current thread makes now, at its system call. */
int events_step(struct stepper *stepper, const struct published_access *access);

/* counters.c: events by their codes. */
int counters_open(void);
bool counters_take(u16 code); /* of this CPU, with interrupts off */
void counters_give_back(u16 code);
bool counters_fit(const u16 *codes, int count); /* with nothing beside them */

/* sampling.c */
void sampling_init(struct scripted_event *own);
void sampling_start(struct perf_event *event);
void sampling_stop(struct perf_event *event);
/* STEPS: accesses counted since the last sample. REGS are the current thread's.
 * Interrupts are off. */
void sampling_step(struct perf_event *event, u64 *steps,
                   const struct published_access *access, const struct pt_regs *regs);

/* ibs.c: the PMU ibs_op of AMD's CPUs, if asked for. */
int ibs_open(void);
void ibs_close(void);
bool event_is_ibs(const struct perf_event *event);
bool ibs_wants(const struct perf_event *event, const struct published_access *access);
/* The reported latency of an access. */
u32 ibs_latency(const struct published_access *access);

/* imc.c: the PMU uncore_imc_0, if asked for. */
int imc_open(void);
void imc_close(void);
void imc_forget(void);
extern const struct proc_ops imc_reads_proc_ops;

/* hybrid.c: the PMU of the cores, or of each kind of core. */
int cores_open(void);
bool event_is_small(const struct perf_event *event);
bool hybrid_permits(const struct perf_event *event); /* it on its CPU */

/* A file of a PMU's directory, of the text that the expression writes. */
#define PMU_FILE(name, ...)                                                              \
        static ssize_t name##_show(struct device *device,                                \
                                   struct device_attribute *attribute, char *text)       \
        {                                                                                \
                return __VA_ARGS__;                                                      \
        }                                                                                \
        static DEVICE_ATTR_RO(name)

/* GROUP_group, a directory of a PMU's. */
#define PMU_DIRECTORY(group, directory, attributes)                                      \
        static const struct attribute_group group##_group = {.name = directory,          \
                                                             .attrs = attributes}

/* sysfs.c: the layout of the kernel's own Intel PMU, of a small core with the file CPUS;
 * NULL: it has none. */
const struct attribute_group **sysfs_groups(bool small, struct device_attribute *cpus);
extern char *pmu_name;

#endif
