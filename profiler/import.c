/* SPDX-License-Identifier: MIT */
/* Takes the records of a recording through the queue that orders them to perf_deliver,
 * and what perf says about itself and the machine to the run's facts. Knows neither the
 * format of the recording nor the rows. */
#include "import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db.h"
#include "import_facts.h"
#include "intern.h"
#include "perf/order.h"
#include "perf_data.h"
#include "perf_deliver.h"
#include "sampled_counters.h"
#include "sink.h"
#include "user_stack.h"

/* Of records that wait for the end of their round. perf ends a round whenever it has
 * gone over all its buffers, so that it is small unless perf was held up. */
#define QUEUE_BYTES (UINT64_C(64) << 20)

/* No recording is longer: 200 years, so that sums of times fit as well. */
#define LONGEST_NS (UINT64_C(200) * 365 * 86400 * 1000000000)

struct import {
        const struct import_options *options;
        int fd;
        struct perf_data *data;
        struct db *db;
        struct writer *writer;
        struct sink *sink;
        struct perf_deliver *deliver;
        struct user_stacks *user_stacks;
        struct intern *build_id_index; /* path → index + 1 */
        size_t build_ids_indexed;
        struct sampled_counters *counters;
        bool counters_know_cpu;
        struct order *order;
        struct diag *diag; /* for the order's handler */
        bool has_base;
        uint64_t base_time; /* of the first record in the order of times */
        int64_t latest_ns;
        uint64_t early;      /* records before the base */
        uint64_t impossible; /* records with times that cannot be */
        uint64_t unreadable_samples;
        uint64_t lost;        /* in the kernel's records of loss */
        uint64_t lost_retold; /* in perf's own, at the recording's end */
        bool has_samples;     /* before the damage, if there is any */
};

/* ---- one record ---- */

static bool find_event(void *context, uint64_t id, struct sampled_event *event)
{
        const struct events *events = context;
        size_t index;
        if (!events_find(events, id, &index))
                return false;
        *event = (struct sampled_event){&events->items[index]->attr,
                                        events->items[index]->name};
        return true;
}

static int count_sample(struct import *import, const struct perf_data_event *event,
                        const struct record *record)
{
        struct sampled_event sampled = {&event->attr, event->name};
        if (!import->counters_know_cpu)
                sampled_counters_cpu(
                    import->counters,
                    features_text(perf_data_features(import->data), "cpuid"));
        import->counters_know_cpu = true;
        return sampled_counters_add(import->counters, import->latest_ns, &sampled, record,
                                    find_event, (void *)perf_data_events(import->data),
                                    import->diag);
}

static bool ends_an_image(const struct record *record)
{
        return record->kind == RECORD_EXIT ||
               (record->kind == RECORD_COMM && record->comm.exec);
}

/* The entry of PATH in the recording's list of build-ids, NULL when there is none yet. */
static int find_build_id(struct import *import, const char *path,
                         const struct build_id **found)
{
        const struct features *features = perf_data_features(import->data);
        *found = NULL;
        while (import->build_ids_indexed < features->build_id_count) {
                const char *known = features->build_ids[import->build_ids_indexed].path;
                int64_t *place =
                    intern_place(import->build_id_index, known, strlen(known));
                if (!place)
                        return -ENOMEM;
                *place = (int64_t)++import->build_ids_indexed;
        }
        if (features->build_id_count == 0)
                return 0;
        int64_t *place = intern_place(import->build_id_index, path, strlen(path));
        if (place && *place > 0)
                *found = &features->build_ids[*place - 1];
        return place ? 0 : -ENOMEM;
}

/* A file has the build-ids of what was sampled in a list of its own. */
static int set_build_id(struct import *import, struct record_mmap *map)
{
        const struct build_id *entry;
        if (map->build_id_bytes)
                return 0;
        if (find_build_id(import, map->path, &entry) < 0)
                return diag_no_memory(import->diag);
        if (entry) {
                memcpy(map->build_id, entry->bytes, entry->length);
                map->build_id_bytes = entry->length;
        }
        return 0;
}

/* Where events count what they lost (PERF_FORMAT_LOST), perf tells of it at the end as if
 * the CPU had lost it: most of that the kernel has told before, record by record. */
static bool is_retold(const struct record *record, const struct record_layout *layout)
{
        const uint64_t format_lost = 1u << 4; /* newer than some kernels' headers */

        return record->kind == RECORD_LOST_SAMPLES && (layout->read_format & format_lost);
}

