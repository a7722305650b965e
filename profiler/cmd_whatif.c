/* SPDX-License-Identifier: MIT */
/* memlag whatif: records a command, then again on simulated machines without one cost
 * each, into one database. The samples of the first recording select these machines. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "record_command.h"
#include "record_options.h"
#include "sim_prefetch.h"
#include "whatif_plan.h"
#include "whatif_store.h"

static const char name[] = "whatif";

/* Share of the run's cycles. If perfect memory gains less, no fix is tried. A fix with a
 * smaller estimated gain is not tried. */
static const double MEMORY_GAIN_MIN = 0.02;
static const double FIX_GAIN_MIN = 0.01;

/* Fixes of the program are tried for so many lines, and for so many objects. */
enum { HOTTEST = 3 };

struct whatif {
        const struct record_options *options;
        struct whatif_setting setting;
        struct sim_preset preset; /* of the unchanged machine */
        struct db *db;            /* the baseline's */
        struct whatif_run *runs;  /* of this round */
        size_t count;
        size_t failed;
};

/* ---- refusals ---- */

static int refuse(const char *what, const char *remedy)
{
        diag_printf(name, "%s; %s", what, remedy);
        return EXIT_USAGE;
}

static int check_input(void)
{
        struct stat input;
        if (fstat(STDIN_FILENO, &input) != 0 || S_ISREG(input.st_mode) ||
            S_ISCHR(input.st_mode))
                return EXIT_OK;
        return refuse("the command is run several times, and its standard input can be "
                      "read only once",
                      "give it a file (< FILE), or < /dev/null");
}

static int check_options(const struct record_options *options)
{
        const struct source_options *source = &options->source;
        if (options->action != RECORD_RUN)
                return refuse("whatif has no lists",
                              "memlag record --sim-list and --sim-cpu help have them");
        if (!options->command)
                return refuse("whatif runs a command on changed machines, and cannot "
                              "change that of a process which runs already",
                              "give the command: memlag whatif -- COMMAND");
        if (strcmp(options->source_name, "auto") != 0 &&
            strcmp(options->source_name, "sim") != 0)
                return refuse("no real machine can be changed",
                              "leave out --source: whatif simulates");
        if (source->sim_caches_only)
                return refuse("with --sim-detail cache no time is the program's",
                              "leave it out");
        if (source->frequency_hz)
                return refuse("samples by time have no latencies, which choose the fixes",
                              "give --period in place of --freq");
        if (options->duration_s > 0)
                return refuse("--duration cuts each run at another place of its work",
                              "choose a small input instead");
        return check_input();
}

/* ---- rounds of runs ---- */

static bool is_planned(const struct whatif *whatif, const char *fix)
{
        for (size_t i = 0; i < whatif->count; i++)
                if (strcmp(whatif->runs[i].fix.name, fix) == 0)
                        return true;
        return false;
}

/* A fix may name a file of a directory. */
static int name_file(const struct whatif *whatif, struct whatif_run *run,
                     struct diag *diag)
{
        const char *output = whatif->options->output;
        if (asprintf(&run->file, "%s.%s.tmp", output, run->fix.name) < 0) {
                run->file = NULL;
                return diag_no_memory(diag);
        }
        for (char *at = run->file + strlen(output); (at = strchr(at, '/')) != NULL;)
                *at = '_';
        return 0;
}

/* Completes a fix of the program. */
static int find_in_baseline(const struct whatif *whatif, struct whatif_fix *fix,
                            struct diag *diag)
{
        struct whatif_target target;
        int rc = whatif_fix_target(fix->name, &target, diag);
        if (rc < 0 || target.subject == WHATIF_MACHINE)
                return rc;
        if (target.subject == WHATIF_LINE)
                return whatif_find_line(whatif->db, target.name, target.line, fix, diag);
        return whatif_plan_make(whatif->db, &target, fix, diag);
}

static int plan(struct whatif *whatif, const char *fix, struct diag *diag)
{
        struct whatif_run *grown;
        if (is_planned(whatif, fix))
                return 0;
        grown = reallocarray(whatif->runs, whatif->count + 1, sizeof(*grown));
        if (!grown)
                return diag_no_memory(diag);
        whatif->runs = grown;
        struct whatif_run *run = &grown[whatif->count];
        *run = (struct whatif_run){.messages = -1, .status = -1};
        int rc = whatif_fix_make(fix, &whatif->preset, &run->fix, diag);
        if (rc == 0)
                rc = find_in_baseline(whatif, &run->fix, diag);
        if (rc == 0)
                rc = name_file(whatif, run, diag);
        if (rc < 0)
                whatif_run_free(run);
        else
                whatif->count++;
        return rc;
}

