/* SPDX-License-Identifier: MIT */
/* Stores all readings: whether CPUs were apart is known only after they were close once.
 */
#include "cpu_places.h"

#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "bounce.h"
#include "elapsed.h"
#include "estimate.h"
#include "reported.h"

/* Round trips in one place differ by up to 1.3 times (79 to 102 ns through a shared
 * cache), in different places by more (350 to 410 ns without a shared cache). */
static const double APART_FACTOR = 2;

/* Slowdown on one core: 1.38 to 1.58. On two cores: 1.00, rarely 1.17, but more while
 * others use a CPU. */
static const double ONE_CORE_SLOWDOWN = 1.2;

/* Relative to the least round trip between two cores: on one core, a line may stay in L1
 * (44 to 55 ns, compared with 79 ns). */
static const double ONE_CORE_PART = 0.8;

/* With so many slowed readings, a pair is never on two cores. */
enum { READINGS_MIN = 5 };

/* Ratio of a round trip to a load of the third-level cache: four to six if shared, twenty
 * if not. */
static const double FAR_FACTOR = 8;

/* Limit on the ratio of third-level to second-level latency: about 5 on Intel CPUs, 3.3
 * to 4 on AMD CPUs. */
static const double THIRD_FACTOR = 5;

/* Error limit of a latency that round trips are compared with. */
static const double THIRD_ERROR_LIMIT = 0.25;

struct places {
        const int *cpus;
        size_t pairs;
        size_t count;           /* number of readings */
        double *seconds;        /* time of each reading */
        struct bounce *bounces; /* of each reading and pair; NAN: unknown */
        struct known *known;    /* of each pair */
        size_t seconds_room, bounces_room;
};

/* Summary of all readings of a pair. */
struct known {
        double nearest_ns; /* among readings on two cores; NAN: none */
        double least_ns;   /* among all readings */
        size_t slowed;     /* number of readings with slowed additions */
};

struct places *places_new(const int *cpus, size_t count)
{
        struct places *places = calloc(1, sizeof(*places));
        if (!places)
                return NULL;
        *places = (struct places){.cpus = cpus, .pairs = count - 1};
        places->known = calloc(count, sizeof(*places->known));
        if (!places->known) {
                free(places);
                return NULL;
        }
        for (size_t i = 0; i < places->pairs; i++)
                places->known[i] = (struct known){NAN, NAN, 0};
        return places;
}

void places_free(struct places *places)
{
        if (!places)
                return;
        free(places->seconds);
        free(places->bounces);
        free(places->known);
        free(places);
}

static void learn(struct known *known, const struct bounce *bounce)
{
        known->least_ns = fmin(known->least_ns, bounce->ns);
        if (bounce->slowdown > ONE_CORE_SLOWDOWN)
                known->slowed++;
        else if (!isnan(bounce->slowdown))
                known->nearest_ns = fmin(known->nearest_ns, bounce->ns);
}

size_t places_add(struct places *places, double seconds, const struct bounce *bounces,
                  size_t count)
{
        if (array_reserve(&places->seconds, &places->seconds_room, places->count,
                          sizeof(*places->seconds)) != 0 ||
            array_reserve(&places->bounces, &places->bounces_room, places->count,
                          (places->pairs + 1) * sizeof(*places->bounces)) != 0)
                return PLACES_UNREAD;
        struct bounce *row = places->bounces + places->count * places->pairs;
        for (size_t i = 0; i < places->pairs; i++) {
                row[i] = i < count ? bounces[i] : (struct bounce){NAN, NAN};
                learn(&places->known[i], &row[i]);
        }
        places->seconds[places->count] = seconds;
        return places->count++;
}

int places_read(struct places *places, size_t count, size_t *reading, struct diag *diag)
{
        struct bounce *bounces = calloc(count, sizeof(*bounces));
        if (!bounces)
                return diag_no_memory(diag);
        int rc = bounce_lines(places->cpus, count, bounces, diag);
        if (rc == 0)
                *reading = places_add(places, clock_seconds(), bounces, count - 1);
        free(bounces);
        return rc == 0 && *reading == PLACES_UNREAD ? diag_no_memory(diag) : rc;
}

