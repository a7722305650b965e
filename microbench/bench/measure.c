/* SPDX-License-Identifier: MIT */
/* Runs a kernel on threads and times it. */
#include "measure.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "elapsed.h"
#include "interference.h"

/* ---- CPUs ---- */

int cpu_list_read(struct cpu_list *list, struct diag *diag)
{
        cpu_set_t *set = NULL;
        size_t size = 0;
        int cpus = 1024, rc = -1;
        for (; rc != 0 && cpus <= 1 << 20; cpus *= 2) {
                CPU_FREE(set);
                set = CPU_ALLOC(cpus);
                size = CPU_ALLOC_SIZE(cpus);
                if (!set)
                        return diag_no_memory(diag);
                rc = sched_getaffinity(0, size, set);
                if (rc != 0 && errno != EINVAL)
                        break;
        }
        if (rc != 0) {
                CPU_FREE(set);
                return diag_set(diag, -errno, "cannot read the CPUs of this process: %s",
                                strerror(errno));
        }
        *list = (struct cpu_list){
            .cpus = calloc((size_t)CPU_COUNT_S(size, set), sizeof(int))};
        for (int cpu = 0; list->cpus && cpu < (int)size * 8; cpu++)
                if (CPU_ISSET_S(cpu, size, set))
                        list->cpus[list->count++] = cpu;
        CPU_FREE(set);
        return list->cpus ? 0 : diag_no_memory(diag);
}

void cpu_list_free(struct cpu_list *list)
{
        free(list->cpus);
        *list = (struct cpu_list){0};
}

int cpu_pin(int cpu, struct diag *diag)
{
        cpu_set_t *set = CPU_ALLOC(cpu + 1);
        size_t size = CPU_ALLOC_SIZE(cpu + 1);
        if (!set)
                return diag_no_memory(diag);
        CPU_ZERO_S(size, set);
        CPU_SET_S(cpu, size, set);
        int rc = sched_setaffinity(0, size, set) == 0 ? 0 : -errno;
        CPU_FREE(set);
        return rc == 0
                   ? 0
                   : diag_set(diag, rc, "cannot run on CPU %d: %s", cpu, strerror(-rc));
}

int cpu_start_thread(int cpu, void *(*main)(void *), void *argument, pthread_t *thread)
{
        pthread_attr_t attributes;
        cpu_set_t *set = CPU_ALLOC(cpu + 1);
        size_t size = CPU_ALLOC_SIZE(cpu + 1);
        if (!set)
                return ENOMEM;
        CPU_ZERO_S(size, set);
        CPU_SET_S(cpu, size, set);
        int error = pthread_attr_init(&attributes);
        if (!error) {
                error = pthread_attr_setaffinity_np(&attributes, size, set);
                if (!error)
                        error = pthread_create(thread, &attributes, main, argument);
                pthread_attr_destroy(&attributes);
        }
        CPU_FREE(set);
        return error;
}

/* ---- threads ---- */

struct member;

enum team_state { TEAM_GATHERS, TEAM_RUNS, TEAM_FAILED };

struct team {
        const struct kernel *kernel;
        const struct kernel_parameters *parameters;
        struct member *members; /* parameters->threads */
        struct measurement *rounds;
        size_t round_count;
        const struct cpu_list *cpus;
        struct kernel_parameters window; /* parameters of one round */
        atomic_uint_fast64_t arrived; /* arrivals at starts of timed runs, accumulated */
        int64_t huge_bytes;           /* over all members' data; -1: unknown */
        bool shared;                  /* others used the machine during the rounds */
        pthread_barrier_t barrier;    /* for all members */
        pthread_mutex_t mutex;        /* protects the members below */
        pthread_cond_t changed;
        enum team_state state;
        int rc; /* error code of the first failure, which is in DIAG */
        struct diag *diag;
};

/* A member's activity between two barriers. */
struct span {
        double begin, end; /* by clock_seconds */
        double cpu_seconds;
        uint64_t tsc_ticks;
        bool switched; /* lost its CPU */
};

struct member {
        struct team *team;
        struct kernel_share share;
        int cpu; /* -1: any */
        pthread_t thread;
        struct span span; /* of the latest run */
        uint64_t runs;    /* number of timed runs */
};

static void team_fail(struct team *team, int rc, const struct diag *diag)
{
        pthread_mutex_lock(&team->mutex);
        if (team->state != TEAM_FAILED) {
                team->state = TEAM_FAILED;
                team->rc = rc;
                *team->diag = *diag;
        }
        pthread_cond_broadcast(&team->changed);
        pthread_mutex_unlock(&team->mutex);
}

static void team_run(struct team *team)
{
        pthread_mutex_lock(&team->mutex);
        team->state = TEAM_RUNS;
        pthread_cond_broadcast(&team->changed);
        pthread_mutex_unlock(&team->mutex);
}

