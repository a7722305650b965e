// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the parts of the kernel that it does not export to modules: the overflow of an
 * event, and the moment before another task runs. */
#include <linux/kprobes.h>
#include <linux/tracepoint.h>

#include "scripted_pmu.h"

static int (*overflow)(struct perf_event *, struct perf_sample_data *, struct pt_regs *);
static struct tracepoint *sched_switch;
static void (*before_switch)(void);

/* A probe on a function, set by its name, has the function's address. */
static void *find_lookup(void)
{
        struct kprobe probe = {.symbol_name = "kallsyms_lookup_name"};
        void *address;

        if (register_kprobe(&probe))
                return NULL;
        address = probe.addr;
        unregister_kprobe(&probe);
        return address;
}

static void find_sched_switch(struct tracepoint *tracepoint, void *unused)
{
        if (!strcmp(tracepoint->name, "sched_switch"))
                sched_switch = tracepoint;
}

int kernel_symbols_find(void)
{
        unsigned long (*lookup)(const char *) = find_lookup();

        if (!lookup)
                return -ENOENT;
        overflow = (void *)lookup("perf_event_overflow");
        for_each_kernel_tracepoint(find_sched_switch, NULL);
        return overflow && sched_switch ? 0 : -ENOENT;
}

int kernel_overflow(struct perf_event *event, struct perf_sample_data *data,
                    struct pt_regs *regs)
{
        return overflow(event, data, regs);
}

static void on_sched_switch(void *data, bool preempt, struct task_struct *previous,
                            struct task_struct *next, unsigned int previous_state)
{
        before_switch();
}

int kernel_watch_switches(void (*function)(void))
{
        before_switch = function;
        return tracepoint_probe_register(sched_switch, (void *)on_sched_switch, NULL);
}

void kernel_unwatch_switches(void)
{
        tracepoint_probe_unregister(sched_switch, (void *)on_sched_switch, NULL);
        tracepoint_synchronize_unregister();
}
