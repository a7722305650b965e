/* SPDX-License-Identifier: MIT */
/* Call stacks inside the target, cheap enough for every allocation: the call frame
 * information of compilers (.eh_frame), reduced to one rule for each return address and
 * remembered. Takes no lock, allocates nothing and makes no system call, so that it may
 * run in any thread at any moment. Knows nothing of allocations. */
#ifndef MEMLAG_HEAP_UNWINDER_H
#define MEMLAG_HEAP_UNWINDER_H

#include <stddef.h>
#include <stdint.h>

/* How to get from a function to its caller. The return address is always the word below
 * the canonical frame address (CFA), which is the caller's stack pointer. */
struct unwind_rule {
        uint64_t cfa_base : 2; /* enum unwind_base */
        uint64_t bp_place : 2; /* enum unwind_bp */
        int64_t cfa_offset : 32;
        int64_t bp_offset : 28;
};

enum unwind_base {
        UNWIND_STOP, /* outermost, or in no way that we know */
        UNWIND_CFA_FROM_SP,
        UNWIND_CFA_FROM_BP,
        UNWIND_CFA_IN_MEMORY /* of realigned stacks: the word at bp + offset */
};

/* Where the caller's frame pointer is. */
enum unwind_bp { UNWIND_BP_SAME, UNWIND_BP_NEAR_CFA, UNWIND_BP_NEAR_BP, UNWIND_BP_LOST };

/* The rule for the instruction at PC, out of the .eh_frame_hdr section at HEADER in an
 * object that is loaded at [START, END); nothing outside of these bounds is read. */
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

/* Code was unmapped: what is remembered may be of another object. */
void unwind_forget(void);

#endif
