/* SPDX-License-Identifier: MIT */
/* A function's instructions by address, and the blocks between its jumps. Knows nothing
 * of their effect on registers. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_CODE_H
#define MEMLAG_SYMBOLIZE_FLOW_CODE_H

#include "die.h"
#include "elf_file.h"
#include "flow_instruction.h"

struct flow_step {
        uint64_t vaddr;
        struct instruction instruction;
};

struct flow_block {
        size_t first; /* step */
        size_t count;
        size_t next[2]; /* blocks; SIZE_MAX: none */
        bool orphan;    /* no known path leads there */
        bool indirect;  /* ends with an indirect jump */
};

struct flow_code {
        const struct elf_file *file;
        struct flow_step *steps;
        size_t step_count;
        size_t step_capacity;
        struct flow_block *blocks;
        size_t block_count;
};

/* Reads FUNCTION's code from FILE and DWARF. 0, -E2BIG: too large, -EILSEQ: not
 * completely read and decoded, or -ENOMEM; freed in any case. */
int flow_code_read(struct flow_code *code, struct dwarf_file *dwarf,
                   const struct elf_file *file, Dwarf_Die *function);
void flow_code_free(struct flow_code *code);

/* The step that begins at VADDR, and the step that contains it; SIZE_MAX: none. */
size_t flow_code_at(const struct flow_code *code, uint64_t vaddr);
size_t flow_code_around(const struct flow_code *code, uint64_t vaddr);
/* Whether STEP begins where the one before it ends. */
bool flow_code_follows(const struct flow_code *code, size_t step);
/* The step after STEP, for a branch without the jump; SIZE_MAX: none, or unknown. */
size_t flow_code_next(const struct flow_code *code, size_t step);

/* The first step at VADDR or after it; the number of all steps if there is none. */
size_t flow_code_from(const struct flow_code *code, uint64_t vaddr);
/* The block that STEP is in. */
size_t flow_code_block(const struct flow_code *code, size_t step);

#endif
