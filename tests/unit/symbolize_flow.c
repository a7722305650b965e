/* SPDX-License-Identifier: MIT */
/* Registers are followed through whole functions or not at all: in what is left out of
 * one might be a jump to where something seems to be known. */
#include "dwarf_test.h"
#include <inttypes.h>
#include <string.h>

#include "access.h"
#include "flow_walk.h"
#include "folded.h"
#include "rival_variables.h"

/* Functions of known size: instructions of one byte that do nothing. */
#define DO_NOTHING(times) __asm__ volatile(".fill " times ", 1, 0x90")

static __attribute__((noinline)) void small(void)
{
        DO_NOTHING("1000");
}

static __attribute__((noinline)) void of_many_instructions(void)
{
        DO_NOTHING("400000");
}

static __attribute__((noinline)) void of_many_bytes(void)
{
        DO_NOTHING("1100000");
}

/* Jumps over a byte that is no instruction in 64-bit mode. */
static __attribute__((noinline)) void with_a_hole(void)
{
        __asm__ volatile("jmp 1f\n\t.byte 0x06\n1:");
}

/* ---- functions that use some bits of the 4 bytes that they load first ---- */

/* As gcc and clang write them for bit-fields. */
#define BITS(name, code)                                                                 \
        __attribute__((naked, used)) static long name(void)                              \
        {                                                                                \
                __asm__(code);                                                           \
        }

BITS(tests_memory, "testb $0x10, (%rdi)\n jne 1f\n nop\n1: ret")
BITS(loads_and_masks, "movzbl (%rdi), %eax\n and $0x10, %eax\n cmp $1, %al\n"
                      "sbb $-1, %rsi\n xor %eax, %eax\n ret")
BITS(loads_and_shifts, "movl (%rdi), %eax\n shr $5, %eax\n and $7, %eax\n ret")
BITS(shifts_a_sign, "movzbl (%rdi), %eax\n shl $3, %eax\n sar $5, %al\n"
                    "movsbl %al, %eax\n ret")
BITS(copies, "movl (%rdi), %eax\n mov %eax, %edx\n shr $3, %al\n and $1, %eax\n"
             "and $4, %edx\n mov %edx, (%rsi)\n ret")
BITS(tests_ah, "movl (%rdi), %eax\n test $0x20, %ah\n jne 1f\n xor %eax, %eax\n"
               "ret\n1: mov $1, %eax\n ret")
BITS(tests_two, "movl (%rdi), %edx\n test $1, %dl\n jne 1f\n test $4, %dl\n jne 1f\n"
                "nop\n1: xor %eax, %eax\n ret")
BITS(tests_a_bit_by_number, "movl (%rdi), %edx\n bt $17, %edx\n setc %al\n ret")
BITS(tests_the_sign, "movzbl (%rdi), %edx\n test %dl, %dl\n js 1f\n nop\n1: ret")
BITS(compares_a_bit, "movzbl (%rdi), %eax\n xor (%rsi), %al\n and $8, %al\n ret")
BITS(clears, "andb $0xef, (%rdi)\n ret")
BITS(assigns, "movzbl (%rdi), %eax\n and $0x30, %esi\n and $0xcf, %eax\n"
              "or %esi, %eax\n mov %al, (%rdi)\n xor %eax, %eax\n ret")
BITS(joins_any_bits, "movzbl (%rdi), %eax\n and $0xcf, %eax\n or %esi, %eax\n"
                     "mov %al, (%rdi)\n xor %eax, %eax\n ret")
BITS(copies_all, "movl (%rdi), %eax\n test $1, %al\n jne 1f\n mov %eax, (%rsi)\n"
                 "1: ret")
BITS(masks_by_a_register, "movl (%rdi), %eax\n mov $0x30, %esi\n and %esi, %eax\n ret")
BITS(compares_two, "movl (%rdi), %eax\n mov %eax, %ecx\n shr $6, %ecx\n"
                   "xor %eax, %ecx\n test $0x3f, %cl\n sete %al\n ret")
BITS(is_above_ones, "cmpl $0x64f, (%rdi)\n ja 1f\n nop\n1: xor %eax, %eax\n ret")
BITS(is_below_zeros, "cmpl $0x20000, (%rdi)\n jb 1f\n nop\n1: xor %eax, %eax\n ret")
BITS(assigns_the_low_half, "movl (%rdi), %eax\n and $0xfffff03f, %eax\n"
                           "and $0xfc0, %esi\n or %esi, %eax\n mov %ax, (%rdi)\n"
                           "xor %eax, %eax\n ret")
BITS(assigns_by_a_sum, "movl (%rdi), %eax\n and $7, %eax\n lea (%rax, %rsi, 8), %eax\n"
                       "mov %eax, (%rdi)\n ret")
BITS(leaves_nothing, "movzbl (%rdi), %eax\n shl $16, %eax\n shr $4, %eax\n"
                     "movzbl %al, %eax\n ret")
BITS(calls, "movl (%rdi), %edi\n and $3, %edi\n jmp 1f\n1: call 2f\n2: pop %rax\n"
            "xor %eax, %eax\n ret")

BITS(hands_on_in_a_jump, "movl (%rdi), %edi\n shr $20, %edi\n jmp abort@PLT")
BITS(hands_on_through_a_pointer, "movl (%rdi), %edi\n shr $20, %edi\n jmp *%rdx")
BITS(calls_by_number, "movl (%rdi), %eax\n and $3, %eax\n call *(%rsi,%rax,8)\n"
                      "xor %eax, %eax\n ret")
