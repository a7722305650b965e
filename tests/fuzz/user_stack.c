/* SPDX-License-Identifier: MIT */
/* Fuzz target: copied stacks of a program whose file is any bytes. The input is seeds of
 * the stack and the registers, and then the file. */
#include <linux/perf_event.h>

#include "db.h"
#include "fuzz_target.h"
#include "input_file.h"
#include "user_stack.h"

enum { REGISTERS = 24, SEEDS = 64, STACK_WORDS = 128, CODE_BYTES = 1024, IMAGE = 1 };
static const uint64_t mapped_at = 0x400000, stack_at = 0x7ffc00000000;

/* A place where small files have code, or one on the stack. */
static uint64_t value_of(uint32_t seed)
{
        return seed & 3 ? mapped_at + (seed >> 2) % CODE_BYTES
                        : stack_at + (seed >> 2) % (2 * STACK_WORDS) * 8;
}

static void unwind_all(struct user_stacks *stacks, const uint32_t *seeds)
{
        uint64_t registers[REGISTERS], stack[STACK_WORDS];
        uint64_t frames[USER_STACK_FRAMES_MAX], cfas[USER_STACK_FRAMES_MAX];
        struct record_sample sample = {
            .user_regs = {PERF_SAMPLE_REGS_ABI_64, (1 << REGISTERS) - 1, registers},
            .user_stack = (const uint8_t *)stack,
            .user_stack_bytes = sizeof(stack),
        };
        for (size_t i = 0; i < REGISTERS; i++)
                registers[i] = value_of(seeds[i]);
        for (size_t i = 0; i < STACK_WORDS; i++)
                stack[i] = value_of(seeds[i % SEEDS] + (uint32_t)(i / SEEDS));
        registers[7] = stack_at;
        for (size_t i = 0; i < CODE_BYTES; i += 4) {
                registers[8] = mapped_at + i;
                if (user_stacks_unwind(stacks, IMAGE, &sample, frames, cfas) == 0)
                        abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
        uint32_t seeds[SEEDS];
        if (size <= sizeof(seeds))
                return 0;
        memcpy(seeds, bytes, sizeof(seeds));
        size -= sizeof(seeds);
        struct input_file file = input_file(bytes + sizeof(seeds), size);
        const struct event_mapping event = {.image = IMAGE,
                                            .start_addr = mapped_at,
                                            .length_bytes = size,
                                            .kind = MAPPING_FILE,
                                            .protection = "r-x",
                                            .path = file.path};
        struct user_stacks *stacks = user_stacks_new(NULL, false);
        if (!stacks || user_stacks_map(stacks, &event) < 0)
                abort();
        unwind_all(stacks, seeds);
        user_stacks_free(stacks);
        close(file.fd);
        return 0;
}
