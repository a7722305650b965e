/* SPDX-License-Identifier: MIT */
/* memlag bench: runs one kernel and prints the time per access. */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_show.h"
#include "bounce.h"
#include "command.h"
#include "command_line.h"
#include "conditions.h"
#include "measure.h"
#include "microbench.h"

static const char name[] = "bench";

/* Long enough for the clocks, short enough for the user. */
static const double AIM_SECONDS = 0.5;

#define PASSES_MAX (UINT64_C(1) << 40)

enum key {
        KEY_LIST = 256,
        KEY_DELAY,
        KEY_STRIDE,
        KEY_ORDER,
        KEY_BLOCK,
        KEY_INDEPENDENT,
        KEY_DEPENDENT,
        KEY_WIDTH,
        KEY_PAGES,
        KEY_NODE,
        KEY_PATTERN,
        KEY_PLACES,
        KEY_FORMAT
};

struct bench_options {
        bool list;
        bool json;
        bool places;
        const struct kernel *kernel;
        struct kernel_parameters parameters; /* passes 0: as many as fit the time */
};

static const struct argp_option option_table[] = {
    {"list", KEY_LIST, NULL, 0, "List the kernels", 0},
    {"size", 's', "BYTES", 0, "Data of all threads together, with K, M, G or T", 0},
    {"threads", 't', "N", 0, "Threads, each on one CPU (default 1; sharing: 2)", 0},
    {"passes", 'p', "N", 0,
     "Passes of each thread over its data (default: for about half a second)", 0},
    {"delay", KEY_DELAY, "NOPS", 0, "NOPs between the loads (memread)", 0},
    {"stride", KEY_STRIDE, "BYTES", 0, "From one element to the next (chase, pairs, tlb)",
     0},
    {"order", KEY_ORDER, "ORDER", 0, "random (default) or sequential (chase, pairs)", 0},
    {"block", KEY_BLOCK, "BYTES", 0, "Random within blocks of BYTES (chase, pairs)", 0},
    {"independent", KEY_INDEPENDENT, "N", 0, "Multiplications beside each load (chase)",
     0},
    {"dependent", KEY_DEPENDENT, "N", 0,
     "Multiplications between one load and the next (chase)", 0},
    {"width", KEY_WIDTH, "BITS", 0, "64, 128, 256 or 512 (load, store)", 0},
    {"pages", KEY_PAGES, "KIND", 0, "huge or small (default: huge, for tlb small)", 0},
    {"node", KEY_NODE, "N", 0, "NUMA node of the data (default: the thread's)", 0},
    {"pattern", KEY_PATTERN, "NAME", 0,
     "How branches go: none, never, always (branch, icode); halves, alternating, jump, "
     "random, random-never, random-always, wrong-path, wrong-path-never, "
     "wrong-path-always (branch)",
     0},
    {"places", KEY_PLACES, NULL, 0,
     "Before and after, time a cache line between each CPU and the next, and how much "
     "longer both take to compute together",
     0},
    {"format", KEY_FORMAT, "FORMAT", 0, "table (default) or json", 0},
    {0},
};

/* ---- the command line ---- */

/* The index of TEXT in WORDS, which ends with NULL. */
static unsigned read_word(struct argp_state *state, const char *option, const char *text,
                          const char *const *words)
{
        for (unsigned i = 0; words[i]; i++)
                if (strcmp(words[i], text) == 0)
                        return i;
        usage_error(state, "%s: '%s' is not known; see 'memlag bench --help'", option,
                    text);
}

/* Ends the program if the kernel does not have the parameter. */
static void need(const struct argp_state *state, const struct bench_options *options,
                 unsigned takes, const char *option)
{
        if (!options->kernel)
                usage_error(state, "the kernel comes before its options: memlag bench "
                                   "KERNEL [OPTION...]");
        else if (takes && !(options->kernel->takes & takes))
                usage_error(state, "%s means nothing to %s", option,
                            options->kernel->name);
}

static void choose(struct argp_state *state, struct bench_options *options,
                   const char *text)
{
        if (options->kernel)
                usage_error(state, "one kernel at a time: '%s' and '%s'",
                            options->kernel->name, text);
        options->kernel = kernel_find(text);
        if (!options->kernel)
                usage_error(state, "there is no kernel '%s'; see 'memlag bench --list'",
                            text);
        options->parameters = options->kernel->defaults;
        options->parameters.node = -1;
        if (options->parameters.threads == 0)
                options->parameters.threads = 1;
}

/* An option that sets a kernel parameter. */
struct parameter_option {
        int key;
        unsigned takes; /* required capability of the kernel; 0: none */
        const char *name;
        size_t offset, size; /* of the field in struct kernel_parameters */
        uint64_t minimum, maximum;
        bool bytes;               /* with K, M or G */
        const char *const *words; /* the allowed words; NULL: a number */
};

