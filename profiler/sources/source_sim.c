/* SPDX-License-Identifier: MIT */
/* The source for machines without a PMU. Runs the unmodified target under the simulated
 * PMU, a Valgrind tool, and drains the tool's records from shared memory. Knows how
 * Valgrind is started, not the database. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <valgrind/valgrind.h>

#include "db.h"
#include "paths.h"
#include "sim_deliver.h"
#include "sim_images.h"
#include "sim_prefetch.h"
#include "source.h"

#define ENGINE_PLACE "valgrind"
#define ENGINE_TOOL  "valgrind/memlag-amd64-linux"
#define HEAP_TRACKER "valgrind/vgpreload_memlag-amd64-linux.so"
#define LAUNCHER     "valgrind/simpmu-launch"

#define PERIOD_LOADS 997 /* unless the user sets it */
#define NS_A_SECOND  UINT64_C(1000000000)
/* Where Valgrind's core looks for its files. */
#define PLACE_VARIABLE "VALGRIND_LIB="

/* Deeper stacks are cut off at the outer end. */
#define STACK_FRAMES 128
/* Valgrind numbers its descriptors above the target's limit, within this many. */
#define RESERVED_DESCRIPTORS 24
/* Retained and shown parts of Valgrind's log. A failing Valgrind prints the reason
 * first, and then a stack for each of the target's threads. */
#define LOG_KEPT_BYTES  (4u << 20)
#define LOG_SHOWN_BYTES 400

enum {
        INHERITED_MEMORY,
        INHERITED_BELL,
        INHERITED_LOG,
        INHERITED_PLACE,
        INHERITED_COUNT
};

struct source {
        struct sim_memory memory;
        struct sim_images *images;
        struct sink *sink;
        int bell[2];
        int log;
        int place;                      /* Valgrind's directory */
        int inherited[INHERITED_COUNT]; /* duplicates that Valgrind inherits */
        bool heap;
        char **envp; /* for Valgrind; the last string is place_variable */
        char *place_variable;
        char **argv; /* for Valgrind; each string is owned up to argv_owned */
        size_t argv_owned;
};

/* ---- probe and open ---- */

/* The least whole number of cycles above every load that hits L1 and its TLB: any miss
 * can cost time, even a hit in L2. sim_probe reports an unusable preset. */
static uint32_t beyond_l1_cycles(const struct source_options *options)
{
        struct sim_preset preset;
        struct diag diag;
        if (sim_preset_build(options->sim_cpu, options->sim_set, &preset, &diag) < 0)
                return LDLAT_CYCLES_USUAL;
        return (uint32_t)preset.params.l1d_latency_cycles + 1;
}

static void sim_set_defaults(struct source_options *options)
{
        if (!options->sim_cpu)
                options->sim_cpu = sim_preset_default();
        if (!options->sim_prefetch_given)
                options->sim_prefetch = sim_prefetch_all();
        if (!options->period_loads && !options->frequency_hz)
                options->period_loads = PERIOD_LOADS;
        if (!options->ldlat_cycles && !options->frequency_hz)
                options->ldlat_cycles = beyond_l1_cycles(options);
}

static int sim_probe(const struct source_options *options, struct diag *diag)
{
        static const char *const parts[] = {ENGINE_TOOL, HEAP_TRACKER, LAUNCHER};
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
                char *path = path_libexec(parts[i], diag);
                if (!path)
                        return -ENOENT;
                free(path);
        }
        if (RUNNING_ON_VALGRIND)
                return diag_set(diag, -EBUSY,
                                "memlag runs inside the simulated PMU, which cannot "
                                "simulate itself; record either command alone, or one "
                                "with --source clock");
        if (options->frequency_hz && options->ldlat_cycles)
                return diag_set(diag, -EINVAL,
                                "with --freq, source sim samples loads of any latency; "
                                "record without --ldlat");
        struct sim_preset preset;
        return sim_preset_build(options->sim_cpu, options->sim_set, &preset, diag);
}

/* The same for every run: runs of one program on one input have the same samples. Each
 * image of a run derives a different seed. */
#define JITTER_SEED 1u

