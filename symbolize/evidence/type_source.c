/* SPDX-License-Identifier: MIT */
/* Many samples share few sources. A source is looked up by its content. */
#include "type_source.h"

#include <errno.h>

#include "append.h"

const char *type_source_word(enum type_source_kind kind)
{
        static const char *const words[TYPE_SOURCE_KINDS] = {
            [TYPE_BY_VARIABLE] = "variable",
            [TYPE_BY_ALLOCATION] = "allocation",
            [TYPE_BY_INSTRUCTION] = "instruction",
            [TYPE_BY_ARGUMENT] = "argument",
            [TYPE_BY_FUNCTION] = "function"};

        return words[kind];
}

static bool same(const void *context, const void *key, uint32_t position)
{
        const struct type_sources *sources = context;
        const struct type_source *a = key, *b = &sources->items[position];

        return a->kind == b->kind && a->pointer == b->pointer && a->place == b->place;
}

int type_sources_add(struct type_sources *sources, const struct type_source *source,
                     uint32_t *id)
{
        *id = 0;
        if (source->kind == TYPE_BY_NOTHING)
                return 0;
        int error =
            HASH_PUT(sources, hash_number(source->pointer, source->place ^ source->kind),
                     same, sources, source, id);

        ++*id;
        return error;
}

void type_sources_free(struct type_sources *sources)
{
        HASH_FREE(sources);
        *sources = (struct type_sources){0};
}

/* ---- reasons ---- */

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