/* Waits until all members exist; only then may members enter the barrier. */
static enum team_state team_wait(struct team *team)
{
        pthread_mutex_lock(&team->mutex);
        while (team->state == TEAM_GATHERS)
                pthread_cond_wait(&team->changed, &team->mutex);
        enum team_state state = team->state;
        pthread_mutex_unlock(&team->mutex);
        return state;
}

static bool team_failed(struct team *team)
{
        pthread_mutex_lock(&team->mutex);
        bool failed = team->state == TEAM_FAILED;
        pthread_mutex_unlock(&team->mutex);
        return failed;
}

/* Adds the time from the first start to the last end: if members ran one after the other
 * on a busy machine, both times count. Ticks are from one member, because the TSCs of two
 * CPUs may differ. */
static void add_spans(const struct team *team, struct measurement *round)
{
        const struct span *first = &team->members[0].span;
        double begin = first->begin, end = first->end;
        for (uint32_t i = 0; i < team->parameters->threads; i++) {
                begin = fmin(begin, team->members[i].span.begin);
                end = fmax(end, team->members[i].span.end);
                round->cpu_seconds += team->members[i].span.cpu_seconds;
                if (team->members[i].span.switched)
                        round->disturbance = INTERRUPTED;
        }
        round->seconds += end - begin;
        round->tsc_ticks +=
            (double)first->tsc_ticks * (end - begin) / (first->end - first->begin);
}

/* Waits for all members. Before short rounds on windows, also spins: some members wake up
 * later, and that delay would count as kernel time. */
static void begin_together(struct member *member)
{
        enum { SPINS = 1 << 16 };
        struct team *team = member->team;
        pthread_barrier_wait(&team->barrier);
        if (team->parameters->windows <= 1)
                return;
        uint64_t all = ++member->runs * team->parameters->threads;
        atomic_fetch_add(&team->arrived, 1);
        for (uint32_t i = 0; atomic_load(&team->arrived) < all; i++) {
                if (i < SPINS)
                        _mm_pause();
                else
                        sched_yield(); /* more threads than CPUs, or a busy machine */
        }
}

/* Starts all members simultaneously; after the end, one member adds up the times. The
 * spans stay valid until that member reaches the next start. */
