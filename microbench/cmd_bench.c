/* SPDX-License-Identifier: MIT */
/* memlag bench: runs one kernel and tells what an access took. */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounce.h"
#include "command.h"
#include "measure.h"
#include "microbench.h"

static const char name[] = "bench";

/* Long enough for the clocks, short enough to wait for. */
static const double AIM_SECONDS = 0.5;

/* A timing that is shorter says little: beginning and ending it takes some 0.2 us (a
 * kernel in L1 seemed 15 % slower in 1.5 us, 3 % in 13 us and less than 1 % in 0.13 ms,
 * on an EPYC of family 26), a tick of the kernel comes whole or not at all, and threads
 * do not begin at the same moment. */
static const double SHORT_SECONDS = 0.001, SHORT_SECONDS_OF_SEVERAL = 0.01;
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
        struct kernel_parameters parameters; /* passes 0: as many as the time allows */
};

static const struct argp_option option_table[] = {
    {"list", KEY_LIST, NULL, 0, "List the kernels", 0},
    {"size", 's', "BYTES", 0, "Data of all threads together, with K, M or G", 0},
    {"threads", 't', "N", 0, "Threads, each on a CPU of its own (default 1)", 0},
    {"passes", 'p', "N", 0,
     "Passes of each thread over its data (default: for about half a second)", 0},
    {"delay", KEY_DELAY, "NOPS", 0, "NOPs between the loads (memread)", 0},
    {"stride", KEY_STRIDE, "BYTES", 0, "From one element to the next (chase, tlb)", 0},
    {"order", KEY_ORDER, "ORDER", 0, "random (default) or sequential (chase)", 0},
    {"block", KEY_BLOCK, "BYTES", 0, "Random within blocks of BYTES (chase)", 0},
    {"independent", KEY_INDEPENDENT, "N", 0, "Multiplications beside each load (chase)",
     0},
    {"dependent", KEY_DEPENDENT, "N", 0,
     "Multiplications between one load and the next (chase)", 0},
    {"width", KEY_WIDTH, "BITS", 0, "64, 128, 256 or 512 (load, store)", 0},
    {"pages", KEY_PAGES, "KIND", 0, "huge or small (default: the kernel's)", 0},
    {"node", KEY_NODE, "N", 0, "NUMA node of the data (default: the thread's)", 0},
    {"pattern", KEY_PATTERN, "NAME", 0,
     "How branches go: none, never, always (branch, icode); halves, alternating, jump, "
     "random, random-never, random-always, wrong-path, wrong-path-never, "
     "wrong-path-always (branch)",
     0},
    {"places", KEY_PLACES, NULL, 0,
     "Time a cache line between each two of the CPUs, before and after", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "table (default) or json", 0},
    {0},
};

/* ---- the command line ---- */

static uint64_t read_bytes(struct argp_state *state, const char *option, const char *text)
{
        static const char units[] = "KMGT";
        char *end;
        errno = 0;
        unsigned long long value = strtoull(text, &end, 10);
        const char *unit = *end ? strchr(units, *end) : NULL;
        unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
        if (text[0] < '0' || text[0] > '9' || errno || end[unit != NULL] ||
            value > UINT64_MAX >> 1 >> shift)
                argp_error(state, "%s: '%s' is not a number of bytes, such as 64K or 2G",
                           option, text);
        return value << shift;
}

static uint64_t read_number(struct argp_state *state, const char *option,
                            const char *text, uint64_t minimum, uint64_t maximum)
{
        char *end;
        errno = 0;
        unsigned long long value = strtoull(text, &end, 10);
        if (text[0] < '0' || text[0] > '9' || errno || *end || value < minimum ||
            value > maximum)
                argp_error(state, "%s: '%s' is not a whole number from %llu to %llu",
                           option, text, (unsigned long long)minimum,
                           (unsigned long long)maximum);
        return value;
}

