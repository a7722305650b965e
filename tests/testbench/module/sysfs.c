// SPDX-License-Identifier: GPL-2.0-or-later
/* The files of /sys/bus/event_source/devices/cpu: the same names and encodings as for the
 * kernel's own Intel PMU. */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "scripted_pmu.h"

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
PMU_FORMAT_ATTR(edge, "config:18");
PMU_FORMAT_ATTR(pc, "config:19");
PMU_FORMAT_ATTR(inv, "config:23");
PMU_FORMAT_ATTR(cmask, "config:24-31");
PMU_FORMAT_ATTR(offcore_rsp, "config1:0-63");
PMU_FORMAT_ATTR(ldlat, "config1:0-15");
PMU_FORMAT_ATTR(frontend, "config1:0-23");

static struct attribute *format_attributes[] = {
    &format_attr_event.attr,       &format_attr_umask.attr,
    &format_attr_edge.attr,        &format_attr_pc.attr,
    &format_attr_inv.attr,         &format_attr_cmask.attr,
    &format_attr_offcore_rsp.attr, &format_attr_ldlat.attr,
    &format_attr_frontend.attr,    NULL,
};

/* The names are not subtractions. */
/* clang-format off */
PMU_EVENT_ATTR_STRING(cpu-cycles, event_cycles, "event=0x3c");
PMU_EVENT_ATTR_STRING(instructions, event_instructions, "event=0xc0");
PMU_EVENT_ATTR_STRING(mem-loads, event_mem_loads, "event=0xcd,umask=0x1,ldlat=3");
PMU_EVENT_ATTR_STRING(mem-loads-aux, event_mem_loads_aux, "event=0x03,umask=0x82");
PMU_EVENT_ATTR_STRING(mem-stores, event_mem_stores, "event=0xd0,umask=0x82");
PMU_EVENT_ATTR_STRING(mem-stores, event_mem_stores_latency, "event=0xcd,umask=0x2");
PMU_EVENT_ATTR_STRING(mem-loads, event_mem_loads_small, "event=0xd0,umask=0x5,ldlat=3");
PMU_EVENT_ATTR_STRING(mem-stores, event_mem_stores_small, "event=0xd0,umask=0x6");
/* clang-format on */

static struct attribute *event_attributes[6] = {
    &event_cycles.attr.attr,
    &event_instructions.attr.attr,
};

PMU_FILE(max_precise, sysfs_emit(text, "%d\n", max_precise));

PMU_FILE(pmu_name, sysfs_emit(text, "%s\n", pmu_name));

PMU_FILE(branches, sysfs_emit(text, "32\n"));

static struct attribute *capability_attributes[] = {
    &dev_attr_max_precise.attr,
    &dev_attr_pmu_name.attr,
    &dev_attr_branches.attr,
    NULL,
};

PMU_FILE(rdpmc, sysfs_emit(text, "0\n"));

static struct attribute *other_attributes[3] = {&dev_attr_rdpmc.attr};
static struct attribute *other_attributes_small[3] = {&dev_attr_rdpmc.attr};
static struct attribute *event_attributes_small[] = {
    &event_cycles.attr.attr,
    &event_instructions.attr.attr,
    &event_mem_loads_small.attr.attr,
    &event_mem_stores_small.attr.attr,
    NULL,
};

PMU_DIRECTORY(format, "format", format_attributes);
PMU_DIRECTORY(event, "events", event_attributes);
PMU_DIRECTORY(capability, "caps", capability_attributes);
static const struct attribute_group event_group_small = {
    .name = "events",
    .attrs = event_attributes_small,
};
static const struct attribute_group other_group = {.attrs = other_attributes};
static const struct attribute_group other_group_small = {.attrs = other_attributes_small};

static const struct attribute_group *groups[] = {
    &other_group, &format_group, &event_group, &capability_group, NULL,
};
static const struct attribute_group *groups_small[] = {
    &other_group_small, &format_group, &event_group_small, &capability_group, NULL,
};

/* CPUs with the auxiliary event also sample stores with their latency. */
static void add_memory_events(struct attribute **end)
{
        *end++ = &event_mem_loads.attr.attr;
        if (load_latency_needs_aux) {
                *end++ = &event_mem_loads_aux.attr.attr;
                *end++ = &event_mem_stores_latency.attr.attr;
        } else {
                *end++ = &event_mem_stores.attr.attr;
        }
}

const struct attribute_group **sysfs_groups(bool small, struct device_attribute *cpus)
{
        if (!small)
                add_memory_events(event_attributes + 2);
        if (cpus)
                (small ? other_attributes_small : other_attributes)[1] = &cpus->attr;
        return small ? groups_small : groups;
}
