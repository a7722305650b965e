/* SPDX-License-Identifier: MIT */
/* See calendar.h. */
#include "calendar.h"

#include <stdbool.h>
#include <stddef.h>

#include "later.h"

/* The more lines a bucket has, the smaller is the error of a rounded line. */
#define CAPACITY_MINIMUM 16u

void calendar_init(struct calendar *calendar, double line_slots, double bucket_slots,
                   sim_allocate allocate)
{
        double capacity = bucket_slots / line_slots;

        if (capacity < CAPACITY_MINIMUM)
                capacity = CAPACITY_MINIMUM;
        if (capacity > UINT16_MAX)
                capacity = UINT16_MAX;
        *calendar = (struct calendar){
            .line_slots = line_slots,
            .capacity = (uint32_t)capacity,
            .room = (uint32_t)capacity,
            .buckets = allocate(CALENDAR_BUCKETS * sizeof(*calendar->buckets)),
        };
        calendar->bucket_slots = line_slots * calendar->capacity;
        calendar->buckets_per_slot = 1 / calendar->bucket_slots;
}

void calendar_keep(struct calendar *calendar, double lines)
{
        const uint32_t least = calendar->capacity / CAPACITY_MINIMUM;
        double room = calendar->capacity - lines;

        calendar->room = room < least ? least : (uint32_t)room;
}

/* Bucket NUMBER comes into the ring, with the lines that have been put there already. */
static void open_bucket(struct calendar *calendar, uint64_t number)
{
        const uint64_t start = number * calendar->capacity;
        const uint64_t end = start + calendar->capacity;
        const uint64_t from = later(calendar->beyond_from, start);
        const uint64_t to = calendar->beyond < end ? calendar->beyond : end;

        *calendar_bucket(calendar, number) =
            (struct calendar_bucket){.lines = (uint16_t)(to > from ? to - from : 0)};
}

void calendar_advance(struct calendar *calendar, uint64_t slot)
{
        const uint64_t now = calendar_bucket_of(calendar, slot);
        const uint64_t number = now > CALENDAR_HISTORY ? now - CALENDAR_HISTORY : 0;
        uint64_t next = calendar->first + CALENDAR_BUCKETS;

        if (number <= calendar->first)
                return;
        if (number > next)
                next = number;
        for (; next < number + CALENDAR_BUCKETS; next++)
                open_bucket(calendar, next);
        calendar->first = number;
}

/* The time at which bucket NUMBER transfers its last line. */
static uint64_t time_of_last(const struct calendar *calendar, uint64_t number,
                             uint32_t lines)
{
        return (uint64_t)((double)number * calendar->bucket_slots +
                          (lines - 1) * calendar->line_slots);
}

/* Behind the last bucket lines follow each other. A request for a later time starts a
 * new sequence. */
static uint64_t take_beyond(struct calendar *calendar, uint64_t slot)
{
        const uint64_t end = (calendar->first + CALENDAR_BUCKETS) * calendar->capacity;
        const uint64_t asked =
            later(end, (uint64_t)((double)slot / calendar->line_slots));

        if (asked > calendar->beyond)
                calendar->beyond_from = calendar->beyond = asked;
        const uint64_t place = calendar->beyond++;
        return later(slot, (uint64_t)((double)place * calendar->line_slots));
}

static bool has_room(const struct calendar *calendar,
                     const struct calendar_bucket *bucket, uint32_t write_limit)
{
        return bucket->lines < calendar->room && bucket->writes < write_limit;
}

/* The distance from the full BUCKET to the next bucket that may have room. A full
 * bucket stores it for all lines; a bucket at its write limit stores it for writes
 * alone. NULL: BUCKET has reserved room. */
static uint16_t *skip_of(const struct calendar *calendar, struct calendar_bucket *bucket,
                         uint32_t write_limit)
{
        uint16_t *skip = bucket->lines >= calendar->capacity ? &bucket->skip
                         : bucket->writes >= write_limit     ? &bucket->write_skip
                                                             : NULL;

        if (skip != NULL && *skip == 0)
                *skip = 1;
        return skip;
}

/* The first bucket from NUMBER on that has room. Buckets on the path store a skip:
 * full buckets skip full buckets, other buckets skip both kinds. */
static uint64_t find_room(struct calendar *calendar, uint64_t number,
                          uint32_t write_limit)
{
        const uint64_t end = calendar->first + CALENDAR_BUCKETS;
        uint16_t *before = NULL;
        bool before_full = false;

        while (number < end) {
                struct calendar_bucket *bucket = calendar_bucket(calendar, number);
                if (has_room(calendar, bucket, write_limit))
                        break;
                uint16_t *skip = skip_of(calendar, bucket, write_limit);
                const bool full = skip == &bucket->skip;
                if (before != NULL && skip != NULL && (full || !before_full) &&
                    *before + *skip < (int)CALENDAR_BUCKETS)
                        *before = (uint16_t)(*before + *skip);
                before = skip;
                before_full = full;
                number += skip != NULL ? *skip : 1;
        }
        return number;
}

static uint64_t take(struct calendar *calendar, uint64_t slot, bool writes,
                     uint32_t write_limit)
{
        uint64_t asked = calendar_bucket_of(calendar, slot);
        uint64_t number = find_room(calendar, later(asked, calendar->first), write_limit);

        if (number >= calendar->first + CALENDAR_BUCKETS)
                return take_beyond(calendar, slot);
        struct calendar_bucket *bucket = calendar_bucket(calendar, number);
        bucket->lines++;
        bucket->writes = (uint16_t)(bucket->writes + writes);
        return number == asked
                   ? slot
                   : later(slot, time_of_last(calendar, number, bucket->lines));
}

uint64_t calendar_read_later(struct calendar *calendar, uint64_t slot)
{
        return take(calendar, slot, false, UINT32_MAX);
}

uint64_t calendar_write(struct calendar *calendar, uint64_t slot, uint32_t limit)
{
        return take(calendar, slot, true, limit);
}
