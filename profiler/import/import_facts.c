/* SPDX-License-Identifier: MIT */
/* Stores perf's description of itself and the machine in the tables run and machine
 * (doc/memlag-import.md). */
#include "import_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "words.h"

/* "Linux 6.1.0 x86_64", as a recording of memlag has it. */
static int set_kernel(struct db *db, const struct features *features, struct diag *diag)
{
        const char *release = features_text(features, "kernel");
        const char *architecture = features_text(features, "architecture");
        char *kernel;
        if (!*release)
                return 0;
        if (asprintf(&kernel, "Linux %s%s%s", release, *architecture ? " " : "",
                     architecture) < 0)
                return diag_no_memory(diag);
        int rc = db_run_set_text(db, "kernel", kernel, diag);
        free(kernel);
        return rc;
}

/* The wall clock at the base, where perf noted how both clocks stood (perf record -k). */
static int set_start(struct db *db, uint64_t base_time, const struct features *features,
                     struct diag *diag)
{
        char start[sizeof("2000-01-01T00:00:00Z")];
        struct tm utc;
        if (!features->has_clock)
                return 0;
        uint64_t start_ns = features->wall_clock_ns - features->clock_ns + base_time;
        time_t seconds = (time_t)(start_ns / 1000000000);
        if (!gmtime_r(&seconds, &utc) ||
            strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
                return 0;
        return db_run_set_text(db, "start", start, diag);
}

static int set_command(struct db *db, const struct features *features, struct diag *diag)
{
        if (!features->command)
                return 0;
        char *joined = words_join((const char *const *)features->command);
        if (!joined)
                return diag_no_memory(diag);
        int rc = db_run_set_text(db, "command", joined, diag);
        free(joined);
        return rc;
}

/* Stores the machine properties that perf recorded. */
int import_facts_machine(const struct perf_data *data, struct writer *writer,
                         struct diag *diag)
{
        const struct features *features = perf_data_features(data);
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < features->fact_count; i++) {
                const struct fact *fact = &features->facts[i];
                if (fact->unit)
                        rc = writer_machine(writer, fact->key, (double)fact->number,
                                            fact->unit, "the recording", diag);
        }
        return rc;
}

static int set_features(const struct perf_data *data, struct db *db, struct diag *diag)
{
        const struct features *features = perf_data_features(data);
        int rc = set_command(db, features, diag);
        for (size_t i = 0; rc == 0 && i < features->fact_count; i++) {
                const struct fact *fact = &features->facts[i];
                if (fact->unit)
                        continue;
                else if (fact->text)
                        rc = db_run_set_text(db, fact->key, fact->text, diag);
                else
                        rc = db_run_set_int(db, fact->key, fact->number, diag);
        }
        if (rc == 0)
                rc = set_kernel(db, features, diag);
        return rc;
}

/* Their names, as in "cycles:u, mem-loads". */
static int set_events(const struct perf_data *data, struct db *db, struct diag *diag)
{
        const struct events *events = perf_data_events(data);
        char *names = NULL;
        size_t size;
        FILE *out = open_memstream(&names, &size);
        if (!out)
                return diag_no_memory(diag);
        for (size_t i = 0; i < events->count; i++) {
                const struct perf_data_event *event = events->items[i];
                if (event->name)
                        fprintf(out, "%s%s", i ? ", " : "", event->name);
                else
                        fprintf(out, "%stype %u config 0x%llx", i ? ", " : "",
                                event->attr.type, (unsigned long long)event->attr.config);
        }
        if (fclose(out) != 0)
                return diag_no_memory(diag);
        int rc = db_run_set_text(db, "events", names, diag);
        free(names);
        return rc;
}

/* perf lists build-ids apart from the mappings; in a file the list follows the
 * records. */
static int set_build_ids(const struct perf_data *data, struct db *db, struct diag *diag)
{
        const struct features *features = perf_data_features(data);
        int rc = db_exec(db, "BEGIN", diag);
        for (size_t i = 0; rc == 0 && i < features->build_id_count; i++) {
                const struct build_id *entry = &features->build_ids[i];
                if (entry->length)
                        rc = db_module_build_id(db, entry->path, entry->bytes,
                                                entry->length, diag);
        }
        if (rc == 0)
                return db_exec(db, "COMMIT", diag);
        db_exec(db, "ROLLBACK", NULL);
        return rc;
}

/* Returns true for Intel's load latency events: MEM_TRANS_RETIRED.LOAD_LATENCY and the
 * equivalent on E-cores. The attributes contain the threshold; the name may show another
 * threshold. */
static bool samples_loads(const struct perf_event_attr *attr)
{
        uint64_t event = attr->config & 0xffff;
        return attr->type >= PERF_TYPE_RAW && (event == 0x1cd || event == 0x5d0) &&
               attr->config1 & 0xffff && attr->sample_type & PERF_SAMPLE_DATA_SRC;
}

/* How loads were sampled, where all events that sample them agree. */
static int set_sampling(const struct perf_data *data, struct db *db, struct diag *diag)
{
        const struct events *events = perf_data_events(data);
        const struct perf_event_attr *loads = NULL;
        for (size_t i = 0; i < events->count; i++) {
                const struct perf_event_attr *attr = &events->items[i]->attr;
                if (!samples_loads(attr))
                        continue;
                if (loads && (loads->config1 != attr->config1 ||
                              loads->sample_period != attr->sample_period ||
                              loads->freq != attr->freq))
                        return 0;
                loads = attr;
        }
        if (!loads)
                return 0;
        int rc =
            db_run_set_int(db, "ldlat_cycles", (int64_t)(loads->config1 & 0xffff), diag);
        return rc == 0 ? db_run_set_int(db, loads->freq ? "frequency_hz" : "period_loads",
                                        loads->sample_period > INT64_MAX
                                            ? INT64_MAX
                                            : (int64_t)loads->sample_period,
                                        diag)
                       : rc;
}

int import_facts(const struct perf_data *data, struct db *db, const uint64_t *base_time,
                 struct diag *diag)
{
        int rc = set_features(data, db, diag);
        if (rc == 0)
                rc = set_events(data, db, diag);
        if (rc == 0)
                rc = set_sampling(data, db, diag);
        if (rc == 0)
                rc = set_build_ids(data, db, diag);
        if (rc == 0 && base_time)
                rc = db_run_set_int(db, "clock_start_ns", (int64_t)*base_time, diag);
        return rc == 0 && base_time
                   ? set_start(db, *base_time, perf_data_features(data), diag)
                   : rc;
}