BITS(takes_bits_of_the_sign, "movzbl (%rdi), %eax\n shl $7, %eax\n sar $7, %al\n"
                             "and $12, %eax\n ret")
BITS(takes_bits_of_an_extension, "movsbl (%rdi), %eax\n and $0x3000, %eax\n ret")
BITS(extends_a_copy, "movzbl (%rdi), %eax\n movsbl %al, %eax\n shr $31, %eax\n ret")
BITS(writes_a_part, "movl (%rdi), %eax\n mov $5, %al\n and $0x7fff, %eax\n ret")
BITS(sets_a_part, "movl (%rdi), %eax\n test %edx, %edx\n sete %al\n and $0x7fff, %eax\n"
                  "ret")
BITS(shifts_a_part, "movl (%rdi), %eax\n shr $3, %al\n and $0xf00, %eax\n ret")
BITS(stores_and_uses, "movl (%rdi), %eax\n or $1, %eax\n mov %al, (%rdi)\n"
                      "and $0x300, %eax\n ret")
BITS(moves_on_condition, "movl (%rdi), %eax\n and $6, %eax\n test %esi, %esi\n"
                         "cmove %edx, %eax\n ret")
BITS(shifts_into_the_carry, "movl (%rdi), %eax\n shr $3, %eax\n setc %al\n"
                            "movzbl %al, %eax\n ret")
BITS(hands_on_and_tests, "movl (%rdi), %edi\n call 1f\n1: pop %rax\n xor %eax, %eax\n"
                         "ret")
BITS(tests_and_hands_on, "movl (%rdi), %edi\n test $1, %dil\n jne 1f\n call 1f\n"
                         "1: pop %rax\n xor %eax, %eax\n ret")

/* What is read already is left over in the register at the call. */
BITS(leaves_over, "movl (%rdi), %esi\n and $0xf0, %esi\n mov %esi, %eax\n"
                  "and $3, %eax\n call 1f\n1: pop %rax\n xor %eax, %eax\n ret")
BITS(hands_on_a_copy, "movl (%rdi), %eax\n mov %eax, %esi\n and $0xf0, %esi\n"
                      "call 1f\n1: pop %rax\n xor %eax, %eax\n ret")
BITS(stores_beside, "movzwl 2(%rdi), %eax\n shl $16, %eax\n mov %eax, (%rdi)\n"
                    "xor %eax, %eax\n ret")
BITS(joins_and_sets, "movl (%rdi), %eax\n and $7, %esi\n shl $4, %esi\n"
                     "or %esi, %eax\n or $1, %eax\n mov %eax, (%rdi)\n"
                     "xor %eax, %eax\n ret")
BITS(adds_to_the_highest, "addl $0x10000000, (%rdi)\n xor %eax, %eax\n ret")
BITS(counts_up, "movl (%rdi), %eax\n mov %eax, %edx\n shr $3, %edx\n inc %edx\n"
                "and $7, %edx\n shl $3, %edx\n and $0xffffffc7, %eax\n"
                "or %edx, %eax\n mov %eax, (%rdi)\n xor %eax, %eax\n ret")
BITS(adds_and_shifts, "movl (%rdi), %eax\n and $0x3f, %eax\n add %esi, %eax\n"
                      "shr $3, %eax\n and $1, %eax\n ret")
BITS(multiplies_and_stores, "movl (%rdi), %eax\n imul %esi, %eax\n mov %eax, (%rdi)\n"
                            "xor %eax, %eax\n ret")
BITS(sets_one_by_another, "movzbl (%rdi), %eax\n mov %eax, %edx\n shr $3, %dl\n"
                          "and $1, %edx\n and $0xfffffff0, %eax\n or %edx, %eax\n"
                          "mov %al, (%rdi)\n xor %eax, %eax\n ret")
BITS(inserts_by_turning, "movl (%rdi), %eax\n mov %eax, %edx\n xor %esi, %edx\n"
                         "and $0xf0, %edx\n xor %edx, %eax\n mov %eax, (%rdi)\n"
                         "xor %eax, %eax\n ret")
BITS(shifts_two_as_one, "mov (%rdi), %rax\n shld $30, %rcx, %rax\n"
                        "and $0x3ff, %eax\n ret")
BITS(takes_two_as_one, "mov (%rdi), %rax\n shrd $30, %rcx, %rax\n"
                       "and $0x3ff, %eax\n ret")

/* What fills a gap reads nothing, though it has an operand. */
BITS(passes_a_gap, "movl (%rdi), %eax\n nopl (%rax,%rax,1)\n and $6, %eax\n ret")
BITS(counts_in_a_loop, "movl (%rdi), %eax\n mov $9, %ecx\n"
                       "1: mov %eax, %edx\n and $0xfffff800, %edx\n add $5, %eax\n"
                       "and $0x7ff, %eax\n or %edx, %eax\n dec %ecx\n jne 1b\n"
                       "mov %eax, (%rdi)\n xor %eax, %eax\n ret")
BITS(folds_halves, "movl (%rdi), %eax\n movzwl %ax, %ecx\n shr $16, %eax\n"
                   "xor %ecx, %eax\n ret")
/* A piece of a wider word, that is masked by no one knows what. */
BITS(masks_more, "movzwl 4(%rdi), %eax\n shl $32, %rax\n mov (%rdi), %ecx\n"
                 "or %rcx, %rax\n and (%rsi), %rax\n mov %eax, (%rdi)\n"
                 "shr $32, %rax\n mov %ax, 4(%rdi)\n xor %eax, %eax\n ret")
