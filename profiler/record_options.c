/* SPDX-License-Identifier: MIT */
/* Reads the command line of `memlag record`. */
#include "record_options.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "output_name.h"
#include "perf/facts/cpu_list.h"
#include "sim_prefetch.h"
#include "sim_preset.h"
#include "sources.h"

#define INTERVAL_MS_DEFAULT 10
/* With --with-clock: about 60 000 samples a second. */
#define PERIOD_INSTRUCTIONS 50021

enum key {
        KEY_FORCE = 256,
        KEY_SOURCE,
        KEY_INTERVAL,
        KEY_PERIOD,
        KEY_FREQ,
        KEY_DURATION,
        KEY_WAIT,
        KEY_LDLAT,
        KEY_CALL_GRAPH,
        KEY_STORES,
        KEY_LOADS_ONLY,
        KEY_PHYS_DATA,
        KEY_PAGE_SIZE,
        KEY_NO_HEAP,
        KEY_ALL_COUNTERS,
        KEY_WITH_CLOCK,
        KEY_SIM_CPU,
        KEY_SIM_SET,
        KEY_SIM_PREFETCH,
        KEY_SIM_DETAIL,
        KEY_SIM_LIST,
        KEY_FIX
};

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0,
     "Write the sample database to FILE (default memlag.db); %r in it is the rank in a "
     "parallel job, %p memlag's process number, %h the host",
     0},
    {"force", KEY_FORCE, NULL, 0,
     "Replace FILE when it is a memlag database already, or empty", 0},
    {"source", KEY_SOURCE, "SOURCE", 0,
     "Where samples come from: auto (default), pebs (Intel CPUs), ibs (AMD CPUs), sim, "
     "the simulated PMU, or clock, timer samples",
     0},
    {"pid", 'p', "PID", 0, "Record the process PID, with all that it starts", 0},
    {"all-cpus", 'a', NULL, 0, "Record all programs on all CPUs", 0},
    {"cpu", 'C', "CPUS", 0, "Record all programs on CPUS, such as 0-3,8", 0},
    {"duration", KEY_DURATION, "SECONDS", 0, "End recording after SECONDS", 0},
    {"wait", KEY_WAIT, NULL, 0,
     "Record until all processes of the command have ended, such as daemons", 0},
    {"mmap-pages", 'm', "PAGES", 0,
     "Size of the ring buffer of each CPU, a power of two (default: what "
     "kernel.perf_event_mlock_kb allows)",
     0},
    {"interval", KEY_INTERVAL, "MS", 0,
     "Read the counters every MS milliseconds of the run's time (default 10)", 0},
    {"period", KEY_PERIOD, "N", 0,
     "Sample one of N slow enough accesses (default: sim 997, pebs 4001; ibs 250000 "
     "operations of any kind)",
     0},
    {"freq", KEY_FREQ, "HZ", 0,
     "Sample each CPU HZ times a second (clock: default 4000), or under sim HZ times in "
     "each second of stalled time",
     0},
    {"ldlat", KEY_LDLAT, "CYCLES", 0,
     "Sample loads of at least CYCLES (default: sim all beyond an L1 hit, pebs 30, ibs "
     "all)",
     0},
    {"call-graph", KEY_CALL_GRAPH, "MODE", 0,
     "Call stacks of samples and allocations: auto (default), fp, dwarf or none", 0},
    {"phys-data", KEY_PHYS_DATA, NULL, 0,
     "Record the physical addresses of the data (pebs, ibs)", 0},
    {"data-page-size", KEY_PAGE_SIZE, NULL, 0,
     "Record the sizes of the data's pages (pebs, ibs)", 0},
    {"stores", KEY_STORES, NULL, 0, "Always sample stores (pebs)", 0},
    {"loads-only", KEY_LOADS_ONLY, NULL, 0,
     "Sample neither stores nor page faults (sim, pebs)", 0},
    {"no-heap", KEY_NO_HEAP, NULL, 0, "Do not follow heap allocations", 0},
    {"all-counters", KEY_ALL_COUNTERS, NULL, 0,
     "Record also the counters that 'memlag validate' found to be wrong", 0},
    {NULL, 0, NULL, 0, "Simulated PMU:", 1},
    {"with-clock", KEY_WITH_CLOCK, NULL, 0,
     "First run the command as it is, under timer samples: reports show measured time "
     "beside modelled stalls",
     1},
    {"sim-cpu", KEY_SIM_CPU, "PRESET", 0,
     "The CPU to simulate: a preset's name or FILE.conf; 'help' lists the presets. "
     "Default: host if this machine is calibrated, otherwise nearest",
     1},
    {"sim-set", KEY_SIM_SET, "KEY=VALUE", 0,
     "Change one parameter of it, such as dram.bandwidth_gbs=15; may be repeated", 1},
    {"sim-prefetch", KEY_SIM_PREFETCH, "LIST", 0,
     "Its prefetchers: on (default), off, or some of l1-next,l1-ip-stride,l2-streamer,"
     "l2-adjacent",
     1},
    {"sim-detail", KEY_SIM_DETAIL, "full|cache|branches", 0,
     "Follow which value each instruction waits for, and wrong predictions (full, the "
     "default); cache: faster, without that; branches: also wrong paths and the front "
     "end, slower",
     1},
    {"sim-list", KEY_SIM_LIST, NULL, 0,
     "Print the parameters of the chosen CPU with their values and units", 1},
    {0},
};

