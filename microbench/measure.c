/* SPDX-License-Identifier: MIT */
/* Runs a kernel on threads and takes its time. */
#include "measure.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

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

/* ---- threads ------------------------------------------------------------------------
 */

enum team_state { TEAM_GATHERS, TEAM_RUNS, TEAM_FAILED };

struct team {
        const struct kernel *kernel;
        const struct kernel_parameters *parameters;
        size_t rounds;
        pthread_barrier_t barrier; /* of all members */
        pthread_mutex_t mutex;     /* of what follows */
        pthread_cond_t changed;
        enum team_state state;
        int rc; /* the first failure, with its DIAG */
        struct diag *diag;
};

struct round {
        double seconds; /* sums over the timed passes */
        uint64_t tsc_ticks;
};

struct member {
        struct team *team;
        struct kernel_share share;
        int cpu; /* -1: any */
        pthread_t thread;
        struct round *rounds;
        int64_t huge_bytes;
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

/* Waits until all members exist, without which none may come to the barrier. */
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

/* All members begin at the same time. */
static void run_timed(struct member *member, uint64_t passes, struct round *round)
{
        const struct kernel *kernel = member->team->kernel;
        pthread_barrier_wait(&member->team->barrier);
        double seconds = clock_seconds();
        uint64_t tsc = clock_tsc();
        kernel->run(&member->share, passes);
        round->tsc_ticks += clock_tsc() - tsc;
        round->seconds += clock_seconds() - seconds;
}

static void run_round(struct member *member, struct round *round)
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

static void run_all(struct member *member)
{
        if (!member->team->kernel->flush)
                member->team->kernel->run(&member->share, 1);
        for (size_t i = 0; i < member->team->rounds; i++)
                run_round(member, &member->rounds[i]);
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
                member->huge_bytes = buffer_huge_bytes(&member->share.buffer);
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

/* A round takes as long as its slowest member. */
static void summarise(const struct team *team, const struct member *members,
                      struct measurement *rounds)
{
        for (uint32_t m = 0; m < team->parameters->threads; m++) {
                for (size_t i = 0; i < team->rounds; i++) {
                        const struct round *round = &members[m].rounds[i];
                        int64_t *huge_bytes = &rounds[i].huge_bytes;
                        if (round->seconds > rounds[i].seconds) {
                                rounds[i].seconds = round->seconds;
                                rounds[i].tsc_ticks = (double)round->tsc_ticks;
                        }
                        if (members[m].huge_bytes < 0 || *huge_bytes < 0)
                                *huge_bytes = -1;
                        else
                                *huge_bytes += members[m].huge_bytes;
                }
        }
}

static int check(const struct kernel *kernel, const struct kernel_parameters *parameters,
                 struct diag *diag)
{
        if (parameters->threads == 0 || parameters->passes == 0)
                return diag_set(diag, -EINVAL, "at least one thread and one pass");
        return kernel->check ? kernel->check(parameters, diag) : 0;
}

static int measure_members(struct team *team, struct member *members,
                           const struct cpu_list *cpus, struct round *times,
                           struct measurement *rounds)
{
        uint32_t threads = team->parameters->threads;
        bool pinned = threads <= cpus->count;
        void *common = NULL;
        if (team->kernel->common_bytes) {
                common = aligned_alloc(KERNEL_LINE_BYTES, team->kernel->common_bytes);
                if (!common)
                        return diag_set(team->diag, -ENOMEM, "out of memory");
                memset(common, 0, team->kernel->common_bytes);
        }
        for (uint32_t i = 0; i < threads; i++)
                members[i] = (struct member){
                    .team = team,
                    .cpu = pinned ? cpus->cpus[i] : -1,
                    .rounds = times + i * team->rounds,
                    .share = {.parameters = team->parameters,
                              .thread = i,
                              .common = common},
                };
        for (size_t i = 0; i < team->rounds; i++)
                rounds[i] = (struct measurement){.pinned = pinned};
        run_members(team, members, threads);
        free(common);
        if (team->rc == 0)
                summarise(team, members, rounds);
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
            .kernel = kernel, .parameters = parameters, .rounds = count, .diag = diag};
        struct member *members = calloc(parameters->threads, sizeof(*members));
        struct round *times = calloc(parameters->threads * count, sizeof(*times));
        int error = pthread_barrier_init(&team.barrier, NULL, parameters->threads);
        if (!members || !times || error) {
                free(members);
                free(times);
                return diag_set(diag, -ENOMEM, "no memory for %u threads",
                                parameters->threads);
        }
        pthread_mutex_init(&team.mutex, NULL);
        pthread_cond_init(&team.changed, NULL);
        rc = measure_members(&team, members, cpus, times, rounds);
        pthread_cond_destroy(&team.changed);
        pthread_mutex_destroy(&team.mutex);
        pthread_barrier_destroy(&team.barrier);
        free(times);
        free(members);
        return rc;
}
