// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes down every sample that was handed to perf, whether perf had room for it or not.
 * The samples that a recorder stored or counted as lost must add up to the same. */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>

#include "scripted_pmu.h"

enum { ENTRIES_MAX = 65536 };

struct entry {
        u64 time_ns;
        u64 event_id;
        pid_t process;
        pid_t thread;
        u32 cpu;
        struct published_access access;
};

static struct entry *entries;
static atomic_t produced = ATOMIC_INIT(0); /* may be more than there are entries for */
static atomic_t throttled = ATOMIC_INIT(0);

int journal_open(void)
{
        entries = kvmalloc_array(ENTRIES_MAX, sizeof(*entries), GFP_KERNEL);
        return entries ? 0 : -ENOMEM;
}

void journal_close(void)
{
        kvfree(entries);
}

void journal_clear(void)
{
        atomic_set(&produced, 0);
        atomic_set(&throttled, 0);
}

void journal_sample(struct perf_event *event, const struct published_access *access)
{
        unsigned int index = atomic_fetch_inc(&produced);

        if (index >= ENTRIES_MAX)
                return;
        entries[index] = (struct entry){
            .time_ns = ktime_get_ns(),
            .event_id = event_id(event),
            .process = current->tgid,
            .thread = current->pid,
            .cpu = raw_smp_processor_id(),
            .access = *access,
        };
}

void journal_throttled(void)
{
        atomic_inc(&throttled);
}

static void *journal_start(struct seq_file *file, loff_t *position)
{
        unsigned int end = min_t(unsigned int, atomic_read(&produced), ENTRIES_MAX);

        if (!*position)
                return SEQ_START_TOKEN;
        return *position <= end ? &entries[*position - 1] : NULL;
}

static void *journal_next(struct seq_file *file, void *entry, loff_t *position)
{
        ++*position;
        return journal_start(file, position);
}

static void journal_stop(struct seq_file *file, void *entry)
{
}

static int journal_show(struct seq_file *file, void *item)
{
        const struct entry *entry = item;

        if (item == SEQ_START_TOKEN) {
                seq_printf(file, "# produced %d throttled %d\n", atomic_read(&produced),
                           atomic_read(&throttled));
                seq_puts(file, "time_ns,event_id,pid,tid,cpu,ip,addr,data_src,latency,"
                               "instruction_latency\n");
                return 0;
        }
        seq_printf(file, "%llu,%llu,%d,%d,%u,0x%llx,0x%llx,0x%llx,%u,%u\n",
                   entry->time_ns, entry->event_id, entry->process, entry->thread,
                   entry->cpu, entry->access.ip, entry->access.addr,
                   entry->access.data_src, entry->access.latency,
                   entry->access.instruction_latency);
        return 0;
}

static const struct seq_operations journal_seq_operations = {
    .start = journal_start,
    .next = journal_next,
    .stop = journal_stop,
    .show = journal_show,
};

static int journal_proc_open(struct inode *inode, struct file *file)
{
        return seq_open(file, &journal_seq_operations);
}

const struct proc_ops journal_proc_ops = {
    .proc_open = journal_proc_open,
    .proc_read = seq_read,
    .proc_lseek = seq_lseek,
    .proc_release = seq_release,
};