/* Appends TEXT to the NULL-terminated LIST. */
static error_t add_text(const char ***list, size_t *count, const char *text)
{
        const char **all = reallocarray(*list, *count + 2, sizeof(*all));
        if (!all)
                return ENOMEM;
        all[(*count)++] = text;
        all[*count] = NULL;
        *list = all;
        return 0;
}

static error_t add_setting(struct record_options *options, const char *setting)
{
        error_t error = add_text(&options->sim_set, &options->sim_set_count, setting);
        options->source.sim_set = options->sim_set;
        return error;
}

/* "-o --" and "-o --force" have no FILE. */
static void set_output(struct record_options *options, struct argp_state *state,
                       const char *file)
{
        if (*file == '-' || !*file)
                usage_error(state, "-o: '%s' is no FILE; for a file of that name, ./%s",
                            file, file);
        options->output = file;
}

static void set_source(struct record_options *options, struct argp_state *state,
                       const char *name)
{
        if (strcmp(name, "auto") != 0 && !sources_find(name))
                usage_error(
                    state,
                    "--source: there is no source '%s'; give auto, pebs, ibs, clock "
                    "or sim",
                    name);
        options->source_name = name;
}

static void set_cpus(struct record_options *options, struct argp_state *state,
                     const char *list)
{
        int *cpus;
        size_t count;
        if (cpu_list_parse(list, &cpus, &count) < 0 || count == 0)
                usage_error(state, "-C: '%s' is no list of CPUs, such as 0-3,8", list);
        free(cpus);
        options->source.cpus = list;
}

static void set_pages(struct record_options *options, struct argp_state *state,
                      const char *text)
{
        size_t pages = usage_whole(state, "--mmap-pages", text, 1, 1 << 20);
        if (pages & (pages - 1))
                usage_error(state, "--mmap-pages: %zu is no power of two", pages);
        options->source.ring_pages = pages;
}

static void set_call_graph(struct record_options *options, struct argp_state *state,
                           const char *mode)
{
        static const struct {
                const char *name;
                enum call_graph mode;
        } modes[] = {{"auto", CALL_GRAPH_AUTO},
                     {"fp", CALL_GRAPH_FRAME_POINTERS},
                     {"dwarf", CALL_GRAPH_DWARF},
                     {"none", CALL_GRAPH_NONE}};
        for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
                if (strcmp(modes[i].name, mode) == 0) {
                        options->source.call_graph = modes[i].mode;
                        return;
                }
        usage_error(state, "--call-graph: '%s' is none of auto, fp, dwarf and none",
                    mode);
}

static void set_prefetch(struct record_options *options, struct argp_state *state,
                         const char *list)
{
        struct diag diag = {0};
        if (sim_prefetch_parse(list, &options->source.sim_prefetch, &diag) < 0)
                usage_error(state, "--sim-prefetch: %s", diag.text);
        options->source.sim_prefetch_given = true;
}

static void set_detail(struct record_options *options, struct argp_state *state,
                       const char *detail)
{
        options->source.sim_caches_only = strcmp(detail, "cache") == 0;
        options->source.sim_branches = strcmp(detail, "branches") == 0;
        if (!options->source.sim_caches_only && !options->source.sim_branches &&
            strcmp(detail, "full") != 0)
                usage_error(state,
                            "--sim-detail: '%s' is none of full, cache and branches",
                            detail);
}

