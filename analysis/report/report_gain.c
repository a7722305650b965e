/* SPDX-License-Identifier: MIT */
/* What fixes would gain, in words. */
#include <string.h>

#include "report.h"

const char *report_fix_condition(const char *fix)
{
        static const struct {
                const char *fix;
                const char *condition;
        } conditions[] = {
            {"memory", "all data came from L1"},
            {"dram-bandwidth", "DRAM had unlimited bandwidth"},
            {"dram-latency", "DRAM were as near as L3"},
            {"l3-latency", "L3 were as near as L2"},
            {"l3-path", "the path from L3 were unlimited"},
            {"l2", "L2 were as near as L1"},
            {"buffers", "the core's buffers were unlimited"},
            {"translation", "address translation took no time"},
            {"sharing", "lines of other cores were as near as L1"},
            {"remote-memory", "all memory were local"},
            {"page-faults", "page faults took no time"},
            {"prefetchers", "all prefetchers were on"},
            {"in-time", "its data came in time"},
        };
        for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
                if (strcmp(conditions[i].fix, fix) == 0)
                        return conditions[i].condition;
        return NULL;
}