static void forget_runs(struct whatif *whatif)
{
        for (size_t i = 0; i < whatif->count; i++)
                whatif_run_free(&whatif->runs[i]);
        free(whatif->runs);
        whatif->runs = NULL;
        whatif->count = 0;
}

static size_t processors(void)
{
        cpu_set_t set;
        int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
        return count > 0 ? (size_t)count : 1;
}

/* Adds the successful runs to the database, and reports the failed runs. */
static int store(struct whatif *whatif, struct diag *diag)
{
        int rc = db_exec(whatif->db, "PRAGMA foreign_keys = OFF", diag);
        for (size_t i = 0; rc == 0 && i < whatif->count; i++) {
                struct whatif_run *run = &whatif->runs[i];
                if (run->status != EXIT_OK) {
                        char *complaint = whatif_run_complaint(run);
                        diag_printf(name, "the run for %s failed: %s", run->fix.name,
                                    complaint ? complaint : "the recorder ended early");
                        free(complaint);
                        whatif->failed++;
                        continue;
                }
                rc = whatif_store(whatif->db, run, diag);
                if (rc == -ECANCELED) {
                        diag_printf(name, "the run for %s does not count: %s",
                                    run->fix.name, diag->text);
                        whatif->failed++;
                        rc = 0;
                }
        }
        return rc;
}

/* Executes the planned runs. Returns like whatif_run_all. */
static int carry_out(struct whatif *whatif, struct diag *diag)
{
        if (whatif->count == 0)
                return 0;
        char *names = NULL;
        size_t size;
        FILE *list = open_memstream(&names, &size);
        for (size_t i = 0; list && i < whatif->count; i++)
                fprintf(list, "%s%s", i ? ", " : "", whatif->runs[i].fix.name);
        if (list && fclose(list) == 0)
                diag_printf(name, "running the command again for: %s", names);
        free(names);
        int rc = whatif_run_all(&whatif->setting, whatif->runs, whatif->count, diag);
        if (rc == 0)
                rc = store(whatif, diag);
        forget_runs(whatif);
        return rc;
}

/* ---- which fixes ---- */

struct planning {
        struct whatif *whatif;
        struct diag *diag;
};

static int plan_estimate(void *context, const char *fix)
{
        struct planning *planning = context;
        return strcmp(fix, WHATIF_MEMORY) == 0
                   ? 0
                   : plan(planning->whatif, fix, planning->diag);
}

/* Without an impossible fix, which counts in FAILED, the others are still tried. */
static int plan_if_possible(struct whatif *whatif, const char *fix, size_t *failed,
                            struct diag *diag)
{
        int rc = plan(whatif, fix, diag);
        if (rc != -EINVAL && rc != -ENOENT && rc != -E2BIG)
                return rc;
        diag_printf(name, "not tried: %s", diag->text);
        ++*failed;
        return 0;
}

/* The user did not ask for this fix: that it is impossible is no failure. */
static int plan_of_program(void *context, const char *fix)
{
        struct planning *planning = context;
        size_t ignored = 0;
        return plan_if_possible(planning->whatif, fix, &ignored, planning->diag);
}

/* Pairs of fixes that need each other. With more bandwidth alone, latency limits loads;
 * behind a full path or full buffers the next limit is near. */
static int plan_pairs(struct whatif *whatif, struct diag *diag)
{
        static const char *const pairs[][2] = {{"dram-bandwidth", "dram-latency"},
                                               {"l3-path", "buffers"},
                                               {"buffers", "dram-latency"},
                                               {"translation", "l3-path"}};
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < sizeof(pairs) / sizeof(pairs[0]); i++) {
                char both[WHATIF_NAME_BYTES];
                snprintf(both, sizeof(both), "%s+%s", pairs[i][0], pairs[i][1]);
                if (is_planned(whatif, pairs[i][0]) &&
                    (i == 0 || is_planned(whatif, pairs[i][1])))
                        rc = plan(whatif, both, diag);
        }
        return rc;
}

/* Prefetchers can bring lines from beyond L2. */
static int plan_prefetchers(struct whatif *whatif, struct diag *diag)
{
        const struct source_options *source = &whatif->options->source;
        bool all_on = source->sim_prefetch == sim_prefetch_all();
        bool far = is_planned(whatif, "dram-latency") || is_planned(whatif, "l3-latency");
        return far && !all_on ? plan(whatif, WHATIF_PREFETCHERS, diag) : 0;
}

