/* SPDX-License-Identifier: MIT */
/* The hypervisor's placement of the CPUs, by given and by measured round trips. */
#include "bounce.h"
#include "cpu_places.h"
#include "estimate.h"
#include "measure.h"
#include "modified.h"
#include "survey.h"
#include "unit_test.h"

static const int cpus[] = {0, 1, 2};

/* Adds a reading of two pairs, each pair on two cores. */
static size_t add(struct places *places, double seconds, double first, double second)
{
        const struct bounce bounces[] = {{first, 1}, {second, 1}};
        size_t reading = places_add(places, seconds, bounces, 2);
        assert_true(reading != PLACES_UNREAD);
        return reading;
}

static bool is_apart(const struct places *places, size_t reading)
{
        return places_of(places, reading) == PLACE_APART;
}

/* The first reading is known to be apart only once the CPUs have been near. */
TEST(what_is_far_is_known_later)
{
        struct places *places = places_new(cpus, 3);
        size_t early = add(places, 0, 290, 60);
        assert_false(is_apart(places, early));
        size_t near = add(places, 1, 50, 61);
        assert_true(is_apart(places, early));
        assert_false(is_apart(places, near));
        assert_false(is_apart(places, add(places, 2, 75, 58)));
        assert_false(is_apart(places, PLACES_UNREAD));
        places_free(places);
}

/* CPUs 1 and 2 are in different sockets by nature: not apart for that. */
TEST(a_pair_is_compared_with_itself)
{
        struct places *places = places_new(cpus, 3);
        for (int i = 0; i < 10; i++)
                assert_false(is_apart(places, add(places, i, 50 + i, 300 - i)));
        assert_true(is_apart(places, add(places, 10, 50, 700)));
        struct places_pair far = places_pair(places, 1);
        assert_int_equal(far.cpu, 1);
        assert_int_equal(far.next, 2);
        assert_true(far.nearest_ns == 291 && far.apart_ns == 700);
        struct places_pair near = places_pair(places, 0);
        assert_true(near.nearest_ns == 50 && isnan(near.apart_ns));
        assert_true(near.apart_share == 0);
        places_free(places);
}

/* Many readings while CPUs wait, few while they work: 30 s of 40 near. */
TEST(the_share_is_of_time)
{
        struct places *places = places_new(cpus, 2);
        const struct bounce near = {50, 1}, apart = {290, 1};
        places_add(places, 0, &near, 1);
        places_add(places, 30, &near, 1);
        for (int i = 1; i <= 1000; i++)
                places_add(places, 30 + i * 0.01, &apart, 1);
        struct places_pair pair = places_pair(places, 0);
        assert_true(fabs(pair.apart_share - 0.25) < 1e-9);
        assert_true(pair.apart_ns == 290);
        places_free(places);
}

/* A reading of fewer CPUs, or a disturbed one, is no evidence about a pair. */
TEST(unknown_is_not_apart)
{
        struct places *places = places_new(cpus, 3);
        const struct bounce one = {50, 1}, unknown = {NAN, NAN};
        assert_false(is_apart(places, add(places, 0, NAN, NAN)));
        assert_true(isnan(places_pair(places, 0).nearest_ns));
        assert_false(is_apart(places, places_add(places, 1, &one, 1)));
        assert_false(is_apart(places, places_add(places, 2, &unknown, 1)));
        assert_true(is_apart(places, add(places, 3, 290, NAN)));
        struct places_pair pair = places_pair(places, 0);
        assert_true(pair.nearest_ns == 50 && pair.apart_share == 1);
        places_free(places);
}

/* A machine of 50 ns with a shared cache and 290 without; a mesh of one socket. */
TEST(cores_without_a_common_cache_are_far)
{
        assert_false(places_far(50, 14));
        assert_true(places_far(290, 14));
        assert_false(places_far(130, 25));
        assert_false(places_far(290, NAN));
        assert_false(places_far(NAN, 14));
}

/* CPUs that move during a stay were not together all the time. */
TEST(a_stay_is_together_from_begin_to_end)
{
        struct survey survey = {.places = places_new(cpus, 2)};
        const struct bounce near = {50, 1}, apart = {290, 1};
        size_t together = places_add(survey.places, 0, &near, 1);
        size_t away = places_add(survey.places, 1, &apart, 1);
        assert_true(survey_stayed(&survey, &(struct stay){together, together}));
        assert_false(survey_stayed(&survey, &(struct stay){together, away}));
        assert_false(survey_stayed(&survey, &(struct stay){away, together}));
        assert_false(survey_stayed(&survey, &(struct stay){away, away}));
        assert_true(survey_stayed(&survey, &(struct stay){PLACES_UNREAD, PLACES_UNREAD}));
        places_free(survey.places);
        survey.places = NULL; /* CPUs that nobody moves */
        assert_true(survey_stayed(&survey, &(struct stay){0, 1}));
}

