/* SPDX-License-Identifier: MIT */
/* simpmu-launch [--OPTION...] PROGRAM [ARGUMENT...]: starts PROGRAM inside the
 * simulated PMU. Valgrind runs this again instead of each program that the target
 * execs. It then stands between two images of one process, and writes the last record
 * of the image before. If the simulated PMU cannot run a program, this starts the
 * program natively: the target must work in any case. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "slice.h"
#include "taken_place.h"

#define TOOL_NAME     "memlag-amd64-linux"
#define SHARED_OPTION "--shared="
#define IMAGE_OPTION  "--image="
#define ARGV0_OPTION  "--argv0="
#define DESCRIPTORS   "/proc/self/fd/"
#define PATH_BYTES    4096
#define STACK_OPTION  "--main-stacksize="
#define STACK_MAX_BYTES                                                                  \
        (1l << 30)        /* of the address space that Valgrind's memory shares */
#define SCRIPT_DEPTH    4 /* as deep as Linux follows "#!" */
#define FALLBACK_STATUS 127

/* ---- can it be simulated? ---- */

static bool runs_on_amd64(const Elf64_Ehdr *header)
{
        return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
               header->e_ident[EI_CLASS] == ELFCLASS64 &&
               header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_machine == EM_X86_64;
}

/* The interpreter named by a "#!" line, cut out of LINE; NULL when there is none. */
static char *interpreter_of(char *line)
{
        char *name = line + 2;

        if (line[0] != '#' || line[1] != '!')
                return NULL;
        name += strspn(name, " \t");
        name[strcspn(name, " \t\n")] = '\0';
        return *name == '\0' ? NULL : name;
}

static bool can_simulate(const char *path, int depth)
{
        union {
                Elf64_Ehdr header;
                char line[PATH_BYTES];
        } start = {.line = ""};
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t length;
        char *interpreter;
        bool program, taken;

        if (fd < 0)
                return false;
        length = read(fd, start.line, sizeof(start.line) - 1);
        program = length >= (ssize_t)sizeof(start.header) && runs_on_amd64(&start.header);
        taken = program && taken_place_needed(fd, &start.header);
        close(fd);
        if (program)
                return !taken;
        if (length <= 0 || depth == SCRIPT_DEPTH)
                return false;
        interpreter = interpreter_of(start.line);
        return interpreter != NULL && can_simulate(interpreter, depth + 1);
}

/* ---- the image before ---- */

static struct simpmu_slice *map_slice(int fd, uint64_t number)
{
        void *slice = mmap(NULL, SIMPMU_SLICE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                           fd, (off_t)slice_offset(number));

        return slice == MAP_FAILED ? NULL : slice;
}

static bool is_unfinished(int fd, uint64_t number)
{
        struct simpmu_slice header;
        ssize_t length = pread(fd, &header, sizeof(header), (off_t)slice_offset(number));

        return length == (ssize_t)sizeof(header) && header.magic == SIMPMU_MAGIC &&
               header.done == 0;
}

static void end_slice(int fd, uint64_t number, uint16_t flags)
{
        struct simpmu_slice *slice = map_slice(fd, number);

        if (slice == NULL)
                return;
        if (slice_has_room(slice, sizeof(struct simpmu_record)))
                slice_end(slice, flags, slice->now_ns);
        munmap(slice, SIMPMU_SLICE_BYTES);
}

static bool file_covers(int fd, uint64_t slices)
{
        struct stat status;

        return fstat(fd, &status) == 0 &&
               (uint64_t)status.st_size >= slice_offset(slices);
}

/* Ends slice NUMBER, of the image that was replaced by this exec. */
static void end_image_before(const char *shared_path, uint64_t number, bool native)
{
        struct simpmu_control control;
        uint16_t flags = SIMPMU_EXECED | (native ? SIMPMU_NATIVE : 0);
        int fd = open(shared_path, O_RDWR | O_CLOEXEC);

        if (fd < 0)
                return;
        if (pread(fd, &control, sizeof(control), 0) == (ssize_t)sizeof(control) &&
            control.magic == SIMPMU_MAGIC && control.version == SIMPMU_VERSION &&
            number < control.slices_claimed && file_covers(fd, number + 1) &&
            is_unfinished(fd, number))
                end_slice(fd, number, flags);
        close(fd);
}

/* ---- starting ---- */

static void close_named(const char *text)
{
        const char *number = text == NULL ? NULL : strpbrk(text, "0123456789");

        if (number != NULL)
                close(atoi(number));
}

