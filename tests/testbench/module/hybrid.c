// SPDX-License-Identifier: GPL-2.0-or-later
/* A hybrid CPU: the PMU of the large core, CPU 0, is called cpu_core. CPU 1 is a small
 * core with a second PMU, cpu_atom. It counts by the same scripts. */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/version.h>

#include "scripted_pmu.h"

enum { LARGE_CORE = 0, SMALL_CORE = 1 };

static bool offered;
module_param_named(hybrid, offered, bool, 0444);
MODULE_PARM_DESC(hybrid, "CPU 0 has the PMU cpu_core, CPU 1 has cpu_atom");

static struct pmu small_pmu;

bool event_is_small(const struct perf_event *event)
{
        return event->pmu == &small_pmu;
}

static int cpu_of(const struct pmu *pmu)
{
        return pmu == &small_pmu ? SMALL_CORE : LARGE_CORE;
}

bool hybrid_permits(const struct perf_event *event)
{
        return !offered || event->cpu < 0 || event->cpu == cpu_of(event->pmu);
}

/* An event of a task waits while the task is on another kind of core. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
static int is_on_its_core(struct perf_event *event)
{
        return smp_processor_id() == cpu_of(event->pmu);
}

static void set_filter(struct pmu *pmu)
{
        pmu->capabilities |= PERF_PMU_CAP_HETEROGENEOUS_CPUS;
        pmu->filter_match = is_on_its_core;
}
#else
static bool is_on_another_core(struct pmu *pmu, int cpu)
{
        return cpu != cpu_of(pmu);
}

static void set_filter(struct pmu *pmu)
{
        pmu->filter = is_on_another_core;
}
#endif

static ssize_t large_cpus_show(struct device *device, struct device_attribute *attribute,
                               char *text)
{
        return cpumap_print_to_pagebuf(true, text, cpumask_of(LARGE_CORE));
}

static ssize_t small_cpus_show(struct device *device, struct device_attribute *attribute,
                               char *text)
{
        return cpumap_print_to_pagebuf(true, text, cpumask_of(SMALL_CORE));
}

static struct device_attribute large_cpus = __ATTR(cpus, 0444, large_cpus_show, NULL);
static struct device_attribute small_cpus = __ATTR(cpus, 0444, small_cpus_show, NULL);

static int register_core(struct pmu *pmu, const char *name, int type,
                         struct device_attribute *cpus)
{
        set_filter(pmu);
        pmu->attr_groups = sysfs_groups(pmu == &small_pmu, cpus);
        return perf_pmu_register(pmu, name, type);
}

int cores_open(void)
{
        int error;

        if (!offered) {
                scripted_pmu.attr_groups = sysfs_groups(false, NULL);
                return perf_pmu_register(&scripted_pmu, "cpu", PERF_TYPE_RAW);
        }
        small_pmu = scripted_pmu;
        error = register_core(&scripted_pmu, "cpu_core", PERF_TYPE_RAW, &large_cpus);
        if (error)
                return error;
        error = register_core(&small_pmu, "cpu_atom", -1, &small_cpus);
        if (error)
                perf_pmu_unregister(&scripted_pmu);
        return error;
}
