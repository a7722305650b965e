/* SPDX-License-Identifier: MIT */
/* Call frame instructions as the unwinder gets them (DWARF 5, 6.4.2 and 7.7.1): it
 * refuses harmful ones. */
#include "frame_program.h"
#include "unit_test.h"

#define COPY(...)                                                                        \
        copy((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static uint8_t copied[64];
static size_t copied_bytes;

static bool copy(const uint8_t *bytes, size_t length)
{
        return frame_program_copy(bytes, bytes + length, copied, &copied_bytes);
}

#define assert_kept(...)                                                                 \
        do {                                                                             \
                static const uint8_t program[] = {__VA_ARGS__};                          \
                assert_true(copy(program, sizeof(program)));                             \
                assert_int_equal(copied_bytes, sizeof(program));                         \
                assert_memory_equal(copied, program, sizeof(program));                   \
        } while (0)

TEST(what_compilers_write_is_kept)
{
        /* def_cfa rsp+8, rip at cfa-8; push rbp; def_cfa_register rbp; def_cfa rsp+8 */
        assert_kept(0x0c, 7, 8, 0x90, 1, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a,
                    0x02, 0x80, 0x0c, 7, 8, 0x0b, 0, 0);
        /* A realigned stack: the CFA is *(rbp - 8), rbp is at rbp. */
        assert_kept(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0);
        /* Of stubs in .plt. */
        assert_kept(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
        assert_kept(0x07, 16); /* no caller */
}

TEST(vector_registers_are_left_out)
{
        /* xmm6 at cfa-32 between rip and rbx */
        assert_true(COPY(0x90, 1, 0x05, 23, 4, 0x83, 2));
        assert_int_equal(copied_bytes, 4);
        assert_memory_equal(copied, "\x90\1\x83\2", 4);
}

TEST(what_could_harm_is_refused)
{
        assert_false(COPY(0x0f, 3, 0x2f, 0xfd, 0xff));          /* jumps back for ever */
        assert_false(COPY(0x0f, 4, 0x30, 0x28, 0xfc, 0xff));    /* the same, if */
        assert_false(COPY(0x0f, 5, 0x77, 0, 0x11, 0x7f, 0x1b)); /* divides */
        assert_false(COPY(0x0f, 1, 0x9c));                      /* asks for the CFA */
        assert_false(COPY(0x0f, 2, 0x90, 0x20));                /* floating base */
        assert_false(COPY(0x0c, 0x80, 0x80, 0x04, 8));          /* def_cfa r65536 */
        assert_false(COPY(0x0d, 17));
        assert_false(COPY(0x14, 3, 1)); /* val_offset, which libunwind does not know */
        assert_false(COPY(0x01, 0, 0, 0, 0)); /* set_loc */
        assert_false(COPY(0x3f));
}

TEST(what_is_cut_off_is_refused)
{
        assert_false(COPY(0x0c, 7));
        assert_false(COPY(0x04, 1, 2, 3));
        assert_false(COPY(0x0e, 0x80, 0x80));
        assert_false(COPY(0x0f, 9, 0x77, 8));
        assert_false(COPY(0x0f, 2, 0x0a, 1)); /* an operand goes beyond its expression */
        assert_true(COPY(0));
        assert_int_equal(copied_bytes, 1);
}
