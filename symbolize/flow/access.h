/* SPDX-License-Identifier: MIT */
/* What the memory operands of a module's sampled instructions point to, what its
 * calls of allocators return, and which variables of frames samples fell into. */
#ifndef MEMLAG_SYMBOLIZE_ACCESS_H
#define MEMLAG_SYMBOLIZE_ACCESS_H

#include "code.h"
#include "flow.h"
#include "symbol_table.h"

/* What the source has where an instruction is that accesses memory, as source_line.h has
 * it; 0: it is not at hand. */
struct source_said {
        uint32_t members; /* that it may mean */
        uint32_t names;   /* in its statement; 0: MEMBERS are the one that it means */
};

struct access {
        const struct code_place *code; /* the question: a place that has been named */
        enum flow_question question;
        int64_t cfa_offset_bytes; /* of a FLOW_FRAME */
        bool asked;               /* FLOW is the answer */
        struct flow_answer flow;
        struct source_said said;
};

/* Answers ACCESSES, COUNT places of FILE, where they lie in functions that debug
 * information describes, by the inlined functions FRAMES of these places; their order
 * changes. 0 or -ENOMEM. */
int access_find(struct type_reader *reader, const struct elf_file *file,
                const struct symbol_table *symbols, const struct code_frames *frames,
                struct access **accesses, size_t count);

#endif