/* The order's handler: RECORD_BYTES in the order of times. */
static int deliver(void *context, uint64_t time, const void *tag,
                   const void *record_bytes, size_t size)
{
        struct import *import = context;
        const struct perf_data_event *event = tag;
        struct perf_stream stream = {.layout = event->layout};
        struct record record;
        if (record_decode(&event->layout, record_bytes, size, &record) < 0)
                return 0; /* it was decoded before */
        if (!import->has_base && time) {
                import->has_base = true;
                import->base_time = time;
        }
        uint64_t since_base = time - import->base_time;
        if (time < import->base_time)
                import->early += time != 0;
        else if (since_base > LONGEST_NS)
                import->impossible++;
        else
                import->latest_ns = (int64_t)since_base;
        int rc = record.kind == RECORD_MMAP ? set_build_id(import, &record.mmap) : 0;
        if (rc == 0)
                rc = sampled_counters_advance(import->counters, import->latest_ns,
                                              ends_an_image(&record), import->diag);
        if (record.kind == RECORD_LOST)
                import->lost += record.lost.count;
        if (is_retold(&record, &event->layout))
                import->lost_retold += record.lost.count;
        else if (rc == 0)
                rc = perf_deliver_record(import->deliver, import->latest_ns, &stream,
                                         &record, import->diag);
        return rc == 0 && record.kind == RECORD_SAMPLE
                   ? count_sample(import, event, &record)
                   : rc;
}

/* When RECORD happened; 0: it does not say. */
static uint64_t time_of(const struct record *record)
{
        if (record->id.present & PERF_SAMPLE_TIME)
                return record->id.time;
        if (record->kind == RECORD_FORK || record->kind == RECORD_EXIT)
                return record->task.time;
        return 0;
}

static int count(struct import *import, const char *kind, const char *unit,
                 struct diag *diag)
{
        return sink_loss(import->sink, kind, 1, unit) < 0 ? diag_no_memory(diag) : 0;
}

/* Records without a time, such as those that perf made of what it found in /proc, happen
 * where they stand. */
static int take_record(struct import *import, const struct perf_data_item *item,
                       struct diag *diag)
{
        struct record record;
        struct perf_event_header header;
        memcpy(&header, item->bytes, sizeof(header));
        bool sample = header.type == PERF_RECORD_SAMPLE;
        if (!item->event)
                return sample
                           ? count(import, "samples of an unknown event", "samples", diag)
                           : 0;
        if (sample && item->event->unreadable) {
                import->unreadable_samples++;
                return count(import, "samples with fields newer than memlag", "samples",
                             diag);
        }
        if (record_decode(&item->event->layout, item->bytes, item->size, &record) < 0)
                return diag_set(diag, -EBADMSG,
                                "offset %llu: a record of type %u and %zu bytes does not "
                                "have the fields that its event says",
                                (unsigned long long)item->offset_bytes, header.type,
                                item->size);
        import->has_samples |= sample;
        if (record.kind == RECORD_OTHER)
                return 0;
        uint64_t time = time_of(&record);
        import->diag = diag;
        if (time == 0)
                return deliver(import, 0, item->event, item->bytes, item->size);
        int rc = order_add(import->order, time, item->event, item->bytes, item->size);
        return rc == -ENOMEM ? diag_no_memory(diag) : rc;
}

static int take_round(struct import *import, struct diag *diag)
{
        import->diag = diag;
        int rc = order_round(import->order);
        return rc == -ENOMEM ? diag_no_memory(diag) : rc;
}

static int flush(struct import *import, struct diag *diag)
{
        import->diag = diag;
        int rc = order_flush(import->order);
        if (rc == -ENOMEM)
                diag_no_memory(diag);
        if (rc == 0)
                rc = sampled_counters_advance(import->counters, import->latest_ns + 1,
                                              true, diag);
        if (rc == 0)
                rc = perf_tasks_finish(perf_deliver_tasks(import->deliver), diag);
        return rc == 0 ? sink_finish(import->sink, diag) : rc;
}

/* On a terminal: how far it is. */
static void show_progress(const struct import *import)
{
        uint64_t read_bytes, all_bytes;
        perf_data_progress(import->data, &read_bytes, &all_bytes);
        if (all_bytes)
                fprintf(stderr, "\r%3.0f %% of %llu MB",
                        100.0 * (double)read_bytes / (double)all_bytes,
                        (unsigned long long)all_bytes >> 20);
        else
                fprintf(stderr, "\r%llu MB", (unsigned long long)read_bytes >> 20);
}

/* -EBADMSG: the recording is damaged; what came before was taken. */
static int take_records(struct import *import, struct diag *diag)
{
        enum { RECORDS_BETWEEN_SIGNS = 1 << 17 };
        struct perf_data_item item = {.kind = PERF_DATA_ROUND};
        bool terminal = isatty(STDERR_FILENO);
        int rc = 0;
        for (uint64_t count = 1; rc == 0; count++) {
                rc = perf_data_next(import->data, &item, diag);
                if (terminal && count % RECORDS_BETWEEN_SIGNS == 0)
                        show_progress(import);
                if (rc < 0 || item.kind == PERF_DATA_END) {
                        if (terminal && count >= RECORDS_BETWEEN_SIGNS)
                                fputs("\r\033[K", stderr);
                        return rc;
                }
                rc = item.kind == PERF_DATA_ROUND ? take_round(import, diag)
                                                  : take_record(import, &item, diag);
        }
        return rc;
}