static void fill_control(struct simpmu_control *control,
                         const struct source_options *options,
                         const struct sim_preset *preset)
{
        control->period_loads = options->period_loads;
        control->period_instructions = options->sim_period_instructions;
        control->seed = JITTER_SEED;
        control->interval_ns = options->interval_ns;
        control->period_ns =
            options->frequency_hz ? NS_A_SECOND / options->frequency_hz : 0;
        control->ldlat_cycles = options->ldlat_cycles;
        control->loads_only = options->loads_only;
        control->stack_frames = options->call_graph ? STACK_FRAMES : 0;
        control->params = preset->params;
        control->no_heap = !options->heap;
        control->prefetch = options->sim_prefetch;
        control->caches_only = options->sim_caches_only;
        control->branches = options->sim_branches;
        control->plans = options->sim_plan != NULL;
        control->in_time_count = (uint32_t)options->sim_in_time_count;
        for (size_t i = 0; i < options->sim_in_time_count; i++)
                control->in_time[i] = options->sim_in_time[i];
        struct timespec now; /* of the clock that the kernel dates files by */
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
        control->code.begun_realtime_ns =
            (uint64_t)now.tv_sec * NS_A_SECOND + (uint64_t)now.tv_nsec;
        control->version = SIMPMU_VERSION;
        control->magic = SIMPMU_MAGIC;
}

static void sim_close(struct source *source);

static int open_channels(struct source *source, struct diag *diag)
{
        int rc = sim_memory_open(&source->memory, diag);
        if (rc < 0)
                return rc;
        if (pipe2(source->bell, O_CLOEXEC | O_NONBLOCK) != 0)
                return diag_set(diag, -errno, "cannot make a pipe: %s", strerror(errno));
        source->log = memfd_create("memlag-engine-log", MFD_CLOEXEC);
        if (source->log < 0 || fcntl(source->log, F_SETFL, O_APPEND) != 0)
                return diag_set(diag, -errno, "cannot make a memory file: %s",
                                strerror(errno));
        char *place = path_libexec(ENGINE_PLACE, diag);
        if (!place)
                return -ENOENT;
        source->place = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
        free(place);
        if (source->place < 0)
                return diag_set(diag, -errno, "cannot open memlag's own directory: %s",
                                strerror(errno));
        source->images = sim_images_new(&source->memory, source->sink, source->heap);
        return source->images ? 0 : diag_no_memory(diag);
}

static int sim_open(const struct source_options *options, struct sink *sink,
                    struct source **result, struct diag *diag)
{
        struct sim_preset preset;
        int rc = sim_preset_build(options->sim_cpu, options->sim_set, &preset, diag);
        if (rc < 0)
                return rc;
        struct source *source = calloc(1, sizeof(*source));
        if (!source)
                return diag_no_memory(diag);
        source->sink = sink;
        source->heap = options->heap;
        source->memory.fd = -1;
        source->bell[0] = source->bell[1] = source->log = source->place = -1;
        for (int i = 0; i < INHERITED_COUNT; i++)
                source->inherited[i] = -1;
        rc = open_channels(source, diag);
        if (rc == 0)
                rc = sim_deliver_machine(sink, &preset, diag);
        if (rc == 0 && options->sim_plan)
                rc = sim_memory_put_plan(&source->memory, options->sim_plan,
                                         options->sim_plan_bytes, diag);
        if (rc < 0) {
                sim_close(source);
                return rc;
        }
        fill_control(source->memory.control, options, &preset);
        *result = source;
        return 0;
}

static void free_command(struct source *source)
{
        for (size_t i = 0; i < source->argv_owned; i++)
                free(source->argv[i]);
        free(source->argv);
        source->argv = NULL;
        source->argv_owned = 0;
        free(source->envp);
        free(source->place_variable);
        source->envp = NULL;
        source->place_variable = NULL;
}

static void sim_close(struct source *source)
{
        if (!source)
                return;
        if (source->images)
                sim_images_stop(source->images);
        sim_images_free(source->images);
        sim_memory_close(&source->memory);
        for (int i = 0; i < 2; i++)
                if (source->bell[i] >= 0)
                        close(source->bell[i]);
        if (source->log >= 0)
                close(source->log);
        if (source->place >= 0)
                close(source->place);
        for (int i = 0; i < INHERITED_COUNT; i++)
                if (source->inherited[i] >= 0)
                        close(source->inherited[i]);
        free_command(source);
        free(source);
}

/* ---- the command ---- */

/* Copies FD to a number in the range of Valgrind's own descriptors, above the
 * descriptors that the target can use or see. Valgrind inherits the copy. */
