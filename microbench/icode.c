/* SPDX-License-Identifier: MIT */
/* Straight-line code of a chosen size (B20's instruction-cache kernel): each line of it
 * is fetched once a pass. The code is made at run time, because its size is a parameter.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel.h"

static const unsigned char addition[] = {0x83, 0xc0, 0x00}; /* add $0, %eax */
static const unsigned char nop = 0x90, ret = 0xc3; /* of one byte: the rest of a line */

enum {
        LINE_ADDITIONS = KERNEL_LINE_BYTES / sizeof(addition),
        LINE_INSTRUCTIONS = LINE_ADDITIONS + KERNEL_LINE_BYTES % sizeof(addition)
};

static uint64_t bytes_of(const struct kernel_parameters *parameters)
{
        return kernel_part_bytes(parameters) / KERNEL_LINE_BYTES * KERNEL_LINE_BYTES;
}

static int check(const struct kernel_parameters *parameters, struct diag *diag)
{
        if (bytes_of(parameters) == 0)
                return diag_set(diag, -EINVAL, "at least %d bytes of code a thread",
                                KERNEL_LINE_BYTES);
        return 0;
}

static void write_line(unsigned char *line)
{
        size_t at = 0;
        for (; at + sizeof(addition) <= KERNEL_LINE_BYTES; at += sizeof(addition))
                memcpy(line + at, addition, sizeof(addition));
        memset(line + at, nop, KERNEL_LINE_BYTES - at);
}

static int prepare(struct kernel_share *share, struct diag *diag)
{
        uint64_t bytes = bytes_of(share->parameters);
        /* One line more, as Valgrind reads on behind the last instruction. */
        int rc =
            buffer_map(bytes + KERNEL_LINE_BYTES, PAGES_SMALL, -1, &share->buffer, diag);
        if (rc < 0)
                return rc;
        unsigned char *code = share->buffer.addr;
        for (uint64_t at = 0; at < bytes; at += KERNEL_LINE_BYTES)
                write_line(code + at);
        code[bytes - 1] = ret;
        if (mprotect(code, bytes, PROT_READ | PROT_EXEC) != 0)
                return diag_set(diag, -errno,
                                "this system does not let a program run code that it "
                                "makes: %s",
                                strerror(errno));
        return 0;
}

static void run(struct kernel_share *share, uint64_t passes)
{
        void (*code)(void);
        memcpy(&code, &share->buffer.addr, sizeof(code));
        for (; passes > 0; passes--)
                code();
}

static void count(const struct kernel_parameters *parameters,
                  struct kernel_counts *counts)
{
        uint64_t code_lines = bytes_of(parameters) / KERNEL_LINE_BYTES;
        *counts = (struct kernel_counts){
            .accesses = code_lines,
            .bytes = bytes_of(parameters) * parameters->threads,
            .instructions = code_lines * LINE_INSTRUCTIONS * parameters->threads,
        };
}

const struct kernel kernel_icode = {
    .name = "icode",
    .summary = "Straight-line code of a chosen size (B20)",
    .takes = TAKES_SIZE,
    .defaults = {.size_bytes = 1 << 20},
    .check = check,
    .prepare = prepare,
    .run = run,
    .count = count,
};
