/* SPDX-License-Identifier: MIT */
/* memlag record: runs a command under a source of samples, fills the sample database,
 * and continues with the short report. Contains the flow from options to exit status;
 * source, sink and launcher hide their details. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "calibrated.h"
#include "command.h"
#include "db.h"
#include "disassembly.h"
#include "host_caches.h"
#include "launch.h"
#include "native_run.h"
#include "own_allocator.h"
#include "perf/facts/machine_facts.h"
#include "record_command.h"
#include "record_facts.h"
#include "record_options.h"
#include "sim_preset.h"
#include "sink.h"
#include "sources.h"
#include "target_file.h"
#include "validated.h"

/* Maximum time that records stay in memory when the source does not notify. A killed
 * memlag loses at most that much. */
#define DRAIN_MS 500

static const char name[] = "record";

struct recording {
        const struct record_options *options;
        enum record_end last; /* last stage of the recording */
        const struct source_ops *ops;
        struct source *source; /* NULL once recording has stopped */
        struct db *db;
        struct writer *writer;
        struct sink *sink;
        struct launch *launch;
        struct launch_end end;
        bool command_ended;
        bool time_over; /* recording ended before it, as the user wished */
        struct validated validated;
        bool default_model;  /* the user named no CPU to simulate */
        bool failed;         /* something of the run is not in the database */
        bool complete;       /* the database is complete, with its findings */
        struct diag failure; /* why; the first thing that went wrong */
        bool counts_places;  /* the first of two runs: only where its samples are */
        struct recording *first_run; /* state of the first of two runs; NULL: only one
                                        run */
};

static void note_failure(struct recording *recording, const struct diag *diag)
{
        if (!recording->failed)
                recording->failure = *diag;
        recording->failed = true;
}

/* ---- lists ---- */

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

/* ---- the run ---- */

static int open_database(struct recording *recording, struct diag *diag)
{
        const char *sim_cpu = recording->options->source.sim_cpu;
        int rc = db_create(recording->options->output, recording->options->force,
                           &recording->db, diag);
        if (rc == 0)
                rc = record_facts_begin(recording->db, recording->options, recording->ops,
                                        diag);
        if (rc == 0)
                rc = writer_open(recording->db, &recording->writer, diag);
        if (rc == 0)
                rc = sink_open(recording->writer, &recording->sink, diag);
        if (rc == 0 && recording->ops->numbers == NUMBERS_MEASURED)
                rc = calibrated_machine(recording->db, recording->sink, diag);
        if (rc == 0 && recording->ops->numbers == NUMBERS_MODELLED &&
            strcmp(sim_cpu, SIM_PRESET_HOST) == 0)
                rc = calibrated_host(recording->db, recording->sink, diag);
        if (rc == 0 && recording->ops->numbers == NUMBERS_MODELLED)
                rc = host_caches_tell(recording->db, recording->sink, sim_cpu, diag);
        if (rc == 0) {
                sink_set_unusable_counters(recording->sink,
                                           recording->options->source.validated.unusable);
                rc = validated_tell(&recording->validated, recording->sink, diag);
        }
        return rc;
}

/* Opens an unnamed database for the first of two runs. Only its sample locations are
 * read. */
static int open_counts(struct recording *recording, struct diag *diag)
{
        int rc = db_create_unnamed(&recording->db, diag);
        if (rc == 0)
                rc = writer_open(recording->db, &recording->writer, diag);
        if (rc == 0)
                rc = sink_open(recording->writer, &recording->sink, diag);
        return rc == 0 ? sink_count_places(recording->sink, diag) : rc;
}

/* Reports which CPU is simulated by default, and why. */
static void tell_default_model(const struct recording *recording)
{
        const char *cpu = recording->options->source.sim_cpu;
        struct sim_preset preset;
        struct machine machine;
        struct diag ignored;
        if (!recording->default_model ||
            sim_preset_build(cpu, recording->options->source.sim_set, &preset, &ignored) <
                0)
                return;
        if (strcmp(cpu, SIM_PRESET_HOST) == 0) {
                diag_printf(name, "simulated CPU: this machine, as calibrated");
                return;
        }
        machine_read("", &machine);
        diag_printf(
            name, "simulated CPU: %s, %s, with this machine's caches and clock. %s",
            preset.name,
            preset.unlike ? preset.unlike : "this machine's microarchitecture",
            machine.hypervisor ? "Other virtual machines may share the L3: it counts in "
                                 "proportion to the cores. 'memlag calibrate' measures it"
                               : "'memlag calibrate' makes it more exact");
        machine_free(&machine);
}