/* The place of TEXT in WORDS, which ends with NULL. */
static unsigned read_word(struct argp_state *state, const char *option, const char *text,
                          const char *const *words)
{
        for (unsigned i = 0; words[i]; i++)
                if (strcmp(words[i], text) == 0)
                        return i;
        argp_error(state, "%s: '%s' is not known; see 'memlag bench --help'", option,
                   text);
        return 0;
}

/* Ends the program when the kernel has no such parameter. */
static void need(const struct argp_state *state, const struct bench_options *options,
                 unsigned takes, const char *option)
{
        if (!options->kernel)
                argp_error(state, "the kernel comes before its options: memlag bench "
                                  "KERNEL [OPTION...]");
        else if (takes && !(options->kernel->takes & takes))
                argp_error(state, "%s means nothing to %s", option,
                           options->kernel->name);
}

static void choose(struct argp_state *state, struct bench_options *options,
                   const char *text)
{
        if (options->kernel)
                argp_error(state, "one kernel at a time: '%s' and '%s'",
                           options->kernel->name, text);
        options->kernel = kernel_find(text);
        if (!options->kernel) {
                argp_error(state, "there is no kernel '%s'; see 'memlag bench --list'",
                           text);
                return;
        }
        options->parameters = options->kernel->defaults;
        options->parameters.node = -1;
        if (options->parameters.threads == 0)
                options->parameters.threads = 1;
}

