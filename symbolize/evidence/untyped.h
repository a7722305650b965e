/* SPDX-License-Identifier: MIT */
/* Why the type of a sample is not known. */
#ifndef MEMLAG_SYMBOLIZE_UNTYPED_H
#define MEMLAG_SYMBOLIZE_UNTYPED_H

enum untyped {
        TYPED,
        UNTYPED_NO_ADDRESS,
        UNTYPED_NO_DEBUG_INFO,
        UNTYPED_ASSEMBLER,
        UNTYPED_NO_INSTRUCTION,
        UNTYPED_NO_OPERAND,
        UNTYPED_TOO_LARGE,
        UNTYPED_NOT_DECODED,
        UNTYPED_UNKNOWN_BASE,
        UNTYPED_SAVED,
        UNTYPED_NO_VARIABLE,
        UNTYPED_SEVERAL,
        UNTYPED_CONSTANT,
        UNTYPED_LINKAGE,
        UNTYPED_INCOMPLETE,
        UNTYPED_BYTES,
        UNTYPED_PADDING,
        UNTYPED_OUTSIDE,
        UNTYPED_INDEX,
        UNTYPED_NO_DWZ,
        UNTYPED_CONTRADICTED,
        UNTYPED_MERGED,
        UNTYPED_THUNK,
        UNTYPED_OTHER_TYPE,
        UNTYPED_COUNT
};

/* The reason in words, such as "unknown base register"; NULL for TYPED. */
const char *untyped_reason(enum untyped reason);

#endif
