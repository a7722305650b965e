/* SPDX-License-Identifier: MIT */
/* memlag record: runs a command under a source of samples, fills the sample
 * database, and goes on to the short report. The story from options to exit status;
 * what a source, the sink and the launcher do is theirs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "db.h"
#include "launch.h"
#include "record.h"
#include "record_options.h"
#include "sim_preset.h"
#include "sink.h"
#include "source.h"
#include "target_file.h"
#include "words.h"

/* How long records may stay in memory when the source does not ring: what a killed
 * memlag loses. */
#define DRAIN_MS 500

static const char name[] = "record";

struct recording {
        const struct record_options *options;
        const struct source_ops *ops;
        struct source *source; /* NULL once recording has stopped */
        struct db *db;
        struct writer *writer;
        struct sink *sink;
        struct launch *launch;
        struct launch_end end;
        bool failed; /* something of the run is not in the database */
};

/* ---- lists ------------------------------------------------------------------ */

static int print_lists(const struct record_options *options)
{
        struct diag diag;
        struct sim_preset preset;
        int rc;
        if (options->action == RECORD_LIST_PRESETS) {
                rc = sim_preset_list(stdout, &diag);
        } else {
                rc = sim_preset_build(options->source.sim_cpu, options->source.sim_set,
                                      &preset, &diag);
                if (rc == 0)
                        sim_preset_print(&preset, stdout);
        }
        if (rc == 0 && fflush(stdout) != 0)
                rc =
                    diag_set(&diag, -errno, "cannot write the list: %s", strerror(errno));
        if (rc < 0)
                diag_print(name, &diag);
        return rc < 0 ? EXIT_FAILED : EXIT_OK;
}

/* ---- facts about the run ------------------------------------------------------- */

static int set_words(struct db *db, const char *key, const char *const *words,
                     struct diag *diag)
{
        char *joined = words_join(words);
        if (!joined)
                return diag_set(diag, -ENOMEM, "out of memory");
        int rc = db_run_set_text(db, key, joined, diag);
        free(joined);
        return rc;
}

static int set_system_facts(struct db *db, struct diag *diag)
{
        struct utsname system;
        uname(&system);
        char kernel[sizeof(system.sysname) + sizeof(system.release) +
                    sizeof(system.machine)];
        snprintf(kernel, sizeof(kernel), "%s %s %s", system.sysname, system.release,
                 system.machine);
        char start[sizeof("2000-01-01T00:00:00Z")];
        time_t now = time(NULL);
        struct tm utc;
        strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
        int rc = db_run_set_text(db, "kernel", kernel, diag);
        if (rc == 0)
                rc = db_run_set_text(db, "start", start, diag);
        return rc == 0 ? db_run_set_text(db, "memlag_version", MEMLAG_VERSION, diag) : rc;
}

static int set_model_facts(const struct recording *recording, struct diag *diag)
{
        const struct source_options *source = &recording->options->source;
        struct sim_preset preset;
        int rc = sim_preset_build(source->sim_cpu, source->sim_set, &preset, diag);
        if (rc < 0)
                return rc;
        char cpu[sizeof(preset.name) + sizeof(" (simulated)")];
        snprintf(cpu, sizeof(cpu), "%s (simulated)", preset.name);
        rc = db_run_set_text(recording->db, "cpu", cpu, diag);
        if (rc == 0)
                rc = db_run_set_text(recording->db, "sim_preset", preset.name, diag);
        if (rc == 0 && source->sim_set)
                rc = set_words(recording->db, "sim_set", source->sim_set, diag);
        return rc;
}

static int set_first_facts(const struct recording *recording, struct diag *diag)
{
        static const char *const numbers[] = {[NUMBERS_MEASURED] = "measured",
                                              [NUMBERS_MODELLED] = "modelled",
                                              [NUMBERS_IMPORTED] = "imported"};
        const struct source_options *source = &recording->options->source;
        struct db *db = recording->db;
        int rc = db_run_set_text(db, "state", "recording", diag);
        if (rc == 0)
                rc = set_words(db, "command",
                               (const char *const *)recording->options->command, diag);
        if (rc == 0)
                rc = db_run_set_text(db, "source", recording->ops->name, diag);
        if (rc == 0)
                rc = db_run_set_text(db, "numbers", numbers[recording->ops->numbers],
                                     diag);
        if (rc == 0)
                rc =
                    db_run_set_int(db, "interval_ns", (int64_t)source->interval_ns, diag);
        if (rc == 0)
                rc = db_run_set_int(db, "period_loads", (int64_t)source->period_loads,
                                    diag);
        if (rc == 0)
                rc = db_run_set_int(db, "ldlat_cycles", source->ldlat_cycles, diag);
        if (rc == 0)
                rc = set_system_facts(db, diag);
        return rc == 0 ? set_model_facts(recording, diag) : rc;
}

