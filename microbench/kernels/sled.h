/* SPDX-License-Identifier: MIT */
/* A chosen number of equal instructions inside a loop, without an inner loop: jumps into
 * a row of instructions, to a distance before its end. For inline assembly: [e] is first
 * the number, then the jump address; rax is clobbered. */
#ifndef MEMLAG_SLED_H
#define MEMLAG_SLED_H

#define NOPS_MAX             16384
#define NOP_BYTES            1
#define MULTIPLICATIONS_MAX  256
#define MULTIPLICATION_BYTES 4 /* REX.W 6B /r ib, for all registers */

#define SLED_TEXT_(x) #x
#define SLED_TEXT(x)  SLED_TEXT_(x)

#define SLED_ENTRY(bytes)                                                                \
        "lea 3f(%%rip), %%rax\n\t"                                                       \
        "imul $" SLED_TEXT(bytes) ", %[e], %[e]\n\t"                                     \
                                  "sub %[e], %%rax\n\t"                                  \
                                  "mov %%rax, %[e]\n"

#define SLED(max, instruction)                                                           \
        "jmp *%[e]\n\t"                                                                  \
        ".rept " SLED_TEXT(max) "\n\t" instruction "\n\t"                                \
                                ".endr\n"                                                \
                                "3:\n\t"

#endif