/* Starts the command under the source, or the source alone. */
static int launch(struct recording *recording, struct diag *diag)
{
        char **argv = recording->options->command;
        char **envp = environ;
        int rc = recording->ops->start(recording->source, &argv, &envp, diag);
        if (rc == 0 && argv)
                rc = launch_prepare(recording->launch, argv, envp, diag);
        if (rc == 0 && recording->ops->attach)
                rc = recording->ops->attach(recording->source,
                                            launch_pid(recording->launch), diag);
        if (rc < 0)
                return rc;
        if (recording->counts_places)
                diag_printf(name,
                            "--with-clock: the command runs twice, as it is and then "
                            "simulated; its output appears twice");
        else
                diag_printf(name, "source %s: %s", recording->ops->name,
                            recording->ops->meaning);
        tell_default_model(recording);
        return argv ? launch_start(recording->launch, diag) : 0;
}

static int start(struct recording *recording, struct diag *diag)
{
        int rc = launch_open(&recording->launch, diag);
        if (rc == 0 && recording->counts_places)
                rc = open_counts(recording, diag);
        else if (rc == 0 && !recording->db)
                rc = open_database(recording, diag);
        if (rc == 0)
                rc = recording->ops->open(&recording->options->source, recording->sink,
                                          &recording->source, diag);
        if (rc == 0)
                rc = writer_flush(recording->writer, diag);
        return rc == 0 ? launch(recording, diag) : rc;
}

/* Stops recording, and keeps the recorded data. */
static void give_up(struct recording *recording, const struct diag *diag)
{
        diag_printf(name, "%s; %s", diag->text,
                    recording->options->command
                        ? "the command goes on without being recorded"
                        : "recording has ended");
        recording->ops->close(recording->source);
        recording->source = NULL;
        note_failure(recording, diag);
}

/* FLUSH: also commits. A killed memlag then loses little. */
static void drain(struct recording *recording, bool flush)
{
        struct diag diag;
        if (!recording->source)
                return;
        int rc = recording->ops->drain(recording->source, &diag);
        if (rc == 0 && flush)
                rc = sink_update_ledger(recording->sink, recording->db, &diag);
        if (rc == 0 && flush)
                rc = writer_flush(recording->writer, &diag);
        if (rc < 0)
                give_up(recording, &diag);
}

static int watch(int epoll_fd, int fd, struct diag *diag)
{
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        if (fd >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
                return diag_set(diag, -errno, "cannot watch the target: %s",
                                strerror(errno));
        return 0;
}

/* File descriptors that recording waits for; -1: unused. */
struct watched {
        int epoll;
        int end;      /* the target ends */
        int signal;   /* a signal came */
        int duration; /* the time that the user set is over */
};

static void complete_database(struct recording *recording);

/* The time limit has passed: the command continues without being recorded. */
static void go_on_unrecorded(struct recording *recording)
{
        diag_printf(name,
                    "recorded %g s; %s goes on unrecorded, and memlag waits for its end",
                    recording->options->duration_s, recording->options->command[0]);
        complete_database(recording);
}

/* Learns how the command ended. */
static void note_end(struct recording *recording)
{
        struct diag diag;
        recording->command_ended = true;
        if (launch_wait(recording->launch, &recording->end, &diag) == 0)
                return;
        diag_print(name, &diag);
        note_failure(recording, &diag);
}

/* Returns true if the user waits for processes that survive the command. */
static bool waits_for_rest(const struct recording *recording)
{
        return recording->options->wait && recording->source &&
               !recording->ops->all_ended(recording->source);
}

/* The command has ended. True: recording continues. */
static bool go_on_without_command(struct recording *recording,
                                  const struct watched *watched)
{
        note_end(recording);
        if (!waits_for_rest(recording))
                return false;
        epoll_ctl(watched->epoll, EPOLL_CTL_DEL, watched->end, NULL);
        diag_printf(name, "the command has ended, and processes of it live on: recording "
                          "until they have ended (Ctrl-C ends it before)");
        return true;
}

/* Runs until the target ends, or without a command until the end of recording is
 * requested. Closing the source's descriptor ends its watch. */
static void follow_until_end(struct recording *recording, const struct watched *watched)
{
        bool has_command = recording->options->command != NULL;
        while ((has_command && !recording->command_ended) || recording->source) {
                struct epoll_event event;
                int count = epoll_wait(watched->epoll, &event, 1,
                                       recording->source ? DRAIN_MS : -1);
                if (count < 0 && errno != EINTR)
                        return; /* launch_wait still waits */
                if (count > 0 && event.data.fd == watched->end) {
                        if (!has_command || !go_on_without_command(recording, watched))
                                return;
                } else if (count > 0 && event.data.fd == watched->signal) {
                        if (launch_forward(recording->launch))
                                return;
                } else if (count > 0 && event.data.fd == watched->duration) {
                        epoll_ctl(watched->epoll, EPOLL_CTL_DEL, watched->duration, NULL);
                        recording->time_over = true;
                        if (!has_command || recording->command_ended)
                                return;
                        go_on_unrecorded(recording);
                } else {
                        drain(recording, count <= 0);
                        if (recording->command_ended && !waits_for_rest(recording))
                                return;
                }
        }
}

static int open_duration(double seconds, int *fd, struct diag *diag)
{
        struct itimerspec setting = {
            .it_value = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)}};
        *fd = -1;
        if (seconds == 0)
                return 0;
        *fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        if (*fd < 0 || timerfd_settime(*fd, 0, &setting, NULL) != 0)
                return diag_set(diag, -errno, "cannot set the time of recording: %s",
                                strerror(errno));
        return 0;
}

