/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target without libFuzzer, with any compiler and in any test run:
 *     fuzz_NAME SECONDS CORPUS-FILE...
 * Runs each file as it is, then mutated files until the time is over. The seed is fixed:
 * the inputs are the same in each run, only their number depends on the machine. The
 * input under test is kept in the file fuzz_NAME-input, which stays when the target dies:
 * a file for each target, because several run at once in one directory. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include "fuzz_target.h"

enum { INPUT_MAX = 32768, INPUTS_BETWEEN_CLOCKS = 16, MUTATIONS_MAX = 8 };

struct input {
        uint8_t *bytes;
        size_t size;
};

static uint64_t next_random(uint64_t *state) /* xorshift64* */
{
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        return *state * UINT64_C(2685821657736338717);
}

static int read_input(const char *path, struct input *input)
{
        FILE *file = fopen(path, "rb");
        if (!file)
                return -1;
        input->bytes = malloc(INPUT_MAX);
        if (input->bytes)
                input->size = fread(input->bytes, 1, INPUT_MAX, file);
        fclose(file);
        return input->bytes ? 0 : -1;
}

/* Values at which lengths and counts go wrong. */
static uint64_t edge_value(uint64_t random)
{
        static const uint64_t edges[] = {
            0,      1,          7,          8,          0x7f,           0xff,
            0xffff, 0x7fffffff, UINT32_MAX, UINT64_MAX, UINT64_MAX / 8, UINT64_MAX / 24};
        return edges[random % (sizeof(edges) / sizeof(edges[0]))];
}

static size_t mutate_once(uint8_t *bytes, size_t size, uint64_t *state)
{
        size_t at = next_random(state) % size;
        size_t length = 1 + next_random(state) % 64;
        uint64_t value = edge_value(next_random(state));
        if (length > size - at)
                length = size - at;
        switch (next_random(state) % 6) {
        case 0:
                bytes[at] ^= (uint8_t)(1u << next_random(state) % 8);
                return size;
        case 1:
                bytes[at] = (uint8_t)next_random(state);
                return size;
        case 2: /* an aligned value, cut at the input's end */
                at &= ~(size_t)7;
                memcpy(bytes + at, &value, size - at < 8 ? size - at : 8);
                return size;
        case 3: /* a half value: the sizes of records are there */
                at &= ~(size_t)1;
                memcpy(bytes + at, &value, size - at < 2 ? size - at : 2);
                return size;
        case 4:
                memmove(bytes + at, bytes + at + length, size - at - length);
                return size > length ? size - length : size;
        default:
                if (size + length > INPUT_MAX)
                        return size;
                memmove(bytes + at + length, bytes + at, size - at);
                return size + length;
        }
}

/* A shared mapping: the file keeps all writes even when the process dies. */
static uint8_t *open_kept(const char *path, int *fd)
{
        *fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (*fd < 0 || ftruncate(*fd, INPUT_MAX) != 0)
                return NULL;
        void *map = mmap(NULL, INPUT_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
        return map == MAP_FAILED ? NULL : map;
}

static double seconds_now(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static unsigned long run(const struct input *inputs, size_t count, double seconds,
                         uint8_t *kept)
{
        uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
        unsigned long runs = 0;
        for (double end = seconds_now() + seconds;
             runs % INPUTS_BETWEEN_CLOCKS || seconds_now() < end; runs++) {
                const struct input *input = &inputs[next_random(&state) % count];
                size_t size = input->size;
                memcpy(kept, input->bytes, size);
                size_t mutations = 1 + next_random(&state) % MUTATIONS_MAX;
                for (size_t i = 0; i < mutations; i++)
                        size = mutate_once(kept, size, &state);
                LLVMFuzzerTestOneInput(kept, size);
        }
        return runs;
}

int main(int argc, char **argv)
{
        double seconds = argc > 1 ? atof(argv[1]) : 0;
        size_t count = argc > 2 ? (size_t)argc - 2 : 0;
        struct input *inputs = calloc(count ? count : 1, sizeof(*inputs));
        char kept_path[256];
        snprintf(kept_path, sizeof(kept_path), "%s-input", program_invocation_short_name);
        int kept_fd;
        uint8_t *kept = open_kept(kept_path, &kept_fd);
        if (seconds <= 0 || count == 0 || !inputs || !kept) {
                fprintf(stderr, "usage: %s SECONDS CORPUS-FILE...\n", argv[0]);
                return 2;
        }
        for (size_t i = 0; i < count; i++) {
                if (read_input(argv[2 + i], &inputs[i]) < 0 || inputs[i].size == 0) {
                        fprintf(stderr, "%s: cannot read %s\n", argv[0], argv[2 + i]);
                        return 2;
                }
                LLVMFuzzerTestOneInput(inputs[i].bytes, inputs[i].size);
        }
        printf("%lu inputs\n", run(inputs, count, seconds, kept));
        for (size_t i = 0; i < count; i++)
                free(inputs[i].bytes);
        free(inputs);
        munmap(kept, INPUT_MAX);
        close(kept_fd);
        unlink(kept_path);
        return 0;
}
