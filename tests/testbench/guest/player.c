// SPDX-License-Identifier: MIT
/* The program that is recorded in the test bench. It gives the scripted PMU a script for
 * each of its threads, then makes memory accesses. Before each it publishes the access
 * that the PMU shall see. It prints all addresses: a test finds the thread and the access
 * of an address by the rule in README.md. */
#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ACCESSES = 4096, SITES = 4, SOURCES_MAX = 32 };

struct published_access { /* as in module/scripted_pmu.h */
        uint64_t ip;
        uint64_t addr;
        uint64_t data_src;
        uint32_t latency;
        uint32_t instruction_latency;
};

/* Each role reads a separate array. */
uint64_t read_by_main[ACCESSES];
uint64_t read_by_thread[ACCESSES];
uint64_t read_by_child[ACCESSES];
uint64_t read_by_executed[ACCESSES];

struct role {
        const char *name;
        uint64_t *array;
        struct published_access published[ACCESSES];
};

static struct role main_role = {.name = "main", .array = read_by_main};
static struct role thread_role = {.name = "thread", .array = read_by_thread};
static struct role child_role = {.name = "child", .array = read_by_child};
static struct role executed_role = {.name = "executed", .array = read_by_executed};

static struct {
        const char *script;
        uint64_t sources[SOURCES_MAX];
        size_t source_count;
        uint32_t extra_latency; /* the instruction's, beyond the load's; 0: none */
        unsigned milliseconds;
        unsigned steps; /* 0: by time */
        bool with_thread, with_fork, with_exec;
        bool on_heap; /* the main thread's array */
        char **argv;
} options;

static _Thread_local const struct published_access *volatile current_access;

/* The functions that make the accesses, as the PMU sees them. */
#define SITE(number)                                                                     \
        __attribute__((noinline)) uint64_t site_##number(const volatile uint64_t *word)  \
        {                                                                                \
                return *word + number;                                                   \
        }                                                                                \
        uint64_t site_##number(const volatile uint64_t *word)

uint64_t site_0(const volatile uint64_t *word);
uint64_t site_1(const volatile uint64_t *word);
uint64_t site_2(const volatile uint64_t *word);
uint64_t site_3(const volatile uint64_t *word);

SITE(0);
SITE(1);
SITE(2);
SITE(3);

static uint64_t (*const sites[SITES])(const volatile uint64_t *) = {site_0, site_1,
                                                                    site_2, site_3};

