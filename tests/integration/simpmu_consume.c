/* SPDX-License-Identifier: MIT */
/* A consumer of the simulated PMU for its tests: starts a program under the tool and
 * prints every record as a line of text. It stands in for memlag, so that the tool
 * is tested against its protocol alone.
 *
 * simpmu_consume LAUNCHER PRESET [NAME=VALUE...] -- PROGRAM [ARGUMENT...]
 * NAME: a key of the preset, or period, ldlat, interval_ns, frames, seed. With
 * slow=1 the ring is emptied only when the producer waits for room. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slice.h"

#define MAXIMUM_SLICES 4096u
#define POLL_MS        20

struct slice_view {
        struct simpmu_slice *header;
        bool closed;
};

static struct simpmu_control *control;
static struct slice_view slices[MAXIMUM_SLICES];
static uint64_t slices_seen;
static int memory_fd;
static bool slow;

static void die(const char *what)
{
        fprintf(stderr, "simpmu_consume: %s: %s\n", what, strerror(errno));
        exit(1);
}

static bool set_parameter(const char *key, double value)
{
#define MATCH(field, name, unit, minimum, maximum)                                       \
        if (strcmp(key, name) == 0) {                                                    \
                control->params.field = value;                                           \
                return true;                                                             \
        }
        SIMPMU_PARAMETERS(MATCH)
#undef MATCH
        return false;
}

static bool set_option(const char *key, double value)
{
        if (strcmp(key, "period") == 0)
                control->period_loads = (uint64_t)value;
        else if (strcmp(key, "ldlat") == 0)
                control->ldlat_cycles = (uint32_t)value;
        else if (strcmp(key, "interval_ns") == 0)
                control->interval_ns = (uint64_t)value;
        else if (strcmp(key, "frames") == 0)
                control->stack_frames = (uint32_t)value;
        else if (strcmp(key, "seed") == 0)
                control->seed = (uint64_t)value;
        else if (strcmp(key, "slow") == 0)
                slow = value != 0;
        else
                return set_parameter(key, value);
        return true;
}

static void set(char *assignment)
{
        char *equals = strchr(assignment, '=');

        if (equals == NULL)
                die("an argument without '='");
        *equals = '\0';
        if (!set_option(assignment, strtod(equals + 1, NULL)))
                die("an unknown key");
}

static void read_preset(const char *path)
{
        char line[512];
        char key[128];
        double value;
        FILE *file = fopen(path, "r");

        if (file == NULL)
                die(path);
        while (fgets(line, sizeof(line), file) != NULL) {
                if (sscanf(line, " %127[a-z0-9_.] = %lf", key, &value) == 2 &&
                    !set_parameter(key, value))
                        die("an unknown key in the preset");
        }
        fclose(file);
}

static void print_frames(const uint64_t *frames, uint32_t depth)
{
        for (uint32_t i = 0; i < depth; i++)
                printf(" %llx", (unsigned long long)frames[i]);
}

static void print_counters(const struct simpmu_counters *counters)
{
        static const char *const names[] = {
#define NAME(symbol, name, unit) #symbol,
            SIMPMU_COUNTER_LIST(NAME)
#undef NAME
        };

        printf(" start %llu", (unsigned long long)counters->start_ns);
        for (int i = 0; i < SIMPMU_COUNTER_COUNT; i++)
                printf(" %s %llu", names[i], (unsigned long long)counters->value[i]);
}

static void print_record(uint64_t number, const struct simpmu_record *record)
{
        static const char *const types[] = {
            "PAD",        "PROCESS", "FORK",      "THREAD",   "THREAD_EXIT",
            "MAP",        "UNMAP",   "SAMPLE",    "COUNTERS", "ALLOC",
            "FREE",       "TRACKER", "UNHANDLED", "STACK",    "ALLOC_AT",
            "RANGE_FREE", "END",     "RESIZE",    "RESIZED",  "LINE"};
        static const char *const levels[] = {
            "L1",   "LFB",  "L2",          "L3",           "FORWARD",
            "HITM", "DRAM", "REMOTE_DRAM", "REMOTE_CACHE", "REMOTE_HITM"};
        const void *any = record;

        if (record->type == SIMPMU_PAD)
                return;
        if (record->type > SIMPMU_LINE)
                die("a record of unknown type");
        printf("%llu %llu %s tid %u flags %u", (unsigned long long)number,
               (unsigned long long)record->time_ns, types[record->type], record->tid,
               record->flags);
        if (record->type == SIMPMU_PROCESS) {
                const struct simpmu_process *process = any;
                printf(" pid %u origin %llu %s", process->pid,
                       (unsigned long long)process->origin, process->executable);
        } else if (record->type == SIMPMU_FORK) {
                const struct simpmu_fork *fork = any;
                printf(" child %llu", (unsigned long long)fork->child);
        } else if (record->type == SIMPMU_THREAD) {
                const struct simpmu_thread *thread = any;
                printf(" stack %llx %llx", (unsigned long long)thread->stack_low,
                       (unsigned long long)thread->stack_high);
        } else if (record->type == SIMPMU_MAP) {
                const struct simpmu_map *map = any;
                printf(" kind %u start %llx length %llx offset %llx %s", map->kind,
                       (unsigned long long)map->start,
                       (unsigned long long)map->length_bytes,
                       (unsigned long long)map->file_offset_bytes, map->path);
        } else if (record->type == SIMPMU_UNMAP) {
                const struct simpmu_unmap *unmap = any;
                printf(" start %llx length %llx", (unsigned long long)unmap->start,
                       (unsigned long long)unmap->length_bytes);
        } else if (record->type == SIMPMU_SAMPLE) {
                const struct simpmu_sample *sample = any;
                printf(" ip %llx addr %llx latency %u level %s cpu %u frames",
                       (unsigned long long)sample->ip, (unsigned long long)sample->addr,
                       sample->latency_cycles, levels[sample->level], sample->cpu);
                print_frames(sample->frames, sample->depth);
        } else if (record->type == SIMPMU_COUNTERS) {
                print_counters(any);
        } else if (record->type == SIMPMU_ALLOC) {
                const struct simpmu_alloc *alloc = any;
                printf(" addr %llx size %llu function %u frames",
                       (unsigned long long)alloc->addr,
                       (unsigned long long)alloc->size_bytes, alloc->function);
                print_frames(alloc->frames, alloc->depth);
        } else if (record->type == SIMPMU_FREE || record->type == SIMPMU_RESIZE ||
                   record->type == SIMPMU_RESIZED) {
                const struct simpmu_free *block = any;
                printf(" addr %llx", (unsigned long long)block->addr);
        } else if (record->type == SIMPMU_UNHANDLED) {
                const struct simpmu_unhandled *unhandled = any;
                printf(" ip %llx bytes", (unsigned long long)unhandled->ip);
                for (uint32_t i = 0; i < unhandled->length; i++)
                        printf(" %02x", unhandled->bytes[i]);
        }
        putchar('\n');
}

static void drain_slice(uint64_t number, struct simpmu_slice *slice)
{
        const char *ring = (const char *)slice + SIMPMU_SLICE_HEADER_BYTES;
        uint64_t head = __atomic_load_n(&slice->head, __ATOMIC_ACQUIRE);
        uint64_t tail = slice->tail;

        while (tail != head) {
                const struct simpmu_record *record =
                    (const struct simpmu_record *)(ring + tail % SIMPMU_RING_BYTES);
                if (record->size_bytes == 0 || record->size_bytes > head - tail)
                        die("a record of impossible size");
                print_record(number, record);
                tail += record->size_bytes;
        }
        __atomic_store_n(&slice->tail, tail, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&slice->producer_waits, __ATOMIC_SEQ_CST)) {
                __atomic_fetch_add(&slice->space_futex, 1, __ATOMIC_SEQ_CST);
                syscall(SYS_futex, &slice->space_futex, FUTEX_WAKE, 1, NULL, NULL, 0);
        }
}

static void find_slices(void)
{
        uint64_t claimed = __atomic_load_n(&control->slices_claimed, __ATOMIC_ACQUIRE);

        if (claimed > MAXIMUM_SLICES)
                die("more processes than this test reads");
        for (; slices_seen < claimed; slices_seen++) {
                off_t offset = (off_t)slice_offset(slices_seen);
                void *slice = mmap(NULL, SIMPMU_SLICE_BYTES, PROT_READ | PROT_WRITE,
                                   MAP_SHARED, memory_fd, offset);
                if (slice == MAP_FAILED)
                        die("mmap of a slice");
                slices[slices_seen].header = slice;
        }
}

static void drain(bool at_end)
{
        find_slices();
        for (uint64_t i = 0; i < slices_seen; i++) {
                struct simpmu_slice *slice = slices[i].header;
                if (slices[i].closed ||
                    __atomic_load_n(&slice->magic, __ATOMIC_ACQUIRE) != SIMPMU_MAGIC)
                        continue;
                if (slow && !at_end &&
                    !__atomic_load_n(&slice->producer_waits, __ATOMIC_SEQ_CST))
                        continue;
                bool done = __atomic_load_n(&slice->done, __ATOMIC_ACQUIRE) != 0;
                drain_slice(i, slice);
                if (done) {
                        slices[i].closed = true;
                        munmap(slice, SIMPMU_SLICE_BYTES);
                }
        }
}

static void make_memory(void)
{
        memory_fd = memfd_create("simpmu", MFD_CLOEXEC);
        if (memory_fd < 0 ||
            ftruncate(memory_fd, (off_t)slice_offset(MAXIMUM_SLICES)) != 0)
                die("memory file");
        control = mmap(NULL, SIMPMU_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                       memory_fd, 0);
        if (control == MAP_FAILED)
                die("mmap of the control page");
        control->version = SIMPMU_VERSION;
        struct flock alive = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
        if (fcntl(memory_fd, F_SETLK, &alive) != 0)
                die("lock");
        control->period_loads = 1000;
        control->interval_ns = 1000000;
        control->ldlat_cycles = 7;
        control->stack_frames = 64;
        control->seed = 1;
}

static pid_t start(const char *launcher, char **program, int count, int bell_fd)
{
        char shared[64];
        char bell[64];
        char *const fixed[] = {(char *)launcher,
                               "--tool=memlag",
                               "--command-line-only=yes",
                               "--trace-children=yes",
                               "--vex-iropt-register-updates=allregs-at-mem-access",
                               "--vgdb=no",
                               "-q",
                               "--log-file=/dev/null",
                               "--image=00000000",
                               shared,
                               bell};
        const int fixed_count = (int)(sizeof(fixed) / sizeof(fixed[0]));
        char **arguments = calloc((size_t)(fixed_count + count + 1), sizeof(*arguments));
        pid_t pid;

        snprintf(shared, sizeof(shared), "--shared=/proc/%d/fd/%d", getpid(), memory_fd);
        snprintf(bell, sizeof(bell), "--bell=/proc/%d/fd/%d", getpid(), bell_fd);
        memcpy(arguments, fixed, sizeof(fixed));
        memcpy(arguments + fixed_count, program, (size_t)count * sizeof(*program));
        pid = fork();
        if (pid != 0)
                return pid;
        if (getenv("SIMPMU_DEBUG") != NULL)
                arguments[7] = "--log-fd=2";
        dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout is for the records */
        execv(launcher, arguments);
        _exit(126);
}

int main(int argc, char **argv)
{
        int program = 3;
        int bell[2];
        int status;
        pid_t pid;

        if (argc < 5)
                die("usage");
        make_memory();
        read_preset(argv[2]);
        for (; program < argc && strcmp(argv[program], "--") != 0; program++)
                set(argv[program]);
        program++;
        control->magic = SIMPMU_MAGIC;
        if (pipe2(bell, O_CLOEXEC) != 0)
                die("pipe");
        pid = start(argv[1], argv + program, argc - program, bell[1]);
        while (waitpid(pid, &status, WNOHANG) == 0) {
                struct pollfd ready = {.fd = bell[0], .events = POLLIN};
                char bytes[256];
                if (poll(&ready, 1, POLL_MS) > 0)
                        (void)!read(bell[0], bytes, sizeof(bytes));
                drain(false);
        }
        drain(true);
        fflush(stdout);
        if (WIFSIGNALED(status))
                return 128 + WTERMSIG(status);
        return WEXITSTATUS(status);
}