static void run_timed(struct member *member, uint64_t passes, struct measurement *round)
{
        struct team *team = member->team;
        struct span *span = &member->span;
        begin_together(member);
        long switches = interference_switches();
        double cpu = clock_cpu_seconds();
        clock_seconds(); /* the first clock access after a wait is slow */
        uint64_t tsc = clock_tsc();
        span->begin = clock_seconds();
        team->kernel->run(&member->share, passes);
        /* Same order as at the start, so both clocks measure the same time. */
        span->tsc_ticks = clock_tsc() - tsc;
        span->end = clock_seconds();
        span->cpu_seconds = clock_cpu_seconds() - cpu;
        span->switched = interference_switches() != switches;
        if (pthread_barrier_wait(&team->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
                add_spans(team, round);
}

static void run_round(struct member *member, struct measurement *round)
{
        const struct kernel *kernel = member->team->kernel;
        uint64_t passes = member->team->parameters->passes;
        if (!kernel->flush) {
                run_timed(member, passes, round);
                return;
        }
        for (; passes > 0; passes--) {
                kernel->flush(&member->share);
                run_timed(member, 1, round);
        }
}

/* Runs the rounds, each on its window of the data. */
static void run_rounds(struct member *member)
{
        struct team *team = member->team;
        struct kernel_share *share = &member->share;
        uint32_t windows = team->parameters->windows;
        char *data = share->buffer.addr;
        share->parameters = &team->window;
        for (size_t i = 0; i < team->round_count; i++) {
                if (windows > 1)
                        share->buffer.addr =
                            data + i % windows * kernel_part_bytes(&team->window);
                run_round(member, &team->rounds[i]);
        }
        share->buffer.addr = data;
        share->parameters = team->parameters;
}

static void run_all(struct member *member)
{
        struct team *team = member->team;
        size_t members = team->parameters->threads, cpus = team->cpus->count;
        size_t ours = members < cpus ? members : cpus;
        struct machine_time before, after;
        if (!team->kernel->flush)
                team->kernel->run(&member->share, 1);
        machine_time_read(team->cpus->cpus, ours, &before);
        double begin = clock_seconds();
        run_rounds(member);
        double seconds = clock_seconds() - begin;
        machine_time_read(team->cpus->cpus, ours, &after);
        if (member->share.thread == 0)
                team->shared = machine_was_shared(&before, &after, seconds);
}

/* While all members have their data, one member measures its share of huge pages: the
 * kernel reports all mappings of the process at once. */
static void see_huge_pages(struct member *member)
{
        struct team *team = member->team;
        uint32_t count = team->parameters->threads;
        pthread_barrier_wait(&team->barrier);
        if (member->share.thread == 0) {
                const struct buffer **buffers = calloc(count, sizeof(*buffers));
                for (uint32_t i = 0; buffers && i < count; i++)
                        buffers[i] = &team->members[i].share.buffer;
                team->huge_bytes = buffers ? buffers_huge_bytes(buffers, count) : -1;
                free(buffers);
        }
        pthread_barrier_wait(&team->barrier);
}

static void *member_main(void *argument)
{
        struct member *member = argument;
        struct team *team = member->team;
        struct diag diag;
        if (team_wait(team) == TEAM_FAILED)
                return NULL;
        int rc = member->cpu < 0 ? 0 : cpu_pin(member->cpu, &diag);
        if (rc == 0)
                rc = team->kernel->prepare(&member->share, &diag);
        if (rc < 0)
                team_fail(team, rc, &diag);
        pthread_barrier_wait(&team->barrier);
        if (!team_failed(team)) {
                run_all(member);
                see_huge_pages(member);
        }
        buffer_unmap(&member->share.buffer);
        return NULL;
}

static void run_members(struct team *team, struct member *members, uint32_t count)
{
        uint32_t started = 0;
        int error = 0;
        while (started < count && !error) {
                error = pthread_create(&members[started].thread, NULL, member_main,
                                       &members[started]);
                started += !error;
        }
        if (error) {
                struct diag diag;
                diag_set(&diag, -error, "cannot start thread %u of %u: %s", started + 1,
                         count, strerror(error));
                team_fail(team, -error, &diag);
        } else {
                team_run(team);
        }
        for (uint32_t i = 0; i < started; i++)
                pthread_join(members[i].thread, NULL);
}

static int check(const struct kernel *kernel, const struct kernel_parameters *parameters,
                 struct diag *diag)
{
        if (parameters->threads == 0 || parameters->passes == 0)
                return diag_set(diag, -EINVAL, "at least one thread and one pass");
        if (parameters->windows > 1 && kernel_window_bytes(parameters) == 0)
                return diag_set(diag, -EINVAL, "%llu bytes are too few for %u windows",
                                (unsigned long long)parameters->size_bytes,
                                parameters->windows);
        return kernel->check ? kernel->check(parameters, diag) : 0;
}

static int measure_members(struct team *team)
{
        uint32_t threads = team->parameters->threads;
        bool pinned = threads <= team->cpus->count;
        void *common = NULL;
        if (team->kernel->common_bytes) {
                common = aligned_alloc(KERNEL_LINE_BYTES, team->kernel->common_bytes);
                if (!common)
                        return diag_set(team->diag, -ENOMEM, "out of memory");
                memset(common, 0, team->kernel->common_bytes);
        }
        for (uint32_t i = 0; i < threads; i++)
                team->members[i] = (struct member){
                    .team = team,
                    .cpu = pinned ? team->cpus->cpus[i] : -1,
                    .share = {.parameters = team->parameters,
                              .thread = i,
                              .common = common},
                };
        for (size_t i = 0; i < team->round_count; i++)
                team->rounds[i] = (struct measurement){.pinned = pinned};
        run_members(team, team->members, threads);
        free(common);
        int64_t huge_bytes = team->rc == 0 ? team->huge_bytes : -1;
        for (size_t i = 0; i < team->round_count; i++) {
                team->rounds[i].huge_bytes = huge_bytes;
                if (team->shared && team->rounds[i].disturbance == UNDISTURBED)
                        team->rounds[i].disturbance = SHARED;
        }
        return team->rc;
}

int measure(const struct kernel *kernel, const struct kernel_parameters *parameters,
            const struct cpu_list *cpus, struct measurement *rounds, size_t count,
            struct diag *diag)
{
        int rc = check(kernel, parameters, diag);
        if (rc < 0)
                return rc;
        struct team team = {
            .kernel = kernel,
            .parameters = parameters,
            .members = calloc(parameters->threads, sizeof(*team.members)),
            .rounds = rounds,
            .round_count = count,
            .cpus = cpus,
            .window = *parameters,
            .diag = diag,
        };
        if (parameters->windows > 1)
                team.window.size_bytes =
                    kernel_window_bytes(parameters) * parameters->threads;
        if (!team.members ||
            pthread_barrier_init(&team.barrier, NULL, parameters->threads) != 0) {
                free(team.members);
                return diag_set(diag, -ENOMEM, "no memory for %u threads",
                                parameters->threads);
        }
        pthread_mutex_init(&team.mutex, NULL);
        pthread_cond_init(&team.changed, NULL);
        rc = measure_members(&team);
        pthread_cond_destroy(&team.changed);
        pthread_mutex_destroy(&team.mutex);
        pthread_barrier_destroy(&team.barrier);
        free(team.members);
        return rc;
}
