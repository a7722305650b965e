/* SPDX-License-Identifier: MIT */
/* Keeps all readings, because what is far is known only when the CPUs have been near. */
#include "places.h"

#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "bounce.h"
#include "clock.h"
#include "estimate.h"

/* Round trips of one place differ by up to 1.7 times (45 to 75 ns through a shared
 * cache); those of two places by more (280 to 330 where there is none). */
static const double APART_FACTOR = 2;

/* Through a shared third-level cache four to six of its loads were measured, without one
 * twenty. */
static const double FAR_FACTOR = 8;

/* Processors of Intel have about so much, those of AMD less: 3.3 to 4. */
static const double THIRD_FACTOR = 5;

/* Of a latency to compare round trips with. */
static const double THIRD_ERROR_LIMIT = 0.25;

struct places {
        const int *cpus;
        size_t pairs;
        size_t count;       /* readings */
        double *seconds;    /* of each reading, by the clock */
        double *ns;         /* of each reading and pair; NAN: unknown */
        double *nearest_ns; /* of each pair; NAN: never read */
        size_t seconds_room, ns_room;
};

struct places *places_new(const int *cpus, size_t count)
{
        struct places *places = calloc(1, sizeof(*places));
        if (!places)
                return NULL;
        *places = (struct places){.cpus = cpus, .pairs = count - 1};
        places->nearest_ns = calloc(count, sizeof(*places->nearest_ns));
        if (!places->nearest_ns) {
                free(places);
                return NULL;
        }
        for (size_t i = 0; i < places->pairs; i++)
                places->nearest_ns[i] = NAN;
        return places;
}

void places_free(struct places *places)
{
        if (!places)
                return;
        free(places->seconds);
        free(places->ns);
        free(places->nearest_ns);
        free(places);
}

size_t places_add(struct places *places, double seconds, const double *ns, size_t count)
{
        if (array_reserve(&places->seconds, &places->seconds_room, places->count,
                          sizeof(*places->seconds)) != 0 ||
            array_reserve(&places->ns, &places->ns_room, places->count,
                          (places->pairs + 1) * sizeof(*places->ns)) != 0)
                return PLACES_UNREAD;
        double *row = places->ns + places->count * places->pairs;
        for (size_t i = 0; i < places->pairs; i++) {
                row[i] = i < count ? ns[i] : NAN;
                places->nearest_ns[i] = fmin(places->nearest_ns[i], row[i]);
        }
        places->seconds[places->count] = seconds;
        return places->count++;
}

int places_read(struct places *places, size_t count, size_t *reading, struct diag *diag)
{
        double *ns = calloc(count, sizeof(*ns));
        if (!ns)
                return diag_no_memory(diag);
        int rc = bounce_lines(places->cpus, count, ns, diag);
        if (rc == 0)
                *reading = places_add(places, clock_seconds(), ns, count - 1);
        free(ns);
        return rc == 0 && *reading == PLACES_UNREAD ? diag_no_memory(diag) : rc;
}

static bool is_apart(const struct places *places, size_t reading, size_t pair)
{
        return places->ns[reading * places->pairs + pair] >
               APART_FACTOR * places->nearest_ns[pair];
}

bool places_apart(const struct places *places, size_t reading)
{
        for (size_t pair = 0; reading != PLACES_UNREAD && pair < places->pairs; pair++)
                if (is_apart(places, reading, pair))
                        return true;
        return false;
}

bool places_far(double ns, double cache_ns)
{
        return ns > FAR_FACTOR * cache_ns;
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

/* The median of the PAIR's round trips while apart. */
static double apart_ns(const struct places *places, size_t pair)
{
        double *ns = calloc(places->count + 1, sizeof(*ns)), median = NAN;
        size_t count = 0;
        for (size_t i = 0; ns && i < places->count; i++)
                if (is_apart(places, i, pair))
                        ns[count++] = places->ns[i * places->pairs + pair];
        if (count > 0) {
                estimate_sort(ns, count);
                median = ns[count / 2];
        }
        free(ns);
        return median;
}

/* Readings are not evenly spread over the time; each speaks for that since the one before
 * of its pair. */
static double apart_share(const struct places *places, size_t pair)
{
        double before = NAN, all = 0, apart = 0;
        for (size_t i = 0; i < places->count; i++) {
                if (isnan(places->ns[i * places->pairs + pair]))
                        continue;
                double seconds = isnan(before) ? 0 : places->seconds[i] - before;
                all += seconds;
                apart += is_apart(places, i, pair) ? seconds : 0;
                before = places->seconds[i];
        }
        return all > 0 ? apart / all : 0;
}

struct places_pair places_pair(const struct places *places, size_t pair)
{
        return (struct places_pair){
            .cpu = places->cpus[pair],
            .next = places->cpus[pair + 1],
            .nearest_ns = places->nearest_ns[pair],
            .apart_ns = apart_ns(places, pair),
            .apart_share = apart_share(places, pair),
        };
}
