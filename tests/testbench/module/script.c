// SPDX-License-Identifier: GPL-2.0-or-later
/* Scripts: the rate of each event in a thread, phase by phase, and the address where the
 * thread publishes its current memory access. Knows nothing of perf events. */
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "scripted_pmu.h"

enum { PHASES_MAX = 16, RATES_MAX = 24 };

struct phase {
        u64 length_ns;
        bool has_access;
        struct published_access access; /* by the running thread */
        int rates;
        struct {
                u64 config;
                u64 per_ms;
        } rate[RATES_MAX];
};

enum script_scope { SCOPE_ALL, SCOPE_PROCESS, SCOPE_THREAD }; /* the later the closer */

struct script {
        struct list_head list;
        struct rcu_head rcu;
        enum script_scope scope;
        pid_t id;
        u64 begin_ns;
        u64 published; /* user address of a pointer to a struct published_access */
        bool repeats;
        int phases;
        struct phase phase[PHASES_MAX]; /* the last one goes on, when nothing repeats */
};

static LIST_HEAD(scripts); /* newest first */
static DEFINE_MUTEX(scripts_mutex);

static bool script_is_of_current(const struct script *script)
{
        switch (script->scope) {
        case SCOPE_THREAD:
                return script->id == current->pid;
        case SCOPE_PROCESS:
                return script->id == current->tgid;
        default:
                return true;
        }
}

struct script *script_of_current(void)
{
        struct script *script, *closest = NULL;

        if (is_idle_task(current))
                return NULL;
        list_for_each_entry_rcu(script, &scripts, list)
        {
                if (script_is_of_current(script) &&
                    (!closest || script->scope > closest->scope))
                        closest = script;
        }
        return closest;
}

static u64 phase_rate(const struct phase *phase, u64 config)
{
        int i;

        for (i = 0; i < phase->rates; i++)
                if (phase->rate[i].config == config)
                        return phase->rate[i].per_ms;
        return 0;
}

static u64 phase_count(const struct phase *phase, u64 config, u64 ns)
{
        return mul_u64_u64_div_u64(ns, phase_rate(phase, config), NSEC_PER_MSEC);
}

static u64 phases_ns(const struct script *script)
{
        u64 ns = 0;
        int i;

        for (i = 0; i < script->phases; i++)
                ns += script->phase[i].length_ns;
        return ns;
}

/* The phase at TIME_NS of the script, which becomes the time in that phase. Adds the
 * counts of the phases before it to *COUNT, if that is not NULL. */
static const struct phase *phase_at(const struct script *script, u64 config, u64 *time_ns,
                                    u64 *count)
{
        const struct phase *phase = script->phase;
        const struct phase *last = phase + script->phases - 1;

        for (; phase < last && *time_ns >= phase->length_ns; phase++) {
                *time_ns -= phase->length_ns;
                if (count)
                        *count += phase_count(phase, config, phase->length_ns);
        }
        return phase;
}

u64 script_count(const struct script *script, u64 config, u64 now_ns)
{
        u64 time_ns = now_ns - script->begin_ns;
        u64 count = 0, rounds = 0;
        const struct phase *phase;
        int i;

        if (now_ns <= script->begin_ns)
                return 0;
        if (script->repeats)
                rounds = div64_u64_rem(time_ns, phases_ns(script), &time_ns);
        for (i = 0; rounds && i < script->phases; i++)
                count += rounds * phase_count(&script->phase[i], config,
                                              script->phase[i].length_ns);
        phase = phase_at(script, config, &time_ns, &count);
        return count + phase_count(phase, config, time_ns);
}

u64 script_rate(const struct script *script, u64 config, u64 now_ns)
{
        u64 time_ns = now_ns - script->begin_ns;

        if (now_ns <= script->begin_ns)
                return 0;
        if (script->repeats)
                div64_u64_rem(time_ns, phases_ns(script), &time_ns);
        return phase_rate(phase_at(script, config, &time_ns, NULL), config);
}

