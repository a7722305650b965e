/* SPDX-License-Identifier: MIT */
/* See scheduler.h. */
#include "scheduler.h"

#include <stdbool.h>
#include <stddef.h>

#include "thread.h"

void scheduler_init(struct sim_thread *thread, const uint32_t places[SCHEDULER_KINDS])
{
        for (uint32_t kind = 0; kind < SCHEDULER_KINDS; kind++) {
                thread->schedulers[kind].places = places[kind];
                thread->scheduler_of[kind] =
                    &thread->schedulers[places[kind] > 0 ? kind : SCHEDULER_GENERAL];
        }
}

/* The instructions of the first part leave. */
static void end_part(struct scheduler *scheduler)
{
        uint16_t *leaving = &scheduler->leaving[scheduler->part++ % SCHEDULER_PARTS];

        scheduler->waiting -= *leaving;
        *leaving = 0;
}

/* Removes the instructions whose waits end by NOW. */
static void leave_until(struct scheduler *scheduler, uint64_t now)
{
        const uint64_t end = (now >> SCHEDULER_PART_SHIFT) + 1;

        while (scheduler->waiting > 0 && scheduler->part < end)
                end_part(scheduler);
        scheduler->part = later(scheduler->part, end);
}

/* An instruction that could issue at NOW has its operands at READY, or has them then
 * already; returns when it issues. */
static uint64_t hold(struct scheduler *scheduler, uint64_t now, uint64_t ready)
{
        const uint64_t longest = SCHEDULER_PARTS - 1;
        /* It leaves when most of its part is over. */
        const uint64_t half = 1u << (SCHEDULER_PART_SHIFT - 1);

        leave_until(scheduler, now);
        if (scheduler->waiting >= scheduler->places) {
                while (scheduler->waiting >= scheduler->places)
                        end_part(scheduler);
                now = later(now, (scheduler->part - 1) << SCHEDULER_PART_SHIFT);
        }
        uint64_t part = (ready + half) >> SCHEDULER_PART_SHIFT;
        if (ready <= now || part < scheduler->part)
                return now;
        if (part > scheduler->part + longest)
                part = scheduler->part + longest;
        scheduler->leaving[part % SCHEDULER_PARTS]++;
        scheduler->waiting++;
        return now;
}

/* When the last of the block's late loads comes. */
static uint64_t latest_load(const struct sim_hot *hot)
{
        uint64_t latest = 0;

        for (uint64_t rest = hot->late; rest != 0; rest &= rest - 1)
                latest = later(latest, hot->ready[__builtin_ctzll(rest)]);
        return latest;
}

uint64_t scheduler_slack(const struct sim_thread *thread)
{
        uint64_t fewest = UINT64_MAX;

        for (uint32_t kind = 0; kind < SCHEDULER_KINDS; kind++) {
                const struct scheduler *scheduler = thread->scheduler_of[kind];
                fewest = scheduler->places < fewest ? scheduler->places : fewest;
        }
        return fewest;
}

static bool waits_any(struct sim_thread *thread, uint64_t now)
{
        uint32_t waiting = 0;

        for (uint32_t kind = 0; kind < SCHEDULER_KINDS; kind++) {
                leave_until(&thread->schedulers[kind], now);
                waiting += thread->schedulers[kind].waiting;
        }
        return waiting > 0;
}

void scheduler_issue(struct sim_hot *hot, struct sim_thread *thread,
                     const struct scheduled *first)
{
        uint64_t latest = latest_load(hot);
        const uint64_t begin = hot->instructions + thread->stall +
                               (uint64_t)(int64_t)(first == NULL ? 0 : first->position);
        const uint64_t longest = first == NULL ? 0 : first->longest;

        if (later(latest, hot->late_until) + longest <= begin + scheduler_slack(thread) &&
            !waits_any(thread, begin)) {
                if (latest > 0)
                        hot->late_until = later(hot->late_until, latest + longest);
                return;
        }
        for (const struct scheduled *each = first; each != NULL; each = each->next) {
                const uint64_t instruction =
                    hot->instructions + (uint64_t)(int64_t)each->position;
                thread_retire(hot, thread, instruction);
                const uint64_t now = instruction + thread->stall;
                const uint64_t ready = hot_waits(hot, &each->operands, now);
                latest = later(latest, ready > now ? ready : 0);
                thread->stall += hold(thread->scheduler_of[each->kind], now, ready) - now;
        }
        hot->late_until = later(hot->late_until, latest);
        stall_to_hot(hot, thread);
}
