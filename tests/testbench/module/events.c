// SPDX-License-Identifier: GPL-2.0-or-later
/* The PMU's events: accepted attributes, errors for others, the events that fit the
 * counters at once, and the events' counts. The rules are Intel's, as users of
 * perf_event_open(2) know them. */
#include <asm/processor.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "scripted_pmu.h"

enum { GROUP_MAX = 32 };

static DEFINE_PER_CPU(struct list_head, running_events);

static struct scripted_event *scripted(const struct perf_event *event)
{
        return event->pmu_private;
}

u64 event_config(const struct perf_event *event)
{
        const struct perf_event_attr *attr = &event->attr;

        if (event_is_ibs(event))
                return EVENT_IBS_OP;
        if (attr->type != PERF_TYPE_HARDWARE)
                return attr->config;
        return attr->config == PERF_COUNT_HW_CPU_CYCLES ? EVENT_CYCLES
                                                        : EVENT_INSTRUCTIONS;
}

u16 event_code(const struct perf_event *event)
{
        return event_config(event);
}

bool event_samples_accesses(const struct perf_event *event)
{
        u16 code = event_code(event);

        if (event_is_ibs(event))
                return true;
        return event->attr.precise_ip &&
               (event_is_load_latency(event) || code == EVENT_STORE_SAMPLE ||
                code == EVENT_ALL_STORES);
}

bool event_is_load_latency(const struct perf_event *event)
{
        return event_code(event) ==
               (event_is_small(event) ? EVENT_LOAD_LATENCY_SMALL : EVENT_LOAD_LATENCY);
}

static bool has_counter(const struct perf_event *event)
{
        return event->pmu == &scripted_pmu || event_is_small(event);
}

/* Time during which this CPU's counters count. */
struct counting_time {
        int disabled; /* PMUs of the CPU: on a hybrid one, a task has events of two */
        u64 stopped_ns; /* when it stands still; 0: it runs */
        bool stopped_to_read;
};

static DEFINE_PER_CPU(struct counting_time, counting_time);

static u64 counting_now_ns(void)
{
        return this_cpu_read(counting_time.stopped_ns) ?: ktime_get_ns();
}

static void stop_time(void)
{
        this_cpu_write(counting_time.stopped_ns, ktime_get_ns());
}

static void let_time_run(void)
{
        this_cpu_write(counting_time.stopped_ns, 0);
}

void event_count(struct perf_event *event)
{
        struct scripted_event *own = scripted(event);
        const struct script *script = script_of_current();
        u64 config = event_config(event);
        u64 now_ns = counting_now_ns();

        if (script)
                local64_add(script_count(script, config, now_ns) -
                                script_count(script, config, own->counted_to_ns),
                            &event->count);
        own->counted_to_ns = now_ns;
}

static void count_running(void)
{
        struct scripted_event *own;

        list_for_each_entry(own, this_cpu_ptr(&running_events), running)
            event_count(own->event);
}

/* Another task, perhaps with another script, runs next: the events of a whole CPU go on
 * from here, all from the same moment. Interrupts are off. */
static void count_before_switch(void)
{
        stop_time();
        count_running();
        let_time_run();
}

/* While the PMU is disabled, events come and go. That takes no time: an event that comes
 * counts from the moment at which another went. (It would take much longer than on a real
 * CPU, which is faster than an emulated one.) */
static void disable_counting(struct pmu *pmu)
{
        if (this_cpu_inc_return(counting_time.disabled) > 1)
                return;
        stop_time();
        count_running();
}

static void enable_counting(struct pmu *pmu)
{
        if (this_cpu_dec_return(counting_time.disabled) == 0)
                let_time_run();
}

/* A group is read at one moment. */
static void begin_transaction(struct pmu *pmu, unsigned int kind)
{
        bool stops =
            kind == PERF_PMU_TXN_READ && !this_cpu_read(counting_time.stopped_ns);

        this_cpu_write(counting_time.stopped_to_read, stops);
        if (stops)
                stop_time();
}