/* Of what is loaded twice one part is the same as before, and so is the other. */
BITS(joins_what_is_loaded_again,
     "mov (%rdi), %ecx\n movzbl 1(%rdi), %edx\n shr $15, %ecx\n and $0x7f, %edx\n"
     "shl $7, %ecx\n or %ecx, %edx\n mov %dl, 1(%rdi)\n xor %eax, %eax\n ret")
BITS(doubles, "mov (%rdi), %eax\n lea (%rax,%rax), %eax\n and $0x10, %eax\n ret")
BITS(makes_one_of_parts, "mov (%rdi), %eax\n movzwl %ax, %ecx\n sar $0x10, %eax\n"
                         "lea (%rax,%rax,2), %eax\n add %eax, %ecx\n"
                         "movslq %ecx, %rax\n ret")
BITS(masks_in_the_mask, "mov (%rdi), %ecx\n or $0xffff, %esi\n and %ecx, %esi\n"
                        "mov %esi, (%rdi)\n xor %eax, %eax\n ret")
BITS(stores_again, "movzwl (%rdi), %eax\n mov %eax, (%rdi)\n xor %eax, %eax\n ret")

/* ---- and some for which what is before the load counts ---- */

BITS(clears_by_a_mask, "shl $16, %esi\n or $0xffff, %esi\n and %esi, (%rdi)\n"
                       "xor %eax, %eax\n ret")
BITS(adds_steps, "xor %ecx, %ecx\n 1: add %ecx, (%rdi)\n add $0x10000, %ecx\n"
                 "cmp $0x640000, %ecx\n jne 1b\n xor %eax, %eax\n ret")
BITS(masks_by_a_large_number, "movabs $0xffffffffff00ff, %rsi\n"
                              "1: mov (%rdi), %rax\n and %rsi, %rax\n"
                              "mov %rax, (%rdi)\n add $8, %rdi\n cmp %rdi, %rdx\n"
                              "jne 1b\n xor %eax, %eax\n ret")
BITS(stores_by_another_base, "mov %rdi, %rdx\n mov (%rdi,%rcx), %eax\n and $7, %eax\n"
                             "mov %eax, (%rdx,%rcx)\n xor %eax, %eax\n ret")

BITS(stores_by_a_base_behind, "lea 8(%rdi), %rdx\n mov 4(%rdi), %edi\n and $7, %edi\n"
                              "mov %edi, -4(%rdx)\n xor %eax, %eax\n ret")

/* ---- functions that use some of what they load of a vector ---- */

BITS(replaces_the_low_half, "movups (%rdi), %xmm0\n movlpd (%rsi), %xmm0\n"
                            "addpd %xmm0, %xmm0\n movups %xmm0, (%rdx)\n ret")
BITS(takes_one_of_four, "pshufd $0xaa, (%rdi), %xmm0\n movups %xmm0, (%rdx)\n ret")
BITS(shuffles_twice, "movups (%rdi), %xmm4\n shufps $2, %xmm2, %xmm4\n"
                     "shufps $0xe2, %xmm2, %xmm4\n mulps %xmm4, %xmm1\n"
                     "xorps %xmm4, %xmm4\n ret")
BITS(blends_two_of_eight, "vblendps $0x30, (%rdi), %ymm1, %ymm0\n"
                          "vmovups %ymm0, (%rsi)\n ret")
BITS(adds_all_four, "movups (%rdi), %xmm0\n addps %xmm0, %xmm1\n"
                    "movups %xmm1, (%rdx)\n ret")
BITS(keeps_for_another_way, "movups (%rdi), %xmm0\n test %esi, %esi\n jne 1f\n"
                            "shufps $0xff, %xmm0, %xmm0\n movups %xmm0, (%rdx)\n"
                            "1: ret")

/* ---- functions that do something with the number that they load first ---- */

BITS(moves_on, "mov (%rdi), %rax\n mov %rax, (%rsi)\n ret")
BITS(moves_with_vector, "movq (%rdi), %xmm0\n movq %xmm0, (%rsi)\n ret")
BITS(hands_on, "movsd (%rdi), %xmm0\n ret")
BITS(adds_bits_and_real, "movsd (%rdi), %xmm0\n movq %xmm0, %rax\n"
                         "add %rax, (%rsi)\n addsd %xmm0, %xmm0\n"
                         "movsd %xmm0, (%rdx)\n ret")
BITS(calls_with, "movsd (%rdi), %xmm0\n call 1f\n1: pop %rax\n ret")
BITS(adds_reals, "movsd (%rdi), %xmm1\n addsd %xmm1, %xmm0\n ret")
BITS(adds_half, "movq (%rdi), %xmm1\n addss %xmm1, %xmm0\n ret")
BITS(widens, "movss (%rdi), %xmm1\n vcvtss2sd %xmm1, %xmm1, %xmm1\n ret")
BITS(adds_four, "movups (%rdi), %xmm1\n movaps %xmm1, %xmm2\n addps %xmm2, %xmm0\n ret")
BITS(adds_two_wide, "paddq (%rdi), %xmm0\n ret")
BITS(copies_four,
     "movups (%rdi), %xmm1\n movups %xmm1, (%rsi)\n addps %xmm2, %xmm0\n ret")
BITS(adds_absolute, "movsd (%rdi), %xmm1\n andpd %xmm2, %xmm1\n addsd %xmm1, %xmm0\n ret")
BITS(adds_from_register, "mov (%rdi), %rax\n movq %rax, %xmm1\n addsd %xmm1, %xmm0\n ret")
BITS(adds_from_stack,
     "mov (%rdi), %rax\n mov %rax, -8(%rsp)\n addsd -8(%rsp), %xmm0\n ret")
