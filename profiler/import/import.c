/* SPDX-License-Identifier: MIT */
/* Imports a recording: opens input and output, has the records taken, stores perf's
 * description of itself and the machine as the run's facts, and reports losses. Knows
 * neither the format of the recording nor the rows. */
#include "import.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db.h"
#include "import_facts.h"
#include "import_interrupt.h"
#include "import_records.h"
#include "perf/records/order.h"
#include "perf_data.h"
#include "sink.h"

struct import {
        const struct import_options *options;
        int fd;
        struct perf_data *data;
        struct db *db;
        struct writer *writer;
        struct sink *sink;
        struct import_records records;
};

/* ---- facts ---- */

static int set_first_facts(struct db *db, uint64_t interval_ns, struct diag *diag)
{
        int rc = db_run_set_text(db, "source", "perf.data", diag);
        if (rc == 0)
                rc = db_run_set_text(db, "numbers", "imported", diag);
        if (rc == 0)
                rc = db_run_set_int(db, "interval_ns", (int64_t)interval_ns, diag);
        return rc == 0 ? db_run_set_text(db, "memlag_version", MEMLAG_VERSION, diag) : rc;
}

/* DAMAGE: defect that truncates the recording; NULL: it is complete. */
static int set_last_facts(const struct import *import, const struct diag *damage,
                          struct diag *diag)
{
        struct db *db = import->db;
        int rc = import_facts(
            import->data, db,
            import->records.has_base ? &import->records.base_time : NULL, diag);
        if (rc == 0)
                rc =
                    db_run_set_int(db, "duration_ns", sink_latest_ns(import->sink), diag);
        if (rc == 0)
                rc = sink_write_ledger(import->sink, db, diag);
        if (rc == 0 && damage)
                rc = db_run_set_text(db, "failure", damage->text, diag);
        return rc == 0 ? db_run_set_text(db, "state", damage ? "interrupted" : "complete",
                                         diag)
                       : rc;
}

/* ---- the story ---- */

/* perf record --kcore makes a directory; its file "data" is the recording. */
static int open_in_directory(int directory, int *fd, struct diag *diag)
{
        *fd = openat(directory, "data", O_RDONLY | O_CLOEXEC);
        int code = *fd < 0 ? -errno : 0;
        if (code == -ENOENT)
                return diag_set(diag, code,
                                "a directory without a recording of perf, which would "
                                "be its file 'data'");
        return code ? diag_set(diag, code, "data: %s", strerror(-code)) : 0;
}

static int open_recording(const char *path, int *fd, struct diag *diag)
{
        struct stat status;
        *fd = open(path, O_RDONLY | O_CLOEXEC);
        if (*fd < 0)
                return diag_set(diag, -errno, "%s", strerror(errno));
        if (fstat(*fd, &status) != 0 || !S_ISDIR(status.st_mode))
                return 0;
        int directory = *fd;
        int rc = open_in_directory(directory, fd, diag);
        close(directory);
        return rc;
}

static int open_input(struct import *import, struct diag *diag)
{
        const char *path = import->options->input;
        int rc = 0;
        if (strcmp(path, "-") == 0)
                import->fd = STDIN_FILENO;
        else
                rc = open_recording(path, &import->fd, diag);
        return rc == 0 ? perf_data_open(import->fd, &import->data, diag) : rc;
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
        return import_records_open(&import->records, import->data, import->sink,
                                   import->options->symfs, import->options->interval_ns,
                                   diag);
}

static int note_losses(const struct import *import, struct diag *diag)
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
             import->records.lost_retold > import->records.lost
                 ? import->records.lost_retold - import->records.lost
                 : 0,
             "records"},
            {"record types not known", counts->unknown_records, "entries"},
            {"hardware trace not decoded", counts->aux_bytes, "bytes"},
            {"bytes behind the recording", counts->trailing_bytes, "bytes"},
            {"features not read", bad_features, "features"},
            {"records out of order", order_late(import->records.order), "entries"},
            {"records before the first", import->records.early, "entries"},
            {"records of impossible times", import->records.impossible, "entries"},
        };
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < sizeof(losses) / sizeof(losses[0]); i++)
                rc = sink_loss(import->sink, losses[i].kind, losses[i].count,
                               losses[i].unit, diag);
        return rc;
}