/* Opens a descriptor for the end of the command, or of the recorded process. */
static int open_end(const struct recording *recording, int *fd, struct diag *diag)
{
        pid_t pid = recording->options->source.pid;
        *fd = launch_end_fd(recording->launch);
        if (!pid)
                return 0;
        *fd = pidfd_open(pid, 0);
        return *fd >= 0 ? 0
                        : diag_set(diag, -errno, "cannot watch process %d: %s", (int)pid,
                                   strerror(errno));
}

static int follow_with(struct recording *recording, struct watched *watched,
                       struct diag *diag)
{
        watched->epoll = epoll_create1(EPOLL_CLOEXEC);
        if (watched->epoll < 0)
                return diag_set(diag, -errno, "cannot watch the target: %s",
                                strerror(errno));
        int rc = open_end(recording, &watched->end, diag);
        if (rc == 0)
                rc = open_duration(recording->options->duration_s, &watched->duration,
                                   diag);
        if (rc == 0)
                rc = watch(watched->epoll, watched->end, diag);
        if (rc == 0)
                rc = watch(watched->epoll, watched->duration, diag);
        if (rc == 0)
                rc = watch(watched->epoll, watched->signal, diag);
        if (rc == 0)
                rc = watch(watched->epoll, recording->ops->poll_fd(recording->source),
                           diag);
        if (rc == 0)
                follow_until_end(recording, watched);
        return rc;
}

static int follow(struct recording *recording, struct diag *diag)
{
        struct watched watched = {-1, -1, launch_signal_fd(recording->launch), -1};
        int rc = follow_with(recording, &watched, diag);
        const int opened[] = {watched.epoll, watched.duration,
                              recording->options->source.pid ? watched.end : -1};
        for (size_t i = 0; i < sizeof(opened) / sizeof(opened[0]); i++)
                if (opened[i] >= 0)
                        close(opened[i]);
        return rc;
}

/* ---- the end ---- */

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

/* Prints the error, unless it is a consequence of an earlier error. */
static void say_failure(struct recording *recording, const struct diag *diag)
{
        if (!recording->failed)
                diag_print(name, diag);
        note_failure(recording, diag);
}

/* Adds the samples of the first of two runs. */
static int store_first_run(const struct recording *recording, struct diag *diag)
{
        const struct recording *first = recording->first_run;
        if (!first)
                return 0;
        const struct native_run run = {
            .sink = first->sink,
            .db = first->db,
            .simulated = recording->sink,
            .end = first->end,
            .frequency_hz = first->options->source.frequency_hz,
        };
        return native_run_store(&run, recording->db, diag);
}

/* Completes the database as far as possible. When disk space ran out, the last facts use
 * the space of the rows that were rolled back. */
