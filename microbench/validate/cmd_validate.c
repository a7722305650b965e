/* SPDX-License-Identifier: MIT */
/* memlag validate: checks which counters are right, and stores the result for `memlag
 * record`. validate.h runs and judges the trials. */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "calibration.h"
#include "command.h"
#include "command_line.h"
#include "microbench.h"
#include "sim_prefetch.h"
#include "sim_preset.h"
#include "validate.h"
#include "validation.h"

static const char name[] = "validate";

enum key {
        KEY_SOURCE = 256,
        KEY_SIM_CPU,
        KEY_SIM_SET,
        KEY_SIM_PREFETCH,
        KEY_ALL,
        KEY_SHOW,
        KEY_FORMAT
};
enum { SETTINGS_MAX = 64 };

struct validate_options {
        bool simulated;
        bool all;
        bool show;
        bool json;
        struct sim_runner_options sim;
        const char *settings[SETTINGS_MAX + 1];
        size_t setting_count;
        const char *const *events; /* NULL-terminated */
};

static const struct argp_option option_table[] = {
    {"source", KEY_SOURCE, "SOURCE", 0,
     "Whose counters: pebs or ibs (default), the CPU's, or sim, the simulated PMU's", 0},
    {"all", KEY_ALL, NULL, 0,
     "Try all events of the CPU that are about memory, not only those recorded", 0},
    {"show", KEY_SHOW, NULL, 0, "Show what is stored, run nothing", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "table (default) or json", 0},
    {NULL, 0, NULL, 0, "Simulated PMU:", 1},
    {"sim-cpu", KEY_SIM_CPU, "PRESET", 0, "The CPU to simulate", 1},
    {"sim-set", KEY_SIM_SET, "KEY=VALUE", 0,
     "Change one parameter of it; may be repeated", 1},
    {"sim-prefetch", KEY_SIM_PREFETCH, "LIST", 0,
     "Its prefetchers: on (default), off, or some of them", 1},
    {0},
};

/* The machine's counters are named after their sampling source. */
static bool is_simulated(struct argp_state *state, const char *source)
{
        if (strcmp(source, "sim") == 0)
                return true;
        if (strcmp(source, "pebs") != 0 && strcmp(source, "ibs") != 0)
                usage_error(state, "--source: '%s' is none of pebs, ibs and sim", source);
        return false;
}

