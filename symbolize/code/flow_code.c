/* SPDX-License-Identifier: MIT */
/* Reads only the ranges that the debug information gives the function. A jump out of them
 * has no target block. */
#include "flow_code.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"

/* Limits for one function's memory and work (a step takes some 80 bytes); only generated
 * code comes near. A larger function is not analysed. A function that cannot be decoded
 * to its end is not analysed either, because some of its jumps would be missing. */
enum { CODE_BYTES_LIMIT = 1 << 20, STEPS_LIMIT = 3 << 17, BLOCKS_LIMIT = 1 << 15 };

static int add_step(struct flow_code *code, uint64_t vaddr,
                    const struct instruction *instruction)
{
        if (code->step_count >= STEPS_LIMIT)
                return -E2BIG;
        return APPEND(code->steps, code->step_count, code->step_capacity,
                      (struct flow_step){vaddr, *instruction});
}

/* Decodes COUNT BYTES of code at VADDR. */
static int decode(struct flow_code *code, const uint8_t *bytes, size_t count,
                  uint64_t vaddr)
{
        struct instruction instruction;
        int error = 0;

        for (size_t at = 0; at < count && !error; at += instruction.length_bytes) {
                if (!instruction_decode(&instruction, bytes + at, count - at, vaddr + at))
                        return -EILSEQ;
                error = add_step(code, vaddr + at, &instruction);
        }
        return error;
}

struct reading {
        struct flow_code *code;
        struct dwarf_file *dwarf;
};

static int decode_range(void *context, uint64_t low, uint64_t high)
{
        const struct reading *reading = context;
        struct flow_code *code = reading->code;
        const struct elf_file *file = code->file;
        uint64_t *budget = &reading->dwarf->code_budget;

        /* No code is loaded there: the linker left the part out. */
        if (!elf_file_has_code(file, low) || high <= low)
                return 0;
        size_t count = high - low;

        if (count > CODE_BYTES_LIMIT || count > *budget)
                return -E2BIG;
        *budget -= count;
        uint8_t *bytes = malloc(count);

        if (!bytes)
                return -ENOMEM;
        int error = elf_file_read_code(file, low, bytes, count) == count
                        ? decode(code, bytes, count, low)
                        : -EILSEQ;

        free(bytes);
        return error;
}

size_t flow_code_from(const struct flow_code *code, uint64_t vaddr)
{
        return NUMBER_FROM(code->steps, code->step_count, vaddr);
}

size_t flow_code_at(const struct flow_code *code, uint64_t vaddr)
{
        size_t at = flow_code_from(code, vaddr);

        return at < code->step_count && code->steps[at].vaddr == vaddr ? at : SIZE_MAX;
}

bool flow_code_follows(const struct flow_code *code, size_t step)
{
        return step > 0 && code->steps[step - 1].vaddr +
                                   code->steps[step - 1].instruction.length_bytes ==
                               code->steps[step].vaddr;
}

static bool leaves(enum operation operation)
{
        return operation == OPERATION_JUMP || operation == OPERATION_JUMP_INDIRECT ||
               operation == OPERATION_END;
}

size_t flow_code_next(const struct flow_code *code, size_t step)
{
        const struct instruction *instruction = &code->steps[step].instruction;

        if (instruction->operation == OPERATION_JUMP)
                return flow_code_at(code, instruction->target);
        return !leaves(instruction->operation) && step + 1 < code->step_count &&
                       flow_code_follows(code, step + 1)
                   ? step + 1
                   : SIZE_MAX;
}

/* Marks the first steps of blocks: number 0, targets of jumps, steps behind jumps. */
static void mark_leaders(const struct flow_code *code, bool *leaders)
{
        for (size_t i = 0; i < code->step_count; i++) {
                const struct instruction *instruction = &code->steps[i].instruction;
                bool jumps = instruction->operation == OPERATION_JUMP ||
                             instruction->operation == OPERATION_BRANCH;
                size_t target =
                    jumps ? flow_code_at(code, instruction->target) : SIZE_MAX;

                if (target != SIZE_MAX)
                        leaders[target] = true;
                if (i + 1 < code->step_count && (jumps || leaves(instruction->operation)))
                        leaders[i + 1] = true;
                if (!flow_code_follows(code, i))
                        leaders[i] = true;
        }
}

static int make_blocks(struct flow_code *code, const bool *leaders)
{
        size_t count = 0;

        for (size_t i = 0; i < code->step_count; i++)
                count += leaders[i];
        if (count > BLOCKS_LIMIT)
                return -E2BIG;
        code->blocks = calloc(count + 1, sizeof(*code->blocks));
        if (!code->blocks)
                return -ENOMEM;
        for (size_t i = 0; i < code->step_count; i++) {
                if (leaders[i])
                        code->blocks[code->block_count++] =
                            (struct flow_block){.first = i};
                struct flow_block *block = &code->blocks[code->block_count - 1];

                /* A gap before a jump's target never runs. A jump table's target may also
                 * have a gap before it. */
                block->orphan |=
                    code->steps[i].instruction.operation != OPERATION_NOTHING;
                block->count++;
        }
        return 0;
}

size_t flow_code_block(const struct flow_code *code, size_t step)
{
        return NUMBER_UNTIL(code->blocks, code->block_count, step) - 1;
}

static void connect_blocks(struct flow_code *code)
{
        for (size_t i = 0; i < code->block_count; i++) {
                struct flow_block *block = &code->blocks[i];
                size_t last = block->first + block->count - 1;
                const struct instruction *instruction = &code->steps[last].instruction;
                size_t target = SIZE_MAX;

                if (instruction->operation == OPERATION_JUMP ||
                    instruction->operation == OPERATION_BRANCH)
                        target = flow_code_at(code, instruction->target);
                block->indirect = instruction->operation == OPERATION_JUMP_INDIRECT;
                block->next[0] =
                    target == SIZE_MAX ? SIZE_MAX : flow_code_block(code, target);
                block->next[1] = !leaves(instruction->operation) &&
                                         flow_code_next(code, last) != SIZE_MAX
                                     ? i + 1
                                     : SIZE_MAX;
                for (int n = 0; n < 2; n++)
                        if (block->next[n] != SIZE_MAX)
                                code->blocks[block->next[n]].orphan = false;
        }
}

int flow_code_read(struct flow_code *code, struct dwarf_file *dwarf,
                   const struct elf_file *file, Dwarf_Die *function)
{
        *code = (struct flow_code){.file = file};
        struct reading reading = {code, dwarf};
        int error = die_ranges(dwarf, function, decode_range, &reading);

        if (error)
                return error == -ENOENT ? -EILSEQ : error;
        SORT(code->steps, code->step_count, number_order);
        bool *leaders = calloc(code->step_count + 1, sizeof(*leaders));

        if (!leaders)
                return -ENOMEM;
        mark_leaders(code, leaders);
        error = make_blocks(code, leaders);
        free(leaders);
        if (!error)
                connect_blocks(code);
        return error;
}

size_t flow_code_around(const struct flow_code *code, uint64_t vaddr)
{
        size_t at = flow_code_from(code, vaddr);

        if (at < code->step_count && code->steps[at].vaddr == vaddr)
                return at;
        return at > 0 && vaddr - code->steps[at - 1].vaddr <
                             code->steps[at - 1].instruction.length_bytes
                   ? at - 1
                   : SIZE_MAX;
}

void flow_code_free(struct flow_code *code)
{
        free(code->steps);
        free(code->blocks);
        *code = (struct flow_code){0};
}
