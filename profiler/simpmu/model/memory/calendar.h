/* SPDX-License-Identifier: MIT */
/* A calendar of lines: time is cut into short buckets of limited capacity. A line goes
 * into the first bucket from its time on that has room. Requests may come in any
 * order: in no stretch of time do more lines pass than fit, one bucket more or less.
 *
 * Nobody waits for most writes. Writes leave room for later reads, up to the caller's
 * limit. Likewise a part of each bucket can be kept for requests to come. */
#ifndef SIMPMU_MODEL_CALENDAR_H
#define SIMPMU_MODEL_CALENDAR_H

#include <stdint.h>

#include "cache.h"

#define CALENDAR_BUCKETS 16384u /* a power of two; later lines follow each other */
#define CALENDAR_HISTORY 256u   /* older buckets, for lines requested late */

struct calendar_bucket {
        uint16_t lines; /* writes included */
        uint16_t writes;
        /* If the bucket is full: the distance to the next bucket that may have room.
         * 0: 1. */
        uint16_t skip;
        uint16_t write_skip;
};

struct calendar {
        double line_slots;
        double bucket_slots;
        double buckets_per_slot;
        uint32_t capacity; /* of a bucket, in lines */
        uint32_t room;     /* the same without the lines that are kept for others */
        uint64_t first;    /* number of the oldest bucket that can still take lines */
        /* Behind the last bucket, lines follow each other from the first of these
         * positions to the second, both counted from time 0. */
        uint64_t beyond_from;
        uint64_t beyond;
        struct calendar_bucket *buckets; /* CALENDAR_BUCKETS of them */
};

/* Lines of LINE_SLOTS each; a bucket has at least BUCKET_SLOTS. */
void calendar_init(struct calendar *calendar, double line_slots, double bucket_slots,
                   sim_allocate allocate);

/* No request will lie long before SLOT any more. Requests of a wrong path are known
 * once its branch has executed. */
void calendar_advance(struct calendar *calendar, uint64_t slot);

/* Reserves LINES of each bucket for others, but never the whole bucket. */
void calendar_keep(struct calendar *calendar, double lines);

/* The cold half of calendar_read. */
uint64_t calendar_read_later(struct calendar *calendar, uint64_t slot);

static inline uint64_t calendar_bucket_of(const struct calendar *calendar, uint64_t slot)
{
        return (uint64_t)((double)slot * calendar->buckets_per_slot);
}

static inline struct calendar_bucket *calendar_bucket(struct calendar *calendar,
                                                      uint64_t number)
{
        return &calendar->buckets[number & (CALENDAR_BUCKETS - 1)];
}

/* A line is read at SLOT, or as soon as there is room for it: returns when. */
static inline uint64_t calendar_read(struct calendar *calendar, uint64_t slot)
{
        uint64_t number = calendar_bucket_of(calendar, slot);
        struct calendar_bucket *bucket = calendar_bucket(calendar, number);

        if (__builtin_expect(number - calendar->first >= CALENDAR_BUCKETS ||
                                 bucket->lines >= calendar->room,
                             0))
                return calendar_read_later(calendar, slot);
        bucket->lines++;
        return slot;
}

/* A line is written at SLOT, or in the first bucket after it that has room and fewer than
 * LIMIT writes: returns when. */
uint64_t calendar_write(struct calendar *calendar, uint64_t slot, uint32_t limit);

#endif
