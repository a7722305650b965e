/* SPDX-License-Identifier: MIT */
/* The list of sources; `--source auto` tries them in this order. */
#include "sources.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static const struct source_ops *const sources[] = {&source_pebs, &source_ibs, &source_sim,
                                                   &source_clock};
enum { SOURCE_COUNT = sizeof(sources) / sizeof(sources[0]) };

const struct source_ops *sources_find(const char *name)
{
        for (size_t i = 0; i < SOURCE_COUNT; i++)
                if (strcmp(sources[i]->name, name) == 0)
                        return sources[i];
        return NULL;
}

int sources_check(const struct source_ops *ops, const struct source_options *options,
                  struct diag *diag)
{
        if (options->pid && kill(options->pid, 0) != 0 && errno == ESRCH)
                return diag_set(diag, -ESRCH, "there is no process %d",
                                (int)options->pid);
        if (!ops->attach && (options->pid || options->system_wide || options->cpus))
                return diag_set(
                    diag, -EINVAL,
                    "source %s can only run a command itself: it knows no -p, "
                    "-a and -C; --source clock, timer samples, does, and memlag doctor "
                    "tells what pebs and ibs lack here",
                    ops->name);
        if ((options->sim_cpu || options->sim_set || options->sim_prefetch_given ||
             options->sim_caches_only || options->sim_branches) &&
            ops != &source_sim)
                return diag_set(diag, -EINVAL, "source %s knows no --sim options",
                                ops->name);
        if ((options->phys_addr || options->page_size) && !ops->pages)
                return diag_set(
                    diag, -EINVAL,
                    "source %s knows no pages; record without --phys-data and "
                    "--data-page-size",
                    ops->name);
        if (options->ring_pages && !ops->attach)
                return diag_set(diag, -EINVAL,
                                "source %s has no rings of the kernel; record without "
                                "--mmap-pages",
                                ops->name);
        if (options->ldlat_cycles && !ops->latency)
                return diag_set(diag, -EINVAL,
                                "source %s knows no latencies; record without --ldlat",
                                ops->name);
        if (options->loads_only && ops != &source_sim && ops != &source_pebs)
                return diag_set(
                    diag, -EINVAL,
                    "source %s cannot tell loads from stores when it samples; "
                    "record without --loads-only",
                    ops->name);
        if (options->stores && !ops->stores)
                return diag_set(
                    diag, -EINVAL,
                    "source %s samples no stores of their own; record without "
                    "--stores",
                    ops->name);
        struct source_options defaults = *options;
        ops->set_defaults(&defaults);
        return ops->probe(&defaults, diag);
}

const struct source_ops *sources_choose(const struct source_options *options,
                                        struct diag *diag)
{
        for (size_t i = 0; i < SOURCE_COUNT; i++) {
                if (sources[i]->only_on_request)
                        continue;
                int code = sources_check(sources[i], options, diag);
                if (code == 0)
                        return sources[i];
                /* Report hardware that is present but lacks a permission. */
                if (code == -EACCES || code == -EPERM)
                        diag_printf("record", "not source %s: %s", sources[i]->name,
                                    diag->text);
        }
        return NULL;
}
