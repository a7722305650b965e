/* SPDX-License-Identifier: MIT */
/* Straight-line code of a chosen size (B20's instruction-cache kernels). Each line is
 * fetched once per pass, and may begin with a branch: always taken or never taken.
 * Generated at run time, because the size is a parameter. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel.h"

static const unsigned char addition[] = {0x83, 0xc0, 0x00}; /* add $0, %eax */
static const unsigned char nop = 0x90, ret = 0xc3; /* of one byte */
static const unsigned char test[] = {0x85, 0xff};  /* test %edi, %edi: the argument, 0 */
static const unsigned char jump_if_zero = 0x74, jump_if_not = 0x75; /* rel8 */

enum {
        LINE_ADDITIONS = KERNEL_LINE_BYTES / sizeof(addition),
        LINE_INSTRUCTIONS = LINE_ADDITIONS + KERNEL_LINE_BYTES % sizeof(addition),
        BRANCH_BYTES = sizeof(test) + 2,
        BRANCH_INSTRUCTIONS = 2,
        /* After the branch: one addition less than fits, because the last byte is a
         * separate instruction. */
        REST_BYTES = KERNEL_LINE_BYTES - BRANCH_BYTES,
        REST_ADDITIONS = (REST_BYTES - 1) / sizeof(addition),
        REST_INSTRUCTIONS =
            REST_ADDITIONS + REST_BYTES - REST_ADDITIONS * sizeof(addition)
};

static uint64_t bytes_of(const struct kernel_parameters *parameters)
{
        return kernel_part_bytes(parameters) / KERNEL_LINE_BYTES * KERNEL_LINE_BYTES;
}

static int check(const struct kernel_parameters *parameters, struct diag *diag)
{
        enum branch_pattern pattern = parameters->pattern;
        if (pattern != BRANCH_NONE && pattern != BRANCH_NEVER && pattern != BRANCH_ALWAYS)
                return diag_set(diag, -EINVAL,
                                "the pattern of icode is none, never or always");
        if (bytes_of(parameters) == 0)
                return diag_set(diag, -EINVAL, "at least %d bytes of code a thread",
                                KERNEL_LINE_BYTES);
        return 0;
}

/* A branch to the next line. */
static size_t write_branch(unsigned char *line, bool taken)
{
        memcpy(line, test, sizeof(test));
        line[sizeof(test)] = taken ? jump_if_zero : jump_if_not;
        line[sizeof(test) + 1] = REST_BYTES;
        return BRANCH_BYTES;
}

static void write_line(unsigned char *line, enum branch_pattern pattern)
{
        size_t at = 0, additions = LINE_ADDITIONS;
        if (pattern != BRANCH_NONE) {
                at = write_branch(line, pattern == BRANCH_ALWAYS);
                additions = REST_ADDITIONS;
        }
        for (; additions > 0; additions--, at += sizeof(addition))
                memcpy(line + at, addition, sizeof(addition));
        memset(line + at, nop, KERNEL_LINE_BYTES - at);
}

/* Puts a return into the last byte, the target of the last branch. */
static void end_code(unsigned char *last_line, enum branch_pattern pattern)
{
        if (pattern != BRANCH_NONE)
                last_line[BRANCH_BYTES - 1]--;
        last_line[KERNEL_LINE_BYTES - 1] = ret;
}

static int prepare(struct kernel_share *share, struct diag *diag)
{
        enum branch_pattern pattern = share->parameters->pattern;
        uint64_t bytes = bytes_of(share->parameters);
        /* An extra line, because Valgrind reads beyond the last instruction. */
        int rc =
            buffer_map(bytes + KERNEL_LINE_BYTES, PAGES_SMALL, -1, &share->buffer, diag);
        if (rc < 0)
                return rc;
        unsigned char *code = share->buffer.addr;
        for (uint64_t at = 0; at < bytes; at += KERNEL_LINE_BYTES)
                write_line(code + at, pattern);
        end_code(code + bytes - KERNEL_LINE_BYTES, pattern);
        if (mprotect(code, bytes, PROT_READ | PROT_EXEC) != 0)
                return diag_set(diag, -errno,
                                "this system does not let a program run code that it "
                                "makes: %s",
                                strerror(errno));
        return 0;
}

static void run(struct kernel_share *share, uint64_t passes)
{
        void (*code)(int zero);
        memcpy(&code, &share->buffer.addr, sizeof(code));
        for (; passes > 0; passes--)
                code(0);
}

/* Taken branches skip the rest of their lines; the last line still returns. */
static uint64_t instructions(uint64_t lines, enum branch_pattern pattern)
{
        if (pattern == BRANCH_NONE)
                return lines * LINE_INSTRUCTIONS;
        if (pattern == BRANCH_ALWAYS)
                return lines * BRANCH_INSTRUCTIONS + 1;
        return lines * (BRANCH_INSTRUCTIONS + REST_INSTRUCTIONS);
}

static void count(const struct kernel_parameters *parameters,
                  struct kernel_counts *counts)
{
        uint64_t lines = bytes_of(parameters) / KERNEL_LINE_BYTES;
        uint64_t branches =
            parameters->pattern == BRANCH_NONE ? 0 : lines * parameters->threads;
        *counts = (struct kernel_counts){
            .accesses = lines,
            .bytes = bytes_of(parameters) * parameters->threads,
            .instructions =
                instructions(lines, parameters->pattern) * parameters->threads,
            .tells_branches = true,
            .branches = branches,
            .branches_taken = parameters->pattern == BRANCH_ALWAYS ? branches : 0,
            .branches_executed = branches,
        };
}

const struct kernel kernel_icode = {
    .name = "icode",
    .summary = "Straight-line code of a chosen size, with branches or without (B20)",
    .takes = TAKES_SIZE | TAKES_PATTERN,
    .defaults = {.size_bytes = 1 << 20, .pattern = BRANCH_NONE},
    .check = check,
    .prepare = prepare,
    .run = run,
    .count = count,
};
