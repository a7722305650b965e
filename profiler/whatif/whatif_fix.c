/* SPDX-License-Identifier: MIT */
/* See whatif_fix.h. */
#include "whatif_fix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Target value of a parameter: an end of its range, or a level's latency, in its
 * unit. */
enum goal { LEAST, MOST, CYCLES_OF_L1, CYCLES_OF_L2, NS_OF_L3 };

static const struct change {
        const char *fix;
        const char *key;
        enum goal goal;
} changes[] = {
    {"dram-bandwidth", "dram.bandwidth_gbs", MOST},
    {"dram-bandwidth", "dram.turnaround_ns", LEAST},
    {"dram-latency", "dram.latency_ns", NS_OF_L3},
    {"l3-latency", "l3.latency_cycles", CYCLES_OF_L2},
    {"l3-path", "l3.bytes_per_cycle", MOST},
    {"l2", "l2.latency_cycles", CYCLES_OF_L1},
    {"l2", "l2.bytes_per_cycle", MOST},
    {"cache-sets", "l1d.hashed_sets", MOST},
    {"cache-sets", "l1d.set_interval_l2_cycles", LEAST},
    {"cache-sets", "l1d.set_interval_l3_cycles", LEAST},
    {"cache-sets", "l2.hashed_sets", MOST},
    {"buffers", "core.lfb_entries", MOST},
    {"buffers", "core.load_buffer_entries", MOST},
    {"buffers", "core.store_buffer_entries", MOST},
    {"buffers", "l2.queue_entries", MOST},
    {"buffers", "dram.write_ns", LEAST},
    {"translation", "stlb.latency_cycles", LEAST},
    {"translation", "stlb.interval_cycles", LEAST},
    {"translation", "page_walk.latency_cycles", LEAST},
    {"translation", "page_walk.huge_latency_cycles", LEAST},
    {"translation", "page_walk.walkers", MOST},
    {"sharing", "hitm.latency_cycles", CYCLES_OF_L1},
    {"remote-memory", "numa.link_latency_ns", LEAST},
    {"remote-memory", "numa.link_bandwidth_gbs", MOST},
    {"remote-memory", "numa.cache_latency_ns", NS_OF_L3},
    {"page-faults", "kernel.fault_ns", LEAST},
    {"page-faults", "kernel.copy_gbs", MOST},
};
enum { CHANGES = sizeof(changes) / sizeof(changes[0]) };

static const struct sim_parameter *parameter_named(const char *key)
{
        size_t i = 0;
        while (strcmp(sim_parameters[i].key, key) != 0)
                i++;
        return &sim_parameters[i];
}

/* How far the levels are once other fixes have done their part. */
struct levels {
        double l1_cycles;
        double l2_cycles;
        double l3_cycles;
        double ns_per_cycle;
};

/* The latency of a level must exceed the previous level's latency by a margin. */
static const double FARTHER_CYCLES = 1;

static struct levels levels_of(const struct simpmu_params *params, bool near_l2,
                               bool near_l3)
{
        const double l1 = params->l1d_latency_cycles;
        const double l2 = near_l2 ? l1 + FARTHER_CYCLES : params->l2_latency_cycles;
        return (struct levels){l1, l2,
                               near_l3 ? l2 + FARTHER_CYCLES : params->l3_latency_cycles,
                               1000 / params->clock_mhz};
}

static double value_of(enum goal goal, const struct sim_parameter *parameter,
                       const struct levels *levels)
{
        double value = parameter->maximum;
        switch (goal) {
        case LEAST:
                return parameter->minimum;
        case MOST:
                return parameter->maximum;
        case CYCLES_OF_L1:
                value = levels->l1_cycles + FARTHER_CYCLES;
                break;
        case CYCLES_OF_L2:
                value = levels->l2_cycles + FARTHER_CYCLES;
                break;
        case NS_OF_L3:
                value = levels->l3_cycles * levels->ns_per_cycle;
                break;
        }
        return value < parameter->minimum ? parameter->minimum : value;
}

