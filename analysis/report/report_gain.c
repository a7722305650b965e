/* SPDX-License-Identifier: MIT */
/* The gains of fixes, in words. */
#include <math.h>
#include <stdlib.h>
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

/* Writes the conditions of all fixes in FIX. */
static void say_conditions(FILE *out, const char *fix)
{
        char *copy = strdup(fix), *rest = copy;
        static const char line[] = "line:";
        const char *between = "If ";
        for (const char *part; rest && (part = strsep(&rest, "+")) != NULL;) {
                const char *condition = report_fix_condition(part);
                fputs(between, out);
                if (strncmp(part, line, strlen(line)) == 0)
                        fprintf(out, "the data of %.*s came in time",
                                (int)strcspn(part + strlen(line), "="),
                                part + strlen(line));
                else
                        fputs(condition ? condition : part, out);
                between = " and ";
        }
        free(copy);
}

void report_say_gain(FILE *out, const char *fix, const struct report_gain *gain)
{
        say_conditions(out, fix);
        if (fabs(gain->gain) < 0.5)
                fputs(": no change.\n", out);
        else if (gain->gain < 0)
                fprintf(out, ": +%.0f %% of the cycles.\n", -gain->gain);
        else if (round(gain->low) < round(gain->high))
                fprintf(out, ": -%.0f %% of the cycles (%.0f to %.0f).\n", gain->gain,
                        gain->low, gain->high);
        else
                fprintf(out, ": -%.0f %% of the cycles.\n", gain->gain);
}
