/* SPDX-License-Identifier: MIT */
/* Call stacks inside the target, cheap enough for every allocation. Reduces compilers'
 * call frame information (.eh_frame) to one cached rule for each return address. Takes
 * no lock, allocates nothing and makes no system call: any thread may call it at any
 * moment. Knows nothing of allocations. */
#ifndef MEMLAG_HEAP_UNWINDER_H
#define MEMLAG_HEAP_UNWINDER_H

#include <stddef.h>
#include <stdint.h>

/* How to unwind from a function to its caller. The return address is always the word
 * below the canonical frame address (CFA), which is the caller's stack pointer. */
struct unwind_rule {
        uint64_t cfa_base : 2; /* enum unwind_base */
        uint64_t bp_place : 2; /* enum unwind_bp */
        int64_t cfa_offset : 32;
        int64_t bp_offset : 28;
};

enum unwind_base {
        UNWIND_STOP, /* outermost, or unsupported */
        UNWIND_CFA_FROM_SP,
        UNWIND_CFA_FROM_BP,
        UNWIND_CFA_IN_MEMORY /* of realigned stacks: the word at bp + offset */
};

/* Where the caller's frame pointer is. */
enum unwind_bp { UNWIND_BP_SAME, UNWIND_BP_NEAR_CFA, UNWIND_BP_NEAR_BP, UNWIND_BP_LOST };

/* Finds the rule for the instruction at PC in the .eh_frame_hdr section at HEADER. The
 * object is loaded at [START, END); nothing outside these bounds is read. */
struct unwind_rule unwind_rule_find(uintptr_t pc, const void *header, const void *start,
                                    const void *end);

/* The frame that a stack begins with: the return address of a call, and the caller's
 * registers. */
struct unwind_frame {
        uintptr_t pc;
        uintptr_t sp;
        uintptr_t bp;
};

/* Return addresses into FRAMES, innermost first and PC of the first; returns how many. */
size_t unwind(const struct unwind_frame *first, uint64_t *frames, size_t limit);

/* A number for the stack that unwind would find, never 0, and into *DEPTH its frames: to
 * know whether it was met before needs no room for them. LIMIT is always the same. */
uint64_t unwind_hash(const struct unwind_frame *first, size_t limit, size_t *depth);

/* Code was unmapped: cached rules may belong to another object. */
void unwind_forget(void);

#endif
