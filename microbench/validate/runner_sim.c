/* SPDX-License-Identifier: MIT */
/* Runs trials with the simulated PMU: `memlag record` of `memlag bench`, as a user could.
 * The increment of a pass is the difference between runs with more and more passes:
 * preparation and start-up cancel out. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "db.h"
#include "runner.h"

/* Small caches shorten trials without changing the meaning of events. */
enum { L1_BYTES = 16 << 10, L2_BYTES = 64 << 10, L3_BYTES = 256 << 10 };
static const char *const SMALL_CACHES[] = {"l1d.size_bytes=16384",
                                           "l1d.ways=8",
                                           "l2.size_bytes=65536",
                                           "l2.ways=16",
                                           "l3.size_bytes=262144",
                                           "l3.ways=16",
                                           NULL};
/* Chases use every second line, still several times the caches' size. */
enum { TIMES_LAST_CACHE = 8 };

/* Runs with trial_passes, twice as many, and so on: each run after the first gives a
 * round. */
enum { RUNS = 3, ARGUMENTS_MAX = 256 };

/* The data is small here, and the overhead of a run varies. */
enum { MORE_PASSES = 4 };

struct sim_runner {
        struct runner runner;
        sigset_t mask_before;
        int signal_fd; /* for signals that end programs */
        struct sim_runner_options options;
        char directory[PATH_MAX];
        char database[PATH_MAX + 16];
        char log[PATH_MAX + 16];
        char program[4096]; /* path of this program */
};

/* ---- one recording ---- */

struct arguments {
        char *words[ARGUMENTS_MAX]; /* owned */
        size_t count;
};

static void add(struct arguments *arguments, const char *word)
{
        if (arguments->count < ARGUMENTS_MAX - 1)
                arguments->words[arguments->count++] = strdup(word);
}

static void add_option(struct arguments *arguments, const char *option, const char *value)
{
        add(arguments, option);
        add(arguments, value);
}

static void add_number(struct arguments *arguments, const char *option, uint64_t value)
{
        char text[32];
        snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
        add_option(arguments, option, text);
}

static void add_kernel(struct arguments *arguments, const struct trial *trial,
                       uint64_t passes)
{
        const struct kernel_parameters *parameters = &trial->parameters;
        add_option(arguments, "bench", trial->kernel->name);
        add_number(arguments, "--size", parameters->size_bytes);
        add_number(arguments, "--passes", passes);
        if (trial->kernel->takes & TAKES_STRIDE)
                add_number(arguments, "--stride", parameters->stride_bytes);
        if (parameters->sequential)
                add_option(arguments, "--order", "sequential");
        if (parameters->independent_multiplications)
                add_number(arguments, "--independent",
                           parameters->independent_multiplications);
        if (parameters->dependent_multiplications)
                add_number(arguments, "--dependent",
                           parameters->dependent_multiplications);
        if (trial->kernel->takes & TAKES_WIDTH)
                add_number(arguments, "--width", parameters->width_bits);
}

static void add_record(struct arguments *arguments, const struct sim_runner *sim)
{
        add_option(arguments, "record", "--source");
        add_option(arguments, "sim", "--no-heap");
        add(arguments, "--all-counters");
        add_option(arguments, "--call-graph", "none");
        add_number(arguments, "--period", 1u << 30);
        add_option(arguments, "--sim-prefetch", sim->options.prefetch);
        if (sim->options.cpu)
                add_option(arguments, "--sim-cpu", sim->options.cpu);
        for (size_t i = 0; SMALL_CACHES[i]; i++)
                add_option(arguments, "--sim-set", SMALL_CACHES[i]);
        for (size_t i = 0; sim->options.set && sim->options.set[i]; i++)
                add_option(arguments, "--sim-set", sim->options.set[i]);
        add_option(arguments, "--force", "-o");
        add_option(arguments, sim->database, "--");
        add(arguments, sim->program);
}

/* Does not return. */
static void run_child(const struct sim_runner *sim, struct arguments *arguments)
{
        int log = open(sim->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
                _exit(EXIT_FAILED);
        sigprocmask(SIG_SETMASK, &sim->mask_before, NULL);
        int status = command_run("record", (int)arguments->count, arguments->words);
        fflush(stdout);
        _exit(status);
}

/* Reports the child's last line, its error message. */
static int explain(const struct sim_runner *sim, const struct trial *trial,
                   struct diag *diag)
{
        char line[512] = "", last[512] = "no message";
        FILE *log = fopen(sim->log, "re");
        while (log && fgets(line, sizeof(line), log))
                if (line[0] != '\n')
                        memcpy(last, line, sizeof(line));
        if (log)
                fclose(log);
        last[strcspn(last, "\n")] = '\0';
        return diag_set(diag, -EIO, "the kernel '%s' could not be recorded: %s",
                        trial->name, last);
}

/* Blocks fatal signals while trials run, so cleanup can happen. Ignored signals, as under
 * nohup(1), stay ignored. */
static int hold_signals(struct sim_runner *sim, struct diag *diag)
{
        static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
        sigset_t held;
        sigemptyset(&held);
        for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
                struct sigaction action;
                if (sigaction(ending[i], NULL, &action) == 0 &&
                    action.sa_handler != SIG_IGN)
                        sigaddset(&held, ending[i]);
        }
        sim->signal_fd = signalfd(-1, &held, SFD_CLOEXEC);
        if (sim->signal_fd < 0)
                return diag_set(diag, -errno, "cannot watch signals: %s",
                                strerror(errno));
        sigprocmask(SIG_BLOCK, &held, &sim->mask_before);
        return 0;
}

