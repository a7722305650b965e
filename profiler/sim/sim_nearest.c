/* SPDX-License-Identifier: MIT */
/* See sim_nearest.h. */
#include "sim_nearest.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host_caches.h"
#include "perf/facts/cpu_list.h"
#include "perf/facts/root_file.h"

static size_t count_of_list(const char *list)
{
        int *cpus_in_list;
        size_t count;
        if (cpu_list_parse(list, &cpus_in_list, &count) < 0)
                return 0;
        free(cpus_in_list);
        return count;
}

/* 0: unknown. */
static double node_count(const char *root)
{
        char online[256];
        return root_file_line(root, "/sys/devices/system/node/online", online,
                              sizeof(online))
                   ? (double)count_of_list(online)
                   : 0;
}

/* Cores of all nodes, not hardware threads. 0: unknown. */
static double core_count(const char *root)
{
        char online[4096], siblings[256];
        size_t threads = 1;
        if (!root_file_line(root, "/sys/devices/system/cpu/online", online,
                            sizeof(online)))
                return 0;
        if (root_file_line(root,
                           "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
                           siblings, sizeof(siblings)))
                threads = count_of_list(siblings);
        return threads ? (double)(count_of_list(online) / threads) : 0;
}

/* Returns the clock in MHz: the nominal clock, else the greatest, else the present
 * clock; 0: unknown. */
static double clock_mhz(const char *root, const struct machine *machine)
{
        char line[64];
        if (machine->base_mhz > 0)
                return machine->base_mhz;
        double mhz = 0;
        if (root_file_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
                           line, sizeof(line)))
                mhz = strtod(line, NULL) / 1000;
        return mhz > 0 ? mhz : machine->clock_mhz;
}

/* Hypervisors report one L3 for all cores of a socket. AMD's cores share the L3 of a
 * core complex: the preset's size, or three times as much with a stacked cache (AMD,
 * EPYC 7003X and Ryzen X3D, specifications). */
static void bound_l3(const struct machine *machine, const struct sim_preset *preset,
                     struct host_cache *l3)
{
        const double stacked = 3;
        if (strcmp(machine->vendor, "AuthenticAMD") == 0 &&
            (double)l3->size_bytes > stacked * preset->params.l3_bytes)
                *l3 = (struct host_cache){0};
}

/* Other virtual machines use an L3 as well: to a guest with CORES, few of the preset's,
 * counts their part, and more than L2 has. (A guest with 2 of 8 cores of an EPYC has
 * measured 5 to 10 MiB of 32.) */
static void share_l3(double cores, const struct sim_preset *preset,
                     const struct host_cache *l2, struct host_cache *l3)
{
        double l2_bytes =
            l2->size_bytes ? (double)l2->size_bytes : preset->params.l2_bytes;
        double part = cores / preset->params.cores;
        if (!(part > 0 && part < 1))
                return;
        const double line_bytes = 64, set_bytes = line_bytes * preset->params.l3_ways;
        double sets =
            floor(fmax(preset->params.l3_bytes * part, 2 * l2_bytes) / set_bytes);
        if (!l3->size_bytes || (double)l3->size_bytes > sets * set_bytes)
                *l3 = (struct host_cache){(uint64_t)(sets * set_bytes),
                                          (unsigned)preset->params.l3_ways};
}

static void fit_cache(struct sim_preset *preset, const struct host_cache *cache,
                      const char *size_key, const char *ways_key)
{
        if (cache->size_bytes)
                sim_preset_replace(preset, size_key, (double)cache->size_bytes);
        if (cache->size_bytes && cache->ways)
                sim_preset_replace(preset, ways_key, cache->ways);
}

void sim_nearest_fit(const char *root, struct sim_preset *preset)
{
        const struct sim_preset before = *preset;
        const double nodes = node_count(root), cores = core_count(root);
        struct host_cache caches[HOST_CACHE_LEVELS];
        struct machine machine;
        struct diag ignored;
        machine_read(root, &machine);
        if (!*root)
                machine_ask_cpu(&machine);
        host_caches_read(root, caches);
        bound_l3(&machine, preset, &caches[2]);
        if (machine.hypervisor)
                share_l3(cores / fmax(1, nodes), preset, &caches[1], &caches[2]);
        fit_cache(preset, &caches[0], "l1d.size_bytes", "l1d.ways");
        fit_cache(preset, &caches[1], "l2.size_bytes", "l2.ways");
        fit_cache(preset, &caches[2], "l3.size_bytes", "l3.ways");
        if (sim_preset_check(preset, &ignored) < 0)
                *preset = before;
        sim_preset_replace(preset, "numa.nodes", nodes);
        sim_preset_replace(preset, "core.count", floor(cores / preset->params.nodes));
        sim_preset_replace(preset, "core.clock_mhz", clock_mhz(root, &machine));
        preset->fitted = true;
        machine_free(&machine);
}

/* In a virtual machine, each step of a walk through the guest's tables walks through the
 * host's: up to 24 accesses in place of 4 (AMD64 manual, volume 2, nested paging). Most
 * of them hit caches of the walker: walks take 62 to 94 cycles in a guest on an EPYC of
 * family 25, model 17, whose preset has 26. */
void sim_nearest_fit_walks(const struct machine *machine, struct sim_preset *preset)
{
        const double times = 3;
        if (!machine->hypervisor)
                return;
        sim_preset_replace(preset, "page_walk.latency_cycles",
                           times * preset->params.page_walk_cycles);
        sim_preset_replace(preset, "page_walk.huge_latency_cycles",
                           times * preset->params.huge_walk_cycles);
}