#define FIELD(name)                                                                      \
        .offset = offsetof(struct kernel_parameters, name),                              \
        .size = sizeof(((struct kernel_parameters *)NULL)->name)

static const char *const orders[] = {"random", "sequential", NULL};
static const char *const page_kinds[] = {"small", "huge", NULL};
static const char *const patterns[] = {
    [BRANCH_NONE] = "none",
    [BRANCH_NEVER] = "never",
    [BRANCH_ALWAYS] = "always",
    [BRANCH_HALVES] = "halves",
    [BRANCH_ALTERNATING] = "alternating",
    [BRANCH_JUMP] = "jump",
    [BRANCH_RANDOM] = "random",
    [BRANCH_RANDOM_NEVER] = "random-never",
    [BRANCH_RANDOM_ALWAYS] = "random-always",
    [BRANCH_WRONG_PATH] = "wrong-path",
    [BRANCH_WRONG_PATH_NEVER] = "wrong-path-never",
    [BRANCH_WRONG_PATH_ALWAYS] = "wrong-path-always",
    NULL,
};

static const struct parameter_option parameter_options[] = {
    {'s', TAKES_SIZE, "--size", FIELD(size_bytes), 0, UINT64_MAX, .bytes = true},
    {'t', 0, "--threads", FIELD(threads), 1, 1 << 16},
    {'p', 0, "--passes", FIELD(passes), 1, PASSES_MAX},
    {KEY_DELAY, TAKES_DELAY, "--delay", FIELD(delay_nops), 0, UINT32_MAX},
    {KEY_STRIDE, TAKES_STRIDE, "--stride", FIELD(stride_bytes), 8, UINT32_MAX,
     .bytes = true},
    {KEY_ORDER, TAKES_ORDER, "--order", FIELD(sequential), .words = orders},
    {KEY_BLOCK, TAKES_ORDER, "--block", FIELD(block_bytes), 1, UINT64_MAX, .bytes = true},
    {KEY_INDEPENDENT, TAKES_MULTIPLICATIONS, "--independent",
     FIELD(independent_multiplications), 0, UINT32_MAX},
    {KEY_DEPENDENT, TAKES_MULTIPLICATIONS, "--dependent",
     FIELD(dependent_multiplications), 0, UINT32_MAX},
    {KEY_WIDTH, TAKES_WIDTH, "--width", FIELD(width_bits), 64, 512},
    {KEY_PAGES, TAKES_PAGES, "--pages", FIELD(pages), .words = page_kinds},
    {KEY_NODE, TAKES_PAGES, "--node", FIELD(node), 0, 1023},
    {KEY_PATTERN, TAKES_PATTERN, "--pattern", FIELD(pattern), .words = patterns},
};

static const struct parameter_option *find_parameter_option(int key)
{
        const size_t count = sizeof(parameter_options) / sizeof(parameter_options[0]);
        for (size_t i = 0; i < count; i++)
                if (parameter_options[i].key == key)
                        return &parameter_options[i];
        return NULL;
}