static int end_transaction(struct pmu *pmu)
{
        if (this_cpu_read(counting_time.stopped_to_read))
                let_time_run();
        this_cpu_write(counting_time.stopped_to_read, false);
        return 0;
}

static void cancel_transaction(struct pmu *pmu)
{
        end_transaction(pmu);
}

u64 event_id(const struct perf_event *event)
{
        return event->parent ? event->parent->id : event->id;
}

static u64 *steps_of(struct stepper *stepper, u64 id)
{
        int i;

        for (i = 0; i < stepper->counts; i++)
                if (stepper->count[i].event_id == id)
                        return &stepper->count[i].steps;
        if (i == ARRAY_SIZE(stepper->count))
                return NULL;
        stepper->count[stepper->counts++].event_id = id;
        return &stepper->count[i].steps;
}

int events_step(struct stepper *stepper, const struct published_access *access)
{
        const struct pt_regs *regs = task_pt_regs(current);
        struct scripted_event *own, *next;
        unsigned long flags;
        int error = 0;

        local_irq_save(flags);
        list_for_each_entry_safe(own, next, this_cpu_ptr(&running_events), running)
        {
                u64 *steps;

                if (!event_samples_accesses(own->event))
                        continue;
                steps = steps_of(stepper, event_id(own->event));
                if (steps)
                        sampling_step(own->event, steps, access, regs);
                else
                        error = -E2BIG;
        }
        local_irq_restore(flags);
        return error;
}

void event_start(struct perf_event *event, int flags)
{
        struct scripted_event *own = scripted(event);

        if (!(event->hw.state & PERF_HES_STOPPED))
                return;
        event->hw.state = 0;
        own->counted_to_ns = counting_now_ns();
        list_add_tail(&own->running, this_cpu_ptr(&running_events));
        if (is_sampling_event(event))
                sampling_start(event);
        perf_event_update_userpage(event);
}

