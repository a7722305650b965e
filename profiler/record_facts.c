/* SPDX-License-Identifier: MIT */
/* Writes down the circumstances of a recording: command, source, machine, end. */
#include "record_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "perf/facts/machine_facts.h"
#include "sim_prefetch.h"
#include "sim_preset.h"
#include "words.h"

static int set_words(struct db *db, const char *key, const char *const *words,
                     struct diag *diag)
{
        char *joined = words_join(words);
        if (!joined)
                return diag_no_memory(diag);
        int rc = db_run_set_text(db, key, joined, diag);
        free(joined);
        return rc;
}

/* Stores the command, or the object of a recording without a command. */
static int set_command(struct db *db, const struct record_options *options,
                       struct diag *diag)
{
        const struct source_options *source = &options->source;
        char target[256] = "whatever ran";
        if (source->pid)
                snprintf(target, sizeof(target), "process %d", (int)source->pid);
        else if (source->cpus)
                snprintf(target, sizeof(target), "whatever ran on CPUs %s", source->cpus);
        return options->command
                   ? set_words(db, "command", (const char *const *)options->command, diag)
                   : db_run_set_text(db, "command", target, diag);
}

/* The wall clock, in whole seconds, under KEY. */
static int set_now(struct db *db, const char *key, struct diag *diag)
{
        char text[sizeof("2000-01-01T00:00:00Z")];
        time_t now = time(NULL);
        struct tm utc;
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
        return db_run_set_text(db, key, text, diag);
}

static int set_system(struct db *db, struct diag *diag)
{
        struct utsname system;
        uname(&system);
        char kernel[sizeof(system.sysname) + sizeof(system.release) +
                    sizeof(system.machine)];
        snprintf(kernel, sizeof(kernel), "%s %s %s", system.sysname, system.release,
                 system.machine);
        int rc = db_run_set_text(db, "kernel", kernel, diag);
        if (rc == 0)
                rc = set_now(db, "start", diag);
        return rc == 0 ? db_run_set_text(db, "memlag_version", MEMLAG_VERSION, diag) : rc;
}

static int set_model(struct db *db, const struct source_options *source,
                     struct diag *diag)
{
        struct sim_preset preset;
        int rc = sim_preset_build(source->sim_cpu, source->sim_set, &preset, diag);
        if (rc < 0)
                return rc;
        char label[128], cpu[sizeof(label) + sizeof(" (simulated)")];
        sim_preset_label(&preset, label, sizeof(label));
        snprintf(cpu, sizeof(cpu), "%s (simulated)", label);
        rc = db_run_set_text(db, "cpu", cpu, diag);
        if (rc == 0)
                rc = db_run_set_text(db, "sim_preset", label, diag);
        if (rc == 0 && source->sim_set)
                rc = set_words(db, "sim_set", source->sim_set, diag);
        if (rc == 0 && source->sim_prefetch) {
                const char *names[SIM_PREFETCH_NAMES];
                sim_prefetch_names(source->sim_prefetch, names);
                rc = set_words(db, "sim_prefetch", names, diag);
        }
        if (rc == 0)
                rc = db_run_set_text(db, "sim_detail",
                                     source->sim_caches_only ? "cache"
                                     : source->sim_branches  ? "branches"
                                                             : "full",
                                     diag);
        return rc;
}

static int set_machine(struct db *db, struct diag *diag)
{
        struct machine machine;
        machine_read("", &machine);
        int rc = db_run_set_text(db, "cpu", machine.model_name, diag);
        machine_free(&machine);
        return rc;
}

/* How often it was sampled, by loads or by time. */
static int set_rate(struct db *db, const struct source_options *source, struct diag *diag)
{
        int rc = 0;
        if (source->period_loads)
                rc = db_run_set_int(db, "period_loads", (int64_t)source->period_loads,
                                    diag);
        if (rc == 0 && source->frequency_hz)
                rc = db_run_set_int(db, "frequency_hz", (int64_t)source->frequency_hz,
                                    diag);
        return rc;
}

int record_facts_begin(struct db *db, const struct record_options *options,
                       const struct source_ops *ops, struct diag *diag)
{
        static const char *const numbers[] = {[NUMBERS_MEASURED] = "measured",
                                              [NUMBERS_MODELLED] = "modelled",
                                              [NUMBERS_IMPORTED] = "imported"};
        const struct source_options *source = &options->source;
        int rc = set_command(db, options, diag);
        if (rc == 0)
                rc = db_run_set_text(db, "source", ops->name, diag);
        if (rc == 0)
                rc = db_run_set_text(db, "numbers", numbers[ops->numbers], diag);
        if (rc == 0)
                rc =
                    db_run_set_int(db, "interval_ns", (int64_t)source->interval_ns, diag);
        if (rc == 0)
                rc = set_rate(db, source, diag);
        if (rc == 0 && source->ldlat_cycles)
                rc = db_run_set_int(db, "ldlat_cycles", source->ldlat_cycles, diag);
        if (rc == 0)
                rc = set_system(db, diag);
        if (rc < 0)
                return rc;
        return ops->numbers == NUMBERS_MODELLED ? set_model(db, source, diag)
                                                : set_machine(db, diag);
}

/* Stores how much a failed transaction rolled back. */
static int set_taken_back(struct db *db, const struct sink *sink, struct diag *diag)
{
        int64_t kept;
        int rc = db_sample_count(db, &kept, diag);
        return rc == 0
                   ? db_ledger_set(db, "record", "samples taken back when writing failed",
                                   (int64_t)sink_samples(sink) - kept, "samples", diag)
                   : rc;
}

/* Only for native runs: under the simulated PMU the CPU time includes Valgrind. */
static int set_cpu_time(struct db *db, const struct launch_end *end, struct diag *diag)
{
        char *numbers = db_run_text(db, "numbers");
        bool measured = numbers && strcmp(numbers, "measured") == 0;
        free(numbers);
        if (!measured)
                return 0;
        int rc = db_run_set_int(db, "user_ns", end->user_ns, diag);
        return rc == 0 ? db_run_set_int(db, "kernel_ns", end->kernel_ns, diag) : rc;
}

int record_facts_end(struct db *db, const struct sink *sink, const struct launch_end *end,
                     const char *failure, struct diag *diag)
{
        int rc = db_run_set_int(db, "duration_ns", sink_latest_ns(sink), diag);
        if (rc == 0)
                rc = set_now(db, "end", diag);
        if (rc == 0 && end)
                rc = db_run_set_int(db, end->signalled ? "signal" : "exit_status",
                                    end->status, diag);
        if (rc == 0 && end)
                rc = set_cpu_time(db, end, diag);
        if (rc == 0)
                rc = sink_write_ledger(sink, db, diag);
        if (rc == 0 && failure)
                rc = set_taken_back(db, sink, diag);
        if (rc == 0 && failure)
                rc = db_run_set_text(db, "failure", failure, diag);
        return rc == 0 ? db_run_set_text(db, "state",
                                         failure ? "interrupted" : "complete", diag)
                       : rc;
}