static int inherited_copy(int fd, struct diag *diag)
{
        struct rlimit limit;
        if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
                return diag_set(diag, -errno, "cannot read the limit on open files: %s",
                                strerror(errno));
        rlim_t targets =
            limit.rlim_cur < SIMPMU_FILES_MAX ? limit.rlim_cur : SIMPMU_FILES_MAX;
        rlim_t top = limit.rlim_max - targets < RESERVED_DESCRIPTORS
                         ? limit.rlim_max
                         : targets + RESERVED_DESCRIPTORS;
        struct rlimit raised = {top > limit.rlim_cur ? top : limit.rlim_cur,
                                limit.rlim_max};
        setrlimit(RLIMIT_NOFILE, &raised);
        int copy = fcntl(fd, F_DUPFD, (int)top - INHERITED_COUNT);
        int error = errno;
        setrlimit(RLIMIT_NOFILE, &limit);
        if (copy < 0)
                return diag_set(
                    diag, -error,
                    "no room for the engine's open files: %s; raise the limit "
                    "(ulimit -n)",
                    strerror(error));
        return copy;
}

static size_t count_strings(char *const *strings)
{
        size_t count = 0;
        while (strings[count])
                count++;
        return count;
}

static int build_argv(struct source *source, char **command, struct diag *diag)
{
        const int originals[INHERITED_COUNT] = {[INHERITED_MEMORY] = source->memory.fd,
                                                [INHERITED_BELL] = source->bell[1],
                                                [INHERITED_LOG] = source->log,
                                                [INHERITED_PLACE] = source->place};
        for (int i = 0; i < INHERITED_COUNT; i++) {
                source->inherited[i] = inherited_copy(originals[i], diag);
                if (source->inherited[i] < 0)
                        return source->inherited[i];
        }
        char *launcher = path_libexec(LAUNCHER, diag);
        if (!launcher)
                return -ENOENT;

        const char *const fixed[] = {
            "--tool=memlag",
            "--command-line-only=yes", /* not $VALGRIND_OPTS, not .valgrindrc */
            "--trace-children=yes", "--vgdb=no",
            /* At once; each costs some kilobytes of every process. */
            "--max-threads=4000",
            /* Otherwise Valgrind optimises loads with unused values away, and their
             * faults: a Java thread would not stop for the garbage collector. */
            "--vex-iropt-register-updates=allregs-at-each-insn",
            /* Blocks that follow jumps translate cold code several times. */
            "--vex-guest-chase=no", "-q",
            "--main-stacksize=0",           /* written to by the launcher */
            "--image=00000000000000000000", /* no previous image; the digits are
                                               overwritten */
        };
        enum { FIXED = sizeof(fixed) / sizeof(fixed[0]), OWNED = FIXED + 5 };
        size_t count = count_strings(command);
        char **argv = calloc(OWNED + count + 1, sizeof(*argv));
        if (!argv) {
                free(launcher);
                return diag_no_memory(diag);
        }
        source->argv = argv;
        source->argv_owned = OWNED;
        argv[0] = launcher;
        bool complete = true;
        for (size_t i = 0; i < FIXED; i++)
                complete &= (argv[1 + i] = strdup(fixed[i])) != NULL;
        complete &= asprintf(&argv[FIXED + 1], "--shared=/proc/self/fd/%d",
                             source->inherited[INHERITED_MEMORY]) > 0;
        complete &= asprintf(&argv[FIXED + 2], "--bell=/proc/self/fd/%d",
                             source->inherited[INHERITED_BELL]) > 0;
        complete &= asprintf(&argv[FIXED + 3], "--log-fd=%d",
                             source->inherited[INHERITED_LOG]) > 0;
        complete &= (argv[FIXED + 4] = strdup("--")) != NULL;
        memcpy(argv + OWNED, command, count * sizeof(*argv));
        return complete ? 0 : diag_no_memory(diag);
}

/* Valgrind loads the tracker from its directory through LD_PRELOAD, which cannot express
 * a space or a colon. Therefore it receives the directory as a descriptor. The target
 * does not see this variable. */
static int build_envp(struct source *source, char **environment, struct diag *diag)
{
        size_t count = count_strings(environment);
        source->envp = calloc(count + 2, sizeof(*source->envp));
        if (!source->envp ||
            asprintf(&source->place_variable, "%s/proc/self/fd/%d", PLACE_VARIABLE,
                     source->inherited[INHERITED_PLACE]) < 0) {
                source->place_variable = NULL;
                return diag_no_memory(diag);
        }
        size_t kept = 0;
        for (size_t i = 0; i < count; i++)
                if (strncmp(environment[i], PLACE_VARIABLE, strlen(PLACE_VARIABLE)) != 0)
                        source->envp[kept++] = environment[i];
        source->envp[kept] = source->place_variable;
        return 0;
}