void event_stop(struct perf_event *event, int flags)
{
        if (event->hw.state & PERF_HES_STOPPED)
                return;
        if (is_sampling_event(event))
                sampling_stop(event);
        list_del(&scripted(event)->running);
        event_count(event);
        event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

int event_add(struct perf_event *event, int flags)
{
        if (has_counter(event) && !counters_take(event_code(event)))
                return -EAGAIN;
        event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
        if (flags & PERF_EF_START)
                event_start(event, PERF_EF_RELOAD);
        return 0;
}

void event_del(struct perf_event *event, int flags)
{
        event_stop(event, PERF_EF_UPDATE);
        if (has_counter(event))
                counters_give_back(event_code(event));
        perf_event_update_userpage(event);
}

void event_read(struct perf_event *event)
{
        if (!(event->hw.state & PERF_HES_STOPPED))
                event_count(event);
}

static bool has_precise_form(u16 code)
{
        switch (code & 0xff) {
        case EVENT_CYCLES & 0xff:
        case EVENT_INSTRUCTIONS & 0xff:
        case EVENT_LOAD_LATENCY & 0xff:
        case 0xd0: /* MEM_INST_RETIRED */
        case 0xd1: /* MEM_LOAD_RETIRED */
        case 0xd2: /* MEM_LOAD_L3_HIT_RETIRED */
        case 0xd3: /* MEM_LOAD_L3_MISS_RETIRED */
                return true;
        default:
                return false;
        }
}

static int check_precise(const struct perf_event *event)
{
        if (event->attr.precise_ip > max_precise)
                return -EOPNOTSUPP;
        if (event->attr.precise_ip && (!is_sampling_event((struct perf_event *)event) ||
                                       !has_precise_form(event_code(event))))
                return -EINVAL;
        return 0;
}

/* config1 is the latency threshold, which only one event has. */
static int check_threshold(const struct perf_event *event)
{
        u64 permitted = event_is_load_latency(event) ? 0xffff : 0;

        return event->attr.config1 & ~permitted ? -EINVAL : 0;
}

static bool is_load_latency_aux(const struct perf_event *event)
{
        return event->pmu == &scripted_pmu && event_code(event) == EVENT_LOAD_LATENCY_AUX;
}

static int check_aux(const struct perf_event *event)
{
        const struct perf_event *leader = event->group_leader, *sibling;

        if (!load_latency_needs_aux || event_code(event) != EVENT_LOAD_LATENCY ||
            !(event->attr.sample_type & PERF_SAMPLE_DATA_SRC))
                return 0;
        if (leader != event) {
                if (is_load_latency_aux(leader))
                        return 0;
                for_each_sibling_event(sibling,
                                       leader) if (is_load_latency_aux(sibling)) return 0;
        }
        return -ENODATA;
}

static int check_group_fits(const struct perf_event *event)
{
        const struct perf_event *leader = event->group_leader, *sibling;
        u16 codes[GROUP_MAX];
        int count = 0;

        codes[count++] = event_code(event);
        if (leader != event) {
                if (has_counter(leader))
                        codes[count++] = event_code(leader);
                for_each_sibling_event(sibling, leader)
                {
                        if (count == GROUP_MAX)
                                return -EINVAL;
                        if (has_counter(sibling))
                                codes[count++] = event_code(sibling);
                }
        }
        return counters_fit(codes, count) ? 0 : -EINVAL;
}

static int check_sample_type(const struct perf_event *event)
{
        if (!knows_weight_struct && (event->attr.sample_type & PERF_SAMPLE_WEIGHT_STRUCT))
                return -EINVAL;
        return has_branch_stack((struct perf_event *)event) ? -EOPNOTSUPP : 0;
}

static int check_event(const struct perf_event *event)
{
        int (*const checks[])(const struct perf_event *) = {
            check_sample_type, check_precise,    check_threshold,
            check_aux,         check_group_fits,
        };
        int i, error = 0;

        for (i = 0; !error && i < ARRAY_SIZE(checks); i++)
                error = checks[i](event);
        return error;
}

static bool is_ours(const struct perf_event *event)
{
        const struct perf_event_attr *attr = &event->attr;

        if (attr->type == PERF_TYPE_HARDWARE)
                return attr->config == PERF_COUNT_HW_CPU_CYCLES ||
                       attr->config == PERF_COUNT_HW_INSTRUCTIONS;
        return attr->type == event->pmu->type;
}

static void event_destroy(struct perf_event *event)
{
        kfree(event->pmu_private);
}

int event_prepare(struct perf_event *event)
{
        struct scripted_event *own = kzalloc(sizeof(*own), GFP_KERNEL);

        if (!own)
                return -ENOMEM;
        own->event = event;
        event->pmu_private = own;
        event->destroy = event_destroy;
        sampling_init(own);
        return 0;
}

static int event_init(struct perf_event *event)
{
        int error =
            is_ours(event) && hybrid_permits(event) ? check_event(event) : -ENOENT;

        return error ? error : event_prepare(event);
}

int events_open(void)
{
        int cpu;

        for_each_possible_cpu(cpu) INIT_LIST_HEAD(per_cpu_ptr(&running_events, cpu));
        return kernel_watch_switches(count_before_switch);
}

void events_close(void)
{
        kernel_unwatch_switches();
}

struct pmu scripted_pmu = {
    .module = THIS_MODULE,
    .task_ctx_nr = perf_hw_context,
    .pmu_enable = enable_counting,
    .pmu_disable = disable_counting,
    .start_txn = begin_transaction,
    .commit_txn = end_transaction,
    .cancel_txn = cancel_transaction,
    .event_init = event_init,
    .add = event_add,
    .del = event_del,
    .start = event_start,
    .stop = event_stop,
    .read = event_read,
};