/* As measured on an EPYC of family 26. On one core a round trip took 44 to 55 ns, and
 * additions took 1.38 to 1.58 times as long beside the other CPU's. On two cores with one
 * L3 it took 79 to 102 ns, with two L3s 350 to 410. The round trip alone would not
 * separate the first two cases. */
static const struct bounce one_core = {44, 1.4}, two_cores = {92, 1},
                           no_cache = {390, 1.01}, other_one_core = {54, 1.58};

TEST(one_core_is_told_by_its_units)
{
        struct places *places = places_new(cpus, 2);
        size_t first = places_add(places, 0, &one_core, 1);
        assert_int_equal(places_of(places, first), PLACE_TOGETHER); /* known so far */
        assert_false(places_pair(places, 0).always_one_core); /* one reading is too few */
        for (size_t i = 0; i < 4; i++)
                places_add(places, 0, &one_core, 1);
        assert_true(places_pair(places, 0).always_one_core);
        assert_true(places_pair(places, 0).nearest_ns == 44);
        size_t two = places_add(places, 1, &two_cores, 1);
        size_t far = places_add(places, 3, &no_cache, 1);
        size_t other = places_add(places, 4, &other_one_core, 1);
        assert_int_equal(places_of(places, first), PLACE_ONE_CORE);
        assert_int_equal(places_of(places, two), PLACE_TOGETHER);
        assert_int_equal(places_of(places, far), PLACE_APART);
        assert_int_equal(places_of(places, other), PLACE_ONE_CORE);
        /* Other programs slow additions too, but not the round trip. */
        const struct bounce busy = {95, 1.6};
        assert_int_equal(places_of(places, places_add(places, 4, &busy, 1)),
                         PLACE_TOGETHER);
        /* The other CPU was busy: the pair may be on one core or on two. */
        const struct bounce unknown = {50, NAN}, none = {NAN, NAN};
        assert_int_equal(places_of(places, places_add(places, 4, &unknown, 1)),
                         PLACE_ONE_CORE);
        assert_int_equal(places_of(places, places_add(places, 4, &none, 1)),
                         PLACE_TOGETHER);
        struct places_pair pair = places_pair(places, 0);
        assert_false(pair.always_one_core);
        assert_true(pair.nearest_ns == 92 && pair.apart_ns == 390);
        assert_true(pair.one_core_ns == 44);
        assert_true(fabs(pair.apart_share - 0.5) < 1e-9);
        assert_true(fabs(pair.one_core_share - 0.25) < 1e-9);
        places_free(places);
}

/* A visit to each location in turn, with measured times of modified lines. */
TEST(visits_to_each_place_are_kept_apart)
{
        enum { VISITS = 60 };
        static const struct {
                const struct bounce *bounce;
                double ns;
        } seen[] = {{&one_core, 4.9}, {&two_cores, 22.4}, {&no_cache, 123}};
        static struct visits visits;
        struct survey survey = {.places = places_new(cpus, 2)};
        for (size_t i = 0; i < VISITS; i++) {
                size_t before =
                    places_add(survey.places, (double)i, seen[i % 3].bounce, 1);
                size_t after =
                    places_add(survey.places, (double)i + 0.5, seen[i % 3].bounce, 1);
                visits.visits[i].value = seen[i % 3].ns + 0.001 * (double)i;
                visits.stays[i] = (struct stay){before, after};
        }
        /* During this visit the CPUs moved to one core. */
        visits.visits[VISITS].value = 9;
        visits.stays[VISITS] =
            (struct stay){visits.stays[1].before, visits.stays[0].after};
        visits.count = VISITS + 1;
        static const enum place places[] = {PLACE_ONE_CORE, PLACE_TOGETHER, PLACE_APART};
        for (size_t i = 0; i < 3; i++) {
                struct series series;
                survey_read_visits(&survey, &visits, places[i], &series);
                assert_int_equal(series.count, VISITS / 3);
                assert_true(fabs(series_estimate(&series).value - seen[i].ns) < 0.1);
        }
        places_free(survey.places);
}

