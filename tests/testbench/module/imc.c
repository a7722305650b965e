// SPDX-License-Identifier: GPL-2.0-or-later
/* The counters of a memory controller, uncore_imc_0: cache lines read and written by the
 * whole machine, at rates that never change. A list has every value that was read. */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>

#include "scripted_pmu.h"

enum { IMC_CAS_READ = 0xcf05, IMC_CAS_WRITE = 0xf005 }; /* Sapphire Rapids */

static ulong reads_per_ms, writes_per_ms;
module_param_named(imc_reads_per_ms, reads_per_ms, ulong, 0444);
module_param_named(imc_writes_per_ms, writes_per_ms, ulong, 0444);
MODULE_PARM_DESC(imc_reads_per_ms, "cache lines; 0 of both: there is no such PMU");

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
PMU_EVENT_ATTR_STRING(cas_count_read, event_reads, "event=0x05,umask=0xcf");
PMU_EVENT_ATTR_STRING(cas_count_read.scale, event_reads_scale, "6.103515625e-5");
PMU_EVENT_ATTR_STRING(cas_count_read.unit, event_reads_unit, "MiB");
PMU_EVENT_ATTR_STRING(cas_count_write, event_writes, "event=0x05,umask=0xf0");
PMU_EVENT_ATTR_STRING(cas_count_write.scale, event_writes_scale, "6.103515625e-5");
PMU_EVENT_ATTR_STRING(cas_count_write.unit, event_writes_unit, "MiB");

PMU_FILE(cpumask, cpumap_print_to_pagebuf(true, text, cpumask_of(0)));

static struct attribute *format_attributes[] = {
    &format_attr_event.attr,
    &format_attr_umask.attr,
    NULL,
};
static struct attribute *event_attributes[] = {
    &event_reads.attr.attr,
    &event_reads_scale.attr.attr,
    &event_reads_unit.attr.attr,
    &event_writes.attr.attr,
    &event_writes_scale.attr.attr,
    &event_writes_unit.attr.attr,
    NULL,
};
static struct attribute *other_attributes[] = {&dev_attr_cpumask.attr, NULL};

PMU_DIRECTORY(format, "format", format_attributes);
PMU_DIRECTORY(event, "events", event_attributes);
static const struct attribute_group other_group = {.attrs = other_attributes};
static const struct attribute_group *imc_groups[] = {
    &format_group,
    &event_group,
    &other_group,
    NULL,
};

/* ---- the values read ---- */

enum { READS_MAX = 8192 };

static struct {
        u64 time_ns;
        u64 event_id;
        u64 config;
        u64 lines; /* since the event's begin */
} reads[READS_MAX];
static atomic_t read_count = ATOMIC_INIT(0); /* may be more than there is room for */

void imc_forget(void)
{
        atomic_set(&read_count, 0);
}

static void note_read(const struct perf_event *event, u64 now_ns)
{
        unsigned int index = atomic_fetch_inc(&read_count);

        if (index >= READS_MAX)
                return;
        reads[index].time_ns = now_ns;
        reads[index].event_id = event->id;
        reads[index].config = event->attr.config;
        reads[index].lines = local64_read(&event->count);
}

static int reads_show(struct seq_file *file, void *unused)
{
        unsigned int count = atomic_read(&read_count);
        unsigned int i;

        if (count > READS_MAX)
                return -ENOSPC;
        seq_puts(file, "time_ns,event_id,config,lines\n");
        for (i = 0; i < count; i++)
                seq_printf(file, "%llu,%llu,0x%llx,%llu\n", reads[i].time_ns,
                           reads[i].event_id, reads[i].config, reads[i].lines);
        return 0;
}

static int reads_open(struct inode *inode, struct file *file)
{
        return single_open(file, reads_show, NULL);
}

const struct proc_ops imc_reads_proc_ops = {
    .proc_open = reads_open,
    .proc_read = seq_read,
    .proc_lseek = seq_lseek,
    .proc_release = single_release,
};

/* ---- counting ---- */

static u64 count_at(const struct perf_event *event, u64 now_ns)
{
        u64 rate = event->attr.config == IMC_CAS_READ ? reads_per_ms : writes_per_ms;

        return mul_u64_u64_div_u64(now_ns, rate, NSEC_PER_MSEC);
}

static void imc_read(struct perf_event *event)
{
        u64 now_ns = ktime_get_ns();
        u64 before_ns = local64_xchg(&event->hw.prev_count, now_ns);

        local64_add(count_at(event, now_ns) - count_at(event, before_ns), &event->count);
        note_read(event, now_ns);
}

static void imc_start(struct perf_event *event, int flags)
{
        local64_set(&event->hw.prev_count, ktime_get_ns());
}

static void imc_stop(struct perf_event *event, int flags)
{
        imc_read(event);
}

static int imc_add(struct perf_event *event, int flags)
{
        if (flags & PERF_EF_START)
                imc_start(event, flags);
        return 0;
}

static int imc_event_init(struct perf_event *event)
{
        if (event->attr.type != event->pmu->type)
                return -ENOENT;
        if (is_sampling_event(event) || event->attach_state & PERF_ATTACH_TASK ||
            event->cpu < 0)
                return -EINVAL;
        if (event->attr.config != IMC_CAS_READ && event->attr.config != IMC_CAS_WRITE)
                return -EINVAL;
        event->cpu = 0; /* the one that speaks to the controller */
        return 0;
}

static struct pmu imc_pmu = {
    .module = THIS_MODULE,
    .task_ctx_nr = perf_invalid_context,
    .capabilities = PERF_PMU_CAP_NO_EXCLUDE,
    .attr_groups = imc_groups,
    .event_init = imc_event_init,
    .add = imc_add,
    .del = imc_stop,
    .start = imc_start,
    .stop = imc_stop,
    .read = imc_read,
};

int imc_open(void)
{
        if (!reads_per_ms && !writes_per_ms)
                return 0;
        return perf_pmu_register(&imc_pmu, "uncore_imc_0", -1);
}

void imc_close(void)
{
        if (imc_pmu.name)
                perf_pmu_unregister(&imc_pmu);
}