/* An option that sets a parameter of the kernel. */
struct parameter_option {
        int key;
        unsigned takes; /* what the kernel must have; 0: each has it */
        const char *name;
        size_t offset, size; /* of the field in struct kernel_parameters */
        uint64_t minimum, maximum;
        bool bytes;               /* with K, M or G */
        const char *const *words; /* not a number but one of these; NULL: a number */
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
    {'s', TAKES_SIZE, "--size", FIELD(size_bytes), .bytes = true},
    {'t', 0, "--threads", FIELD(threads), 1, 1 << 16},
    {'p', 0, "--passes", FIELD(passes), 1, PASSES_MAX},
    {KEY_DELAY, TAKES_DELAY, "--delay", FIELD(delay_nops), 0, UINT32_MAX},
    {KEY_STRIDE, TAKES_STRIDE, "--stride", FIELD(stride_bytes), 8, UINT32_MAX},
    {KEY_ORDER, TAKES_ORDER, "--order", FIELD(sequential), .words = orders},
    {KEY_BLOCK, TAKES_ORDER, "--block", FIELD(block_bytes), .bytes = true},
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
                value = read_bytes(state, option->name, text);
        else
                value = read_number(state, option->name, text, option->minimum,
                                    option->maximum);
        /* x86 is little endian: the first bytes are the low ones. */
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
                        argp_error(state, "no kernel given; see 'memlag bench --list'");
                else if (options->places && options->parameters.threads < 2)
                        argp_error(state, "--places is about several CPUs: it needs "
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

struct result {
        double ns_per_access;
        double ticks_per_access;
        double gbs;
        double timed_seconds; /* at once: of each pass where the caches are emptied
                                 between them, else of all */
        bool is_short;        /* too short for the rest to be precise */
};

static struct result result_of(const struct kernel *kernel,
                               const struct kernel_parameters *parameters,
                               const struct kernel_counts *counts,
                               const struct measurement *measurement)
{
        double accesses = (double)counts->accesses * (double)parameters->passes;
        double timed =
            measurement->seconds / (kernel->flush ? (double)parameters->passes : 1);
        return (struct result){
            .timed_seconds = timed,
            .is_short = timed < (parameters->threads > 1 ? SHORT_SECONDS_OF_SEVERAL
                                                         : SHORT_SECONDS),
            .ns_per_access = measurement->seconds * 1e9 / accesses,
            .ticks_per_access = measurement->tsc_ticks / accesses,
            .gbs = (double)counts->bytes * (double)parameters->passes * 1e-9 /
                   measurement->seconds,
        };
}

static void print_doubts(const struct kernel *kernel,
                         const struct measurement *measurement,
                         const struct result *result)
{
        if (measurement->disturbance == INTERRUPTED)
                puts("note: another program had a CPU of these threads meanwhile, which "
                     "counts as the kernel's time");
        else if (measurement->disturbance == SHARED)
                puts("note: other programs, or the hypervisor, used this machine "
                     "meanwhile: they take cache, bandwidth and time");
        if (result->is_short)
                printf("note: %.4g us at a time are too short to be precise: what begins "
                       "and ends a timing, and whatever else has the CPU meanwhile, "
                       "counts as the kernel's; give %s\n",
                       1e6 * result->timed_seconds,
                       kernel->flush ? "a greater --size, as each pass is timed by itself"
                                     : "more --passes, or leave that option out");
}

/* The CPU of each thread and of the next one; NULL: not asked for. */
struct places_seen {
        struct bounce *before, *after;
        size_t count;
};

static void print_places(const char *when, const struct bounce *bounces, size_t count)
{
        printf("a line there and back between neighbouring CPUs %s, in ns:", when);
        for (size_t i = 0; i < count; i++)
                printf(isnan(bounces[i].ns) ? " -" : " %.0f", bounces[i].ns);
        printf("; additions beside the other's, times as long:");
        for (size_t i = 0; i < count; i++)
                printf(isnan(bounces[i].slowdown) ? " -" : " %.2f", bounces[i].slowdown);
        putchar('\n');
}

/* "null" for NAN, in turn. */
static void print_item(size_t index, double value, const char *format)
{
        if (index > 0)
                fputs(", ", stdout);
        if (isnan(value))
                fputs("null", stdout);
        else
                printf(format, value);
}

static void print_places_json(const struct places_seen *places)
{
        const struct bounce *both[] = {places->before, places->after};
        static const char *const keys[] = {"before", "after"};
        fputs(", \"round_trips_ns\": {", stdout);
        for (size_t k = 0; k < 2; k++) {
                printf("%s\"%s\": [", k ? ", " : "", keys[k]);
                for (size_t i = 0; i < places->count; i++)
                        print_item(i, both[k][i].ns, "%.1f");
                putchar(']');
        }
        fputs("}, \"slowdowns\": {", stdout);
        for (size_t k = 0; k < 2; k++) {
                printf("%s\"%s\": [", k ? ", " : "", keys[k]);
                for (size_t i = 0; i < places->count; i++)
                        print_item(i, both[k][i].slowdown, "%.3f");
                putchar(']');
        }
        putchar('}');
}

static void print_table(const struct kernel *kernel,
                        const struct kernel_parameters *parameters,
                        const struct measurement *measurement,
                        const struct kernel_counts *counts, const struct result *result,
                        const struct places_seen *places)
{
        printf("%s: %u thread%s%s, %llu passes in %.3f s", kernel->name,
               parameters->threads, parameters->threads == 1 ? "" : "s",
               measurement->pinned ? "" : " (more than CPUs, so not pinned)",
               (unsigned long long)parameters->passes, measurement->seconds);
        if (kernel->takes & TAKES_SIZE)
                printf(", %llu bytes", (unsigned long long)parameters->size_bytes);
        if (parameters->pages == PAGES_HUGE && measurement->huge_bytes >= 0)
                printf(" (%lld on huge pages)", (long long)measurement->huge_bytes);
        printf("\n%14.3f ns per access of one thread\n%14.3f TSC ticks per access\n",
               result->ns_per_access, result->ticks_per_access);
        if (counts->bytes)
                printf("%14.3f GB/s\n", result->gbs);
        print_doubts(kernel, measurement, result);
        if (places->before) {
                print_places("before", places->before, places->count);
                print_places("after", places->after, places->count);
        }
}

/* Of an object that has members already. */
static void print_count(const char *key, bool known, uint64_t count)
{
        if (known)
                printf(", \"%s\": %llu", key, (unsigned long long)count);
        else
                printf(", \"%s\": null", key);
}

static const char *const disturbances[DISTURBANCES] = {
    [UNDISTURBED] = "no", [SHARED] = "shared", [INTERRUPTED] = "interrupted"};

static void print_json(const struct kernel *kernel,
                       const struct kernel_parameters *parameters,
                       const struct measurement *measurement,
                       const struct kernel_counts *counts, const struct result *result,
                       const struct places_seen *places)
{
        printf("{\"kernel\": \"%s\", \"threads\": %u, \"pinned\": %s, \"passes\": %llu, "
               "\"size_bytes\": %llu, \"huge_bytes\": %lld, \"seconds\": %.9f, "
               "\"timed_seconds\": %.9f, \"short\": %s, \"disturbed\": \"%s\", "
               "\"ns_per_access\": %.6f, \"tsc_ticks_per_access\": %.6f, \"gbs\": %.6f, "
               "\"per_pass\": {\"loads\": %llu, \"stores\": %llu, \"lines_read\": %llu, "
               "\"lines_written\": %llu, \"flops\": %llu",
               kernel->name, parameters->threads, measurement->pinned ? "true" : "false",
               (unsigned long long)parameters->passes,
               (unsigned long long)parameters->size_bytes,
               (long long)measurement->huge_bytes, measurement->seconds,
               result->timed_seconds, result->is_short ? "true" : "false",
               disturbances[measurement->disturbance], result->ns_per_access,
               result->ticks_per_access, result->gbs, (unsigned long long)counts->loads,
               (unsigned long long)counts->stores, (unsigned long long)counts->lines_read,
               (unsigned long long)counts->lines_written,
               (unsigned long long)counts->flops);
        bool branches = counts->tells_branches;
        print_count("instructions", counts->instructions > 0, counts->instructions);
        print_count("branches", branches, counts->branches);
        print_count("branches_taken", branches, counts->branches_taken);
        print_count("branches_mispredicted", branches, counts->branches_mispredicted);
        print_count("branches_executed", branches, counts->branches_executed);
        print_count("jumps", branches, counts->jumps);
        putchar('}');
        if (places->before)
                print_places_json(places);
        puts("}");
}

/* Without a number of passes: doubles it until the time is long enough. */
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
                        more = 1000; /* a first pass is no good measure */
                parameters->passes = (uint64_t)((double)parameters->passes * more) + 1;
        }
}