BITS(adds_spilled, "movsd (%rdi), %xmm1\n movsd %xmm1, -8(%rsp)\n"
                   "addsd -8(%rsp), %xmm0\n ret")
BITS(hands_on_from_register, "mov (%rdi), %rax\n movq %rax, %xmm0\n ret")
BITS(is_normal, "mov (%rdi), %rax\n lea -1(%rax), %rcx\n cmp %rcx, %rdx\n jb 1f\n"
                "movq %rax, %xmm1\n addsd %xmm1, %xmm0\n1: ret")
BITS(adds_integers, "mov (%rdi), %rax\n mov %rax, (%rsi)\n add %rdx, %rax\n ret")
BITS(adds_in_memory, "incq (%rdi)\n ret")
BITS(adds_halves, "movl (%rdi), %eax\n add %edx, %eax\n ret")
BITS(converts, "cvtsi2sdl (%rdi), %xmm0\n ret")
BITS(extends, "movslq (%rdi), %rax\n ret")
BITS(reads_behind, "mov (%rdi), %rax\n mov (%rax), %eax\n ret")
BITS(is_zero, "mov (%rdi), %rax\n test %rax, %rax\n je 1f\n nop\n1: ret")
BITS(is_negative, "cmpq $0, (%rdi)\n jl 1f\n nop\n1: ret")
BITS(is_above_minus_one, "cmpq $-1, (%rdi)\n setg %al\n ret")
BITS(is_equal, "mov (%rdi), %rax\n cmp (%rsi), %rax\n sete %al\n ret")
BITS(differs, "mov (%rdi), %rax\n sub (%rsi), %rax\n setne %al\n ret")
BITS(is_below, "mov (%rdi), %rax\n cmp (%rsi), %rax\n setb %al\n ret")
BITS(is_seven, "cmpl $7, (%rdi)\n sete %al\n ret")
BITS(is_low_seven, "cmpb $7, (%rdi)\n sete %al\n ret")
BITS(takes_sign, "mov (%rdi), %rax\n shr $63, %rax\n ret")
BITS(drops_sign, "mov (%rdi), %rax\n add %rax, %rax\n sete %al\n ret")
BITS(turns_sign, "btcq $63, (%rdi)\n ret")
BITS(makes_hash, "mov (%rdi), %rax\n imul %rdx, %rax\n ret")
BITS(takes_low_bits, "mov (%rdi), %rax\n and $7, %eax\n ret")
BITS(behind_a_branch, "mov (%rdi), %rax\n test %edx, %edx\n jne 1f\n xor %eax, %eax\n"
                      "ret\n1: lea 3(%rax), %rax\n ret")
BITS(steps_on, "mov (%rdi), %rax\n inc %rax\n ret")
BITS(counts_between, "mov (%rdi), %eax\n sub %edx, %eax\n ret")
BITS(looks_up_a_digit, "movzbl (%rdi), %eax\n movzbl (%rsi,%rax), %eax\n ret")
BITS(looks_up, "movl (%rdi), %eax\n movzbl (%rsi,%rax), %eax\n ret")
BITS(divides, "mov (%rdi), %rax\n cqo\n idiv %rsi\n ret")
BITS(is_below_one, "cmpl $1, (%rdi)\n adc $0, %eax\n ret")
BITS(is_one, "cmpl $1, (%rdi)\n sete %al\n ret")
BITS(is_tag, "cmpl $-13, (%rdi)\n sete %al\n ret")
BITS(hashes_and_converts,
     "mov (%rdi), %rax\n add %rax, %rdx\n cvtsi2sd %rax, %xmm0\n ret")

/* ---- functions that read what lies before a block ---- */

struct header {
        uint64_t before_bytes;
        uint64_t bytes;
        struct header *next;
        uint64_t unused[3];
};

/* HEADER has its name only behind all of CODE, in which READ is where it is read from. */
#define READS(name, read, code)                                                          \
        extern const char name##_reads[];                                                \
        __attribute__((noinline, used)) static uint64_t name(void *block)                \
        {                                                                                \
                struct header *header;                                                   \
                uint64_t word;                                                           \
                                                                                         \
                __asm__ volatile("lea -16(%2), %0\n" #name "_reads: mov " read           \
                                 "(%2), %1\n" code                                       \
                                 : "=&r"(header), "=&r"(word)                            \
                                 : "r"(block));                                          \
                __asm__ volatile("nop" : : "r"(header));                                 \
                return word + header->bytes;                                             \
        }

READS(reads_header, "-8", "")
READS(reads_before_header, "-24", "")
READS(reads_behind_header, "32", "")
READS(jumps, "-8", "test %1, %1\n jne 1f\n nop\n1:")

/* ---- a function that goes from one of two pointers to the next, and on ---- */

enum { HOPS = 200, HOP_BYTES = 14 };

static struct hop {
        struct hop *to[2];
} first_hop = {{&first_hop, &first_hop}};

extern struct hop *hop_root;
struct hop *hop_root = &first_hop;

__attribute__((noinline, used)) static uint64_t hops_on(uint64_t side)
{
        struct hop *at = hop_root, *second;

        __asm__ volatile(".rept 200\n lea 8(%0), %1\n test %2, %2\n cmovne %1, %0\n"
                         "mov (%0), %0\n .endr"
                         : "+&r"(at), "=&r"(second)
                         : "r"(side));
        return (uint64_t)(uintptr_t)at;
}