static bool is_part(const char *name, const char *part)
{
        const size_t length = strlen(part);
        for (const char *at = name; at; at = strchr(at, '+')) {
                at += *at == '+';
                if (strncmp(at, part, length) == 0 &&
                    (at[length] == '\0' || at[length] == '+'))
                        return true;
        }
        return false;
}

/* Every part of NAME is a fix. */
static bool is_known(const char *name)
{
        char copy[WHATIF_NAME_BYTES], *rest = copy;
        if (strlen(name) >= sizeof(copy))
                return false;
        strcpy(copy, name);
        for (const char *part; (part = strsep(&rest, "+")) != NULL;) {
                size_t i = 0;
                while (i < CHANGES && strcmp(changes[i].fix, part) != 0)
                        i++;
                if (i == CHANGES && strcmp(part, WHATIF_MEMORY) != 0 &&
                    strcmp(part, WHATIF_PREFETCHERS) != 0)
                        return false;
        }
        return true;
}

/* ---- fixes of the program ---- */

static const char line_form[] = "line:FILE:LINE=in-time";
static const char object_form[] = "object:NAME=hugepages, local or nontemporal";
static const char type_form[] =
    "type:NAME=soa, split(FIELD,...), reorder(FIELD,...), pad(BYTES) or align(BYTES)";

/* Cuts the line number from the end of the target's name. */
static bool read_line(struct whatif_target *target, const char *change)
{
        char *colon = strrchr(target->name, ':'), *end = NULL;
        target->line = colon ? strtoll(colon + 1, &end, 10) : 0;
        if (target->line <= 0 || *end || colon == target->name)
                return false;
        *colon = '\0';
        return strcmp(change, "in-time") == 0;
}

static bool read_object(struct whatif_target *target, const char *change)
{
        static const char *const names[] = {[SIMPMU_HUGE_PAGES] = "hugepages",
                                            [SIMPMU_LOCAL] = "local",
                                            [SIMPMU_AROUND] = "nontemporal"};
        for (int i = SIMPMU_HUGE_PAGES; i <= SIMPMU_AROUND; i++)
                if (strcmp(names[i], change) == 0)
                        target->change = (enum simpmu_change)i;
        return target->change != SIMPMU_UNCHANGED;
}

/* Elements that are larger hold other elements apart. */
enum { ADDED_BYTES_MAX = 1 << 20 };

static bool read_bytes(struct layout_request *layout)
{
        char *end = NULL;
        unsigned long bytes = strtoul(layout->fields, &end, 10);
        if (*end || bytes == 0 || bytes > ADDED_BYTES_MAX ||
            (layout->form == LAYOUT_ALIGN && (bytes & (bytes - 1)) != 0))
                return false;
        layout->bytes = (uint32_t)bytes;
        layout->fields = NULL;
        return true;
}

static bool read_layout(struct whatif_target *target, const char *change)
{
        static const char *const forms[] = {[LAYOUT_SOA] = "soa",
                                            [LAYOUT_SPLIT] = "split",
                                            [LAYOUT_REORDER] = "reorder",
                                            [LAYOUT_PAD] = "pad",
                                            [LAYOUT_ALIGN] = "align"};
        const size_t length = strcspn(change, "(");
        int form = LAYOUT_SOA;
        while (form <= LAYOUT_ALIGN && (strlen(forms[form]) != length ||
                                        strncmp(forms[form], change, length) != 0))
                form++;
        target->change = SIMPMU_LAYOUT;
        target->layout.form = (enum layout_form)form;
        if (form == LAYOUT_SOA)
                return change[length] == '\0';
        const char *end = strchr(change, ')');
        if (form > LAYOUT_ALIGN || !change[length] || !end || end[1] ||
            end == change + length + 1)
                return false;
        memcpy(target->fields, change + length + 1, (size_t)(end - change) - length - 1);
        target->layout.fields = target->fields;
        return form < LAYOUT_PAD || read_bytes(&target->layout);
}