static void set_cpu(struct record_options *options, const char *cpu)
{
        options->source.sim_cpu = cpu;
        if (strcmp(cpu, "help") == 0)
                options->action = RECORD_LIST_PRESETS;
}

static void check_complete(const struct record_options *options, struct argp_state *state)
{
        const struct source_options *source = &options->source;
        bool whole = source->system_wide || source->cpus;
        if (options->action == RECORD_RUN && !options->command && !source->pid && !whole)
                usage_error(state, "no command given; for example: %s -- ls -l",
                            state->name);
        if (source->pid && (options->command || whole))
                usage_error(state, "-p goes neither with a command nor with -a or -C");
        if (options->wait && (!options->command || whole))
                usage_error(state, "--wait is for the processes of a command alone: not "
                                   "with -p, -a or -C");
        if (options->with_clock &&
            (!options->command || whole || options->duration_s > 0))
                usage_error(state, "--with-clock runs a command twice, from beginning to "
                                   "end: not with -p, -a, -C or --duration");
        if (options->with_clock && (source->frequency_hz || source->sim_caches_only))
                usage_error(state, "--with-clock compares measured time with modelled "
                                   "stalls, which --freq and --sim-detail=cache do not "
                                   "have");
        if (source->period_loads && source->frequency_hz)
                usage_error(state, "--period and --freq exclude each other");
}

/* Expands the patterns in the user's FILE. Without FILE, each rank of a job with several
 * ranks gets a separate file. */