/* ---- a function of one block that reads and reads ---- */

enum { READS_LIMIT = 4000, READ_BYTES = 3 };

extern const char reads_often_reads[];
__attribute__((noinline, used)) static uint64_t reads_often(const uint64_t *from)
{
        uint64_t word;

        __asm__ volatile("reads_often_reads: .rept 4000\n mov (%1), %0\n .endr"
                         : "=a"(word)
                         : "D"(from));
        return word;
}

static uint64_t steps_run;

void __real_flow_effect(const struct flow_context *flow, struct flow_state *state,
                        const struct flow_step *step);
void __wrap_flow_effect(const struct flow_context *flow, struct flow_state *state,
                        const struct flow_step *step);

void __wrap_flow_effect(const struct flow_context *flow, struct flow_state *state,
                        const struct flow_step *step)
{
        steps_run++;
        __real_flow_effect(flow, state, step);
}

static uint64_t blocks_run;

struct flow_state __real_flow_walk_before(const struct flow_walk *walk, size_t step);
struct flow_state __wrap_flow_walk_before(const struct flow_walk *walk, size_t step);

struct flow_state __wrap_flow_walk_before(const struct flow_walk *walk, size_t step)
{
        blocks_run++;
        return __real_flow_walk_before(walk, step);
}

/* The first instruction of the function NAME of this program. */
static struct code_place beginning_of(struct dwarf_file *dwarf, const char *name)
{
        struct code_place place = {0};

        for (size_t i = 0; i < dwarf->unit_count; i++) {
                Dwarf_Die unit;

                assert_non_null(
                    dwarf_offdie(dwarf->dwarf, dwarf->units[i].die_offset, &unit));
                if (dwarf_child(&unit, &place.function_die) != 0)
                        continue;
                do {
                        const char *found = dwarf_diename(&place.function_die);

                        if (dwarf_tag(&place.function_die) == DW_TAG_subprogram &&
                            found && strcmp(found, name) == 0 &&
                            dwarf_lowpc(&place.function_die, &place.vaddr) == 0)
                                return place;
                } while (dwarf_siblingof(&place.function_die, &place.function_die) == 0);
        }
        fail_msg("the program has no function %s", name);
        return place;
}

/* Has FILE, which is open, end after the first of the bytes at VADDR. */
static void cut(struct elf_file *file, uint64_t vaddr)
{
        for (size_t i = 0; i < file->segment_count; i++)
                if (&file->segments[i] == elf_file_segment(file, vaddr))
                        file->segments[i].file_bytes =
                            vaddr + 1 - file->segments[i].vaddr;
}

/* What becomes of a question about the instruction that is AT bytes from the beginning of
 * the function NAME, of which the file has all, or only the first byte. *TYPE_BYTES: the
 * size of the type that it reads from. */
static struct flow_answer answer_at(const char *name, size_t at, bool has_all,
                                    uint64_t *type_bytes)
{
        const struct symbol_table symbols = {0};
        const struct code_frames frames = {0};
        struct string_pool *names = string_pool_new();
        struct types types = {0};
        struct type_reader reader = {0};
        struct dwarf_file dwarf;
        struct elf_file file;

        assert_non_null(names);
        open_own_dwarf(&file, &dwarf);
        struct code_place place = beginning_of(&dwarf, name);
        struct access access = {.code = &place}, *list = &access;

        if (!has_all)
                cut(&file, place.vaddr);
        place.vaddr += at;
        type_reader_open(&reader, &dwarf, &types, names);
        assert_int_equal(access_find(&reader, &file, &symbols, &frames, &list, 1), 0);
        assert_true(access.asked);
        *type_bytes = access.flow.place.kind == PLACE_POINTER
                          ? types.items[access.flow.place.type].size_bytes
                          : 0;
        type_reader_close(&reader);
        types_free(&types);
        string_pool_free(names);
        dwarf_file_close(&dwarf);
        elf_file_close(&file);
        return access.flow;
}

/* All places of one block are asked for: what is before each is not found out from the
 * beginning. */
static void goes_on_in_a_block(void **state)
{
        static struct code_place places[READS_LIMIT];
        static struct access accesses[READS_LIMIT], *list[READS_LIMIT];
        const struct symbol_table symbols = {0};
        const struct code_frames frames = {0};
        struct string_pool *names = string_pool_new();
        struct types types = {0};
        struct type_reader reader = {0};
        struct dwarf_file dwarf;
        struct elf_file file;

        (void)state;
        assert_int_equal(reads_often(&steps_run), steps_run);
        open_own_dwarf(&file, &dwarf);
        struct code_place place = beginning_of(&dwarf, "reads_often");

        place.vaddr += (uintptr_t)reads_often_reads - (uintptr_t)reads_often;
        for (size_t i = 0; i < READS_LIMIT; i++, place.vaddr += READ_BYTES) {
                places[i] = place;
                accesses[i] = (struct access){.code = &places[i]};
                list[i] = &accesses[i];
        }
        type_reader_open(&reader, &dwarf, &types, names);
        steps_run = 0;
        assert_int_equal(
            access_find(&reader, &file, &symbols, &frames, list, READS_LIMIT), 0);
        for (size_t i = 0; i < READS_LIMIT; i++)
                assert_int_equal(accesses[i].flow.place.kind, PLACE_POINTER);
        assert_true(steps_run < 100 * READS_LIMIT);
        type_reader_close(&reader);
        types_free(&types);
        string_pool_free(names);
        dwarf_file_close(&dwarf);
        elf_file_close(&file);
}