/* Runs the fixes that the samples justify. Returns like whatif_run_all. */
static int try_justified(struct whatif *whatif, struct diag *diag)
{
        struct planning planning = {whatif, diag};
        int rc = plan(whatif, WHATIF_MEMORY, diag);
        if (rc == 0)
                rc = carry_out(whatif, diag);
        if (rc != 0 || whatif->failed)
                return rc;
        double gain = whatif_recorded_gain(whatif->db, WHATIF_MEMORY);
        if (gain < MEMORY_GAIN_MIN) {
                diag_printf(name,
                            "with perfect memory the program would take %.1f %% less "
                            "time: there is nothing to gain from memory",
                            gain > 0 ? 100 * gain : 0.0);
                return 0;
        }
        rc = whatif_each_estimate(whatif->db, FIX_GAIN_MIN, plan_estimate, &planning,
                                  diag);
        if (rc == 0)
                rc = whatif_each_line(whatif->db, FIX_GAIN_MIN, HOTTEST, plan_of_program,
                                      &planning, diag);
        if (rc == 0)
                rc = whatif_each_object(whatif->db, FIX_GAIN_MIN, HOTTEST,
                                        plan_of_program, &planning, diag);
        if (rc == 0)
                rc = plan_pairs(whatif, diag);
        if (rc == 0)
                rc = plan_prefetchers(whatif, diag);
        return rc == 0 ? carry_out(whatif, diag) : rc;
}

static int try_asked(struct whatif *whatif, struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < whatif->options->fix_count; i++)
                rc = plan_if_possible(whatif, whatif->options->fixes[i], &whatif->failed,
                                      diag);
        return rc == 0 ? carry_out(whatif, diag) : rc;
}

/* ---- the command ---- */

/* Repeats the findings, now with the gains, and prints the short report. */
static int show(const char *file)
{
        fflush(stdout);
        if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
                return EXIT_FAILED;
        return command_show_findings(file);
}

/* Returns the exit status; *ENDED: a signal asked memlag to end. */
static int try_fixes(struct whatif *whatif, bool *ended)
{
        struct diag diag;
        int rc = db_open(whatif->options->output, DB_READ_WRITE, &whatif->db, &diag);
        if (rc == 0 && db_run_int(whatif->db, "signal", 0) > 0)
                diag_printf(name, "no fix is tried: a signal ended the command, and only "
                                  "complete runs can be compared");
        else if (rc == 0)
                rc = whatif->options->fix_count ? try_asked(whatif, &diag)
                                                : try_justified(whatif, &diag);
        forget_runs(whatif);
        db_close(whatif->db);
        *ended = rc > 0;
        if (rc > 0)
                return 128 + rc;
        if (rc < 0)
                diag_print(name, &diag);
        return rc < 0 || whatif->failed ? EXIT_FAILED : EXIT_OK;
}

static int prepare(struct whatif *whatif)
{
        const struct source_options *source = &whatif->options->source;
        struct diag diag;
        int rc =
            sim_preset_build(source->sim_cpu, source->sim_set, &whatif->preset, &diag);
        for (size_t i = 0; rc == 0 && i < whatif->options->fix_count; i++) {
                struct whatif_fix fix;
                rc = whatif_fix_make(whatif->options->fixes[i], &whatif->preset, &fix,
                                     &diag);
                whatif_fix_free(&fix);
        }
        if (rc == 0)
                return EXIT_OK;
        diag_print(name, &diag);
        return rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

/* Who sits at a terminal does not type the same several times: the command gets an empty
 * input. */
static off_t input_place(void)
{
        if (isatty(STDIN_FILENO)) {
                int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
                if (empty >= 0)
                        dup2(empty, STDIN_FILENO);
        }
        return lseek(STDIN_FILENO, 0, SEEK_CUR);
}

static int whatif(struct record_options *options)
{
        struct whatif whatif = {.options = options,
                                .setting = {.options = options,
                                            .input_place = input_place(),
                                            .at_once = processors()}};
        bool recorded, ended;
        sigaction(SIGPIPE, NULL, &whatif.setting.on_pipe); /* record_run ignores it */
        sigaction(SIGCHLD, NULL, &whatif.setting.on_child);
        int status = prepare(&whatif);
        if (status != EXIT_OK)
                return status;
        int command_status = record_run(options, RECORD_FINDINGS, &recorded);
        /* A user who stops memlag stops the command with it. */
        if (!recorded || command_status == 128 + SIGINT ||
            command_status == 128 + SIGTERM)
                return command_status;
        status = try_fixes(&whatif, &ended);
        if (!ended && show(options->output) != EXIT_OK)
                status = EXIT_FAILED;
        return status == EXIT_OK ? command_status : status;
}

int cmd_whatif(int argc, char **argv)
{
        struct record_options options;
        struct diag diag;
        if (whatif_options_parse(argc, argv, &options, &diag) < 0) {
                diag_print(name, &diag);
                return EXIT_FAILED;
        }
        int status = check_options(&options);
        if (status == EXIT_OK) {
                options.source_name = "sim";
                status = whatif(&options);
        }
        record_options_free(&options);
        return status;
}
