/* SPDX-License-Identifier: MIT */
/* The program's translated instructions: their successors and the registers that they
 * write. From these it computes where both paths of a conditional branch join. Knows
 * no time and no encoding of instructions, only their possible successors. */
#ifndef SIMPMU_MODEL_CODE_H
#define SIMPMU_MODEL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_HEADS        65536u
#define CODE_CHUNKS       8192u
#define CODE_CHUNK        1024u
#define CODE_INSTRUCTIONS (CODE_CHUNKS * CODE_CHUNK)
#define NO_INSTRUCTION    0u

/* Variables of a function's frame are distinguished by their displacement from the
 * stack or frame pointer, modulo FRAME_WORDS times four bytes. */
#define FRAME_WORDS      64u
#define FRAME_WORD_SHIFT 2

enum code_kind {
        CODE_PLAIN,       /* goes on behind itself */
        CODE_CONDITIONAL, /* or at its target */
        CODE_JUMP,        /* at its target alone */
        CODE_CALL,        /* behind itself, after the callee returns */
        CODE_END,         /* leaves the function, or to where only the run tells */
        CODE_STOP,        /* the program goes no further */
};

struct code_instruction {
        uint64_t ip;
        uint64_t target;
        uint64_t writes; /* a mask of registers, as in hot.h */
        uint64_t stores; /* the same for words of its frame, see FRAME_WORDS */
        uint32_t next;   /* with the same hash */
        uint32_t search; /* the last search that had it as a node */
        uint32_t node;
        uint8_t length; /* bytes */
        uint8_t kind;   /* enum code_kind */
};

/* Instructions have numbers from 1 on. */
struct code {
        struct code_instruction *chunks[CODE_CHUNKS];
        uint32_t heads[CODE_HEADS];
        uint32_t count;
        uint32_t searches;
        void *(*allocate)(size_t bytes); /* zeroed memory, never freed */
};

/* CODE is all zero. */
void code_init(struct code *code, void *(*allocate)(size_t bytes));

/* The kind of the instruction of LENGTH BYTES at IP, and where it may lead. */
enum code_kind code_decode(const uint8_t *bytes, uint32_t length, uint64_t ip,
                           uint64_t *target);

/* Adds the instruction at IP, with LENGTH bytes, KIND and TARGET. If the same
 * instruction was known before, its writes are retained. Returns its number;
 * NO_INSTRUCTION: there is no room. */
uint32_t code_add(struct code *code, uint64_t ip, uint32_t length, enum code_kind kind,
                  uint64_t target);

/* The number of the instruction at IP, or NO_INSTRUCTION. */
uint32_t code_find(const struct code *code, uint64_t ip);

static inline struct code_instruction *code_at(const struct code *code, uint32_t number)
{
        return &code->chunks[number / CODE_CHUNK][number % CODE_CHUNK];
}

/* Where both paths of a conditional branch join: the nearest common post-dominator in
 * its function. */
struct code_meeting {
        uint32_t instruction; /* its number */
        uint32_t length[2];   /* instructions before it, at least: not taken, taken */
        uint64_t changed;     /* registers that may be written before it */
        uint64_t stored;      /* words of the frame */
};

/* Finds where the paths of conditional branch number BRANCH join, in translated code.
 * Untranslated code is assumed never to run, unless nothing else leaves the
 * surrounding code. CALLS is the mask of registers that a call may write. False: the
 * paths do not join within some hundred instructions. */
bool code_meet(struct code *code, uint32_t branch, uint64_t calls,
               struct code_meeting *meeting);

#endif