static int sim_start(struct source *source, char ***argv, char ***envp, struct diag *diag)
{
        int rc = build_argv(source, *argv, diag);
        if (rc == 0)
                rc = build_envp(source, *envp, diag);
        if (rc < 0)
                return rc;
        *argv = source->argv;
        *envp = source->envp;
        return 0;
}

/* ---- draining ---- */

static int sim_poll_fd(struct source *source)
{
        return source->bell[0];
}

/* Retains the end of Valgrind's log, which is otherwise unlimited. */
static void trim_log(struct source *source)
{
        struct stat status;
        if (fstat(source->log, &status) == 0 && status.st_size > 2 * LOG_KEPT_BYTES)
                (void)!fallocate(source->log, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                 0, (status.st_size - LOG_KEPT_BYTES) & ~(off_t)4095);
}

static int sim_drain(struct source *source, struct diag *diag)
{
        char rings[512];
        while (read(source->bell[0], rings, sizeof(rings)) > 0)
                ;
        trim_log(source);
        return sim_images_drain(source->images, diag);
}

/* Each simulated process inherits the bell: when only memlag has it, all have ended. */
static bool sim_all_ended(struct source *source)
{
        int *const ours[] = {&source->bell[1], &source->inherited[INHERITED_BELL]};
        for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
                if (*ours[i] >= 0)
                        close(*ours[i]);
                *ours[i] = -1;
        }
        struct pollfd bell = {.fd = source->bell[0], .events = POLLIN};
        return poll(&bell, 1, 0) == 1 && (bell.revents & POLLHUP);
}

/* Returns the end of Valgrind's log; the caller frees it. */
static char *end_of_log(struct source *source)
{
        struct stat status;
        char *text = calloc(1, LOG_KEPT_BYTES + 1);
        if (!text || fstat(source->log, &status) != 0)
                return text;
        off_t from =
            status.st_size > LOG_KEPT_BYTES ? status.st_size - LOG_KEPT_BYTES : 0;
        ssize_t length = pread(source->log, text, LOG_KEPT_BYTES, from);
        while (length > 0 && strchr("\n ", text[length - 1]))
                text[--length] = '\0';
        return text;
}

/* Extracts Valgrind's failure message from LOG; NULL: no failure. The log has other
 * lines too, such as messages about a target's fatal signal. */
static const char *engine_failure(struct source *source, char *log)
{
        char *failure = strstr(log, "the 'impossible' happened");
        if (failure) {
                char *stack = strstr(failure, "\n\nhost stacktrace");
                if (stack)
                        *stack = '\0';
                return failure;
        }
        /* Message about an unreadable file, or about an unsupported kind of process,
         * before Valgrind ends the process. */
        if (strstr(log, "I can't recover"))
                return strstr(log, "Valgrind: ");
        if (strstr(log, "Unsupported clone() flags"))
                return "clone(2) was called for a process that shares memory, directory "
                       "or descriptors with its parent, and such cannot be simulated";
        if (sim_images_started(source->images) > 0)
                return NULL;
        size_t length = strlen(log);
        return length > LOG_SHOWN_BYTES ? log + length - LOG_SHOWN_BYTES : log;
}

static int sim_stop(struct source *source, struct diag *diag)
{
        int rc = sim_images_finish(source->images, diag);
        if (rc < 0)
                return rc;
        if (sim_images_sandboxes_refused(source->images) > 0)
                diag_printf("record",
                            "the command wanted to forbid itself system calls (seccomp), "
                            "which a simulated program cannot: it was told so, and may "
                            "have run otherwise than alone");
        if (__atomic_load_n(&source->memory.control->traces, __ATOMIC_RELAXED))
                diag_printf("record",
                            "the command traced processes (ptrace), and found the "
                            "simulated PMU there instead of the programs: record the "
                            "traced program alone, or use --source clock");
        char *log = end_of_log(source);
        if (!log)
                return diag_no_memory(diag);
        const char *failure = engine_failure(source, log);
        if (failure)
                rc = diag_set(diag, -EIO, "the simulated PMU failed: %.*s",
                              LOG_SHOWN_BYTES,
                              *failure ? failure : "the command ended before it began");
        free(log);
        return rc;
}

const struct source_ops source_sim = {
    .name = "sim",
    .numbers = NUMBERS_MODELLED,
    .meaning = "simulated PMU; all numbers are modelled, not measured",
    .latency = true,
    .set_defaults = sim_set_defaults,
    .probe = sim_probe,
    .open = sim_open,
    .start = sim_start,
    .poll_fd = sim_poll_fd,
    .drain = sim_drain,
    .all_ended = sim_all_ended,
    .stop = sim_stop,
    .close = sim_close,
};