static struct flow_answer answer_in_file(const char *name, bool has_all)
{
        uint64_t type_bytes;

        return answer_at(name, 0, has_all, &type_bytes);
}

static enum flow_outcome outcome_in(const char *name)
{
        return answer_in_file(name, true).outcome;
}

static void follows_a_function_as_a_whole(void **state)
{
        (void)state;
        small();
        assert_int_equal(outcome_in("small"), FLOW_NO_OPERAND);
}

static void does_not_follow_a_part_of_a_function(void **state)
{
        (void)state;
        of_many_instructions();
        of_many_bytes();
        assert_int_equal(outcome_in("of_many_instructions"), FLOW_TOO_LARGE);
        assert_int_equal(outcome_in("of_many_bytes"), FLOW_TOO_LARGE);
}

static void does_not_follow_what_it_cannot_decode(void **state)
{
        (void)state;
        with_a_hole();
        assert_int_equal(outcome_in("with_a_hole"), FLOW_NOT_DECODED);
        assert_int_equal(answer_in_file("small", false).outcome, FLOW_NOT_DECODED);
}

static void knows_which_bits_are_used(void **state)
{
        (void)state;
        const struct {
                const char *function;
                uint64_t bits;
        } cases[] = {
            {"tests_memory", 0x10},
            {"loads_and_masks", 0x10},
            {"loads_and_shifts", 0xe0},
            {"shifts_a_sign", 0x1c},
            {"copies", 0x0c},
            {"tests_ah", 0x2000},
            {"tests_two", 0x05},
            {"tests_a_bit_by_number", 1 << 17},
            {"tests_the_sign", 0x80},
            {"compares_a_bit", 0x08},
            {"clears", 0x10},
            {"assigns", 0x30},
            {"joins_any_bits", 0xff},
            {"copies_all", 0},
            {"calls", 0x03},
            {"masks_by_a_register", 0x30},
            {"compares_two", 0xfff},
            {"is_above_ones", 0xfffffff0},
            {"is_below_zeros", 0xfffe0000},
            {"assigns_the_low_half", 0xfc0},
            {"assigns_by_a_sum", 0xffffffff},
            {"leaves_nothing", 0},
            {"hands_on_in_a_jump", 0xfff00000},
            {"hands_on_through_a_pointer", 0xfff00000},
            {"calls_by_number", 0x03},
            {"takes_bits_of_the_sign", 0x01},
            {"takes_bits_of_an_extension", 0x80},
            {"extends_a_copy", 0x80},
            {"writes_a_part", 0x7f00},
            {"sets_a_part", 0x7f00},
            {"shifts_a_part", 0xf00},
            {"stores_and_uses", 0x301},
            {"moves_on_condition", 0x06},
            {"shifts_into_the_carry", 0xffffffff},
            {"hands_on_and_tests", 0},
            {"tests_and_hands_on", 0xffffffff},
            {"leaves_over", 0},
            {"hands_on_a_copy", 0xf0},
            {"stores_beside", 0},
            {"joins_and_sets", 0x71},
            {"adds_to_the_highest", 0xf0000000},
            {"counts_up", 0x38},
            {"adds_and_shifts", 0x0f},
            {"multiplies_and_stores", 0},
            {"sets_one_by_another", 0x0f},
            {"inserts_by_turning", 0xf0},
            {"shifts_two_as_one", 0},
            {"takes_two_as_one", UINT64_C(0x3ff) << 30},
            {"passes_a_gap", 0x06},
            {"counts_in_a_loop", 0x7ff},
            {"folds_halves", 0xffffffff},
            {"masks_more", 0},
            {"joins_what_is_loaded_again", 0},
            {"doubles", 0x08},
            {"makes_one_of_parts", 0xffffffff},
            {"masks_in_the_mask", 0xffff0000},
            {"stores_again", 0},
        };
        static const char *const unused[] = {"leaves_nothing",
                                             "leaves_over",
                                             "shifts_two_as_one",
                                             "masks_more",
                                             "joins_what_is_loaded_again",
                                             "stores_beside",
                                             "stores_again"};
        enum { RESTORED = 5 }; /* and on */

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct flow_answer answer = answer_in_file(cases[i].function, true);

                bool is_unused = false, is_restored = false;

                for (size_t j = 0; j < sizeof(unused) / sizeof(unused[0]); j++) {
                        is_unused |= strcmp(cases[i].function, unused[j]) == 0;
                        is_restored |=
                            j >= RESTORED && strcmp(cases[i].function, unused[j]) == 0;
                }
                if (answer.access.restored != is_restored)
                        fail_msg("%s: %s", cases[i].function,
                                 is_restored ? "not restored" : "restored");
                if (answer.access.unused != is_unused)
                        fail_msg("%s: %s", cases[i].function,
                                 is_unused ? "used" : "unused");
                if (answer.access.bits != cases[i].bits)
                        fail_msg("%s: bits %" PRIx64 ", not %" PRIx64, cases[i].function,
                                 answer.access.bits, cases[i].bits);
        }
}

static void knows_which_bits_are_used_by_what_is_before(void **state)
{
        (void)state;
        const struct {
                const char *function;
                size_t at;
                uint64_t bits;
        } cases[] = {
            {"clears_by_a_mask", 9, 0xffff0000},
            {"adds_steps", 2, 0xffff0000},
            {"masks_by_a_large_number", 10, UINT64_C(0xff0000000000ff00)},
            {"stores_by_another_base", 3, 0xfffffff8},
            {"stores_by_a_base_behind", 4, 0xfffffff8},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                uint64_t type_bytes;
                struct flow_answer answer =
                    answer_at(cases[i].function, cases[i].at, true, &type_bytes);

                if (answer.access.bits != cases[i].bits)
                        fail_msg("%s: bits %" PRIx64 ", not %" PRIx64, cases[i].function,
                                 answer.access.bits, cases[i].bits);
        }
}

