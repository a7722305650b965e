/* SPDX-License-Identifier: MIT */
/* Runs a calibration: describes the machine, runs the survey, and judges the result. The
 * survey measures. */
#include "calibrate.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conditions.h"
#include "elapsed.h"
#include "host_preset.h"
#include "knee_note.h"
#include "left_out_note.h"
#include "places_note.h"
#include "prefetchers.h"
#include "reported.h"
#include "survey.h"

/* Suffix of the file that holds the prefetchers' original settings while they are off. */
static const char prefetchers_suffix[] = ".prefetchers";

/* A larger error makes the result doubtful. */
static const double ERROR_LIMIT = 0.05;

/* After this time, only figures with too few visits are measured: the calibration then
 * ends within 30 seconds, or four minutes, even on a busy machine. */
static const double QUICK_SECONDS = 15, FULL_SECONDS = 195;

/* After this time, figures with too few visits are left out. The remaining time is for
 * steps that cannot be interrupted. */
static const double QUICK_LAST_SECONDS = 24, FULL_LAST_SECONDS = 220;

static json_t *machine_json(const struct machine_identity *identity)
{
        return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:I, s:b}", "key",
                         identity->key, "vendor", identity->vendor, "cpu", identity->cpu,
                         "family", (int)identity->family, "model", (int)identity->model,
                         "stepping", (int)identity->stepping, "cpus", (int)identity->cpus,
                         "memory_bytes", (json_int_t)identity->memory_bytes, "virtual",
                         identity->is_virtual);
}

/* Repeats the measurement under load without prefetchers, if they can be switched off:
 * only then do threads and delay control the bandwidth finely (H20). */
static int measure_without_prefetching(struct survey *survey,
                                       const struct machine_identity *identity,
                                       json_t *document, struct diag *diag)
{
        json_t *conditions = json_object_get(document, "conditions");
        struct prefetchers *prefetchers;
        struct diag reason;
        if (strcmp(identity->vendor, "GenuineIntel") != 0) {
                conditions_add(conditions, "prefetchers-on",
                               "they can be switched on Intel's CPUs only: bandwidth and "
                               "latency under load are with them");
                return 0;
        }
        char *state = calibration_path(identity, prefetchers_suffix, diag);
        if (!state)
                return -ENOMEM;
        if (prefetchers_off(PREFETCHERS_DEVICES, state, survey->cpus.cpus,
                            survey->cpus.count, &prefetchers, &reason) < 0) {
                free(state);
                conditions_add(conditions, "prefetchers-on",
                               "%s; bandwidth and latency under load are with them",
                               reason.text);
                return 0;
        }
        int rc = survey_run_loaded(survey, document, "loaded_without_prefetching", diag);
        int restored = prefetchers_restore(prefetchers, &reason);
        free(state);
        if (restored < 0) {
                *diag = reason;
                rc = restored;
        }
        return rc;
}

static void set_noise(const struct survey *survey, json_t *document, double seconds)
{
        json_t *conditions = json_object_get(document, "conditions");
        if (isnan(survey->worst_error))
                conditions_add(conditions, "noisy",
                               "the worst error is unknown: there was time for fewer "
                               "than 3 visits to %s; repeat when the machine is quiet",
                               survey->worst_figure);
        else if (survey->worst_error > ERROR_LIMIT)
                conditions_add(conditions, "noisy",
                               "the widest confidence interval, of %s, is %.0f %% of its "
                               "value on either side; repeat when the machine is quiet",
                               survey->worst_figure, 100 * survey->worst_error);
        left_out_note(survey, conditions);
        if (survey->hurried > 0)
                conditions_add(
                    conditions, "out-of-time",
                    "%llu %s had to do with a few rounds, or with none, because "
                    "the %.0f s for more were over: this machine is busy, "
                    "slow or large",
                    (unsigned long long)survey->hurried,
                    survey->hurried == 1 ? "estimate" : "estimates", survey->seconds);
        json_object_set_new(
            document, "noise",
            json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:f}", "worst_error",
                      survey_number(survey->worst_error), "worst_figure",
                      survey->worst_figure, "rounds", (json_int_t)survey->rounds,
                      "disturbed_rounds", (json_int_t)survey->disturbed, "estimates",
                      (json_int_t)survey->estimates, "disturbed_estimates",
                      (json_int_t)survey->unclean, "seconds", seconds));
}