static void set_parameter(struct argp_state *state, struct bench_options *options,
                          const struct parameter_option *option, const char *text)
{
        uint64_t value;
        need(state, options, option->takes, option->name);
        if (option->words)
                value = read_word(state, option->name, text, option->words);
        else if (option->bytes)
                value = usage_bytes(state, option->name, text, option->minimum,
                                    option->maximum);
        else
                value = usage_whole(state, option->name, text, option->minimum,
                                    option->maximum);
        /* x86 is little endian: the low bytes come first. */
        memcpy((char *)&options->parameters + option->offset, &value, option->size);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
        static const char *const formats[] = {"table", "json", NULL};
        struct bench_options *options = state->input;
        const struct parameter_option *option = find_parameter_option(key);
        if (option) {
                set_parameter(state, options, option, text);
                return 0;
        }
        switch (key) {
        case KEY_LIST:
                options->list = true;
                return 0;
        case KEY_PLACES:
                options->places = true;
                return 0;
        case KEY_FORMAT:
                options->json = read_word(state, "--format", text, formats) == 1;
                return 0;
        case ARGP_KEY_ARG:
                choose(state, options, text);
                return 0;
        case ARGP_KEY_END:
                if (!options->kernel && !options->list)
                        usage_error(state, "no kernel given; see 'memlag bench --list'");
                else if (options->places && options->parameters.threads < 2)
                        usage_error(state, "--places is about several CPUs: it needs "
                                           "--threads 2 or more");
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

/* ---- results ---- */

static void print_list(void)
{
        for (size_t i = 0; kernels[i]; i++)
                printf("%-14s %s\n", kernels[i]->name, kernels[i]->summary);
}

/* Doubles the number of passes until the time is long enough, if the user gave no number.
 */
static int measure_long_enough(struct bench_options *options, const struct cpu_list *cpus,
                               struct measurement *measurement, struct diag *diag)
{
        struct kernel_parameters *parameters = &options->parameters;
        bool fixed = parameters->passes != 0;
        if (!fixed)
                parameters->passes = 1;
        for (;;) {
                int rc = measure(options->kernel, parameters, cpus, measurement, 1, diag);
                if (rc < 0 || fixed || measurement->seconds >= AIM_SECONDS / 2 ||
                    parameters->passes >= PASSES_MAX)
                        return rc;
                double more = AIM_SECONDS / (measurement->seconds + 1e-6);
                if (more > 1000)
                        more = 1000; /* the first pass is a poor measure */
                parameters->passes = (uint64_t)((double)parameters->passes * more) + 1;
        }
}

/* Locates the CPUs, or leaves everything NULL. */
static int see_places(const struct bench_options *options, const struct cpu_list *cpus,
                      struct bounce **bounces, size_t *count, struct diag *diag)
{
        size_t threads = options->parameters.threads;
        if (!options->places)
                return 0;
        if (threads > cpus->count)
                return diag_set(
                    diag, -EINVAL,
                    "--places with %zu threads on %zu CPUs: each needs one of "
                    "its own",
                    threads, cpus->count);
        *count = threads - 1;
        *bounces = calloc(threads, sizeof(**bounces));
        return *bounces ? bounce_lines(cpus->cpus, threads, *bounces, diag)
                        : diag_no_memory(diag);
}

/* The memory for the data, and for the order of a chase. Strides longer than a page leave
 * pages untouched. */
static double memory_of(const struct bench_options *options)
{
        enum { PAGE_BYTES = 4096, PAGE_ENTRY_BYTES = 8 };
        const struct kernel_parameters *parameters = &options->parameters;
        double bytes = (double)parameters->size_bytes;
        double order_bytes = 0;
        if (options->kernel->takes & TAKES_STRIDE) {
                double steps = bytes / parameters->stride_bytes;
                order_bytes = steps * sizeof(uint32_t);
                if (parameters->stride_bytes > PAGE_BYTES)
                        bytes = steps * PAGE_BYTES;
        }
        return bytes + bytes / PAGE_BYTES * PAGE_ENTRY_BYTES + order_bytes;
}

/* Returns -ENOMEM if the limit is lower: the kernel would kill this process or others. */
static int check_memory(const struct bench_options *options, struct diag *diag)
{
        static const double KEPT = 15.0 / 16; /* the rest is for stacks and libraries */
        double wanted = memory_of(options);
        double usable = (double)conditions_memory_bytes(options->parameters.threads);
        if (wanted <= usable)
                return 0;
        double fitting = (double)options->parameters.size_bytes * usable / wanted * KEPT;
        return diag_set(diag, -ENOMEM,
                        "%.0f MiB of memory may be used here and %.0f are needed: give "
                        "--size %.0fK or less, or raise the limit of the cgroup or of "
                        "'ulimit -v'",
                        usable / (1 << 20), wanted / (1 << 20), floor(fitting / 1024));
}

static int run(struct bench_options *options, struct measurement *measurement,
               struct places_seen *places, struct diag *diag)
{
        struct cpu_list cpus;
        int rc = cpu_list_read(&cpus, diag);
        if (rc < 0)
                return rc;
        rc = see_places(options, &cpus, &places->before, &places->count, diag);
        if (rc == 0)
                rc = check_memory(options, diag);
        if (rc == 0)
                rc = measure_long_enough(options, &cpus, measurement, diag);
        if (rc == 0)
                rc = see_places(options, &cpus, &places->after, &places->count, diag);
        cpu_list_free(&cpus);
        return rc;
}

int cmd_bench(int argc, char **argv)
{
        static const struct argp argp = {
            .options = option_table,
            .parser = parse_option,
            .args_doc = "KERNEL",
            .doc = "Run a kernel with known behaviour and tell what an access takes.",
        };
        struct bench_options options = {0};
        command_line_parse(&argp, "memlag bench", argc, argv, ARGUMENTS_IN_ORDER,
                           &options);
        if (options.list) {
                print_list();
                return EXIT_OK;
        }
        struct diag diag;
        struct measurement measurement;
        struct places_seen places = {0};
        int rc = run(&options, &measurement, &places, &diag);
        if (rc == 0)
                (options.json ? bench_print_json : bench_print_table)(
                    options.kernel, &options.parameters, &measurement, &places);
        free(places.before);
        free(places.after);
        if (rc < 0) {
                diag_print(name, &diag);
                return rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
        }
        if (fflush(stdout) != 0) {
                diag_printf(name, "cannot write the result: %s", strerror(errno));
                return EXIT_FAILED;
        }
        return EXIT_OK;
}