/* The descriptors that the simulated PMU gets from memlag are none of the program's. */
static void close_inherited(char **arguments, char **program)
{
        static const char *const options[] = {SHARED_OPTION DESCRIPTORS,
                                              "--bell=" DESCRIPTORS, "--log-fd="};
        const char *place = getenv("VALGRIND_LIB");

        for (; arguments < program; arguments++)
                for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
                        if (strncmp(*arguments, options[i], strlen(options[i])) == 0)
                                close_named(*arguments + strlen(options[i]));
        if (place != NULL && strncmp(place, DESCRIPTORS, strlen(DESCRIPTORS)) == 0)
                close_named(place);
}

/* CALLED: its argv[0]; NULL: its path. */
static void run_natively(char **arguments, char **program, char *called)
{
        char *path = program[0];

        close_inherited(arguments, program);
        unsetenv("VALGRIND_LIB");
        unsetenv("VALGRIND_LAUNCHER");
        if (called != NULL)
                program[0] = called;
        execv(path, program);
        fprintf(stderr, "memlag: cannot run %s: %s\n", path, strerror(errno));
        exit(FALLBACK_STATUS);
}

static void limit_files(void)
{
        struct rlimit files;

        if (getrlimit(RLIMIT_NOFILE, &files) != 0 ||
            files.rlim_cur < SIMPMU_FILES_MAX + (rlim_t)4096)
                return;
        files.rlim_cur = SIMPMU_FILES_MAX;
        setrlimit(RLIMIT_NOFILE, &files);
}

/* Valgrind reserves address space for the main thread's stack once: 16 MiB unless an
 * option asks for more. This option asks for the highest limit that the program may
 * set. */
static void reserve_stack(char **arguments, char **program)
{
        static char option[sizeof(STACK_OPTION) + 20];
        struct rlimit stack;
        long bytes = STACK_MAX_BYTES;

        if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_max < STACK_MAX_BYTES)
                bytes = (long)stack.rlim_max;
        snprintf(option, sizeof(option), STACK_OPTION "%ld", bytes);
        for (; arguments < program; arguments++)
                if (strncmp(*arguments, STACK_OPTION, strlen(STACK_OPTION)) == 0)
                        *arguments = option;
}

/* Sets the variables that Valgrind needs: the path of its files (beside this program,
 * unless already set) and the program to run for exec'd children. */
static void run_simulated(char **arguments, char **program, char *called)
{
        char self[PATH_BYTES];
        char tool[PATH_BYTES + sizeof(TOOL_NAME) + 1];
        ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
        char *slash;

        if (length < 0)
                run_natively(arguments, program, called);
        self[length] = '\0';
        setenv("VALGRIND_LAUNCHER", self, 1);
        slash = strrchr(self, '/');
        *slash = '\0';
        setenv("VALGRIND_LIB", self, 0);
        limit_files();
        reserve_stack(arguments, program);
        snprintf(tool, sizeof(tool), "%s/%s", self, TOOL_NAME);
        execv(tool, arguments);
        run_natively(arguments, program, called);
}

int main(int argc, char **argv)
{
        const char *shared_path = NULL;
        uint64_t image_before = 0; /* 1 + its slice */
        char *called = NULL;
        int first = 1;
        bool simulate;

        for (; first < argc && argv[first][0] == '-'; first++) {
                if (strncmp(argv[first], SHARED_OPTION, strlen(SHARED_OPTION)) == 0)
                        shared_path = argv[first] + strlen(SHARED_OPTION);
                if (strncmp(argv[first], IMAGE_OPTION, strlen(IMAGE_OPTION)) == 0)
                        image_before =
                            strtoull(argv[first] + strlen(IMAGE_OPTION), NULL, 10);
                if (strncmp(argv[first], ARGV0_OPTION, strlen(ARGV0_OPTION)) == 0)
                        called = argv[first] + strlen(ARGV0_OPTION);
                if (strcmp(argv[first], "--") == 0) {
                        first++;
                        break;
                }
        }
        if (first >= argc) {
                fputs("memlag: simpmu-launch is started by memlag record\n", stderr);
                return 2;
        }
        /* A name without '/' is memlag's user's, which memlag has checked and Valgrind's
         * core looks for in PATH: so the target keeps its argv[0] as it was typed. */
        simulate = strchr(argv[first], '/') == NULL || can_simulate(argv[first], 0);
        if (shared_path != NULL && image_before > 0)
                end_image_before(shared_path, image_before - 1, !simulate);
        if (!simulate)
                run_natively(argv, argv + first, called);
        run_simulated(argv, argv + first, called);
}
