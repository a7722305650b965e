/* SPDX-License-Identifier: MIT */
/* The gains of fixes, in words. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

const char *report_fix_condition(const char *fix)
{
        static const struct {
                const char *fix;
                const char *condition;
        } conditions[] = {
            {"memory", "all data came from L1 and no page faulted"},
            {"dram-bandwidth", "DRAM had unlimited bandwidth"},
            {"dram-latency", "DRAM were as near as L3"},
            {"l3-latency", "L3 were as near as L2"},
            {"l3-path", "the path from L3 were unlimited"},
            {"l2", "L2 were as near as L1"},
            {"cache-sets", "L1 and L2 had no set conflicts"},
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

/* The conditions of fixes of the program, "SUBJECT:NAME=CHANGE(ARGUMENT)": the order of
 * NAME and ARGUMENT. */
static const struct {
        const char *subject;
        const char *change;
        const char *condition;
        bool argument_first;
} program_conditions[] = {
    {"line:", "in-time", "the data of %.*s came in time", false},
    {"object:", "hugepages", "%.*s were on huge pages", false},
    {"object:", "local", "%.*s were in local memory", false},
    {"object:", "nontemporal", "stores to %.*s went around the caches", false},
    {"type:", "soa", "each member of %.*s were an array of its own", false},
    {"type:", "split(", "%.*s of %.*s were in an array of their own", true},
    {"type:", "reorder(", "%.*s came first in %.*s", true},
    {"type:", "pad(", "%.*s had %.*s bytes more", false},
    {"type:", "align(", "each %.*s began at a multiple of %.*s bytes", false},
};
enum { PROGRAM_CONDITIONS = sizeof(program_conditions) / sizeof(program_conditions[0]) };

/* False: FIX is no fix of the program. */
static bool say_program_condition(FILE *out, const char *fix)
{
        const char *change = strrchr(fix, '=');
        for (int i = 0; change && i < PROGRAM_CONDITIONS; i++) {
                const char *subject = program_conditions[i].subject;
                const char *begin = program_conditions[i].change;
                if (strncmp(fix, subject, strlen(subject)) != 0 ||
                    strncmp(change + 1, begin, strlen(begin)) != 0)
                        continue;
                const char *name = fix + strlen(subject);
                const char *argument = change + 1 + strlen(begin);
                const int length = (int)(change - name);
                const int rest = (int)strcspn(argument, ")");
                if (program_conditions[i].argument_first)
                        fprintf(out, program_conditions[i].condition, rest, argument,
                                length, name);
                else
                        fprintf(out, program_conditions[i].condition, length, name, rest,
                                argument);
                return true;
        }
        return false;
}

void report_say_condition(FILE *out, const char *fix)
{
        const char *between = "If ";
        if (strchr(fix, ':')) {
                fputs(between, out);
                if (!say_program_condition(out, fix))
                        fputs(fix, out);
                return;
        }
        char *copy = strdup(fix), *rest = copy;
        for (const char *part; rest && (part = strsep(&rest, "+")) != NULL;) {
                const char *condition = report_fix_condition(part);
                fputs(between, out);
                fputs(condition ? condition : part, out);
                between = " and ";
        }
        free(copy);
}

bool report_is_no_change(const struct report_gain *gain)
{
        return fabs(gain->gain) < 0.5;
}

void report_say_gain(FILE *out, const char *fix, const struct report_gain *gain)
{
        report_say_condition(out, fix);
        if (report_is_no_change(gain))
                fputs(": 0 % of the cycles.\n", out);
        else if (gain->gain < 0)
                fprintf(out, ": +%.0f %% of the cycles.\n", -gain->gain);
        else if (round(gain->low) < round(gain->high))
                fprintf(out, ": -%.0f %% of the cycles (%.0f to %.0f).\n", gain->gain,
                        gain->low, gain->high);
        else
                fprintf(out, ": -%.0f %% of the cycles.\n", gain->gain);
}