static void name_output(struct record_options *options, struct argp_state *state)
{
        struct job_rank rank;
        struct diag diag;
        bool given = options->output != NULL;
        int rc = job_rank_read(&rank, &diag);
        if (rc == 0 && !given)
                options->output = rank.alone ? OUTPUT_NAME_DEFAULT : OUTPUT_NAME_OF_RANK;
        if (rc == 0)
                rc = output_name(options->output, &rank, &options->output_made, &diag);
        if (rc < 0)
                usage_error(state, "%s", diag.text);
        options->output = options->output_made;
        if (!given && !rank.alone)
                diag_printf("record", "rank %s, by %s: writes %s; -o names another file",
                            rank.digits, rank.variable, options->output);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
        struct record_options *options = state->input;
        switch (key) {
        case 'o':
                set_output(options, state, text);
                return 0;
        case KEY_FORCE:
                options->force = true;
                return 0;
        case KEY_SOURCE:
                set_source(options, state, text);
                return 0;
        case 'p':
                options->source.pid = (pid_t)usage_whole(state, "-p", text, 1, INT_MAX);
                return 0;
        case 'a':
                options->source.system_wide = true;
                return 0;
        case 'C':
                set_cpus(options, state, text);
                return 0;
        case 'm':
                set_pages(options, state, text);
                return 0;
        case KEY_DURATION:
                options->duration_s = usage_number(state, "--duration", text, 0.001, 1e7);
                return 0;
        case KEY_WAIT:
                options->wait = true;
                return 0;
        case KEY_FREQ:
                options->source.frequency_hz =
                    usage_whole(state, "--freq", text, 1, 100000);
                return 0;
        case KEY_INTERVAL:
                options->source.interval_ns =
                    (uint64_t)(usage_number(state, "--interval", text, 0.01, 60000) *
                               1e6);
                return 0;
        case KEY_PERIOD:
                options->source.period_loads =
                    usage_whole(state, "--period", text, 1, UINT64_C(1000000000000));
                return 0;
        case KEY_LDLAT:
                options->source.ldlat_cycles =
                    (uint32_t)usage_whole(state, "--ldlat", text, 1, 65535);
                return 0;
        case KEY_CALL_GRAPH:
                set_call_graph(options, state, text);
                return 0;
        case KEY_PHYS_DATA:
                options->source.phys_addr = true;
                return 0;
        case KEY_PAGE_SIZE:
                options->source.page_size = true;
                return 0;
        case KEY_STORES:
                options->source.stores = true;
                return 0;
        case KEY_LOADS_ONLY:
                options->source.loads_only = true;
                return 0;
        case KEY_NO_HEAP:
                options->source.heap = false;
                return 0;
        case KEY_ALL_COUNTERS:
                options->all_counters = true;
                return 0;
        case KEY_WITH_CLOCK:
                options->with_clock = true;
                options->source.sim_period_instructions = PERIOD_INSTRUCTIONS;
                return 0;
        case KEY_SIM_CPU:
                set_cpu(options, text);
                return 0;
        case KEY_SIM_SET:
                return add_setting(options, text);
        case KEY_SIM_PREFETCH:
                set_prefetch(options, state, text);
                return 0;
        case KEY_SIM_DETAIL:
                set_detail(options, state, text);
                return 0;
        case KEY_SIM_LIST:
                options->action = RECORD_LIST_PARAMETERS;
                return 0;
        case ARGP_KEY_ARG:
                options->command = &state->argv[state->next - 1];
                state->next = state->argc; /* the rest is the command's */
                return 0;
        case ARGP_KEY_END:
                check_complete(options, state);
                if (options->action == RECORD_RUN)
                        name_output(options, state);
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

static const struct argp record_argp = {
    .options = option_table,
    .parser = parse_option,
    .args_doc = "[--] COMMAND [ARGUMENT...]\n-p PID\n-a | -C CPUS",
    .doc = "Run COMMAND and record where it waits for memory.\v"
           "The command gets memlag's standard input and output; what memlag says "
           "goes to standard error. memlag ends with the command's status.",
};

static int parse_all(const struct argp *argp, const char *name, int argc, char **argv,
                     struct record_options *options, struct diag *diag)
{
        *options = (struct record_options){
            .source_name = "auto",
            .source = {.interval_ns = INTERVAL_MS_DEFAULT * UINT64_C(1000000),
                       .call_graph = CALL_GRAPH_AUTO,
                       .heap = true},
        };
        int error = command_line_parse(argp, name, argc, argv, ARGUMENTS_LAST, options);
        if (error)
                return diag_set(diag, -error, "cannot read the command line: %s",
                                strerror(error));
        return 0;
}

int record_options_parse(int argc, char **argv, struct record_options *options,
                         struct diag *diag)
{
        return parse_all(&record_argp, "memlag record", argc, argv, options, diag);
}

static error_t parse_whatif_option(int key, char *text, struct argp_state *state)
{
        struct record_options *options = state->input;
        return key == KEY_FIX ? add_text(&options->fixes, &options->fix_count, text)
                              : parse_option(key, text, state);
}

/* Help leaves out options that whatif refuses, and those of hardware alone. */
static bool whatif_has(const struct argp_option *option)
{
        static const int others[] = {'p',
                                     'a',
                                     'C',
                                     'm',
                                     KEY_SOURCE,
                                     KEY_DURATION,
                                     KEY_FREQ,
                                     KEY_PHYS_DATA,
                                     KEY_PAGE_SIZE,
                                     KEY_STORES,
                                     KEY_SIM_LIST,
                                     KEY_WITH_CLOCK,
                                     KEY_ALL_COUNTERS};
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                if (option->key == others[i])
                        return false;
        return true;
}

int whatif_options_parse(int argc, char **argv, struct record_options *options,
                         struct diag *diag)
{
        static struct argp_option
            table[1 + sizeof(option_table) / sizeof(*option_table)] = {
                {"fix", KEY_FIX, "FIX", 0,
                 "Try only this fix of the simulated CPU or the program, such as "
                 "dram-latency or type:node=soa; may be repeated",
                 0}};
        static const struct argp argp = {
            .options = table,
            .parser = parse_whatif_option,
            .args_doc = "[--] COMMAND [ARGUMENT...]",
            .doc = "Record COMMAND, then run it again on simulated CPUs without one cost "
                   "each, and report the gain of each fix.\v"
                   "The command's standard input must be a file, and its files are "
                   "written again by each run.",
        };
        for (size_t i = 0; i < sizeof(option_table) / sizeof(*option_table); i++) {
                table[i + 1] = option_table[i];
                if (!whatif_has(&option_table[i]))
                        table[i + 1].flags |= OPTION_HIDDEN;
        }
        return parse_all(&argp, "memlag whatif", argc, argv, options, diag);
}

void record_options_free(struct record_options *options)
{
        free(options->fixes);
        free(options->sim_set);
        free(options->output_made);
}