static int set_last_facts(const struct recording *recording, struct diag *diag)
{
        struct db *db = recording->db;
        int rc = db_run_set_int(db, "duration_ns", sink_latest_ns(recording->sink), diag);
        if (rc == 0)
                rc = db_run_set_int(db,
                                    recording->end.signalled ? "signal" : "exit_status",
                                    recording->end.status, diag);
        if (rc == 0)
                rc = sink_write_ledger(recording->sink, db, diag);
        if (rc == 0)
                rc = db_run_set_text(
                    db, "state", recording->failed ? "interrupted" : "complete", diag);
        return rc;
}

/* ---- the run --------------------------------------------------------------------- */

static int open_database(struct recording *recording, struct diag *diag)
{
        int rc = db_create(recording->options->output, recording->options->force,
                           &recording->db, diag);
        if (rc == 0)
                rc = set_first_facts(recording, diag);
        if (rc == 0)
                rc = writer_open(recording->db, &recording->writer, diag);
        if (rc == 0)
                rc = sink_open(recording->writer, &recording->sink, diag);
        return rc;
}

static int start(struct recording *recording, struct diag *diag)
{
        char **argv = recording->options->command;
        char **envp = environ;
        int rc = launch_open(&recording->launch, diag);
        if (rc == 0)
                rc = open_database(recording, diag);
        if (rc == 0)
                rc = recording->ops->open(&recording->options->source, recording->sink,
                                          &recording->source, diag);
        if (rc == 0)
                rc = writer_flush(recording->writer, diag);
        if (rc == 0)
                rc = recording->ops->start(recording->source, &argv, &envp, diag);
        if (rc < 0)
                return rc;
        fprintf(stderr, "memlag %s: source %s: %s\n", name, recording->ops->name,
                recording->ops->meaning);
        return launch_start(recording->launch, argv, envp, diag);
}

/* Recording cannot go on; the target can. */
static void give_up(struct recording *recording, const struct diag *diag)
{
        diag_printf(name, "%s; the command goes on without being recorded", diag->text);
        recording->ops->close(recording->source);
        recording->source = NULL;
        recording->failed = true;
}

/* FLUSH: also commits, so that a killed memlag has lost little. */
static void drain(struct recording *recording, bool flush)
{
        struct diag diag;
        if (!recording->source)
                return;
        int rc = recording->ops->drain(recording->source, &diag);
        if (rc == 0 && flush)
                rc = writer_flush(recording->writer, &diag);
        if (rc < 0)
                give_up(recording, &diag);
}

static int watch(int epoll_fd, int fd, struct diag *diag)
{
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
                return diag_set(diag, -errno, "cannot watch the target: %s",
                                strerror(errno));
        return 0;
}

/* Until the target ends. Closing the source's descriptor ends its watch. */
static void follow_until_end(struct recording *recording, int epoll_fd)
{
        for (;;) {
                struct epoll_event event;
                int count =
                    epoll_wait(epoll_fd, &event, 1, recording->source ? DRAIN_MS : -1);
                if (count < 0 && errno != EINTR)
                        return; /* launch_wait still waits */
                if (count > 0 && event.data.fd == launch_end_fd(recording->launch))
                        return;
                if (count > 0 && event.data.fd == launch_signal_fd(recording->launch))
                        launch_forward(recording->launch);
                else
                        drain(recording, count <= 0);
        }
}

static int follow(struct recording *recording, struct diag *diag)
{
        int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (epoll_fd < 0)
                return diag_set(diag, -errno, "cannot watch the target: %s",
                                strerror(errno));
        int rc = watch(epoll_fd, launch_end_fd(recording->launch), diag);
        if (rc == 0)
                rc = watch(epoll_fd, launch_signal_fd(recording->launch), diag);
        if (rc == 0)
                rc = watch(epoll_fd, recording->ops->poll_fd(recording->source), diag);
        if (rc == 0)
                follow_until_end(recording, epoll_fd);
        close(epoll_fd);
        return rc;
}

/* ---- the end --------------------------------------------------------------------- */

static int finish_source(struct recording *recording, struct diag *diag)
{
        if (!recording->source)
                return 0;
        int rc = recording->ops->stop(recording->source, diag);
        if (rc == 0)
                rc = sink_finish(recording->sink, diag);
        recording->ops->close(recording->source);
        recording->source = NULL;
        return rc;
}