/* Where the CPUs are, or all is left NULL. */
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

static int run(struct bench_options *options, struct measurement *measurement,
               struct places_seen *places, struct diag *diag)
{
        struct cpu_list cpus;
        int rc = cpu_list_read(&cpus, diag);
        if (rc < 0)
                return rc;
        rc = see_places(options, &cpus, &places->before, &places->count, diag);
        if (rc == 0)
                rc = measure_long_enough(options, &cpus, measurement, diag);
        if (rc == 0)
                rc = see_places(options, &cpus, &places->after, &places->count, diag);
        cpu_list_free(&cpus);
        return rc;
}

static void print(const struct bench_options *options,
                  const struct measurement *measurement, const struct places_seen *places)
{
        struct kernel_counts counts;
        options->kernel->count(&options->parameters, &counts);
        struct result result =
            result_of(options->kernel, &options->parameters, &counts, measurement);
        (options->json ? print_json : print_table)(options->kernel, &options->parameters,
                                                   measurement, &counts, &result, places);
}

int cmd_bench(int argc, char **argv)
{
        static const struct argp argp = {
            .options = option_table,
            .parser = parse_option,
            .args_doc = "KERNEL",
            .doc = "Run a kernel with known behaviour and tell what an access takes.",
        };
        static char full_name[] = "memlag bench";
        struct bench_options options = {0};
        argv[0] = full_name;
        argp_err_exit_status = EXIT_USAGE;
        argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
        if (options.list) {
                print_list();
                return EXIT_OK;
        }
        struct diag diag;
        struct measurement measurement;
        struct places_seen places = {0};
        int rc = run(&options, &measurement, &places, &diag);
        if (rc == 0)
                print(&options, &measurement, &places);
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