/* ---- facts ---- */

static int set_first_facts(struct db *db, uint64_t interval_ns, struct diag *diag)
{
        int rc = db_run_set_text(db, "state", "recording", diag);
        if (rc == 0)
                rc = db_run_set_text(db, "source", "perf.data", diag);
        if (rc == 0)
                rc = db_run_set_text(db, "numbers", "imported", diag);
        if (rc == 0)
                rc = db_run_set_int(db, "interval_ns", (int64_t)interval_ns, diag);
        return rc == 0 ? db_run_set_text(db, "memlag_version", MEMLAG_VERSION, diag) : rc;
}

static int set_last_facts(const struct import *import, bool complete, struct diag *diag)
{
        struct db *db = import->db;
        int rc = import_facts(import->data, db,
                              import->has_base ? &import->base_time : NULL, diag);
        if (rc == 0)
                rc =
                    db_run_set_int(db, "duration_ns", sink_latest_ns(import->sink), diag);
        if (rc == 0)
                rc = sink_write_ledger(import->sink, db, diag);
        return rc == 0 ? db_run_set_text(db, "state",
                                         complete ? "complete" : "interrupted", diag)
                       : rc;
}

/* ---- the story ---- */

/* perf record --kcore makes a directory, in which the recording is the file "data". */
static int open_recording(const char *path)
{
        struct stat status;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &status) != 0 || !S_ISDIR(status.st_mode))
                return fd;
        int data_fd = openat(fd, "data", O_RDONLY | O_CLOEXEC);
        close(fd);
        return data_fd;
}

static int open_input(struct import *import, struct diag *diag)
{
        const char *path = import->options->input;
        import->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open_recording(path);
        if (import->fd < 0)
                return diag_set(diag, -errno, "%s", strerror(errno));
        return perf_data_open(import->fd, &import->data, diag);
}

static int open_output(struct import *import, struct diag *diag)
{
        int rc = set_first_facts(import->db, import->options->interval_ns, diag);
        if (rc == 0)
                rc = writer_open(import->db, &import->writer, diag);
        if (rc == 0)
                rc = sink_open(import->writer, &import->sink, diag);
        if (rc < 0)
                return rc;
        sink_set_imported(import->sink);
        import->deliver = perf_deliver_new(import->sink);
        import->counters = sampled_counters_new(import->sink, import->deliver,
                                                (int64_t)import->options->interval_ns);
        import->order = order_new(QUEUE_BYTES, deliver, import);
        import->user_stacks = user_stacks_new(import->options->symfs);
        import->build_id_index = intern_new();
        if (!import->deliver || !import->counters || !import->order ||
            !import->user_stacks || !import->build_id_index)
                return diag_no_memory(diag);
        perf_deliver_set_user_stacks(import->deliver, import->user_stacks);
        return 0;
}

static void note_losses(const struct import *import)
{
        const struct perf_data_counts *counts = perf_data_counts(import->data);
        const char *ignored;
        uint64_t bad_features = perf_data_bad_features(import->data, &ignored);
        const struct {
                const char *kind;
                uint64_t count;
                const char *unit;
        } losses[] = {
            {"samples lost by the CPU",
             import->lost_retold > import->lost ? import->lost_retold - import->lost : 0,
             "records"},
            {"record types not known", counts->unknown_records, "entries"},
            {"hardware trace not decoded", counts->aux_bytes, "bytes"},
            {"bytes behind the recording", counts->trailing_bytes, "bytes"},
            {"features not read", bad_features, "features"},
            {"records out of order", order_late(import->order), "entries"},
            {"records before the first", import->early, "entries"},
            {"records of impossible times", import->impossible, "entries"},
        };
        for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
                if (losses[i].count)
                        sink_loss(import->sink, losses[i].kind, losses[i].count,
                                  losses[i].unit);
}

static void note_damage(struct import *import, struct import_result *result,
                        const struct diag *damage)
{
        uint64_t read_bytes, all_bytes;
        perf_data_progress(import->data, &read_bytes, &all_bytes);
        result->damaged = true;
        result->damage = *damage;
        if (all_bytes > read_bytes)
                sink_loss(import->sink, "bytes not read behind the damage",
                          all_bytes - read_bytes, "bytes");
        else
                sink_loss(import->sink, "damage at the end of the recording", 1,
                          "places");
}