bool script_published(const struct script *script, struct published_access *access)
{
        const struct phase *phase;
        u64 at, time_ns = ktime_get_ns() - script->begin_ns;

        if (script->repeats)
                div64_u64_rem(time_ns, phases_ns(script), &time_ns);
        phase = phase_at(script, 0, &time_ns, NULL);
        if (phase->has_access) {
                *access = phase->access;
                return true;
        }
        return script->published &&
               !copy_from_user_nofault(&at, (void __user *)script->published,
                                       sizeof(at)) &&
               at && !copy_from_user_nofault(access, (void __user *)at, sizeof(*access));
}

static int parse_scope(struct script *script, const char *scope)
{
        if (!strcmp(scope, "thread")) {
                script->scope = SCOPE_THREAD;
                script->id = current->pid;
        } else if (!strcmp(scope, "process")) {
                script->scope = SCOPE_PROCESS;
                script->id = current->tgid;
        } else if (!strcmp(scope, "all")) {
                script->scope = SCOPE_ALL;
        } else {
                return -EINVAL;
        }
        return 0;
}

static int parse_phase(struct script *script, u64 length_ms)
{
        if (script->phases == PHASES_MAX)
                return -E2BIG;
        if (!length_ms)
                return -EINVAL;
        script->phase[script->phases++].length_ns = length_ms * NSEC_PER_MSEC;
        return 0;
}

static int parse_access(struct script *script, u64 data_src, u32 latency)
{
        struct phase *phase = &script->phase[script->phases - 1];

        if (!script->phases)
                return -EINVAL;
        phase->has_access = true;
        phase->access = (struct published_access){
                .ip = 0x401000,
                .addr = 0x602000,
                .data_src = data_src,
                .latency = latency,
        };
        return 0;
}

static int parse_rate(struct script *script, u64 config, u64 per_ms)
{
        struct phase *phase = &script->phase[script->phases - 1];

        if (!script->phases)
                return -EINVAL;
        if (phase->rates == RATES_MAX)
                return -E2BIG;
        phase->rate[phase->rates].config = config;
        phase->rate[phase->rates++].per_ms = per_ms;
        return 0;
}

static int parse_line(struct script *script, const char *line)
{
        unsigned long long a, b;
        char scope[8];

        if (!*line || *line == '#')
                return 0;
        if (sscanf(line, "script %7s", scope) == 1)
                return parse_scope(script, scope);
        if (sscanf(line, "published %llx", &a) == 1) {
                script->published = a;
                return 0;
        }
        if (sscanf(line, "phase %llu", &a) == 1)
                return parse_phase(script, a);
        if (sscanf(line, "rate %llx %llu", &a, &b) == 2)
                return parse_rate(script, a, b);
        if (sscanf(line, "access %llx %llu", &a, &b) == 2)
                return parse_access(script, a, b);
        if (!strcmp(line, "repeat")) {
                script->repeats = true;
                return 0;
        }
        return -EINVAL;
}

int script_add(char *text)
{
        struct script *script = kzalloc(sizeof(*script), GFP_KERNEL);
        const char *line;
        int error = 0;

        if (!script)
                return -ENOMEM;
        while (!error && (line = strsep(&text, "\n")))
                error = parse_line(script, line);
        if (!error && !script->phases)
                error = -EINVAL;
        if (error) {
                kfree(script);
                return error;
        }
        mutex_lock(&scripts_mutex);
        script->begin_ns = ktime_get_ns();
        list_add_rcu(&script->list, &scripts);
        mutex_unlock(&scripts_mutex);
        return 0;
}

void scripts_forget(void)
{
        struct script *script, *next;

        mutex_lock(&scripts_mutex);
        list_for_each_entry_safe(script, next, &scripts, list)
        {
                list_del_rcu(&script->list);
                kfree_rcu(script, rcu);
        }
        mutex_unlock(&scripts_mutex);
}
