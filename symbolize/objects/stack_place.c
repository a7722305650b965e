/* SPDX-License-Identifier: MIT */
/* Each node is looked up once. A node with children is a call, and its address the
 * return address. */
#include "stack_place.h"

#include <errno.h>
#include <stdlib.h>

#include "place.h"

int stack_ask(struct sweep *sweep, const struct timeline *timeline, uint32_t stack)
{
        uint64_t ip = sweep->raw->stacks[stack].ip;

        /* A return address may belong to the next line or even function. */
        if (sweep->calls[stack])
                ip--;
        return place_of_code(sweep, timeline, ip, &sweep->stack_places[stack]);
}

int stack_ask_callers(struct sweep *sweep, const struct timeline *timeline,
                      uint32_t process, uint32_t stack)
{
        const struct raw *raw = sweep->raw;
        int error = 0;

        while (!error && stack != RAW_NONE && sweep->stack_places[stack] == RAW_NONE &&
               raw->stacks[stack].process == process) {
                error = stack_ask(sweep, timeline, stack);
                stack = raw->stacks[stack].parent;
        }
        return error;
}

static int compare_dates(const void *left, const void *right)
{
        const struct stack_date *a = left, *b = right;

        if (a->process != b->process)
                return a->process < b->process ? -1 : 1;
        if (a->time_ns != b->time_ns)
                return a->time_ns < b->time_ns ? -1 : 1;
        return a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* The start of each process's dates; dates without a process come last. */
static int index_dates(struct sweep *sweep)
{
        size_t at = 0;

        sweep->first_date =
            malloc((sweep->raw->process_count + 1) * sizeof(*sweep->first_date));
        if (!sweep->first_date)
                return -ENOMEM;
        for (size_t process = 0; process <= sweep->raw->process_count; process++) {
                while (at < sweep->date_count && sweep->dates[at].process < process)
                        at++;
                sweep->first_date[process] = at;
        }
        return 0;
}

static void list_dates(struct sweep *sweep, const int64_t *first_ns)
{
        const struct raw *raw = sweep->raw;

        for (size_t i = 0; i < raw->stack_count; i++)
                if (first_ns[i] != INT64_MAX)
                        sweep->dates[sweep->date_count++] = (struct stack_date){
                            first_ns[i], raw->stacks[i].process, (uint32_t)i};
        if (sweep->date_count > 1)
                qsort(sweep->dates, sweep->date_count, sizeof(*sweep->dates),
                      compare_dates);
}

int stacks_date(struct sweep *sweep)
{
        const struct raw *raw = sweep->raw;
        int64_t *first_ns = malloc((raw->stack_count + 1) * sizeof(*first_ns));
        size_t dated = 0;

        for (size_t i = 0; first_ns && i < raw->stack_count; i++)
                first_ns[i] = INT64_MAX;
        for (size_t i = 0; first_ns && i < raw->allocation_count; i++) {
                uint32_t stack = raw->allocations[i].stack;

                if (stack != RAW_NONE &&
                    raw->allocations[i].period.start_ns < first_ns[stack])
                        first_ns[stack] = raw->allocations[i].period.start_ns;
        }
        for (size_t i = raw->stack_count; first_ns && i-- > 0;) {
                uint32_t parent = raw->stacks[i].parent;

                dated += first_ns[i] != INT64_MAX;
                if (parent == RAW_NONE)
                        continue;
                if (first_ns[i] < first_ns[parent])
                        first_ns[parent] = first_ns[i];
                sweep->calls[parent] = true;
        }
        sweep->dates = malloc((dated + 1) * sizeof(*sweep->dates));
        if (first_ns && sweep->dates)
                list_dates(sweep, first_ns);
        free(first_ns);
        return first_ns && sweep->dates ? index_dates(sweep) : -ENOMEM;
}
