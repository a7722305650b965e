/* SPDX-License-Identifier: MIT */
/* Queries hwloc, the kernel and CPUID; measures nothing. */
#include "reported.h"

#include <cpuid.h>
#include <hwloc.h>

#include "machine_facts.h"

static int attributes_of(unsigned level, struct hwloc_cache_attr_s *attributes)
{
        static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
                                                 HWLOC_OBJ_L3CACHE};
        hwloc_topology_t topology;
        int found = 0;
        if (level < 1 || level > 3 || hwloc_topology_init(&topology) != 0)
                return 0;
        hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
        if (hwloc_topology_load(topology) == 0) {
                hwloc_obj_t object = hwloc_get_obj_by_type(topology, types[level - 1], 0);
                if (object) {
                        *attributes = object->attr->cache;
                        found = 1;
                }
        }
        hwloc_topology_destroy(topology);
        return found;
}

uint64_t reported_cache_bytes(unsigned level)
{
        struct hwloc_cache_attr_s attributes;
        return attributes_of(level, &attributes) ? attributes.size : 0;
}

unsigned reported_cache_ways(unsigned level)
{
        struct hwloc_cache_attr_s attributes;
        return attributes_of(level, &attributes) && attributes.associativity > 0
                   ? (unsigned)attributes.associativity
                   : 0;
}

/* Intel's leaf 0x18: a TLB in each subleaf (SDM, CPUID). */
static unsigned listed_tlb_pages(unsigned level)
{
        enum { LIST = 0x18, CODE = 2, STORES = 5, PAGES_4K = 1, LISTED_MOST = 64 };
        unsigned most, ebx, ecx, edx;
        if (!__get_cpuid_count(LIST, 0, &most, &ebx, &ecx, &edx))
                return 0;
        for (unsigned i = 0, last = most; i <= last && i < LISTED_MOST; i++) {
                __cpuid_count(LIST, i, most, ebx, ecx, edx);
                unsigned type = edx & 31;
                if (type != 0 && type != CODE && type != STORES &&
                    (edx >> 5 & 7) == level && ebx & PAGES_4K)
                        return (ebx >> 16) * ecx;
        }
        return 0;
}

/* AMD's leaves of L1 and L2 (APM 3, appendix E). */
unsigned reported_tlb_pages(unsigned level)
{
        enum { FIRST = 0x80000005, SECOND = 0x80000006 };
        unsigned vendor, eax, ebx = 0, ecx, edx;
        __cpuid(0, eax, vendor, ecx, edx);
        if (vendor != signature_AMD_ebx)
                return listed_tlb_pages(level);
        if (!__get_cpuid(level == 1 ? FIRST : SECOND, &eax, &ebx, &ecx, &edx))
                return 0;
        return level == 1 ? ebx >> 16 & 0xff : ebx >> 16 & 0xfff;
}

bool reported_shared_cache(int a, int b)
{
        hwloc_topology_t topology;
        bool shared = false;
        if (hwloc_topology_init(&topology) != 0)
                return false;
        hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
        if (hwloc_topology_load(topology) == 0) {
                hwloc_obj_t cache = NULL;
                while (!shared && (cache = hwloc_get_next_obj_by_type(
                                       topology, HWLOC_OBJ_L3CACHE, cache)))
                        shared = hwloc_bitmap_isset(cache->cpuset, (unsigned)a) &&
                                 hwloc_bitmap_isset(cache->cpuset, (unsigned)b);
        }
        hwloc_topology_destroy(topology);
        return shared;
}

/* NULL: the kernel has no PMU for the CPU. */
static const struct machine_pmu *core_pmu_of(const struct machine *machine, int cpu)
{
        for (size_t i = 0; i < machine->pmu_count; i++) {
                const struct machine_pmu *pmu = &machine->pmus[i];
                for (size_t k = 0; k < pmu->cpu_count; k++)
                        if (pmu->cpus[k] == cpu)
                                return pmu;
        }
        return NULL;
}

/* Each kind of core has its PMU. */
static bool same_kind(int a, int b)
{
        struct machine machine;
        machine_read("", &machine);
        bool same = core_pmu_of(&machine, a) == core_pmu_of(&machine, b);
        machine_free(&machine);
        return same;
}

bool reported_alike(int a, int b)
{
        hwloc_topology_t topology;
        bool alike = false;
        if (hwloc_topology_init(&topology) != 0)
                return false;
        if (hwloc_topology_load(topology) == 0) {
                hwloc_obj_t one = hwloc_get_pu_obj_by_os_index(topology, (unsigned)a);
                hwloc_obj_t other = hwloc_get_pu_obj_by_os_index(topology, (unsigned)b);
                alike = one && other &&
                        hwloc_bitmap_isequal(one->nodeset, other->nodeset) &&
                        same_kind(a, b);
        }
        hwloc_topology_destroy(topology);
        return alike;
}

bool reported_one_core(int a, int b)
{
        hwloc_topology_t topology;
        bool same = false;
        if (hwloc_topology_init(&topology) != 0)
                return false;
        if (hwloc_topology_load(topology) == 0) {
                hwloc_obj_t one = hwloc_get_pu_obj_by_os_index(topology, (unsigned)a);
                hwloc_obj_t core =
                    one ? hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, one)
                        : NULL;
                same = core && hwloc_bitmap_isset(core->cpuset, (unsigned)b);
        }
        hwloc_topology_destroy(topology);
        return same;
}