/* While the hypervisor has CPUs 1 and 2 on one core, nothing is known of 0 and 2. */
TEST(a_place_of_other_pairs_tells_nothing_of_this_one)
{
        enum { VISITS = 20 };
        static struct visits beyond, next;
        struct survey survey = {.places = places_new(cpus, 3)};
        const struct bounce between_two[] = {two_cores, two_cores};
        const struct bounce last_on_one[] = {two_cores, one_core};
        const struct bounce first_on_one[] = {one_core, two_cores};
        places_add(survey.places, 0, between_two, 2);
        for (size_t i = 0; i < VISITS; i++) {
                size_t last = places_add(survey.places, 1, last_on_one, 2);
                size_t first = places_add(survey.places, 2, first_on_one, 1);
                beyond.stays[i] = (struct stay){last, last};
                next.stays[i] = (struct stay){first, first};
                beyond.visits[i].value = next.visits[i].value = 20 + 0.01 * (double)i;
        }
        beyond.count = next.count = VISITS;
        assert_int_equal(survey_place(&survey, &beyond.stays[0]), PLACE_ONE_CORE);
        assert_true(isnan(survey_value_in(&survey, &beyond, 2, PLACE_ONE_CORE)));
        assert_true(fabs(survey_value_in(&survey, &next, 1, PLACE_ONE_CORE) - 20) < 0.2);
        assert_true(isnan(survey_value_in(&survey, &next, 1, PLACE_APART)));
        places_free(survey.places);
}

/* If others use all of L3, L2 separates far from near, as seen on an EPYC of family
 * 26. */
TEST(without_a_third_level_the_second_tells)
{
        assert_true(places_cache_ns(13.3, 0.02, 3.7) == 13.3);
        assert_true(places_far(416, places_cache_ns(NAN, NAN, 3.7)));
        assert_false(places_far(96, places_cache_ns(NAN, NAN, 3.7)));
        /* L3 was visited once, or its visits differ. */
        assert_true(places_far(369, places_cache_ns(52, NAN, 3.7)));
        assert_true(places_far(369, places_cache_ns(52, 0.4, 3.7)));
        assert_false(places_far(416, places_cache_ns(NAN, NAN, NAN))); /* none is known */
}

/* More readings than the first allocation holds. */
TEST(all_readings_are_kept)
{
        struct places *places = places_new(cpus, 3);
        for (int i = 0; i < 1000; i++)
                add(places, i, i % 3 ? 40 : 100, 100);
        for (size_t i = 0; i < 1000; i++)
                assert_int_equal(is_apart(places, i), i % 3 == 0);
        places_free(places);
}

/* Two transfers of a line from core to core take longer than a load from L1. */
TEST(a_line_takes_its_time)
{
        struct cpu_list list;
        struct diag diag;
        assert_ok(cpu_list_read(&list, &diag));
        if (list.count < 2) {
                cpu_list_free(&list);
                skip_test("round trips were not measured: one CPU only");
        }
        struct bounce *bounces = calloc(list.count, sizeof(*bounces));
        assert_non_null(bounces);
        assert_int_equal(bounce_lines(list.cpus, list.count, bounces, &diag), 0);
        for (size_t i = 0; i + 1 < list.count; i++) {
                assert_true(isnan(bounces[i].ns) || bounces[i].ns > 1);
                assert_true(isnan(bounces[i].slowdown) || bounces[i].slowdown > 0);
        }
        free(bounces);
        cpu_list_free(&list);
}

/* One load of a line modified by the other CPU is one way; two make a round trip. */
TEST(a_modified_line_takes_half_a_round_trip)
{
        enum { ROUNDS = 100, TRIES = 20 };
        struct cpu_list list;
        struct diag diag;
        bool agrees = false, ran = false;
        assert_ok(cpu_list_read(&list, &diag));
        for (int i = 0; list.count >= 2 && i < TRIES && !agrees; i++) {
                struct modified_round rounds[ROUNDS];
                double ns[ROUNDS];
                struct bounce bounce;
                size_t finished;
                assert_int_equal(bounce_lines(list.cpus, 2, &bounce, &diag), 0);
                assert_ok(cpu_pin(list.cpus[0], &diag));
                assert_ok(modified_lines(list.cpus[1], rounds, ROUNDS, &finished, &diag));
                for (size_t k = 0; k < finished; k++)
                        ns[k] = rounds[k].ns;
                ran |= finished == ROUNDS && !isnan(bounce.ns);
                agrees = finished == ROUNDS &&
                         estimate_of(ns, ROUNDS).value <= 1.1 * bounce.ns / 2 &&
                         estimate_of(ns, ROUNDS).value > 2;
        }
        cpu_list_free(&list);
        if (!ran)
                skip_test("no two CPUs ran at the same time");
        assert_true(agrees);
}

TEST(a_cpu_that_is_not_there_is_told)
{
        const int none[] = {0, 100000};
        struct bounce bounce;
        struct diag diag;
        assert_true(bounce_lines(none, 2, &bounce, &diag) < 0);
        assert_non_null(strstr(diag.text, "cannot start a thread"));
        size_t finished;
        assert_true(modified_lines(100000, NULL, 0, &finished, &diag) < 0);
        assert_non_null(strstr(diag.text, "cannot start a thread on CPU 100000"));
}