static void finish_database(struct recording *recording)
{
        struct diag diag;
        if (finish_source(recording, &diag) < 0) {
                diag_print(name, &diag);
                note_failure(recording, &diag);
        }
        if (writer_close(recording->writer, &diag) < 0)
                say_failure(recording, &diag);
        recording->writer = NULL;
        if (store_first_run(recording, &diag) < 0)
                say_failure(recording, &diag);
        if (record_facts_end(recording->db, recording->sink,
                             recording->command_ended ? &recording->end : NULL,
                             recording->failed ? recording->failure.text : NULL,
                             &diag) < 0 ||
            (recording->options->command && recording->options->source.heap &&
             own_allocators_tell(recording->db, strcmp(recording->ops->name, "sim") == 0,
                                 &diag) < 0))
                say_failure(recording, &diag);
}

/* Checks whether somebody removed or replaced the database file. */
static void check_place(struct recording *recording)
{
        struct diag diag;
        if (db_is_in_place(recording->db))
                return;
        diag_set(&diag, -ENOENT,
                 "%s was removed or replaced during the recording, which is lost",
                 recording->options->output);
        say_failure(recording, &diag);
}

/* Names the instruction, such as "sha1msg1 (SHA)". Returns the workaround. */
static const char *name_unhandled(const struct unhandled_instruction *instruction,
                                  char *text, size_t size)
{
        char mnemonic[DISASSEMBLY_TEXT_BYTES];
        const char *extension =
            disassembly_extension(instruction->bytes, instruction->length, mnemonic);
        if (extension) {
                snprintf(text, size, "%s (%s)", mnemonic, extension);
                return "build without it (as without -march=native), or record with "
                       "--source clock";
        }
        size_t used = 0;
        for (size_t i = 0; i < instruction->length && i < 8; i++)
                used += (size_t)snprintf(text + used, size - used, "%s%02x", i ? " " : "",
                                         instruction->bytes[i]);
        return "these bytes are no instruction that memlag knows: record with --source "
               "clock";
}

static void explain_unhandled(const struct recording *recording)
{
        const struct unhandled_instruction *first =
            sink_unhandled_instruction(recording->sink);
        char text[2 * DISASSEMBLY_TEXT_BYTES] = "";
        if (first->count == 0)
                return;
        const char *remedy = name_unhandled(first, text, sizeof(text));
        diag_printf(
            name,
            "process %u reached an instruction that the simulated PMU cannot run: %s at "
            "%s%s0x%llx; %s",
            first->pid, text, first->module ? first->module : "address ",
            first->module ? "+" : "",
            (unsigned long long)(first->module ? first->module_offset_bytes : first->ip),
            remedy);
}

/* Reports processes that outlive the command: memlag no longer records them. */
static void tell_left(const struct recording *recording)
{
        uint64_t left = sink_lost(recording->sink, LOSS_LEFT_RUNNING);
        if (left > 0 && !recording->time_over)
                diag_printf(name,
                            "%llu process%s of the command live%s on and %s not recorded "
                            "any more; --wait records until all have ended",
                            (unsigned long long)left, left == 1 ? "" : "es",
                            left == 1 ? "s" : "", left == 1 ? "is" : "are");
}

static void close_launch(struct recording *recording)
{
        launch_close(recording->launch);
        recording->launch = NULL;
}

static void close_database(struct recording *recording)
{
        struct diag ignored;
        if (recording->source)
                recording->ops->close(recording->source);
        sink_close(recording->sink);
        if (recording->writer)
                writer_close(recording->writer, &ignored);
        db_close(recording->db);
        recording->source = NULL;
        recording->sink = NULL;
        recording->writer = NULL;
        recording->db = NULL;
}

/* Symbolizes, analyses and prints the short report. Standard output belongs to the
 * target, therefore all output goes to standard error. */
static int show(const char *file, enum record_end last)
{
        char *symbolize[] = {"symbolize", "--", (char *)file, NULL};
        char *analyze[] = {"analyze", "--", (char *)file, NULL};
        fflush(stdout);
        if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
                return EXIT_FAILED;
        int status = command_run("symbolize", 3, symbolize);
        if (status == EXIT_OK)
                status = last == RECORD_REPORT ? command_show_findings(file)
                                               : command_run("analyze", 3, analyze);
        if (fflush(stdout) == 0 && !ferror(stdout))
                return status;
        /* Output is impossible, for instance on a full disk. The recorded data and
         * findings are stored. */
        __fpurge(stdout);
        clearerr(stdout);
        return EXIT_OK;
}

