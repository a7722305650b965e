/* SPDX-License-Identifier: MIT */
/* Queries libpfm4 for events. Not for its stores: version 4.13 has a wrong code for
 * stores of Sapphire Rapids. */
#include "pfm.h"

#include <ctype.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pfm_find(const char *name, struct pmu_code *code)
{
        struct perf_event_attr attr = {0};
        pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof(arg)};
        if (pfm_initialize() != PFM_SUCCESS)
                return false;
        bool found = pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT, &arg) ==
                     PFM_SUCCESS;
        *code = (struct pmu_code){{attr.config, attr.config1, attr.config2}};
        pfm_terminate();
        return found;
}

/* ---- events about memory ---- */

struct names {
        char **names; /* with room for one more, NULL */
        size_t count, room;
};

/* In capitals, as libpfm4 has Intel's and AMD's names. */
static bool is_about_memory(const char *event)
{
        static const char *const words[] = {
            "L1D",
            "L2",
            "L3",
            "LLC",
            "LONGEST_LAT",
            "MEM_",
            "MEMORY",
            "EXE_ACTIVITY",
            "SQ_",
            "_MEM",
            "LOAD",
            "LD_BLOCKS",
            "STORE",
            "DTLB",
            "STLB",
            "PAGE_WALK",
            "OFFCORE",
            "DRAM",
            "CACHE",
            "MAB",
            "PREFETCH",
            "CYCLE_ACTIVITY",
            "RESOURCE_STALLS",
            "LOCK",
        };
        static const char *const others[] = {"ICACHE", "INSTRUCTION", "BRANCH", "ITLB",
                                             "TX_MEM"};
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                if (strstr(event, others[i]))
                        return false;
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
                if (strstr(event, words[i]))
                        return true;
        return false;
}

/* Adds EVENT, with its unit MASK unless that is NULL, in Intel's notation, if libpfm4
 * finds it by that name alone. */
static bool add_name(struct names *list, const char *event, const char *mask)
{
        struct perf_event_attr attr = {0};
        pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof(arg)};
        if (list->count + 1 >= list->room) {
                size_t room = list->room ? 2 * list->room : 64;
                char **names = realloc(list->names, room * sizeof(*names));
                if (!names)
                        return false;
                list->names = names;
                list->room = room;
        }
        char *name;
        if (asprintf(&name, "%s%s%s", event, mask ? "." : "", mask ? mask : "") < 0)
                return false;
        for (char *at = name; *at; at++)
                *at = (char)tolower((unsigned char)*at);
        if (pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT, &arg) ==
            PFM_SUCCESS)
                list->names[list->count++] = name;
        else
                free(name);
        return true;
}

static bool add_event_names(struct names *list, int index)
{
        pfm_event_info_t event = {.size = sizeof(event)};
        bool masks = false, added = true;
        if (pfm_get_event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS ||
            event.equiv || !is_about_memory(event.name))
                return true;
        for (int i = 0; added && i < event.nattrs; i++) {
                pfm_event_attr_info_t attribute = {.size = sizeof(attribute)};
                if (pfm_get_event_attr_info(index, i, PFM_OS_PERF_EVENT, &attribute) !=
                        PFM_SUCCESS ||
                    attribute.type != PFM_ATTR_UMASK)
                        continue;
                masks = true;
                if (!attribute.equiv)
                        added = add_name(list, event.name, attribute.name);
        }
        return masks ? added : add_name(list, event.name, NULL);
}

/* Of the core PMUs that are present, and not of perf's own or of others' events. */
static bool add_pmu_names(struct names *list, pfm_pmu_t pmu)
{
        pfm_pmu_info_t info = {.size = sizeof(info)};
        bool added = true;
        if (pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS || !info.is_present ||
            info.type != PFM_PMU_TYPE_CORE)
                return true;
        for (int i = info.first_event; added && i >= 0; i = pfm_get_event_next(i))
                added = add_event_names(list, i);
        return added;
}

char **pfm_memory_events(void)
{
        struct names list = {0};
        bool added = true;
        if (pfm_initialize() != PFM_SUCCESS)
                return NULL;
        for (int pmu = PFM_PMU_NONE; added && pmu < PFM_PMU_MAX; pmu++)
                added = add_pmu_names(&list, (pfm_pmu_t)pmu);
        pfm_terminate();
        for (size_t i = 0; !added && i < list.count; i++)
                free(list.names[i]);
        if (list.names)
                list.names[added ? list.count : 0] = NULL;
        if (!added || list.count == 0) {
                free(list.names);
                return NULL;
        }
        return list.names;
}

void machine_ask_pfm(struct machine *machine)
{
        struct pmu_code code;
        if (machine->pmu_count == 1 &&
            pfm_find("MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=3", &code))
                machine->pmus[0].pfm_loads = (struct machine_alias){true, code};
}