/* Sets the survey's memory limit; -ENOMEM if it is too small. */
static int check_memory(struct survey *survey, struct diag *diag)
{
        survey->memory_bytes = conditions_memory_bytes(survey->cpus.count);
        survey->data_bytes = survey_data_bytes(survey->memory_bytes);
        survey->reaches_memory = survey_reaches_memory(survey->data_bytes);
        if (survey->memory_bytes >= SURVEY_MEMORY_MIN)
                return 0;
        return diag_set(diag, -ENOMEM,
                        "%llu MiB of memory may be used here and at least %llu are "
                        "needed: end other programs, or raise the limit of the cgroup or "
                        "of 'ulimit -v'",
                        (unsigned long long)survey->memory_bytes >> 20,
                        (unsigned long long)SURVEY_MEMORY_MIN >> 20);
}

/* Whether this process gets huge pages; true if the kernel does not report them. */
static bool has_huge_pages(void)
{
        enum { PROBE_BYTES = 8 << 20 };
        struct buffer buffer;
        struct diag diag;
        if (buffer_map(PROBE_BYTES, PAGES_HUGE, -1, &buffer, &diag) < 0)
                return false;
        memset(buffer.addr, 1, buffer.bytes);
        bool given = buffer_huge_bytes(&buffer) != 0;
        buffer_unmap(&buffer);
        return given;
}

/* Also works if time was too short to measure memory, which records huge pages. */
static bool lacks_huge_pages(const json_t *document)
{
        size_t index;
        json_t *node;
        json_array_foreach(json_object_get(document, "memory"), index, node)
        {
                if (!json_is_true(json_object_get(node, "huge_pages")))
                        return true;
        }
        return !has_huge_pages();
}

/* Adds limits that appeared during the measurement. */
static void add_found_conditions(const struct survey *survey,
                                 const struct interference *interference,
                                 json_t *document)
{
        json_t *conditions = json_object_get(document, "conditions");
        uint64_t wanted = survey_data_bytes(UINT64_MAX);
        if (!survey->reaches_memory)
                conditions_add(conditions, "little-memory",
                               "%llu MiB of memory could be used, too few to tell memory "
                               "from the last cache: both their latencies, memory's "
                               "bandwidth, and the latency under load are not measured",
                               (unsigned long long)survey->memory_bytes >> 20);
        else if (survey->data_bytes < wanted)
                conditions_add(conditions, "little-memory",
                               "%llu MiB of memory could be used, so memory was measured "
                               "with %llu MiB of data instead of %llu: some of its loads "
                               "hit the last cache",
                               (unsigned long long)survey->memory_bytes >> 20,
                               (unsigned long long)survey->data_bytes >> 20,
                               (unsigned long long)wanted >> 20);
        if (lacks_huge_pages(document))
                conditions_add(conditions, "no-huge-pages",
                               "the data was on pages of 4 KiB: latency of caches beyond "
                               "the TLB's reach and of memory has TLB misses in it");
        knee_note(document, conditions);
        places_note(survey->places, document);
        conditions_add_interference(conditions, interference);
        no_host_note(document, conditions);
}

/* Adds facts known before the measurement. */
static void describe(bool quick, const struct machine_identity *identity, size_t cpus,
                     json_t *document)
{
        char start[sizeof("2000-01-01T00:00:00Z")];
        struct tm utc;
        time_t now = time(NULL);
        strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
        json_object_set_new(document, "format", json_integer(CALIBRATION_FORMAT));
        json_object_set_new(document, "made", json_string(start));
        json_object_set_new(document, "memlag_version", json_string(MEMLAG_VERSION));
        json_object_set_new(document, "quick", json_boolean(quick));
        json_object_set_new(document, "machine", machine_json(identity));
        json_object_set_new(document, "conditions", conditions_find(cpus));
}

