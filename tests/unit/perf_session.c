/* SPDX-License-Identifier: MIT */
/* A session on this process delivers records in time order and counts late ones. */
#include <linux/perf_event.h>

#include "clock.h"
#include "session.h"
#include "unit_test.h"

enum { ADDED_MAX = 8 };

struct seen {
        int added[ADDED_MAX];
        size_t count;
        size_t gains;
};

static int take_record(void *context, int64_t time_ns,
                       const struct session_stream *stream, const struct record *record,
                       struct diag *diag)
{
        return 0;
}

static int take_added(void *context, int64_t time_ns, const void *bytes, size_t size,
                      struct diag *diag)
{
        struct seen *seen = context;
        assert_int_equal(size, sizeof(int));
        assert_true(seen->count < ADDED_MAX);
        memcpy(&seen->added[seen->count++], bytes, size);
        return 0;
}

static int take_damage(void *context, uint64_t count, const char *unit, struct diag *diag)
{
        fail();
        return 0;
}

static int take_counters(void *context, int64_t end_ns, int cpu,
                         const struct counting_gain *gains, size_t count,
                         uint64_t missed_ns, struct diag *diag)
{
        struct seen *seen = context;
        seen->gains += count;
        return 0;
}

static int number(struct session *session, int64_t time_ns, int value)
{
        struct diag diag;
        return session_add(session, time_ns, &value, sizeof(value), &diag);
}

TEST(what_comes_late_is_counted)
{
        struct plan plan = {0};
        struct plan_group *group = plan_add_group(&plan);
        assert_non_null(group);
        const struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE,
                                              .config = PERF_COUNT_SW_CPU_CLOCK,
                                              .sample_period = 1000000,
                                              .sample_type = PERF_SAMPLE_IP,
                                              .exclude_kernel = 1,
                                              .exclude_hv = 1};
        plan_add_event(group, PLAN_LOADS, &clock);
        struct seen seen = {0};
        const pid_t self = getpid();
        const int cpu = 0;
        const struct session_options options = {
            .plan = &plan,
            .tasks = &self,
            .task_count = 1,
            .cpus = &cpu,
            .cpu_count = 1,
            .ring_pages = 8,
            .handler = {&seen, take_record, take_added, take_damage, take_counters}};
        struct session *session;
        struct diag diag;
        int rc = session_open(&options, &session, &diag);
        if (rc == -EACCES || rc == -EPERM) {
                plan_free(&plan);
                skip_test("%s", diag.text);
        }
        assert_int_equal(rc, 0);
        int64_t start_ns = perf_clock_monotonic();
        assert_int_equal(number(session, start_ns + 2000, 2), 0);
        assert_int_equal(number(session, start_ns + 1000, 1), 0);
        assert_ok(session_drain(session, true, &diag));
        assert_ok(session_drain(session, false, &diag));
        assert_int_equal(seen.count, 0); /* others have more to tell */
        assert_ok(session_drain(session, true, &diag));
        assert_int_equal(seen.count, 2);
        assert_int_equal(session_late(session), 0);
        assert_int_equal(number(session, start_ns + 1500, 3), 0); /* too late */
        assert_int_equal(number(session, start_ns + 4000, 4), 0);
        uint64_t lost;
        assert_ok(session_end(session, &lost, &diag));
        assert_int_equal(session_late(session), 1);
        const int wanted[] = {1, 2, 3, 4};
        assert_int_equal(seen.count, 4);
        assert_memory_equal(seen.added, wanted, sizeof(wanted));
        session_close(session);
        plan_free(&plan);
}

static int open_descriptors(void)
{
        int count = 0;
        for (int fd = 0; fd < 256; fd++)
                count += fcntl(fd, F_GETFD) >= 0;
        return count;
}

/* The kernel opens the first event of the group and does not know the second one. */
TEST(a_group_of_the_machine_is_open_as_a_whole_or_not_at_all)
{
        const int cpu = 0;
        struct plan plan = {0};
        struct plan_group *group = plan_add_group_on(&plan, &cpu, 1);
        assert_non_null(group);
        const struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE,
                                              .config = PERF_COUNT_SW_CPU_CLOCK};
        const struct perf_event_attr unknown = {.type = PERF_TYPE_SOFTWARE,
                                                .config = 1u << 20};
        plan_add_event(group, PLAN_COUNTER, &clock)->name = "clock";
        plan_add_event(group, PLAN_COUNTER, &unknown)->name = "unknown";
        group->system_wide = true;
        struct seen seen = {0};
        const pid_t self = getpid();
        const struct session_options options = {
            .plan = &plan,
            .tasks = &self,
            .task_count = 1,
            .handler = {&seen, take_record, take_added, take_damage, take_counters}};
        int before = open_descriptors();
        struct session *session;
        struct diag diag;
        assert_ok(session_open(&options, &session, &diag));
        if (session_groups_refused(session)) {
                session_close(session);
                plan_free(&plan);
                skip_test("whole CPUs may not be counted here");
        }
        assert_int_equal(session_groups_unknown(session), 1);
        assert_int_equal(open_descriptors(), before + 1); /* the session's own */
        assert_ok(session_begin(session, &diag));
        uint64_t lost;
        assert_ok(session_end(session, &lost, &diag));
        assert_int_equal(seen.gains, 0);
        session_close(session);
        plan_free(&plan);
}