/* Completes the database as far as that is possible. */
static void finish_database(struct recording *recording)
{
        struct diag diag;
        if (finish_source(recording, &diag) < 0) {
                diag_print(name, &diag);
                recording->failed = true;
        }
        bool was_failed = recording->failed;
        int rc = writer_close(recording->writer, &diag);
        recording->writer = NULL;
        if (rc == 0)
                rc = set_last_facts(recording, &diag);
        if (rc < 0) {
                if (!was_failed)
                        diag_print(name, &diag);
                recording->failed = true;
        }
}

/* "EVEX (AVX-512)" and the like: what the first bytes of an instruction tell. */
static const char *instruction_family(const struct unhandled_instruction *instruction)
{
        if (instruction->length && instruction->bytes[0] == 0x62)
                return " (AVX-512)";
        return "";
}

static void explain_unhandled(const struct recording *recording)
{
        const struct unhandled_instruction *first =
            sink_unhandled_instruction(recording->sink);
        if (first->count == 0)
                return;
        char bytes[3 * sizeof(first->bytes) + 1] = "";
        for (size_t i = 0; i < first->length && i < 8; i++)
                sprintf(bytes + 3 * i, " %02x", first->bytes[i]);
        diag_printf(
            name,
            "process %u reached an instruction that the simulated PMU cannot run:%s%s "
            "at %s+0x%llx; run a build or a code path without it",
            first->pid, bytes, instruction_family(first),
            first->module ? first->module : "address 0",
            (unsigned long long)(first->module ? first->module_offset_bytes : first->ip));
}

static void close_recording(struct recording *recording)
{
        struct diag ignored;
        if (recording->source)
                recording->ops->close(recording->source);
        sink_close(recording->sink);
        if (recording->writer)
                writer_close(recording->writer, &ignored);
        db_close(recording->db);
        launch_close(recording->launch);
}

/* Names, findings and the short report. The target's standard output is its own, so
 * all of it goes to standard error. */
static int show(const char *file)
{
        static const char *const commands[] = {"symbolize", "analyze", "report"};
        fflush(stdout);
        if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
                return EXIT_FAILED;
        int status = EXIT_OK;
        for (size_t i = 0; status == EXIT_OK && i < sizeof(commands) / sizeof(*commands);
             i++) {
                char *argv[] = {(char *)commands[i], (char *)"--", (char *)file, NULL};
                status = command_run(commands[i], 3, argv);
        }
        fflush(stdout);
        return status;
}

static int status_of(const struct recording *recording, bool shown)
{
        int status = recording->end.signalled ? 128 + recording->end.status
                                              : recording->end.status;
        return status == EXIT_OK && !shown ? EXIT_FAILED : status;
}

static int record(struct recording *recording)
{
        const struct record_options *options = recording->options;
        struct diag diag;
        int rc = start(recording, &diag);
        if (rc < 0) {
                diag_print(name, &diag);
                bool created = recording->db != NULL;
                close_recording(recording);
                if (created)
                        unlink(options->output); /* it holds nothing */
                return EXIT_FAILED;
        }
        if (follow(recording, &diag) < 0)
                give_up(recording, &diag);
        if (launch_wait(recording->launch, &recording->end, &diag) < 0) {
                diag_print(name, &diag);
                recording->failed = true;
        }
        finish_database(recording);
        explain_unhandled(recording);
        uint64_t samples = sink_samples(recording->sink);
        close_recording(recording);
        if (recording->failed)
                return status_of(recording, false);
        fprintf(stderr, "memlag %s: wrote %s (%llu samples)\n", name, options->output,
                (unsigned long long)samples);
        return status_of(recording, show(options->output) == EXIT_OK);
}

int cmd_record(int argc, char **argv)
{
        struct record_options options;
        struct diag diag;
        int status;
        if (record_options_parse(argc, argv, &options, &diag) < 0) {
                diag_print(name, &diag);
                return EXIT_FAILED;
        }
        struct recording recording = {.options = &options, .ops = &source_sim};
        if (options.action != RECORD_RUN) {
                status = print_lists(&options);
        } else if (recording.ops->probe(&options.source, &diag) < 0) {
                diag_print(name, &diag);
                status = EXIT_FAILED;
        } else if ((status = target_file_check(options.command[0], &diag)) != 0) {
                diag_print(name, &diag);
        } else {
                status = record(&recording);
        }
        record_options_free(&options);
        return status;
}
