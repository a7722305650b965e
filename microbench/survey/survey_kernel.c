/* SPDX-License-Identifier: MIT */
/* Survey of the kernel: the cost of first touches of small and huge pages, and of a
 * system call. */
#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "buffer.h"
#include "elapsed.h"
#include "interference.h"
#include "survey.h"

enum { SMALL_PAGES = 512, HUGE_PAGES = 4 };

static const uint64_t SMALL_BYTES = 4096, HUGE_BYTES = UINT64_C(2) << 20;

struct kernel_costs {
        struct series small_ns, huge_ns, call_ns;
};

/* Touches the pages of BUFFER, PAGE_BYTES each, for the first time; returns ns per page.
 */
static double touch_ns(const struct buffer *buffer, uint64_t page_bytes)
{
        volatile char *bytes = buffer->addr;
        double begin = clock_seconds();
        for (uint64_t at = 0; at < buffer->bytes; at += page_bytes)
                bytes[at] = 1;
        return (clock_seconds() - begin) * 1e9 * (double)page_bytes /
               (double)buffer->bytes;
}

/* One visit to COUNT new pages; adds nothing if the pages have the wrong size. */
static int visit_pages(struct survey *survey, enum buffer_pages pages, uint64_t count,
                       struct series *series, struct diag *diag)
{
        const uint64_t page_bytes = pages == PAGES_HUGE ? HUGE_BYTES : SMALL_BYTES;
        struct machine_time before, after;
        struct buffer buffer;
        int rc = buffer_map(count * page_bytes, pages, -1, &buffer, diag);
        if (rc < 0)
                return rc;
        machine_time_read(survey->cpus.cpus, 1, &before);
        long switches = interference_switches();
        double begin = clock_seconds();
        double ns = touch_ns(&buffer, page_bytes);
        double seconds = clock_seconds() - begin;
        bool switched = interference_switches() != switches;
        machine_time_read(survey->cpus.cpus, 1, &after);
        int64_t huge = buffer_huge_bytes(&buffer);
        buffer_unmap(&buffer);
        survey->rounds++;
        survey->visits++;
        if ((pages == PAGES_HUGE) == (huge == (int64_t)(count * page_bytes)))
                series_add(series, ns,
                           disturbance_of(switched,
                                          machine_was_shared(&before, &after, seconds)));
        return 0;
}

/* A trivial system call that no library answers without the kernel. */
static void run_calls(uint64_t count)
{
        enum { CALLS = 100 };
        for (uint64_t i = 0; i < CALLS * count; i++)
                syscall(SYS_getppid);
}

static int kernel_sweep(struct survey *survey, void *state, struct diag *diag)
{
        struct kernel_costs *costs = state;
        int rc = 0;
        survey_progress(survey, "the kernel");
        for (size_t visit = 0; rc == 0 && visit < survey->sweep_visits; visit++) {
                if (survey_wants(survey, &costs->small_ns, false))
                        rc = visit_pages(survey, PAGES_SMALL, SMALL_PAGES,
                                         &costs->small_ns, diag);
                if (rc == 0 && survey_wants(survey, &costs->huge_ns, false))
                        rc = visit_pages(survey, PAGES_HUGE, HUGE_PAGES, &costs->huge_ns,
                                         diag);
                if (survey_wants(survey, &costs->call_ns, false))
                        survey_code(survey, run_calls, 100, &costs->call_ns);
        }
        return rc;
}

static json_t *kernel_result(struct survey *survey, void *state)
{
        const struct kernel_costs *costs = state;
        json_t *json = json_object();
        survey_add(survey, json, "small_fault_ns", "the first touch of a page of 4 KiB",
                   survey_estimate(survey, &costs->small_ns));
        if (costs->huge_ns.count > 0) /* the machine may lack huge pages */
                survey_add(survey, json, "huge_fault_ns",
                           "the first touch of a page of 2 MiB",
                           survey_estimate(survey, &costs->huge_ns));
        survey_add(survey, json, "call_ns", "a system call",
                   survey_estimate(survey, &costs->call_ns));
        return json;
}

const struct survey_part survey_kernel = {
    .key = "kernel",
    .state_bytes = sizeof(struct kernel_costs),
    .sweep = kernel_sweep,
    .result = kernel_result,
};
