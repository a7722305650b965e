/* SPDX-License-Identifier: MIT */
/* Reads the command line of `memlag record`. */
#include "record_options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

#define INTERVAL_MS_DEFAULT 10
#define LDLAT_DEFAULT       30
#define PERIOD_DEFAULT      499

enum key {
        KEY_FORCE = 256,
        KEY_SOURCE,
        KEY_INTERVAL,
        KEY_PERIOD,
        KEY_LDLAT,
        KEY_CALL_GRAPH,
        KEY_NO_HEAP,
        KEY_SIM_CPU,
        KEY_SIM_SET,
        KEY_SIM_LIST
};

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0, "Write the sample database to FILE (default memlag.db)",
     0},
    {"force", KEY_FORCE, NULL, 0, "Replace FILE when it is a memlag database already", 0},
    {"source", KEY_SOURCE, "SOURCE", 0,
     "Where samples come from: auto (default) or sim, the simulated PMU", 0},
    {"interval", KEY_INTERVAL, "MS", 0,
     "Read the counters every MS milliseconds of the run's time (default 10)", 0},
    {"period", KEY_PERIOD, "N", 0,
     "Sample one of N loads on the average that reach the latency threshold (default "
     "499)",
     0},
    {"ldlat", KEY_LDLAT, "CYCLES", 0,
     "Only loads of at least CYCLES are sampled (default 30)", 0},
    {"call-graph", KEY_CALL_GRAPH, "MODE", 0,
     "Call stacks of samples and allocations: auto (default) or none", 0},
    {"no-heap", KEY_NO_HEAP, NULL, 0, "Do not follow heap allocations", 0},
    {NULL, 0, NULL, 0, "Simulated PMU:", 1},
    {"sim-cpu", KEY_SIM_CPU, "PRESET", 0,
     "The CPU to simulate: a preset's name or FILE.conf; 'help' lists the presets", 1},
    {"sim-set", KEY_SIM_SET, "KEY=VALUE", 0,
     "Change one parameter of it, such as dram.bandwidth_gbs=15; may be repeated", 1},
    {"sim-list", KEY_SIM_LIST, NULL, 0,
     "Print the parameters of the chosen CPU with their values and units", 1},
    {0},
};

/* A number in [MINIMUM, MAXIMUM], or ends the program with a message. */
static double read_number(struct argp_state *state, const char *option, const char *text,
                          double minimum, double maximum)
{
        char *end;
        errno = 0;
        double value = strtod(text, &end);
        if (end == text || *end || !isfinite(value) || value < minimum || value > maximum)
                argp_error(state, "%s: '%s' is not a number from %.10g to %.10g", option,
                           text, minimum, maximum);
        return value;
}

static double read_whole(struct argp_state *state, const char *option, const char *text,
                         double minimum, double maximum)
{
        double value = read_number(state, option, text, minimum, maximum);
        if (value != floor(value))
                argp_error(state, "%s: '%s' is not a whole number", option, text);
        return value;
}

static error_t add_setting(struct record_options *options, const char *setting)
{
        const char **all =
            reallocarray(options->sim_set, options->sim_set_count + 2, sizeof(*all));
        if (!all)
                return ENOMEM;
        all[options->sim_set_count++] = setting;
        all[options->sim_set_count] = NULL;
        options->sim_set = all;
        options->source.sim_set = all;
        return 0;
}

static void set_call_graph(struct record_options *options, struct argp_state *state,
                           const char *mode)
{
        if (strcmp(mode, "auto") != 0 && strcmp(mode, "none") != 0)
                argp_error(state, "--call-graph: '%s' is neither auto nor none", mode);
        options->source.call_graph = strcmp(mode, "auto") == 0;
}

static void set_cpu(struct record_options *options, const char *cpu)
{
        options->source.sim_cpu = cpu;
        if (strcmp(cpu, "help") == 0)
                options->action = RECORD_LIST_PRESETS;
}

static void check_complete(const struct record_options *options, struct argp_state *state)
{
        if (options->action == RECORD_RUN && !options->command)
                argp_error(state,
                           "no command given; for example: memlag record -- ls -l");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
        struct record_options *options = state->input;
        switch (key) {
        case 'o':
                options->output = text;
                return 0;
        case KEY_FORCE:
                options->force = true;
                return 0;
        case KEY_SOURCE:
                if (strcmp(text, "auto") != 0 && strcmp(text, "sim") != 0)
                        argp_error(state, "--source: '%s' is neither auto nor sim", text);
                return 0;
        case KEY_INTERVAL:
                options->source.interval_ns =
                    (uint64_t)(read_number(state, "--interval", text, 0.01, 60000) * 1e6);
                return 0;
        case KEY_PERIOD:
                options->source.period_loads =
                    (uint64_t)read_whole(state, "--period", text, 1, 1e12);
                return 0;
        case KEY_LDLAT:
                options->source.ldlat_cycles =
                    (uint32_t)read_whole(state, "--ldlat", text, 1, 65535);
                return 0;
        case KEY_CALL_GRAPH:
                set_call_graph(options, state, text);
                return 0;
        case KEY_NO_HEAP:
                options->source.heap = false;
                return 0;
        case KEY_SIM_CPU:
                set_cpu(options, text);
                return 0;
        case KEY_SIM_SET:
                return add_setting(options, text);
        case KEY_SIM_LIST:
                options->action = RECORD_LIST_PARAMETERS;
                return 0;
        case ARGP_KEY_ARG:
                options->command = &state->argv[state->next - 1];
                state->next = state->argc; /* the rest is the command's */
                return 0;
        case ARGP_KEY_END:
                check_complete(options, state);
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

int record_options_parse(int argc, char **argv, struct record_options *options,
                         struct diag *diag)
{
        static const struct argp argp = {
            .options = option_table,
            .parser = parse_option,
            .args_doc = "[--] COMMAND [ARGUMENT...]",
            .doc =
                "Run COMMAND and record where it waits for memory.\v"
                "The command gets memlag's standard input and output; what memlag says "
                "goes to standard error. memlag ends with the command's status.",
        };
        static char name[] = "memlag record";
        *options = (struct record_options){
            .output = "memlag.db",
            .source = {.interval_ns = INTERVAL_MS_DEFAULT * UINT64_C(1000000),
                       .period_loads = PERIOD_DEFAULT,
                       .ldlat_cycles = LDLAT_DEFAULT,
                       .call_graph = true,
                       .heap = true},
        };
        argv[0] = name;
        argp_err_exit_status = EXIT_USAGE;
        error_t error = argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, options);
        if (error)
                return diag_set(diag, -error, "cannot read the command line: %s",
                                strerror(error));
        return 0;
}

void record_options_free(struct record_options *options)
{
        free(options->sim_set);
}