static const struct bounce *bounce_of(const struct places *places, size_t reading,
                                      size_t pair)
{
        return &places->bounces[reading * places->pairs + pair];
}

/* A pair that is always on one core is so by design. */
static double nearest_of(const struct known *known)
{
        return isnan(known->nearest_ns) ? known->least_ns : known->nearest_ns;
}

/* If the slowdown is unknown because something else used a CPU, the round trip decides.
 */
static enum place place_of(const struct places *places, size_t reading, size_t pair)
{
        const struct bounce *bounce = bounce_of(places, reading, pair);
        const struct known *known = &places->known[pair];
        if (!(bounce->slowdown <= ONE_CORE_SLOWDOWN) &&
            bounce->ns < ONE_CORE_PART * known->nearest_ns)
                return PLACE_ONE_CORE;
        return bounce->ns > APART_FACTOR * nearest_of(known) ? PLACE_APART
                                                             : PLACE_TOGETHER;
}

enum place places_of(const struct places *places, size_t reading)
{
        enum place farthest = PLACE_TOGETHER;
        for (size_t pair = 0; reading != PLACES_UNREAD && pair < places->pairs; pair++) {
                enum place place = place_of(places, reading, pair);
                farthest = place > farthest ? place : farthest;
        }
        return farthest;
}

bool places_far(double ns, double cache_ns)
{
        return ns > FAR_FACTOR * cache_ns;
}

bool places_stay_far(const struct places_pair *pair, double cache_ns)
{
        return isnan(pair->apart_ns) && places_far(pair->nearest_ns, cache_ns) &&
               reported_shared_cache(pair->cpu, pair->next);
}

double places_cache_ns(double third_ns, double third_error, double second_ns)
{
        bool known = !isnan(third_ns) && third_error <= THIRD_ERROR_LIMIT;
        return known ? third_ns : THIRD_FACTOR * second_ns;
}

size_t places_pairs(const struct places *places)
{
        return places->pairs;
}

/* The median round trip of PAIR in PLACE. */
static double median_ns(const struct places *places, size_t pair, enum place place)
{
        double *ns = calloc(places->count + 1, sizeof(*ns)), median = NAN;
        size_t count = 0;
        for (size_t i = 0; ns && i < places->count; i++)
                if (!isnan(bounce_of(places, i, pair)->ns) &&
                    place_of(places, i, pair) == place)
                        ns[count++] = bounce_of(places, i, pair)->ns;
        if (count > 0) {
                estimate_sort(ns, count);
                median = ns[count / 2];
        }
        free(ns);
        return median;
}

/* Readings are unevenly spaced: each represents the time since the previous reading of
 * its pair. */
static double share_of(const struct places *places, size_t pair, enum place place)
{
        double before = NAN, all = 0, there = 0;
        for (size_t i = 0; i < places->count; i++) {
                if (isnan(bounce_of(places, i, pair)->ns))
                        continue;
                double seconds = isnan(before) ? 0 : places->seconds[i] - before;
                all += seconds;
                there += place_of(places, i, pair) == place ? seconds : 0;
                before = places->seconds[i];
        }
        return all > 0 ? there / all : 0;
}

struct places_pair places_pair(const struct places *places, size_t pair)
{
        const struct known *known = &places->known[pair];
        return (struct places_pair){
            .cpu = places->cpus[pair],
            .next = places->cpus[pair + 1],
            .nearest_ns = nearest_of(known),
            .apart_ns = median_ns(places, pair, PLACE_APART),
            .one_core_ns = median_ns(places, pair, PLACE_ONE_CORE),
            .apart_share = share_of(places, pair, PLACE_APART),
            .one_core_share = share_of(places, pair, PLACE_ONE_CORE),
            .always_one_core = known->slowed >= READINGS_MIN && isnan(known->nearest_ns),
        };
}