static int note_damage(struct import *import, struct import_result *result,
                       const char *damage, struct diag *diag)
{
        uint64_t read_bytes, all_bytes;
        perf_data_progress(import->data, &read_bytes, &all_bytes);
        result->damaged = true;
        diag_set(&result->damage, 0, "%s", damage);
        if (all_bytes > read_bytes)
                return sink_loss(import->sink, "bytes not read behind the damage",
                                 all_bytes - read_bytes, "bytes", diag);
        return sink_loss(import->sink, "damage at the end of the recording", 1, "places",
                         diag);
}

static void set_warning(const struct import *import, struct import_result *result)
{
        const char *bad_feature;
        result->has_warning = true;
        if (import->records.unreadable_samples)
                diag_set(&result->warning, 0,
                         "%llu samples have fields that are newer than this memlag",
                         (unsigned long long)import->records.unreadable_samples);
        else if (perf_data_bad_features(import->data, &bad_feature) > 0)
                diag_set(&result->warning, 0, "%s", bad_feature);
        else
                result->has_warning = false;
}

/* Describes the contents of a recording without memory samples. */
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

/* Takes all records, or with --partial all records before the damage. */
static int take_records(struct import *import, struct import_result *result,
                        struct diag *diag)
{
        const char *damage = perf_data_damage(import->data); /* damage that the file
                                                                header shows */
        struct diag found;
        int rc = import_records_take(&import->records, &found);
        if (rc < 0 && (rc != -EBADMSG || !import->options->partial))
                return diag_set(diag, rc, "%s", found.text);
        if (rc < 0 && !damage)
                damage = found.text;
        rc = damage ? note_damage(import, result, damage, diag) : 0;
        return rc == 0 ? import_records_flush(&import->records, diag) : rc;
}

static int fill(struct import *import, struct import_result *result, struct diag *diag)
{
        int rc = open_output(import, diag);
        if (rc == 0)
                rc = take_records(import, result, diag);
        if (rc == 0)
                rc = note_losses(import, diag);
        if (rc < 0)
                return rc;
        result->samples = sink_samples(import->sink);
        result->memory_samples = sink_memory_samples(import->sink);
        set_warning(import, result);
        rc = import_facts_machine(import->data, import->writer, diag);
        if (rc < 0)
                return rc;
        rc = writer_close(import->writer, diag);
        import->writer = NULL;
        if (rc == 0)
                rc = set_last_facts(import, result->damaged ? &result->damage : NULL,
                                    diag);
        if (rc == 0 && result->memory_samples == 0)
                describe_contents(import, &result->no_memory);
        return rc;
}

static void close_import(struct import *import)
{
        struct diag ignored;
        import_records_close(&import->records);
        sink_close(import->sink);
        if (import->writer)
                writer_close(import->writer, &ignored);
        db_close(import->db);
        perf_data_close(import->data);
        if (import->fd > STDIN_FILENO)
                close(import->fd);
}

/* An older database stays until the new one is complete. */
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

/* Makes the database at PLACE, which a signal removes from now on. Removes leftovers of
 * a killed import at the temporary path. */
static int create(struct import *import, const char *place, struct diag *diag)
{
        bool is_output = strcmp(place, import->options->output) == 0;
        sigset_t all, before;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, &before);
        bool remainder = !is_output && db_is_import_remainder(place);
        int rc = db_create(place, remainder, &import->db, diag);
        if (rc == -EEXIST && !is_output)
                rc = diag_set(diag, rc,
                              "%s exists, where the new database would be until it is "
                              "whole; move it away, or choose another name with -o",
                              place);
        if (rc == 0)
                rc = import_interrupt_begin(place, diag);
        sigprocmask(SIG_SETMASK, &before, NULL);
        return rc;
}

/* Returns true if --partial would have given samples. */
static bool partial_helps(const struct import *import, int rc)
{
        return rc == -EBADMSG && !import->options->partial && import->data &&
               (import->records.has_samples || perf_data_damage(import->data));
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
                rc = create(&import, place, &what);
        bool created = import.db != NULL;
        if (rc == 0)
                rc = fill(&import, result, &what);
        const char *advice =
            partial_helps(&import, rc) ? "; --partial imports what comes before" : "";
        close_import(&import);
        if (rc == 0 && strcmp(place, options->output) != 0)
                rc = db_move(place, options->output, &what);
        if (rc < 0 && created)
                db_remove(place, &ignored);
        import_interrupt_end();
        free(place);
        bool of_input = input_failed || rc == -EBADMSG;
        if (rc < 0)
                diag_set(diag, rc, "%s%s%s%s%s", of_input ? options->input : "",
                         of_input ? ": " : "", what.text, advice,
                         created && !of_input ? "; nothing of it is kept" : "");
        return rc;
}