static void knows_which_part_of_a_vector_is_used(void **state)
{
        (void)state;
        const struct {
                const char *function;
                uint32_t first_byte;
                uint32_t used_bytes; /* 0: all */
        } cases[] = {
            {"replaces_the_low_half", 8, 8}, {"takes_one_of_four", 8, 4},
            {"shuffles_twice", 8, 4},        {"blends_two_of_eight", 16, 8},
            {"adds_all_four", 0, 0},         {"keeps_for_another_way", 0, 0},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct flow_answer answer = answer_in_file(cases[i].function, true);

                if (answer.access.first_byte != cases[i].first_byte ||
                    answer.access.used_bytes != cases[i].used_bytes)
                        fail_msg("%s: %" PRIu32 " bytes from %" PRIu32 " on",
                                 cases[i].function, answer.access.used_bytes,
                                 answer.access.first_byte);
        }
}

static void knows_what_a_number_is_used_as(void **state)
{
        (void)state;
        const struct {
                const char *function;
                enum access_number number;
        } cases[] = {
            {"moves_on", NUMBER_ANY},
            {"moves_with_vector", NUMBER_ANY},
            {"hands_on", NUMBER_FLOATS},
            {"calls_with", NUMBER_FLOATS},
            {"adds_reals", NUMBER_FLOAT},
            {"adds_bits_and_real", NUMBER_ANY},
            {"adds_half", NUMBER_FLOATS},
            {"adds_absolute", NUMBER_FLOAT},
            {"adds_from_register", NUMBER_ANY},
            {"adds_from_stack", NUMBER_ANY},
            {"adds_spilled", NUMBER_FLOAT},
            {"hands_on_from_register", NUMBER_ANY},
            {"is_normal", NUMBER_ANY},
            {"adds_integers", NUMBER_INTEGER},
            {"adds_in_memory", NUMBER_INTEGER},
            {"adds_halves", NUMBER_LOW},
            {"converts", NUMBER_INTEGER},
            {"extends", NUMBER_INTEGER},
            {"reads_behind", NUMBER_INTEGER},
            {"is_zero", NUMBER_INTEGER},
            {"is_negative", NUMBER_ANY},
            {"is_above_minus_one", NUMBER_ANY},
            {"is_equal", NUMBER_ANY},
            {"differs", NUMBER_ANY},
            {"is_below", NUMBER_INTEGER},
            {"is_seven", NUMBER_INTEGER},
            {"is_low_seven", NUMBER_LOW},
            {"takes_sign", NUMBER_ANY},
            {"drops_sign", NUMBER_ANY},
            {"turns_sign", NUMBER_ANY},
            {"makes_hash", NUMBER_ANY},
            {"takes_low_bits", NUMBER_BITS},
            {"behind_a_branch", NUMBER_INTEGER},
            {"widens", NUMBER_FLOAT},
            {"adds_four", NUMBER_FLOATS},
            {"adds_two_wide", NUMBER_LOW},
            {"copies_four", NUMBER_ANY},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct flow_answer answer = answer_in_file(cases[i].function, true);

                if (answer.access.number != cases[i].number)
                        fail_msg("%s: %d, not %d", cases[i].function,
                                 (int)answer.access.number, (int)cases[i].number);
        }
}

/* Sums, differences, order, masks, products, quotients, signs, zero, conversions and
 * single bytes are also of the bits of floating point; and neighbours are compared with a
 * constant at once. */
static void knows_what_is_done_to_integers_only(void **state)
{
        (void)state;
        const struct {
                const char *function;
                bool perhaps_float;
                bool perhaps_several;
        } cases[] = {
            {"adds_integers", true, false},
            {"adds_in_memory", true, false},
            {"adds_halves", true, false},
            {"steps_on", true, false},
            {"counts_between", true, false},
            {"is_below", true, false},
            {"is_zero", true, true},
            {"is_below_one", true, true},
            {"is_tag", true, true},
            {"takes_low_bits", true, true},
            {"makes_hash", true, true},
            {"is_low_seven", true, true},
            {"looks_up_a_digit", true, false},
            {"looks_up", false, false},
            {"converts", true, false},
            {"extends", true, false},
            {"divides", true, false},
            {"is_seven", false, true},
            {"is_one", false, true},
            {"reads_behind", false, false},
            {"hashes_and_converts", true, false},
            {"adds_reals", false, false},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct flow_answer answer = answer_in_file(cases[i].function, true);

                if (answer.access.perhaps_float != cases[i].perhaps_float ||
                    answer.access.perhaps_several != cases[i].perhaps_several)
                        fail_msg("%s: %d %d", cases[i].function,
                                 (int)answer.access.perhaps_float,
                                 (int)answer.access.perhaps_several);
        }
}

