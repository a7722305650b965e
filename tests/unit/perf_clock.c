/* SPDX-License-Identifier: MIT */
/* A page fault happens between two reads of CLOCK_MONOTONIC; its record must agree. */
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <x86intrin.h>

#include "clock.h"
#include "record.h"
#include "ring.h"
#include "unit_test.h"

enum { FAULTS = 200, SLACK_NS = 2000 };

/* The time of the next sample in RING. */
static uint64_t next_time(struct ring *ring, const struct record_layout *layout)
{
        const void *bytes;
        size_t size;
        struct record record;
        while ((bytes = ring_next(ring, &size))) {
                assert_ok(record_decode(layout, bytes, size, &record));
                if (record.kind == RECORD_SAMPLE)
                        return record.id.time;
        }
        fail_msg("no sample");
        return 0;
}

/* A separate control page; NULL: it does not describe perf's clock. */
static struct perf_event_mmap_page *clock_page(void)
{
        struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                       .size = sizeof(attr),
                                       .config = PERF_COUNT_SW_DUMMY,
                                       .exclude_kernel = 1};
        int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
        assert_true(fd >= 0);
        struct perf_event_mmap_page *page =
            mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
        assert_true(page != MAP_FAILED);
        close(fd);
        return perf_clock_is_told(page) ? page : NULL;
}

TEST(faults_are_between_two_looks_at_the_clock)
{
        struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                       .size = sizeof(attr),
                                       .config = PERF_COUNT_SW_PAGE_FAULTS,
                                       .sample_period = 1,
                                       .sample_type = PERF_SAMPLE_TIME,
                                       .disabled = 1,
                                       .exclude_kernel = 1};
        struct record_layout layout;
        struct ring *ring;
        struct diag diag;
        int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
        if (fd < 0)
                skip_test("no page-fault events here");
        assert_ok(record_layout(&attr, &layout));
        assert_ok(ring_open(fd, 1, &ring, &diag));
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        const struct perf_event_mmap_page *page = clock_page();
        if (!page) {
                ring_close(ring);
                close(fd);
                skip_test("this kernel does not tell perf's clock");
        }
        volatile uint8_t *area = mmap(NULL, FAULTS * page_bytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise((void *)area, FAULTS * page_bytes, MADV_NOHUGEPAGE);
        struct perf_clock clock = {.page = page};
        for (size_t i = 0; i < FAULTS; i++) {
                perf_clock_measure(&clock);
                ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
                int64_t before = perf_clock_monotonic();
                area[i * page_bytes] = 1;
                int64_t after = perf_clock_monotonic();
                ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
                int64_t time = perf_clock_to_monotonic(&clock, next_time(ring, &layout));
                ring_release(ring);
                if (time < before - SLACK_NS || time > after + SLACK_NS)
                        fail_msg("fault %zu: %lld ns after the look before, %lld ns "
                                 "before the one after",
                                 i, (long long)(time - before),
                                 (long long)(after - time));
        }
        ring_close(ring);
        close(fd);
}

/* The formula of perf_event_open(2), in wide numbers, on a page that we made. */
TEST(a_page_is_read_as_it_is_defined)
{
        struct perf_event_mmap_page page = {
            .time_mult = 0x5a5a5a5a, .time_shift = 31, .time_zero = 5000000000u};
        page.cap_user_time_zero = 1;
        assert_true(perf_clock_is_told(&page));
        struct perf_clock clock = {.page = &page};
        int64_t least = INT64_MAX;
        for (int i = 0; i < 1000; i++) {
                perf_clock_measure(&clock);
                int64_t before = perf_clock_monotonic();
                unsigned __int128 product = (unsigned __int128)__rdtsc() * page.time_mult;
                uint64_t time = page.time_zero + (uint64_t)(product >> page.time_shift);
                int64_t error = perf_clock_to_monotonic(&clock, time) - before;
                int64_t size = error < 0 ? -error : error;
                least = size < least ? size : least;
        }
        assert_true(least < 1000); /* some of many are not disturbed */
}

TEST(without_a_page_times_stay)
{
        struct perf_clock clock = {.page = NULL};
        perf_clock_measure(&clock);
        assert_int_equal(perf_clock_to_monotonic(&clock, 12345), 12345);
}
