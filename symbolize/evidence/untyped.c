/* SPDX-License-Identifier: MIT */
/* The reasons in words, as the ledger counts them. */
#include "untyped.h"

#include <stddef.h>

const char *untyped_reason(enum untyped reason)
{
        static const char *const reasons[UNTYPED_COUNT] = {
            [UNTYPED_NO_ADDRESS] = "no data address",
            [UNTYPED_NO_DEBUG_INFO] = "no debug information",
            [UNTYPED_ASSEMBLER] = "function in assembler",
            [UNTYPED_NO_INSTRUCTION] = "instruction not found",
            [UNTYPED_NO_OPERAND] = "no memory operand",
            [UNTYPED_TOO_LARGE] = "function too large",
            [UNTYPED_NOT_DECODED] = "function not decoded",
            [UNTYPED_UNKNOWN_BASE] = "unknown base register",
            [UNTYPED_SAVED] = "saved register or return address",
            [UNTYPED_NO_VARIABLE] = "no variable there",
            [UNTYPED_SEVERAL] = "one of several variables",
            [UNTYPED_CONSTANT] = "constant without a name",
            [UNTYPED_LINKAGE] = "table of the linkers",
            [UNTYPED_INCOMPLETE] = "incomplete type",
            [UNTYPED_BYTES] = "bytes without a type",
            [UNTYPED_PADDING] = "padding",
            [UNTYPED_OUTSIDE] = "outside of the type",
            [UNTYPED_INDEX] = "index not proved",
            [UNTYPED_NO_DWZ] = "dwz file not found",
            [UNTYPED_CONTRADICTED] = "access to another kind of number",
            [UNTYPED_MERGED] = "function of several types",
            [UNTYPED_THUNK] = "thunk of a virtual function",
            [UNTYPED_OTHER_TYPE] = "pointer to another type than the block",
        };

        return reasons[reason];
}
