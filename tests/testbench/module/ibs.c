// SPDX-License-Identifier: GPL-2.0-or-later
/* AMD's instruction sampling, the PMU ibs_op: samples any operation, at periods that are
 * multiples of 16, and cannot leave out user or kernel code unless the kernel filters. */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/version.h>

#include "scripted_pmu.h"

enum { CNT_CTL = 1 << 19, L3_MISS_ONLY = 1 << 16, LDLAT_MAX = 0xfff, SWFILT = 1 };

/* Before, IBS counted as a PMU outside the cores, which no task can have. */
#define FIRST_WITH_TASKS KERNEL_VERSION(6, 4, 0)

static bool offered, filters, has_threshold;
module_param_named(ibs, offered, bool, 0444);
MODULE_PARM_DESC(ibs, "offer ibs_op");
module_param_named(ibs_swfilt, filters, bool, 0444);
MODULE_PARM_DESC(ibs_swfilt,
                 "the kernel can leave out user or kernel code, as from 6.14");
module_param_named(ibs_ldlat, has_threshold, bool, 0444);
MODULE_PARM_DESC(ibs_ldlat, "it has a latency threshold, as Zen 5");

PMU_FORMAT_ATTR(cnt_ctl, "config:19");
PMU_FORMAT_ATTR(l3missonly, "config:16");
PMU_FORMAT_ATTR(swfilt, "config2:0");
PMU_FORMAT_ATTR(ldlat, "config1:0-11");

static struct attribute *format_attributes[5] = {
    &format_attr_cnt_ctl.attr,
    &format_attr_l3missonly.attr,
};

PMU_FILE(zen4_ibs_extensions, sysfs_emit(text, "1\n"));

static struct attribute *capability_attributes[] = {
    &dev_attr_zen4_ibs_extensions.attr,
    NULL,
};

PMU_DIRECTORY(format, "format", format_attributes);
PMU_DIRECTORY(capability, "caps", capability_attributes);
static const struct attribute_group *ibs_groups[] = {
    &format_group,
    &capability_group,
    NULL,
};

static u64 threshold(const struct perf_event *event)
{
        return event->attr.config1 & LDLAT_MAX;
}

/* With a threshold, only loads that missed L1 and took longer. */
bool ibs_wants(const struct perf_event *event, const struct published_access *access)
{
        union perf_mem_data_src source = {.val = access->data_src};

        if (!threshold(event))
                return true;
        return source.mem_op == PERF_MEM_OP_LOAD &&
               ibs_latency(access) > threshold(event);
}

/* Only of loads that missed L1. */
u32 ibs_latency(const struct published_access *access)
{
        union perf_mem_data_src source = {.val = access->data_src};

        return source.mem_op != PERF_MEM_OP_LOAD || source.mem_lvl & PERF_MEM_LVL_L1
                   ? 0
                   : access->latency;
}

static int check_filter(const struct perf_event_attr *attr)
{
        if (attr->config2 & ~(u64)SWFILT || (attr->config2 && !filters) ||
            attr->exclude_hv)
                return -EINVAL;
        if (attr->exclude_user || attr->exclude_kernel)
                return attr->config2 & SWFILT ? 0 : -EINVAL;
        return 0;
}

static int check_threshold(const struct perf_event_attr *attr)
{
        if (!attr->config1)
                return 0;
        if (!has_threshold || attr->config1 > 2048 || attr->config1 < 128)
                return -EINVAL;
        return 0;
}

static int ibs_event_init(struct perf_event *event)
{
        const struct perf_event_attr *attr = &event->attr;
        int error;

        if (attr->type != event->pmu->type)
                return -ENOENT;
        if (attr->config & ~(u64)(CNT_CTL | L3_MISS_ONLY) || !is_sampling_event(event))
                return -EINVAL;
        if (!attr->freq && attr->sample_period % 16)
                return -EINVAL;
        error = check_filter(attr);
        if (!error)
                error = check_threshold(attr);
        return error ? error : event_prepare(event);
}

static struct pmu ibs_pmu = {
    .module = THIS_MODULE,
    .task_ctx_nr =
        LINUX_VERSION_CODE < FIRST_WITH_TASKS ? perf_invalid_context : perf_hw_context,
    .attr_groups = ibs_groups,
    .event_init = ibs_event_init,
    .add = event_add,
    .del = event_del,
    .start = event_start,
    .stop = event_stop,
    .read = event_read,
};

bool event_is_ibs(const struct perf_event *event)
{
        return event->pmu == &ibs_pmu;
}

int ibs_open(void)
{
        struct attribute **end = format_attributes + 2;

        if (!offered)
                return 0;
        if (filters)
                *end++ = &format_attr_swfilt.attr;
        if (has_threshold)
                *end++ = &format_attr_ldlat.attr;
        return perf_pmu_register(&ibs_pmu, "ibs_op", -1);
}

void ibs_close(void)
{
        if (offered)
                perf_pmu_unregister(&ibs_pmu);
}