static int status_of(const struct recording *recording, bool shown)
{
        int status = recording->end.signalled ? 128 + recording->end.status
                                              : recording->end.status;
        return status == EXIT_OK && !shown ? EXIT_FAILED : status;
}

/* Removes an empty database. */
static void drop_recording(struct recording *recording)
{
        bool created = recording->db != NULL;
        struct diag ignored;
        close_database(recording);
        close_launch(recording);
        if (created)
                db_remove(recording->options->output, &ignored);
}

/* An external signal, such as Ctrl-C, came before the source's first sample. Samples of
 * a short run may wait for ordering until the source stops. */
static bool ended_before_it_began(struct recording *recording)
{
        if (!recording->end.signalled || !launch_ends_program(recording->end.status))
                return false;
        drain(recording, false);
        if (sink_images(recording->sink) > 0 || recording->failed)
                return false;
        struct diag diag;
        int rc = finish_source(recording, &diag);
        if (sink_images(recording->sink) == 0)
                return true;
        if (rc < 0) {
                diag_print(name, &diag);
                note_failure(recording, &diag);
        }
        return false;
}

static void complete_database(struct recording *recording)
{
        finish_database(recording);
        explain_unhandled(recording);
        tell_left(recording);
        uint64_t samples = sink_samples(recording->sink);
        check_place(recording);
        close_database(recording);
        if (!recording->failed)
                diag_printf(name, "wrote %s (%llu samples)", recording->options->output,
                            (unsigned long long)samples);
}

/* Makes the findings, and prints the short report. */
static void show_findings(struct recording *recording)
{
        /* Who reads messages may have gone (2>&1 | head): the findings are made all the
         * same. */
        signal(SIGPIPE, SIG_IGN);
        if (!recording->failed)
                recording->complete =
                    show(recording->options->output, recording->last) == EXIT_OK;
}

static int record(struct recording *recording)
{
        const struct record_options *options = recording->options;
        struct diag diag;
        int rc = start(recording, &diag);
        if (rc < 0) {
                diag_print(name, &diag);
                int signal_number = launch_early_signal(recording->launch);
                drop_recording(recording);
                return signal_number ? 128 + signal_number : EXIT_FAILED;
        }
        if (follow(recording, &diag) < 0)
                give_up(recording, &diag);
        if (options->command && !recording->command_ended)
                note_end(recording);
        if (recording->db && ended_before_it_began(recording)) {
                diag_printf(name,
                            "SIG%s ended the command before it began; nothing was "
                            "recorded",
                            sigabbrev_np(recording->end.status));
                drop_recording(recording);
                return 128 + recording->end.status;
        }
        if (recording->end.signalled)
                diag_printf(name, "the command was ended by signal %d (%s)",
                            recording->end.status, strsignal(recording->end.status));
        if (recording->db)
                complete_database(recording);
        close_launch(recording);
        show_findings(recording);
        return status_of(recording, recording->complete);
}

/* ---- a native first run of the command ---- */

/* Runs the command under timer samples, which stay in FIRST. Returns the exit status for
 * a failure; EXIT_OK: continue, also if the command itself returned a failure. */
static int run_first(struct recording *first)
{
        struct diag diag;
        if (start(first, &diag) < 0) {
                diag_print(name, &diag);
                int signal_number = launch_early_signal(first->launch);
                return signal_number ? 128 + signal_number : EXIT_FAILED;
        }
        if (follow(first, &diag) < 0)
                give_up(first, &diag);
        if (!first->command_ended)
                note_end(first);
        if (finish_source(first, &diag) < 0)
                say_failure(first, &diag);
        close_launch(first); /* the second run sets up its signals again */
        int status = status_of(first, !first->failed);
        if (status < EXIT_CANNOT_RUN && !first->failed)
                return EXIT_OK;
        if (!first->failed)
                diag_printf(name,
                            "the command, run as it is, ended with status %d: it is not "
                            "simulated, and nothing was recorded",
                            status);
        return status;
}

