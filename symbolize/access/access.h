/* SPDX-License-Identifier: MIT */
/* What the memory operands of a module's sampled instructions point to, what its
 * calls of allocators return, and which variables of frames samples fell into. */
#ifndef MEMLAG_SYMBOLIZE_ACCESS_H
#define MEMLAG_SYMBOLIZE_ACCESS_H

#include "code.h"
#include "flow.h"
#include "symbol_table.h"

struct access {
        const struct code_place *code; /* the question: a place that has been named */
        enum flow_question question;
        int64_t cfa_offset_bytes; /* of a FLOW_FRAME */
        bool traced;              /* the state of the analysis is printed */
        bool asked;               /* FLOW is the answer */
        struct flow_answer flow;
};

/* Answers ACCESSES, COUNT places of FILE, where they lie in functions that debug
 * information describes, by the inlined functions FRAMES of these places; their order
 * changes. 0 or -ENOMEM. */
int access_find(struct type_reader *reader, const struct elf_file *file,
                const struct symbol_table *symbols, const struct code_frames *frames,
                struct access **accesses, size_t count);

#endif
