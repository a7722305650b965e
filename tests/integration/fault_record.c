/* SPDX-License-Identifier: MIT */
/* fault_record FILE RING_PAGES COMMAND...: records every page fault of COMMAND through
 * the part that all perf sources share, so that the samples and addresses that must be in
 * the database are known: each touched page makes exactly one. */
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch.h"
#include "sink.h"
#include "source_perf.h"

static struct diag diag;

static void check(int rc)
{
        if (rc >= 0)
                return;
        fprintf(stderr, "fault_record: %s\n", diag.text);
        exit(1);
}

static struct source *open_source(size_t ring_pages, struct sink *sink)
{
        const struct source_options options = {.ring_pages = ring_pages};
        struct source_perf_setup setup = {.amend = NULL};
        struct plan_group *group = plan_add_group(&setup.plan);
        if (!group)
                exit(1);
        group->count = 1;
        group->events[0] = (struct plan_event){
            .use = PLAN_LOADS,
            .name = "page-faults",
            .attr = {.type = PERF_TYPE_SOFTWARE,
                     .config = PERF_COUNT_SW_PAGE_FAULTS,
                     .sample_period = 1,
                     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                    PERF_SAMPLE_ADDR,
                     .exclude_kernel = 1}};
        struct source *source;
        check(source_perf_open(&options, sink, &setup, &source, &diag));
        return source;
}

static void follow(struct source *source, struct launch *launch)
{
        struct pollfd watched[] = {
            {.fd = launch_end_fd(launch), .events = POLLIN},
            {.fd = source_perf_poll_fd(source), .events = POLLIN},
        };
        while (!watched[0].revents) {
                poll(watched, 2, 500);
                check(source_perf_drain(source, &diag));
        }
}

int main(int argc, char **argv)
{
        if (argc < 4)
                return 2;
        struct db *db;
        struct writer *writer;
        struct sink *sink;
        struct launch *launch;
        struct launch_end end;
        check(db_create(argv[1], true, &db, &diag));
        check(writer_open(db, &writer, &diag));
        check(sink_open(writer, &sink, &diag));
        check(launch_open(&launch, &diag));
        struct source *source = open_source(strtoul(argv[2], NULL, 10), sink);
        check(launch_prepare(launch, argv + 3, environ, &diag));
        check(source_perf_attach(source, launch_pid(launch), &diag));
        check(launch_start(launch, &diag));
        follow(source, launch);
        check(launch_wait(launch, &end, &diag));
        check(source_perf_stop(source, &diag));
        check(sink_finish(sink, &diag));
        check(writer_close(writer, &diag));
        check(sink_write_ledger(sink, db, &diag));
        source_perf_close(source);
        sink_close(sink);
        launch_close(launch);
        db_close(db);
        return end.signalled ? 128 + end.status : end.status;
}