/* Finds the PMU events of CPU; missing ones stay NULL and give a note. */
static void find_events(int cpu, json_t *conditions, struct point_events **events,
                        struct sample_event **samples)
{
        struct diag reason;
        if (point_events_find(events, &reason) < 0)
                conditions_add(conditions, "no-pmu",
                               "%s; the LMRL at each load is not measured, and its "
                               "threshold is derived from the latency",
                               reason.text);
        else if (sample_event_find(cpu, samples, &reason) < 0)
                conditions_add(conditions, "no-samples",
                               "%s; the sampling latency at each load is not measured",
                               reason.text);
}

/* Only a hypervisor moves CPUs, and only several CPUs have places. */
static int watch_places(struct survey *survey, const struct machine_identity *identity,
                        struct diag *diag)
{
        if (!identity->is_virtual || survey->cpus.count < 2)
                return 0;
        survey->places = places_new(survey->cpus.cpus, survey->cpus.count);
        return survey->places ? 0 : diag_no_memory(diag);
}

int calibrate(bool quick, const struct machine_identity *identity, json_t *document,
              struct diag *diag)
{
        struct survey survey = {
            .private_bytes = reported_cache_bytes(2) / 2,
            .round_seconds = quick ? 0.0005 : 0.001,
            .sweep_visits = 2,
            .visits_min = quick ? 4 : 12,
            .error_aim = quick ? 0.02 : 0.01,
            .seconds = quick ? QUICK_SECONDS : FULL_SECONDS,
            .last_seconds = quick ? QUICK_LAST_SECONDS : FULL_LAST_SECONDS,
            .quick = quick,
            .idle = {.value = NAN},
            .progress = isatty(STDERR_FILENO),
        };
        double begin = clock_seconds();
        struct interference interference;
        /* An arena per thread would take 64 MiB of address space each; a limit on address
         * space then leaves less for the data. */
        mallopt(M_ARENA_MAX, 1);
        interference_begin(&interference);
        int rc = cpu_list_read(&survey.cpus, diag);
        if (rc < 0)
                return rc;
        rc = check_memory(&survey, diag);
        if (rc < 0) {
                cpu_list_free(&survey.cpus);
                return rc;
        }
        rc = watch_places(&survey, identity, diag);
        survey.left_out = json_array();
        survey.unvisited = json_array();
        survey.drifted = json_array();
        describe(quick, identity, survey.cpus.count, document);
        if (rc == 0)
                rc = cpu_pin(survey.cpus.cpus[0], diag);
        struct point_events *events = NULL;
        struct sample_event *samples = NULL;
        if (rc == 0)
                find_events(survey.cpus.cpus[0], json_object_get(document, "conditions"),
                            &events, &samples);
        survey.samples = samples;
        survey.events = events;
        if (rc == 0)
                rc = survey_run(&survey, document, diag);
        if (rc == 0)
                rc = measure_without_prefetching(&survey, identity, document, diag);
        if (rc == 0)
                add_found_conditions(&survey, &interference, document);
        set_noise(&survey, document, clock_seconds() - begin);
        json_decref(survey.drifted);
        json_decref(survey.unvisited);
        json_decref(survey.left_out);
        if (survey.progress)
                fputs("\r\033[K", stderr);
        sample_event_free(samples);
        point_events_free(events);
        places_free(survey.places);
        cpu_list_free(&survey.cpus);
        return rc;
}

int calibrate_recover(const struct machine_identity *identity, struct diag *diag)
{
        char *state = calibration_path(identity, prefetchers_suffix, diag);
        if (!state)
                return -ENOENT;
        int restored = prefetchers_recover(PREFETCHERS_DEVICES, state, diag);
        free(state);
        return restored;
}
