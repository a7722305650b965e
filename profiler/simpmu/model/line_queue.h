/* SPDX-License-Identifier: MIT */
/* The queue of a core's requests beyond L2: each holds a place until it is done. */
#ifndef SIMPMU_MODEL_LINE_QUEUE_H
#define SIMPMU_MODEL_LINE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#define LINE_QUEUE_MAXIMUM 256u /* a power of two */

/* When each place is free again, in order. */
struct line_queue {
        uint32_t places;
        uint32_t first;
        uint64_t done[LINE_QUEUE_MAXIMUM];
};

static inline uint64_t *line_queue_at(struct line_queue *queue, uint32_t index)
{
        return &queue->done[(queue->first + index) & (LINE_QUEUE_MAXIMUM - 1)];
}

static inline bool line_queue_has_room(struct line_queue *queue, uint64_t now)
{
        return *line_queue_at(queue, 0) <= now;
}

/* When a request that could begin at BEGIN gets a place. */
static inline uint64_t line_queue_wait(struct line_queue *queue, uint64_t begin)
{
        uint64_t first = *line_queue_at(queue, 0);

        return begin > first ? begin : first;
}

/* A request takes the place that is free first, until DONE. */
static inline void line_queue_hold(struct line_queue *queue, uint64_t done)
{
        uint32_t at = queue->places - 1;

        queue->first++;
        for (; at > 0 && *line_queue_at(queue, at - 1) > done; at--)
                *line_queue_at(queue, at) = *line_queue_at(queue, at - 1);
        *line_queue_at(queue, at) = done;
}

static inline void line_queue_clear(struct line_queue *queue)
{
        for (uint32_t i = 0; i < LINE_QUEUE_MAXIMUM; i++)
                queue->done[i] = 0;
}

#endif