static uint64_t now_ms(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* That the current thread has had. */
static uint64_t cpu_time_ns(void)
{
        struct timespec time;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void fill_published(struct role *role)
{
        for (size_t i = 0; i < ACCESSES; i++) {
                uint32_t latency = 4 + (uint32_t)(i * 37 % 1000);

                role->published[i] = (struct published_access){
                    .ip = (uint64_t)sites[i % SITES],
                    .addr = (uint64_t)&role->array[i],
                    .data_src = options.sources[i % options.source_count],
                    .latency = latency,
                    .instruction_latency =
                        options.extra_latency ? latency + options.extra_latency : 0,
                };
        }
}

static int open_pmu(const char *file)
{
        char path[64];

        snprintf(path, sizeof(path), "/proc/scripted_pmu/%s", file);
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                err(3, "%s", path);
        return fd;
}

static void give_script(void)
{
        char text[8192];
        int size =
            snprintf(text, sizeof(text), "script thread\npublished %" PRIx64 "\n%s",
                     (uint64_t)&current_access, options.script);
        int fd = open_pmu("script");

        if (size < 0 || (size_t)size >= sizeof(text) ||
            write(fd, text, (size_t)size) != size)
                err(3, "the script was refused");
        close(fd);
}

/* Prints the array's physical pages (proc(5), pagemap), for users who may know them. */
static void print_frames(const struct role *role)
{
        enum { PAGE = 4096 };
        int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        uintptr_t first = (uintptr_t)role->array / PAGE;
        uintptr_t last = (uintptr_t)(role->array + ACCESSES - 1) / PAGE;
        uint64_t entry;

        for (uintptr_t page = first; fd >= 0 && page <= last; page++)
                if (pread(fd, &entry, sizeof(entry), (off_t)(page * sizeof(entry))) ==
                    sizeof(entry))
                        printf("page 0x%" PRIxPTR " 0x%" PRIx64 "\n", page * PAGE,
                               (entry & ((UINT64_C(1) << 55) - 1)) * PAGE);
        if (fd >= 0)
                close(fd);
}

static void play_for_time(struct role *role)
{
        uint64_t end_ms = now_ms() + options.milliseconds;

        /* In no order: samples at regular intervals must not keep step. */
        uint32_t random = 1;

        while (now_ms() < end_ms) {
                for (size_t n = 0; n < ACCESSES; n++) {
                        random = random * 1664525 + 1013904223;
                        size_t i = random >> 16 & (ACCESSES - 1);
                        current_access = &role->published[i];
                        sites[i % SITES](&role->array[i]);
                }
        }
        current_access = NULL;
}

/* Gives the recorder time to make room in its ring, for the kernel's records of the end
 * of a thread. */
static void let_recorder_catch_up(void)
{
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

static void play_steps(struct role *role)
{
        int fd = open_pmu("step");

        for (size_t i = 0; i < options.steps; i++) {
                const struct published_access *access = &role->published[i % ACCESSES];

                if (write(fd, access, sizeof(*access)) != sizeof(*access))
                        err(3, "step");
        }
        close(fd);
        let_recorder_catch_up();
}

static void play(struct role *role)
{
        memset(role->array, 1, ACCESSES * sizeof(*role->array));
        fill_published(role);
        printf("role %s %d %ld %p\n", role->name, getpid(), syscall(SYS_gettid),
               (void *)role->array);
        print_frames(role);
        fflush(stdout);
        give_script();
        uint64_t begin_ns = cpu_time_ns();
        if (options.steps)
                play_steps(role);
        else
                play_for_time(role);
        printf("played %s %" PRIu64 "\n", role->name, cpu_time_ns() - begin_ns);
        fflush(stdout);
}

__attribute__((noinline)) static uint64_t *allocate_words(size_t count)
{
        uint64_t *words = malloc(count * sizeof(*words));

        if (!words)
                err(3, "malloc");
        return words;
}

static void *play_thread(void *role)
{
        play(role);
        return NULL;
}

static void play_child(void)
{
        pid_t child = fork();
        int status;

        if (child < 0)
                err(3, "fork");
        if (!child) {
                play(&child_role);
                if (options.with_exec) {
                        setenv("PLAYER_EXECUTED", "1", 1);
                        execv("/proc/self/exe", options.argv);
                        err(3, "exec");
                }
                exit(0);
        }
        if (waitpid(child, &status, 0) != child || status)
                errx(3, "the child failed");
}

static char *read_file(const char *path)
{
        FILE *file = fopen(path, "r");
        char *text = NULL;
        size_t size = 0;

        if (!file || getdelim(&text, &size, 0, file) < 0)
                err(3, "%s", path);
        fclose(file);
        return text;
}

/* The first field of each line after the headings. */
static void read_sources(const char *path)
{
        char *line = strchr(read_file(path), '\n');

        for (; line && line[1]; line = strchr(line + 1, '\n')) {
                if (options.source_count == SOURCES_MAX)
                        errx(2, "%s: more than %d sources", path, SOURCES_MAX);
                options.sources[options.source_count++] = strtoull(line + 1, NULL, 16);
        }
}

static void read_options(int argc, char **argv)
{
        static const struct option names[] = {{"thread", no_argument, NULL, 't'},
                                              {"fork", no_argument, NULL, 'f'},
                                              {"exec", no_argument, NULL, 'e'},
                                              {"heap", no_argument, NULL, 'h'},

                                              {"ms", required_argument, NULL, 'm'},
                                              {"steps", required_argument, NULL, 's'},
                                              {"extra", required_argument, NULL, 'x'},
                                              {NULL, 0, NULL, 0}};
        int option;

        options.milliseconds = 200;
        while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
                switch (option) {
                case 't':
                        options.with_thread = true;
                        break;
                case 'f':
                        options.with_fork = true;
                        break;
                case 'e':
                        options.with_fork = options.with_exec = true;
                        break;
                case 'h':
                        options.on_heap = true;
                        break;
                case 'm':
                        options.milliseconds = (unsigned)atoi(optarg);
                        break;
                case 's':
                        options.steps = (unsigned)atoi(optarg);
                        break;
                case 'x':
                        options.extra_latency = (uint32_t)atoi(optarg);
                        break;
                default:
                        exit(2);
                }
        }
        if (argc - optind != 2)
                errx(2, "usage: player [OPTION...] SOURCES SCRIPT");
        read_sources(argv[optind]);
        options.script = read_file(argv[optind + 1]);
        options.argv = argv;
}

int main(int argc, char **argv)
{
        pthread_t thread;

        read_options(argc, argv);
        if (getenv("PLAYER_EXECUTED")) {
                play(&executed_role);
                return 0;
        }
        for (size_t i = 0; i < SITES; i++)
                printf("site %zu 0x%" PRIx64 "\n", i, (uint64_t)sites[i]);
        if (options.with_thread &&
            pthread_create(&thread, NULL, play_thread, &thread_role))
                errx(3, "cannot make a thread");
        if (options.on_heap)
                main_role.array = allocate_words(ACCESSES);
        play(&main_role);
        if (options.with_thread)
                pthread_join(thread, NULL);
        if (options.with_fork)
                play_child();
        return 0;
}