static void set_warning(const struct import *import, struct import_result *result)
{
        const char *bad_feature;
        result->has_warning = true;
        if (import->unreadable_samples)
                diag_set(&result->warning, 0,
                         "%llu samples have fields that are newer than this memlag",
                         (unsigned long long)import->unreadable_samples);
        else if (perf_data_bad_features(import->data, &bad_feature) > 0)
                diag_set(&result->warning, 0, "%s", bad_feature);
        else
                result->has_warning = false;
}

/* What a recording without memory samples holds. */
static void describe_contents(const struct import *import, struct diag *diag)
{
        uint64_t trace_bytes = perf_data_counts(import->data)->aux_bytes;
        char *events = db_run_text(import->db, "events");
        if (trace_bytes)
                diag_set(
                    diag, 0,
                    "it has %llu bytes of hardware trace (%s), of which 'perf inject "
                    "--itrace=M' makes samples where it is of Arm SPE, and no "
                    "memory samples",
                    (unsigned long long)trace_bytes, events ? events : "no events");
        else
                diag_set(diag, 0,
                         "it has %llu samples (%s), and none of them is of memory",
                         (unsigned long long)sink_samples(import->sink),
                         events ? events : "no events");
        free(events);
}

static int fill(struct import *import, struct import_result *result, struct diag *diag)
{
        const char *damage = perf_data_damage(import->data);
        struct diag found;
        int rc = open_output(import, diag);
        if (rc < 0)
                return rc;
        rc = take_records(import, diag);
        if (damage) {
                diag_set(&found, 0, "%s", damage);
                note_damage(import, result, &found);
        }
        if (rc == -EBADMSG && import->options->partial) {
                if (!damage)
                        note_damage(import, result, diag);
                rc = 0;
        }
        if (rc == 0)
                rc = flush(import, diag);
        note_losses(import);
        result->samples = sink_samples(import->sink);
        result->memory_samples = sink_memory_samples(import->sink);
        set_warning(import, result);
        if (rc == 0)
                rc = import_facts_machine(import->data, import->writer, diag);
        if (rc < 0)
                return rc;
        rc = writer_close(import->writer, diag);
        import->writer = NULL;
        if (rc == 0)
                rc = set_last_facts(import, !result->damaged, diag);
        if (rc == 0 && result->memory_samples == 0)
                describe_contents(import, &result->no_memory);
        return rc;
}

static void close_import(struct import *import)
{
        struct diag ignored;
        order_free(import->order);
        sampled_counters_free(import->counters);
        perf_deliver_free(import->deliver);
        user_stacks_free(import->user_stacks);
        intern_free(import->build_id_index);
        sink_close(import->sink);
        if (import->writer)
                writer_close(import->writer, &ignored);
        db_close(import->db);
        perf_data_close(import->data);
        if (import->fd > STDIN_FILENO)
                close(import->fd);
}

/* An older database stays until the new one is whole. */
static int choose_place(const struct import_options *options, char **place,
                        struct diag *diag)
{
        bool replaces = options->force && access(options->output, F_OK) == 0;
        int rc = replaces ? db_may_replace(options->output, diag) : 0;
        if (rc == 0 &&
            asprintf(place, "%s%s", options->output, replaces ? ".new" : "") < 0) {
                *place = NULL;
                rc = diag_no_memory(diag);
        }
        return rc;
}

/* Whether --partial would have given samples. */
static bool partial_helps(const struct import *import, int rc)
{
        return rc == -EBADMSG && !import->options->partial && import->data &&
               (import->has_samples || perf_data_damage(import->data));
}

int import_run(const struct import_options *options, struct import_result *result,
               struct diag *diag)
{
        struct import import = {.options = options, .fd = -1};
        struct diag what, ignored;
        *result = (struct import_result){0};
        int rc = open_input(&import, &what);
        if (rc == 0 && perf_data_damage(import.data) && !options->partial)
                rc = diag_set(&what, -EBADMSG, "%s", perf_data_damage(import.data));
        bool input_failed = rc < 0;
        char *place = NULL;
        if (rc == 0)
                rc = choose_place(options, &place, &what);
        if (rc == 0)
                rc = db_create(place, false, &import.db, &what);
        bool created = rc == 0;
        if (rc == 0)
                rc = fill(&import, result, &what);
        const char *advice =
            partial_helps(&import, rc) ? "; --partial imports what comes before" : "";
        close_import(&import);
        if (rc == 0 && strcmp(place, options->output) != 0)
                rc = db_move(place, options->output, &what);
        if (rc < 0 && created)
                db_remove(place, &ignored);
        free(place);
        bool of_input = input_failed || rc == -EBADMSG;
        if (rc < 0)
                diag_set(diag, rc, "%s%s%s%s%s", of_input ? options->input : "",
                         of_input ? ": " : "", what.text, advice,
                         created && !of_input ? "; nothing of it is kept" : "");
        return rc;
}
