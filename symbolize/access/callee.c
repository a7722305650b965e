/* SPDX-License-Identifier: MIT */
/* All instructions of the function count, whether they are reached or not. */
#include "callee.h"

#include "instruction.h"

/* A larger or deeper function changes nearly always all of these registers. */
enum { CODE_BYTES_LIMIT = 4096, DEPTH_LIMIT = 8 };

struct callee {
        struct globals *globals;
        const struct elf_file *file;
        uint64_t low; /* of the range in work */
        uint64_t high;
        size_t bytes_left;
        uint32_t written;
        int depth;
};

static uint32_t written_at(struct globals *globals, const struct elf_file *file,
                           uint64_t vaddr, int depth);

/* Whether INSTRUCTION leads to another function: by a call, or by a jump at the end. */
static bool leads_out(const struct callee *callee, const struct instruction *instruction)
{
        switch (instruction->operation) {
        case OPERATION_CALL:
                return true;
        case OPERATION_JUMP:
        case OPERATION_BRANCH:
                return instruction->target - callee->low >= callee->high - callee->low;
        default:
                return false;
        }
}

/* The registers that the target of INSTRUCTION changes; its target is 0 when it is not
 * known. */
static uint32_t written_behind(const struct callee *callee,
                               const struct instruction *instruction)
{
        return instruction->target ? written_at(callee->globals, callee->file,
                                                instruction->target, callee->depth + 1)
                                   : CALL_CLOBBERED;
}

static void add_instruction(struct callee *callee, const struct instruction *instruction)
{
        callee->written |= instruction->written & CALL_CLOBBERED;
        if (leads_out(callee, instruction))
                callee->written |= written_behind(callee, instruction);
        if (instruction->operation == OPERATION_JUMP_INDIRECT)
                callee->written = CALL_CLOBBERED;
}

/* Adds the COUNT BYTES of the range in work; false where they are no instructions. */
static bool add_code(struct callee *callee, const uint8_t *bytes, size_t count)
{
        struct instruction instruction;

        for (size_t at = 0; at < count && callee->written != CALL_CLOBBERED;
             at += instruction.length_bytes) {
                if (!instruction_decode(&instruction, bytes + at, count - at,
                                        callee->low + at))
                        return false;
                add_instruction(callee, &instruction);
        }
        return true;
}

static int add_range(void *context, uint64_t low, uint64_t high)
{
        struct callee *callee = context;
        uint8_t bytes[CODE_BYTES_LIMIT];
        size_t count = high - low;

        if (low >= high || count > callee->bytes_left ||
            !die_spend(callee->globals->reader->dwarf, count) ||
            elf_file_read_code(callee->file, low, bytes, count) != count)
                return -1;
        callee->bytes_left -= count;
        callee->low = low;
        callee->high = high;
        return add_code(callee, bytes, count) ? 0 : -1;
}

static uint32_t written_at(struct globals *globals, const struct elf_file *file,
                           uint64_t vaddr, int depth)
{
        struct global_function *function = globals_function(globals, vaddr);
        struct callee callee = {.globals = globals,
                                .file = file,
                                .bytes_left = CODE_BYTES_LIMIT,
                                .depth = depth};

        if (!function || depth > DEPTH_LIMIT)
                return CALL_CLOBBERED;
        if (function->written_known)
                return function->written;
        /* During the search, to end recursion. */
        function->written = CALL_CLOBBERED;
        function->written_known = true;
        Dwarf_Die die = function->die;

        if (die_ranges(globals->reader->dwarf, &die, add_range, &callee) != 0 ||
            callee.bytes_left == CODE_BYTES_LIMIT)
                return CALL_CLOBBERED;
        function->written = callee.written;
        return function->written;
}

uint32_t callee_written(struct globals *globals, const struct elf_file *file,
                        uint64_t vaddr)
{
        return written_at(globals, file, vaddr, 0);
}