/* Delivers a signal that arrived after the last trial. */
static void release_signals(struct sim_runner *sim)
{
        if (sim->signal_fd < 0)
                return;
        close(sim->signal_fd);
        sigprocmask(SIG_SETMASK, &sim->mask_before, NULL);
}

/* Forwards a signal that arrives before CHILD has ended; true: a signal arrived. */
static bool watch(const struct sim_runner *sim, pid_t child, int child_fd)
{
        struct pollfd ready[] = {{.fd = sim->signal_fd, .events = POLLIN},
                                 {.fd = child_fd, .events = POLLIN}};
        struct signalfd_siginfo info;
        while (poll(ready, 2, -1) < 0 && errno == EINTR)
                ;
        if (!(ready[0].revents & POLLIN) ||
            read(sim->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
                return false;
        kill(child, (int)info.ssi_signo);
        return true;
}

static int wait_for(const struct sim_runner *sim, pid_t child, int *status,
                    struct diag *diag)
{
        int child_fd = pidfd_open(child, 0);
        int rc = 0;
        if (child_fd < 0) {
                rc = diag_set(diag, -errno, "cannot watch a trial: %s", strerror(errno));
                kill(child, SIGTERM);
        } else if (watch(sim, child, child_fd)) {
                rc = diag_set(diag, -EINTR, "interrupted");
        }
        while (waitpid(child, status, 0) < 0 && errno == EINTR)
                ;
        if (child_fd >= 0)
                close(child_fd);
        return rc;
}

static int record(const struct sim_runner *sim, const struct trial *trial,
                  uint64_t passes, struct diag *diag)
{
        struct arguments arguments = {.count = 0};
        add_record(&arguments, sim);
        add_kernel(&arguments, trial, passes);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
                run_child(sim, &arguments);
        int status = -1;
        int rc = child < 0 ? 0 : wait_for(sim, child, &status, diag);
        for (size_t i = 0; i < arguments.count; i++)
                free(arguments.words[i]);
        if (child < 0)
                return diag_set(diag, -errno, "cannot start a process: %s",
                                strerror(errno));
        if (rc < 0)
                return rc;
        if (WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) > 128))
                return diag_set(diag, -EINTR, "interrupted");
        return status == 0 ? 0 : explain(sim, trial, diag);
}

/* ---- its counters ---- */

typedef int counter_found(void *context, const char *name, const char *unit, double value,
                          struct diag *diag);

static int read_counters(const struct sim_runner *sim, counter_found *found,
                         void *context, struct diag *diag)
{
        struct db *db;
        sqlite3_stmt *rows = NULL;
        int rc = db_open(sim->database, DB_READ_ONLY, &db, diag);
        if (rc < 0)
                return rc;
        /* The kernel runs in a separate thread; start-up in the first thread varies. */
        if (sqlite3_prepare_v2(
                db_sqlite(db),
                "SELECT counter.name, unit, sum(iif(tid != pid, value, 0)) "
                "FROM counter LEFT JOIN reading USING (counter_id) "
                "LEFT JOIN thread USING (thread_id) "
                "LEFT JOIN process USING (process_id) GROUP BY counter_id",
                -1, &rows, NULL) != SQLITE_OK)
                rc = diag_set(diag, -EIO, "cannot read the counters: %s",
                              sqlite3_errmsg(db_sqlite(db)));
        while (rc == 0 && sqlite3_step(rows) == SQLITE_ROW)
                rc = found(context, (const char *)sqlite3_column_text(rows, 0),
                           (const char *)sqlite3_column_text(rows, 1),
                           sqlite3_column_double(rows, 2), diag);
        sqlite3_finalize(rows);
        db_close(db);
        return rc;
}

static const char CYCLES[] = "cpu_clk_unhalted.thread";

static int add_found(void *context, const char *name, const char *unit, double value,
                     struct diag *diag)
{
        (void)unit;
        (void)value;
        return strcmp(name, CYCLES) == 0
                   ? 0
                   : runner_add_candidate(context, name, true, diag);
}