static void knows_a_pointer_by_its_later_name(void **state)
{
        (void)state;
        const struct {
                const char *function;
                const void *start;
                const char *read;
                bool known;
        } cases[] = {
            {"reads_header", reads_header, reads_header_reads, true},
            {"reads_before_header", reads_before_header, reads_before_header_reads,
             false},
            {"reads_behind_header", reads_behind_header, reads_behind_header_reads,
             false},
            {"jumps", jumps, jumps_reads, false},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                uint64_t type_bytes;
                size_t at = (size_t)(cases[i].read - (const char *)cases[i].start);
                struct flow_answer answer =
                    answer_at(cases[i].function, at, true, &type_bytes);

                assert_true(at > 0);
                if ((answer.outcome == FLOW_FOUND) != cases[i].known)
                        fail_msg("%s: outcome %d", cases[i].function, answer.outcome);
                if (!cases[i].known)
                        continue;
                assert_int_equal(type_bytes, sizeof(struct header));
                assert_int_equal(answer.place.offset, offsetof(struct header, bytes));
        }
}

/* What one way tells is not looked for again on the others, nor for the next answer. */
static void names_pointers_without_going_back_often(void **state)
{
        (void)state;
        enum { COUNT = HOPS * HOP_BYTES };
        static struct code_place places[COUNT];
        static struct access accesses[COUNT], *list[COUNT];
        const struct symbol_table symbols = {0};
        const struct code_frames frames = {0};
        struct string_pool *names = string_pool_new();
        struct types types = {0};
        struct type_reader reader = {0};
        struct dwarf_file dwarf;
        struct elf_file file;
        size_t named = 0, asked = 0;

        assert_non_null(names);
        assert_ptr_equal((void *)(uintptr_t)hops_on(1), hop_root);
        open_own_dwarf(&file, &dwarf);
        struct code_place place = beginning_of(&dwarf, "hops_on");

        for (size_t i = 0; i < COUNT; i++, place.vaddr++) {
                places[i] = place;
                accesses[i] = (struct access){.code = &places[i]};
                list[i] = &accesses[i];
        }
        type_reader_open(&reader, &dwarf, &types, names);
        blocks_run = 0;
        assert_int_equal(access_find(&reader, &file, &symbols, &frames, list, COUNT), 0);
        for (size_t i = 0; i < COUNT; i++) {
                asked += accesses[i].flow.outcome != FLOW_NO_INSTRUCTION;
                const char *name = string_pool_text(names, accesses[i].flow.pointer);

                if (!accesses[i].flow.pointer)
                        continue;
                assert_memory_equal(name, "hop_root", strlen("hop_root"));
                named++;
        }
        assert_in_range(named, 8, 9);
        assert_in_range(asked, 3 * HOPS, COUNT);
        if (blocks_run > 2 * asked)
                fail_msg("%" PRIu64 " runs for %zu answers", blocks_run, asked);
        type_reader_close(&reader);
        types_free(&types);
        string_pool_free(names);
        dwarf_file_close(&dwarf);
        elf_file_close(&file);
}

/* Functions of two units, as if one of a linker that folds. */
static void reads_units_once_to_find_folded_functions(void **state)
{
        (void)state;
        const char *const functions[] = {"small", "folded_free", "hops_on",
                                         "folded_free"};
        uint64_t work[4];
        const struct symbol_table symbols = {0};
        struct dwarf_file dwarf;
        struct elf_file file;

        open_own_dwarf(&file, &dwarf);
        struct folded search = {.functions = {.dwarf = &dwarf, .file = &file},
                                .symbols = &symbols,
                                .by_linker = true};

        for (size_t i = 0; i < 4; i++) {
                struct code_place place = beginning_of(&dwarf, functions[i]);
                uint64_t before = dwarf.budget;
                bool folded;

                assert_int_equal(folded_function(&search, &place.function_die, &folded),
                                 0);
                assert_false(folded);
                work[i] = before - dwarf.budget;
        }
        assert_true(work[2] < work[0] / 4);
        assert_true(work[3] < work[1] / 4);
        folded_free(&search);
        dwarf_file_close(&dwarf);
        elf_file_close(&file);
}

/* Of more pairs than are compared, any that was not may be of two types. */
static void leaves_open_what_was_not_compared(void **state)
{
        enum { TOGETHER = 400, ALONE = TOGETHER };
        struct register_variable values[TOGETHER + 1];
        struct variables variables = {.values = values, .value_count = TOGETHER + 1};
        struct types types = {0};
        struct type_reader reader = {.types = &types};

        (void)state;
        for (uint32_t i = 0; i <= TOGETHER; i++)
                values[i] = (struct register_variable){
                    .low = i, .high = 1000, .type = TYPE_NONE, .block = i == ALONE};
        assert_int_equal(rival_variables_find(&variables, &reader), 0);
        assert_false(variable_has_rival(&values[0], 999));
        assert_true(variable_has_rival(&values[TOGETHER - 2], TOGETHER - 2));
        assert_true(variable_has_rival(&values[TOGETHER - 1], 999));
        assert_false(variable_has_rival(&values[ALONE], 999));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(goes_on_in_a_block),
            cmocka_unit_test(follows_a_function_as_a_whole),
            cmocka_unit_test(does_not_follow_a_part_of_a_function),
            cmocka_unit_test(does_not_follow_what_it_cannot_decode),
            cmocka_unit_test(knows_which_bits_are_used),
            cmocka_unit_test(knows_which_bits_are_used_by_what_is_before),
            cmocka_unit_test(knows_which_part_of_a_vector_is_used),
            cmocka_unit_test(knows_what_a_number_is_used_as),
            cmocka_unit_test(knows_what_is_done_to_integers_only),
            cmocka_unit_test(knows_a_pointer_by_its_later_name),
            cmocka_unit_test(reads_units_once_to_find_folded_functions),
            cmocka_unit_test(names_pointers_without_going_back_often),
            cmocka_unit_test(leaves_open_what_was_not_compared),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
