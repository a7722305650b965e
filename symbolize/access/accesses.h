/* SPDX-License-Identifier: MIT */
/* Questions about a module's code: the targets of memory operands, the types that
 * allocator calls return, and the variables in frames. */
#ifndef MEMLAG_SYMBOLIZE_ACCESSES_H
#define MEMLAG_SYMBOLIZE_ACCESSES_H

#include "code_names.h"
#include "flow.h"
#include "symbol_table.h"

struct access {
        const struct code_place *code; /* the question: a place with names */
        enum flow_question question;
        int64_t cfa_offset_bytes; /* of a FLOW_FRAME */
        bool traced;              /* print the state of the analysis */
        bool asked;               /* FLOW is the answer */
        struct flow_answer flow;
};

/* Answers ACCESSES, COUNT places of FILE in functions with debug information. FRAMES are
 * the inlined functions at these places. The order of ACCESSES changes. 0 or -ENOMEM. */
int access_find(struct type_reader *reader, const struct elf_file *file,
                const struct symbol_table *symbols, const struct code_frames *frames,
                struct access **accesses, size_t count);

#endif