struct totals {
        const struct runner *runner;
        double *of_candidates;
        double cycles;
};

static int add_total(void *context, const char *name, const char *unit, double value,
                     struct diag *diag)
{
        struct totals *totals = context;
        (void)diag;
        if (strcmp(name, CYCLES) == 0)
                totals->cycles = value;
        for (size_t i = 0; i < totals->runner->count; i++)
                if (strcmp(totals->runner->candidates[i].name, name) == 0)
                        totals->of_candidates[i] =
                            value / (strcmp(unit, "bytes") == 0 ? KERNEL_LINE_BYTES : 1);
        return 0;
}

/* ---- the runner ---- */

static int run(struct runner *runner, const struct trial *trial, struct gained *gained,
               double *cycles, struct diag *diag)
{
        struct sim_runner *sim = (struct sim_runner *)runner;
        const uint64_t passes = trial_passes(trial) + MORE_PASSES;
        double *before = calloc(runner->count, sizeof(*before));
        double *now = calloc(runner->count, sizeof(*now));
        double cycles_before = 0;
        int rc = before && now ? 0 : diag_set(diag, -ENOMEM, "out of memory");
        for (size_t i = 0; i < runner->count; i++)
                gained[i].count = RUNS - 1;
        for (size_t r = 0; rc == 0 && r < RUNS; r++) {
                struct totals totals = {runner, now, 0};
                rc = record(sim, trial, (r + 1) * passes, diag);
                if (rc == 0)
                        rc = read_counters(sim, add_total, &totals, diag);
                for (size_t i = 0; r > 0 && i < runner->count; i++)
                        gained[i].rounds[r - 1] = (now[i] - before[i]) / (double)passes;
                *cycles = (totals.cycles - cycles_before) / (double)passes;
                cycles_before = totals.cycles;
                double *last = before;
                before = now;
                now = last;
        }
        free(before);
        free(now);
        return rc;
}

static void remove_directory(const struct sim_runner *sim)
{
        static const char *const of_database[] = {"", "-wal", "-shm", "-journal"};
        for (size_t i = 0; i < sizeof(of_database) / sizeof(of_database[0]); i++) {
                char path[sizeof(sim->database) + 16];
                snprintf(path, sizeof(path), "%s%s", sim->database, of_database[i]);
                unlink(path);
        }
        unlink(sim->log);
        rmdir(sim->directory);
}

static void close_sim(struct runner *runner)
{
        struct sim_runner *sim = (struct sim_runner *)runner;
        if (sim->directory[0]) /* was created */
                remove_directory(sim);
        release_signals(sim);
        runner_free_candidates(runner);
        free(sim);
}

static int prepare(struct sim_runner *sim, struct diag *diag)
{
        const char *temporary = getenv("TMPDIR");
        if (!temporary || !*temporary)
                temporary = "/tmp";
        int length = snprintf(sim->directory, sizeof(sim->directory),
                              "%s/memlag-validate.XXXXXX", temporary);
        bool fits = length >= 0 && (size_t)length < sizeof(sim->directory);
        if (!fits || !mkdtemp(sim->directory)) {
                int rc = fits ? -errno : -ENAMETOOLONG;
                sim->directory[0] = '\0';
                return diag_set(diag, rc,
                                "cannot make a directory for the trials in %.300s: %s; "
                                "TMPDIR names another place",
                                temporary, strerror(-rc));
        }
        snprintf(sim->database, sizeof(sim->database), "%s/trial.db", sim->directory);
        snprintf(sim->log, sizeof(sim->log), "%s/log", sim->directory);
        ssize_t program_length =
            readlink("/proc/self/exe", sim->program, sizeof(sim->program) - 1);
        return program_length > 0 ? 0
                                  : diag_set(diag, -errno, "cannot find this program: %s",
                                             strerror(errno));
}

int runner_open_sim(const struct sim_runner_options *options, struct runner **runner,
                    struct diag *diag)
{
        static const struct runner_ops ops = {run, close_sim};
        struct sim_runner *sim = calloc(1, sizeof(*sim));
        if (!sim)
                return diag_no_memory(diag);
        sim->runner.ops = &ops;
        sim->runner.sizes = (struct trial_sizes){L1_BYTES, L2_BYTES, L3_BYTES,
                                                 TIMES_LAST_CACHE * L3_BYTES};
        sim->options = *options;
        struct trial trial = trial_of(TRIAL_L1, &sim->runner.sizes);
        int rc = hold_signals(sim, diag);
        if (rc == 0)
                rc = prepare(sim, diag);
        if (rc == 0)
                rc = record(sim, &trial, 1, diag);
        if (rc == 0)
                rc = read_counters(sim, add_found, &sim->runner, diag);
        if (rc < 0)
                close_sim(&sim->runner);
        else
                *runner = &sim->runner;
        return rc;
}