int whatif_fix_target(const char *name, struct whatif_target *target, struct diag *diag)
{
        static const struct {
                const char *before;
                const char *form;
                bool (*read)(struct whatif_target *target, const char *change);
        } subjects[] = {[WHATIF_LINE] = {"line:", line_form, read_line},
                        [WHATIF_OBJECT] = {"object:", object_form, read_object},
                        [WHATIF_TYPE] = {"type:", type_form, read_layout}};
        *target = (struct whatif_target){0};
        for (int i = WHATIF_LINE; i <= WHATIF_TYPE; i++) {
                const char *before = subjects[i].before;
                const char *begin = name + strlen(before), *change = strrchr(name, '=');
                if (strncmp(name, before, strlen(before)) != 0)
                        continue;
                if (!change || change <= begin || strlen(name) >= sizeof(target->name))
                        return diag_set(diag, -EINVAL, "'%.60s' is no fix; give %s", name,
                                        subjects[i].form);
                target->subject = (enum whatif_subject)i;
                memcpy(target->name, begin, (size_t)(change - begin));
                if (!subjects[i].read(target, change + 1))
                        return diag_set(diag, -EINVAL, "'%.60s' is no fix; give %s", name,
                                        subjects[i].form);
        }
        return 0;
}

/* ---- fixes of the machine ---- */

static int no_such_fix(const char *name, struct diag *diag)
{
        char *names = NULL;
        size_t size;
        FILE *list = open_memstream(&names, &size);
        if (!list)
                return diag_no_memory(diag);
        fputs(WHATIF_MEMORY ", " WHATIF_PREFETCHERS, list);
        for (size_t i = 0; i < CHANGES; i++)
                if (i == 0 || strcmp(changes[i].fix, changes[i - 1].fix) != 0)
                        fprintf(list, ", %s", changes[i].fix);
        int rc = fclose(list) != 0
                     ? diag_no_memory(diag)
                     : diag_set(diag, -EINVAL,
                                "there is no fix '%.60s'; give one of %s, several "
                                "with a '+' between, or %s, %s, or %s",
                                name, names, line_form, object_form, type_form);
        free(names);
        return rc;
}

static int add_setting(struct whatif_fix *fix, const struct change *change,
                       const struct levels *levels, struct diag *diag)
{
        char **all = reallocarray(fix->settings, fix->count + 2, sizeof(*fix->settings));
        if (!all)
                return diag_no_memory(diag);
        fix->settings = all;
        all[fix->count] = NULL;
        if (asprintf(&all[fix->count], "%s=%.9g", change->key,
                     value_of(change->goal, parameter_named(change->key), levels)) < 0)
                return diag_no_memory(diag);
        all[++fix->count] = NULL;
        return 0;
}

int whatif_fix_make(const char *name, const struct sim_preset *preset,
                    struct whatif_fix *fix, struct diag *diag)
{
        *fix = (struct whatif_fix){0};
        struct whatif_target target;
        int rc = whatif_fix_target(name, &target, diag);
        if (rc < 0)
                return rc;
        const bool of_machine = target.subject == WHATIF_MACHINE;
        if (of_machine && !is_known(name))
                return no_such_fix(name, diag);
        strcpy(fix->name, name);
        const bool memory = is_part(name, WHATIF_MEMORY);
        const struct levels levels =
            levels_of(&preset->params, memory || is_part(name, "l2"),
                      memory || is_part(name, "l3-latency"));
        fix->prefetches = is_part(name, WHATIF_PREFETCHERS);
        for (size_t i = 0; rc == 0 && of_machine && i < CHANGES; i++)
                if (memory || is_part(name, changes[i].fix))
                        rc = add_setting(fix, &changes[i], &levels, diag);
        return rc;
}

void whatif_fix_free(struct whatif_fix *fix)
{
        for (size_t i = 0; i < fix->count; i++)
                free(fix->settings[i]);
        free(fix->settings);
        free(fix->in_time);
        free(fix->plan);
        *fix = (struct whatif_fix){0};
}