/* Finds obstacles to the runs before the first starts, and creates the database. */
static int prepare_first_run(struct recording *recording,
                             const struct record_options *first, off_t *input,
                             struct diag *diag)
{
        int rc = recording->ops->numbers != NUMBERS_MODELLED
                     ? diag_set(diag, -EINVAL,
                                "--with-clock sets measured time beside the simulated "
                                "PMU's: it goes with source sim, not with %s",
                                recording->ops->name)
                     : native_run_input(input, diag);
        if (rc == 0)
                rc = sources_check(&source_clock, &first->source, diag);
        if (rc < 0)
                return rc;
        /* Beyond a limit on file sizes a signal would end memlag. */
        void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
        rc = open_database(recording, diag);
        signal(SIGXFSZ, handler);
        return rc;
}

static int record_twice(struct recording *recording)
{
        struct record_options options = *recording->options;
        off_t input;
        struct diag diag;
        options.source = (struct source_options){
            .interval_ns = recording->options->source.interval_ns,
            .call_graph = CALL_GRAPH_NONE,
        };
        source_clock.set_defaults(&options.source);
        struct recording first = {
            .options = &options, .ops = &source_clock, .counts_places = true};
        if (prepare_first_run(recording, &options, &input, &diag) < 0) {
                diag_print(name, &diag);
                drop_recording(recording);
                return EXIT_FAILED;
        }
        int status = run_first(&first);
        if (status == EXIT_OK && input >= 0 &&
            lseek(STDIN_FILENO, input, SEEK_SET) != input) {
                diag_printf(name,
                            "cannot wind back standard input for the second run: %s",
                            strerror(errno));
                status = EXIT_FAILED;
        }
        recording->first_run = &first;
        if (status == EXIT_OK)
                status = record(recording);
        else
                drop_recording(recording);
        close_database(&first);
        close_launch(&first);
        return status;
}

/* Errors in --sim-cpu and --sim-set are usage errors, for every source. */
static int check_model(const struct record_options *options)
{
        const struct source_options *source = &options->source;
        struct diag diag;
        struct sim_preset preset;
        if (options->action == RECORD_LIST_PRESETS ||
            (!source->sim_cpu && !source->sim_set))
                return EXIT_OK;
        int rc = sim_preset_build(source->sim_cpu, source->sim_set, &preset, &diag);
        if (rc == 0)
                return EXIT_OK;
        diag_print(name, &diag);
        return rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

static int find_source(const struct record_options *options,
                       const struct source_ops **ops, struct diag *diag)
{
        if (strcmp(options->source_name, "auto") == 0) {
                *ops = sources_choose(&options->source, diag);
                return *ops ? 0 : -ENODEV;
        }
        *ops = sources_find(options->source_name);
        return sources_check(*ops, &options->source, diag);
}

static int choose_source(struct record_options *options, struct recording *recording,
                         struct diag *diag)
{
        int rc = find_source(options, &recording->ops, diag);
        if (rc < 0)
                return rc;
        recording->default_model =
            recording->ops->numbers == NUMBERS_MODELLED && !options->source.sim_cpu;
        recording->ops->set_defaults(&options->source);
        return 0;
}

int record_run(struct record_options *options, enum record_end end, bool *recorded)
{
        struct recording recording = {.options = options, .last = end};
        struct diag diag;
        int status = EXIT_FAILED;
        *recorded = false;
        if (choose_source(options, &recording, &diag) < 0) {
                diag_print(name, &diag);
        } else if (options->command &&
                   (status = target_file_check(options->command[0],
                                               recording.ops->numbers == NUMBERS_MODELLED,
                                               &diag)) != 0) {
                diag_print(name, &diag);
        } else if (!options->all_counters &&
                   validated_read(recording.ops, &options->source, &recording.validated,
                                  &diag) < 0) {
                diag_print(name, &diag);
                status = EXIT_FAILED;
        } else {
                options->source.validated = recording.validated.counters;
                status =
                    options->with_clock ? record_twice(&recording) : record(&recording);
                *recorded = recording.complete;
        }
        validated_free(&recording.validated);
        return status;
}

int cmd_record(int argc, char **argv)
{
        struct record_options options;
        struct diag diag;
        bool recorded;
        int status;
        if (record_options_parse(argc, argv, &options, &diag) < 0) {
                diag_print(name, &diag);
                return EXIT_FAILED;
        }
        if ((status = check_model(&options)) != EXIT_OK) {
                /* the parser has printed the error */
        } else if (options.action != RECORD_RUN) {
                status = print_lists(&options);
        } else {
                status = record_run(&options, RECORD_REPORT, &recorded);
        }
        record_options_free(&options);
        return status;
}
