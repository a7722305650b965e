/* SPDX-License-Identifier: MIT */
/* Software prefetch instructions as the assembler encodes them. */
#include "prefetch_instruction.h"
#include "unit_test.h"

#define CODE(text) (const uint8_t *)(text), sizeof(text) - 1
#define NONE       PREFETCH_NO_REGISTER

static void decodes(const uint8_t *bytes, size_t length,
                    struct prefetch_instruction expected)
{
        struct prefetch_instruction found;
        assert_true(prefetch_instruction_decode(bytes, (uint32_t)length, &found));
        assert_int_equal(found.into, expected.into);
        assert_int_equal(found.from_next, expected.from_next);
        assert_int_equal(found.base, expected.base);
        assert_int_equal(found.index, expected.index);
        assert_int_equal(found.index_shift, expected.index_shift);
        assert_int_equal(found.displacement, expected.displacement);
}

/* CODE decodes to these facts, members of struct prefetch_instruction. */
#define assert_decodes(code, ...)                                                        \
        decodes(code, (struct prefetch_instruction){__VA_ARGS__})

/* By GNU as 2.40. */
TEST(hints_choose_the_cache)
{
        struct prefetch_instruction rdi = {.base = 7, .index = NONE};
        decodes(CODE("\x0f\x18\x07"), rdi); /* prefetchnta (%rdi) */
        decodes(CODE("\x0f\x18\x0f"), rdi); /* prefetcht0 (%rdi) */
        decodes(CODE("\x0f\x0d\x07"), rdi); /* prefetch (%rdi) */
        rdi.into = PREFETCH_INTO_L2;
        decodes(CODE("\x0f\x18\x17"), rdi); /* prefetcht1 (%rdi) */
        decodes(CODE("\x0f\x18\x1f"), rdi); /* prefetcht2 (%rdi) */
        rdi.into = PREFETCH_TO_WRITE;
        decodes(CODE("\x0f\x0d\x0f"), rdi); /* prefetchw (%rdi) */
}

TEST(addresses_of_every_form)
{
        /* prefetcht0 0x100(%rax) */
        assert_decodes(CODE("\x0f\x18\x88\x00\x01\x00\x00"), .base = 0, .index = NONE,
                       .displacement = 256);
        /* prefetcht0 -8(%rbp) */
        assert_decodes(CODE("\x0f\x18\x4d\xf8"), .base = 5, .index = NONE,
                       .displacement = -8);
        /* prefetcht0 0x40(%rsp) */
        assert_decodes(CODE("\x0f\x18\x4c\x24\x40"), .base = 4, .index = NONE,
                       .displacement = 64);
        /* prefetcht0 (%r13,%r12,8): r12 as an index is none but with REX.X */
        assert_decodes(CODE("\x43\x0f\x18\x4c\xe5\x00"), .base = 13, .index = 12,
                       .index_shift = 3);
        /* prefetcht0 0x1000(,%rcx,4) */
        assert_decodes(CODE("\x0f\x18\x0c\x8d\x00\x10\x00\x00"), .base = NONE, .index = 1,
                       .index_shift = 2, .displacement = 4096);
        /* prefetcht0 -16(%rip) */
        assert_decodes(CODE("\x0f\x18\x0d\xf0\xff\xff\xff"), .from_next = true,
                       .base = NONE, .index = NONE, .displacement = -16);
}

static bool is_prefetch(const uint8_t *bytes, size_t length)
{
        return prefetch_instruction_decode(bytes, (uint32_t)length,
                                           &(struct prefetch_instruction){0});
}

TEST(other_instructions_are_none)
{
        assert_false(is_prefetch(CODE("\x90")));
        assert_false(is_prefetch(CODE("\x0f\x1f\x00"))); /* nopl */
        assert_false(is_prefetch(CODE("\x0f\x18\x27"))); /* /4 */
        assert_false(is_prefetch(CODE("\x0f\x18\xcf")));
        assert_false(is_prefetch(CODE("\x64\x0f\x18\x0f"))); /* fs */
        assert_false(is_prefetch(CODE("\x67\x0f\x18\x0f")));
        assert_false(is_prefetch(CODE("\x0f")));
        assert_false(is_prefetch(CODE("\x8b\x0f"))); /* mov */
}
