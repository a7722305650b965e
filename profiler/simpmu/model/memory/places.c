/* SPDX-License-Identifier: MIT */
/* The cold half of places.h. */
#include "places.h"

#define NO_TIME UINT64_MAX

void places_init(struct places *places, uint32_t count, uint32_t outstanding)
{
        const uint32_t mask = UINT32_MAX >> __builtin_clz(count + outstanding);

        places->count = count;
        places->mask = mask < PLACES_ROOM ? mask : PLACES_ROOM - 1;
        places_clear(places);
}

void places_clear(struct places *places)
{
        places->number = 0;
        places->room_until = NO_TIME;
        places->full_from = places->full_until = 0;
        for (uint32_t i = 0; i <= places->mask; i++)
                places->begins[i] = places->ends[i] = 0;
}

static uint64_t begin_of(const struct places *places, uint64_t number)
{
        return places->begins[number & places->mask];
}

static uint64_t end_of(const struct places *places, uint64_t number)
{
        return places->ends[number & places->mask];
}

/* A position in the sorted times of the requests, with the counts of begun and ended
 * requests. The difference of the two counts is the number of places taken. */
struct walk {
        uint64_t ended;
        uint64_t begun;
};

static struct walk walk_from(const struct places *places, uint64_t time)
{
        struct walk walk = {places->number, places->number};

        while (walk.ended != places->number - places->mask &&
               end_of(places, walk.ended - 1) > time)
                walk.ended--;
        while (walk.begun > walk.ended && begin_of(places, walk.begun - 1) > time)
                walk.begun--;
        return walk;
}

uint64_t places_taken(const struct places *places, uint64_t time)
{
        const struct walk walk = walk_from(places, time);

        return walk.begun - walk.ended;
}

/* The first stretch from START on that has a place for LEAST, and until END_AT_LEAST.
 * Sets ROOM_UNTIL, and in FREE_FROM when a place is free at all, which it is not where
 * one request begins as another ends. */
static uint64_t find_gap(struct places *places, uint64_t start, uint64_t least,
                         uint64_t end_at_least, uint64_t *free_from)
{
        const uint64_t count = places->count, number = places->number;
        struct walk walk = walk_from(places, start);
        uint64_t from = walk.begun - walk.ended < count ? start : NO_TIME;

        *free_from = NO_TIME;
        while (walk.begun != number) {
                uint64_t begin = begin_of(places, walk.begun);
                uint64_t end = end_of(places, walk.ended);
                if (end <= begin && walk.ended != walk.begun) {
                        walk.ended++;
                        if (from == NO_TIME && walk.begun - walk.ended < count)
                                from = end;
                        continue;
                }
                if (from < begin)
                        *free_from = from < *free_from ? from : *free_from;
                walk.begun++;
                if (walk.begun - walk.ended < count)
                        continue;
                if (from != NO_TIME && begin - from >= least && begin >= end_at_least) {
                        places->room_until = begin;
                        break;
                }
                from = NO_TIME;
        }
        if (from == NO_TIME)
                from = end_of(places, number - count);
        *free_from = from < *free_from ? from : *free_from;
        return from;
}

/* No place is free from FROM to UNTIL. */
static void note_full(struct places *places, uint64_t from, uint64_t until)
{
        if (from >= until)
                return;
        if (from > places->full_until || until < places->full_from) {
                places->full_from = from;
                places->full_until = until;
                return;
        }
        places->full_from = from < places->full_from ? from : places->full_from;
        places->full_until = until > places->full_until ? until : places->full_until;
}

uint64_t places_wait(struct places *places, uint64_t start, uint64_t least, uint64_t end)
{
        const bool in_full = start >= places->full_from && start < places->full_until;
        const uint64_t oldest = end_of(places, places->number);
        const uint64_t last = end_of(places, places->number - places->count);
        uint64_t from = in_full ? places->full_until : start;
        uint64_t begin, free_from;

        from = from > oldest ? from : oldest;
        places->room_until = NO_TIME;
        if (last <= from) /* the last possible obstacle */
                begin = free_from = from;
        else if (begin_of(places, places->number - 1) <= from)
                begin = free_from = last;
        else
                begin = find_gap(places, from, least, end, &free_from);
        note_full(places, start, free_from);
        return begin;
}