static bool read_choice(struct argp_state *state, const char *option, const char *text,
                        const char *no, const char *yes)
{
        if (strcmp(text, no) != 0 && strcmp(text, yes) != 0)
                usage_error(state, "%s: '%s' is neither %s nor %s", option, text, no,
                            yes);
        return strcmp(text, yes) == 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
        struct validate_options *options = state->input;
        switch (key) {
        case KEY_SOURCE:
                options->simulated = is_simulated(state, text);
                return 0;
        case KEY_ALL:
                options->all = true;
                return 0;
        case KEY_SHOW:
                options->show = true;
                return 0;
        case KEY_FORMAT:
                options->json = read_choice(state, "--format", text, "table", "json");
                return 0;
        case KEY_SIM_CPU:
                options->sim.cpu = text;
                return 0;
        case KEY_SIM_PREFETCH:
                options->sim.prefetch = text;
                return 0;
        case KEY_SIM_SET:
                if (options->setting_count == SETTINGS_MAX)
                        usage_error(state, "at most %d --sim-set", SETTINGS_MAX);
                options->settings[options->setting_count++] = text;
                return 0;
        case ARGP_KEY_ARGS:
                options->events = (const char *const *)state->argv + state->next;
                return 0;
        case ARGP_KEY_END:
                if (!options->simulated &&
                    (options->sim.cpu || options->setting_count || options->sim.prefetch))
                        usage_error(state, "--sim-... means something with --source sim");
                if (options->all &&
                    (options->simulated || options->show || options->events))
                        usage_error(state,
                                    "--all is for the CPU's own counters: not with "
                                    "--source sim, which always tries all, --show, "
                                    "or named events");
                if (options->show && options->setting_count)
                        usage_error(state, "--show: what is found with --sim-set is not "
                                           "kept");
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

/* ---- choosing ---- */

static bool is_named(const char *event, const char *const *names)
{
        for (; *names; names++)
                if (strcasecmp(event, *names) == 0)
                        return true;
        return false;
}

/* Selects only the events that the user named. */
static int choose(struct runner *runner, const char *const *names, struct diag *diag)
{
        if (!names)
                return 0;
        for (size_t i = 0; i < runner->count; i++)
                runner->candidates[i].wanted =
                    is_named(runner->candidates[i].name, names);
        for (; *names; names++) {
                bool known = false;
                for (size_t i = 0; i < runner->count; i++)
                        known |= strcasecmp(runner->candidates[i].name, *names) == 0;
                if (!known)
                        return diag_set(diag, -EINVAL,
                                        "there is no event '%s'; 'memlag validate' "
                                        "without a name tries all that are known",
                                        *names);
        }
        return 0;
}

/* ---- the document ---- */

/* Adds events of OLD that are missing in EVENTS. */
static void keep_others(json_t *events, const json_t *old)
{
        size_t index, other;
        json_t *event, *present;
        json_array_foreach(json_object_get(old, "events"), index, event)
        {
                const char *event_name =
                    json_string_value(json_object_get(event, "event"));
                bool replaced = !event_name;
                json_array_foreach(events, other, present) replaced =
                    replaced ||
                    strcmp(event_name,
                           json_string_value(json_object_get(present, "event"))) == 0;
                if (!replaced)
                        json_array_append(events, event);
        }
}

/* Whether the user changed the simulated CPU: the stored result of the preset must not
 * come from such a run. */
static bool is_experiment(const struct validate_options *options)
{
        return options->setting_count > 0;
}

/* The changes by --sim-set; NULL: none. */
static json_t *settings_json(const struct validate_options *options)
{
        json_t *settings = is_experiment(options) ? json_array() : NULL;
        for (size_t i = 0; settings && i < options->setting_count; i++)
                json_array_append_new(settings, json_string(options->settings[i]));
        return settings;
}

static json_t *document_of(const struct validate_options *options, json_t *events,
                           const struct simulated_counters *counters)
{
        char made[sizeof("2000-01-01T00:00:00Z")];
        struct tm utc;
        time_t now = time(NULL);
        struct machine_identity identity;
        struct diag ignored;
        json_t *old;
        machine_identity(&identity);
        bool amd = strcmp(identity.vendor, "AuthenticAMD") == 0;
        const char *source = counters ? "sim" : amd ? "ibs" : "pebs";
        strftime(made, sizeof(made), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
        if (!is_experiment(options) && validation_load(counters, &old, &ignored) == 0) {
                keep_others(events, old);
                json_decref(old);
        }
        return json_pack(
            "{s:i, s:s, s:s, s:s, s:s, s:s*, s:o*, s:o, s:o}", "format",
            VALIDATION_FORMAT, "made", made, "memlag_version", MEMLAG_VERSION, "source",
            source, "cpu", counters ? counters->preset : identity.cpu, "prefetch",
            counters ? counters->prefetch : NULL, "settings", settings_json(options),
            "best", validate_best(events), "events", events);
}

static int keep(const json_t *document, const struct simulated_counters *counters,
                struct diag *diag)
{
        char *path = validation_path(counters, diag);
        char *text = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
        int rc = !path  ? -ENOENT
                 : text ? calibration_write(path, text, diag)
                        : diag_set(diag, -ENOMEM, "out of memory");
        if (rc == 0)
                diag_printf(name, "wrote %s", path);
        free(text);
        free(path);
        return rc;
}

static int keep_unless_experiment(const struct validate_options *options,
                                  const json_t *document,
                                  const struct simulated_counters *counters,
                                  struct diag *diag)
{
        if (!is_experiment(options))
                return keep(document, counters, diag);
        diag_printf(name, "an experiment with --sim-set: the result is not kept");
        return 0;
}

static int validate(const struct validate_options *options,
                    const struct simulated_counters *counters, json_t **document,
                    struct diag *diag)
{
        struct runner *runner;
        int rc = options->simulated
                     ? runner_open_sim(&options->sim, &runner, diag)
                     : runner_open_perf(options->events, options->all, &runner, diag);
        if (rc < 0)
                return rc;
        json_t *events = NULL;
        rc = choose(runner, options->events, diag);
        if (rc == 0) {
                events = validate_events(runner, isatty(STDERR_FILENO), diag);
                rc = events ? 0 : -EIO;
        }
        runner->ops->close(runner);
        *document = events ? document_of(options, events, counters) : NULL;
        if (rc == 0)
                rc = *document
                         ? keep_unless_experiment(options, *document, counters, diag)
                         : diag_no_memory(diag);
        return rc;
}

/* ---- showing ---- */

static const char *text_of(const json_t *object, const char *key)
{
        const char *text = json_string_value(json_object_get(object, key));
        return text ? text : "-";
}

static void print_number(const json_t *object, const char *key)
{
        const json_t *value = json_object_get(object, key);
        double number = json_number_value(value);
        if (json_is_number(value)) /* a value that rounds to zero has no sign */
                printf(" %9.3f", fabs(number) < 0.0005 ? 0 : number);
        else
                printf(" %9s", "-");
}

static bool is_shown(const json_t *event, const struct validate_options *options)
{
        return !options->events || is_named(text_of(event, "event"), options->events);
}

/* The deviation from the nearer end of the expected range. */
static void print_deviation(const json_t *trial)
{
        double counted = json_number_value(json_object_get(trial, "counted"));
        double least = json_number_value(json_object_get(trial, "least"));
        double most = json_number_value(json_object_get(trial, "most"));
        double nearer = counted < least ? least : most;
        printf("%.0f counted, ", counted);
        if (nearer > 0)
                printf("%s%.0f expected, ratio %.3f\n",
                       least >= most     ? ""
                       : counted < least ? "at least "
                                         : "at most ",
                       nearer, counted / nearer);
        else
                puts("none expected");
}

/* Printed below the table, because medians hide the kernel behind a verdict. */
static void show_worst(const json_t *document, const struct validate_options *options)
{
        const char *heading = "\nFurthest off\n";
        size_t index, place;
        json_t *event, *trial;
        json_array_foreach(json_object_get(document, "events"), index, event)
        {
                const char *kernel =
                    json_string_value(json_object_get(event, "worst_kernel"));
                if (!kernel || !is_shown(event, options))
                        continue;
                json_array_foreach(json_object_get(event, "trials"), place, trial)
                {
                        if (strcmp(text_of(trial, "kernel"), kernel) != 0)
                                continue;
                        printf("%s  %-40s %s: ", heading, text_of(event, "event"),
                               kernel);
                        print_deviation(trial);
                        heading = "";
                }
        }
}

static void show(const json_t *document, const struct validate_options *options)
{
        const json_t *best = json_object_get(document, "best");
        size_t index;
        const char *concept;
        json_t *event, *choice, *setting;
        printf("Counters of %s", text_of(document, "cpu"));
        if (json_object_get(document, "prefetch"))
                printf(" (simulated, prefetch %s)", text_of(document, "prefetch"));
        json_array_foreach(json_object_get(document, "settings"), index, setting)
            printf(", %s", json_string_value(setting));
        printf("; validated %s\n\n", text_of(document, "made"));
        printf("%-42s %-14s %9s %9s %9s %9s  %s\n", "event", "concept", "ratio",
               "prefetch", "spread", "correl.", "verdict");
        json_array_foreach(json_object_get(document, "events"), index, event)
        {
                if (!is_shown(event, options))
                        continue;
                printf("%-42s %-14s", text_of(event, "event"), text_of(event, "concept"));
                print_number(event, "ratio");
                print_number(event, "prefetched_ratio");
                print_number(event, "spread");
                print_number(event, "correlation");
                printf("  %s\n", text_of(event, "verdict"));
        }
        show_worst(document, options);
        printf("\nBest for\n");
        json_object_foreach((json_t *)best, concept, choice)
            printf("  %-14s %s\n", concept,
                   json_is_string(choice) ? json_string_value(choice)
                                          : "none is known to be right");
}

static int print(const struct validate_options *options, const json_t *document,
                 struct diag *diag)
{
        if (options->json) {
                json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
                putchar('\n');
        } else {
                show(document, options);
        }
        return fflush(stdout) == 0 ? 0
                                   : diag_set(diag, -errno, "cannot write the result: %s",
                                              strerror(errno));
}

static int name_counters(const struct sim_runner_options *sim, struct sim_preset *preset,
                         struct simulated_counters *counters, struct diag *diag)
{
        uint32_t on = 0;
        int rc = sim_prefetch_parse(sim->prefetch, &on, diag);
        if (rc == 0)
                rc = sim_preset_build(sim->cpu, NULL, preset, diag);
        counters->preset = preset->name;
        sim_prefetch_label(on, counters->prefetch, sizeof(counters->prefetch));
        return rc;
}

/* Without a stored result, suggests the command that creates it. */
static int load_stored(const struct validate_options *options,
                       const struct simulated_counters *counters, json_t **document,
                       struct diag *diag)
{
        int rc = validation_load(counters, document, diag);
        char *path = rc == -ENOENT ? validation_path(counters, diag) : NULL;
        if (!path)
                return rc;
        if (!counters) {
                diag_set(diag, rc,
                         "there is no validation of this CPU's counters (%s); make one "
                         "with 'memlag validate' where it has a PMU ('memlag doctor' "
                         "tells), or ask for the simulated PMU's with --source sim",
                         path);
                free(path);
                return rc;
        }
        const char *cpu = options->sim.cpu, *prefetch = options->sim.prefetch;
        bool prefetches = strcmp(prefetch, "on") == 0;
        diag_set(diag, rc,
                 "there is no validation of these counters (%s); make one with 'memlag "
                 "validate --source sim%s%s%s%s'",
                 path, cpu ? " --sim-cpu " : "", cpu ? cpu : "",
                 prefetches ? "" : " --sim-prefetch ", prefetches ? "" : prefetch);
        free(path);
        return rc;
}

int cmd_validate(int argc, char **argv)
{
        static const struct argp argp = {
            .options = option_table,
            .parser = parse_option,
            .args_doc = "[EVENT...]",
            .doc = "Tell which counters can be trusted: kernels whose true counts are "
                   "known run, and each event is compared with them.",
        };
        struct validate_options options = {.events = NULL};
        struct sim_preset preset;
        struct simulated_counters simulated, *counters = NULL;
        struct diag diag;
        json_t *document = NULL;
        int rc = 0;
        command_line_parse(&argp, "memlag validate", argc, argv, ARGUMENTS_ANYWHERE,
                           &options);
        options.sim.set = options.settings;
        if (!options.sim.prefetch)
                options.sim.prefetch = "on";
        if (options.simulated) {
                rc = name_counters(&options.sim, &preset, &simulated, &diag);
                counters = &simulated;
        }
        if (rc == 0)
                rc = options.show ? load_stored(&options, counters, &document, &diag)
                                  : validate(&options, counters, &document, &diag);
        if (rc == 0)
                rc = print(&options, document, &diag);
        json_decref(document);
        if (rc < 0)
                diag_print(name, &diag);
        return rc == 0 ? EXIT_OK : rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}
