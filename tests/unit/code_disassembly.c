/* SPDX-License-Identifier: MIT */
/* The text of instructions beside that of objdump (binutils 2.40), whose names of sizes
 * are in capitals in Intel's syntax. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "disassembly.h"

struct expectation {
        const char *code;
        size_t length;
        const char *att;
        const char *intel; /* NULL: other assemblers write it in another way */
};

#define CODE(bytes) bytes, sizeof(bytes) - 1

/* clang-format off */
static const struct expectation expectations[] = {
    {CODE("\x48\x8b\x03"), "mov    (%rbx),%rax",
     "mov    rax,qword ptr [rbx]"},
    {CODE("\x48\x8b\x44\xcb\x10"), "mov    0x10(%rbx,%rcx,8),%rax",
     "mov    rax,qword ptr [rbx+rcx*8+0x10]"},
    {CODE("\x0f\xb6\x51\x01"), "movzbl 0x1(%rcx),%edx",
     "movzx  edx,byte ptr [rcx+0x1]"},
    {CODE("\x48\x0f\xbf\x07"), "movswq (%rdi),%rax",
     "movsx  rax,word ptr [rdi]"},
    {CODE("\x49\x63\x3c\xba"), "movslq (%r10,%rdi,4),%rdi",
     "movsxd rdi,dword ptr [r10+rdi*4]"},
    {CODE("\x66\x0f\xbe\x06"), "movsbw (%rsi),%ax",
     "movsx  ax,byte ptr [rsi]"},
    {CODE("\x48\x03\x57\x08"), "add    0x8(%rdi),%rdx",
     "add    rdx,qword ptr [rdi+0x8]"},
    {CODE("\x83\x78\x04\xff"), "cmpl   $0xffffffff,0x4(%rax)",
     "cmp    dword ptr [rax+0x4],0xffffffff"},
    {CODE("\x48\x0f\x44\x02"), "cmove  (%rdx),%rax",
     "cmove  rax,qword ptr [rdx]"},
    {CODE("\x48\x0f\x43\xfe"), "cmovae %rsi,%rdi",
     "cmovae rdi,rsi"},
    {CODE("\xff\x50\x18"), "call   *0x18(%rax)",
     "call   qword ptr [rax+0x18]"},
    {CODE("\xff\xe2"), "jmp    *%rdx",
     "jmp    rdx"},
    {CODE("\xf6\x04\x58\x01"), "testb  $0x1,(%rax,%rbx,2)",
     "test   byte ptr [rax+rbx*2],0x1"},
    {CODE("\xf2\x0f\x10\x48\x08"), "movsd  0x8(%rax),%xmm1",
     "movsd  xmm1,qword ptr [rax+0x8]"},
    {CODE("\xf3\x0f\x10\x10"), "movss  (%rax),%xmm2",
     "movss  xmm2,dword ptr [rax]"},
    {CODE("\xf2\x0f\x2a\x00"), "cvtsi2sdl (%rax),%xmm0",
     "cvtsi2sd xmm0,dword ptr [rax]"},
    {CODE("\xc5\xfe\x6f\x0e"), "vmovdqu (%rsi),%ymm1",
     "vmovdqu ymm1,ymmword ptr [rsi]"},
    {CODE("\x62\xe1\xfe\x48\x6f\x06"), "vmovdqu64 (%rsi),%zmm16",
     "vmovdqu64 zmm16,zmmword ptr [rsi]"},
    {CODE("\xc5\xfa\x7e\x07"), "vmovq  (%rdi),%xmm0",
     "vmovq  xmm0,qword ptr [rdi]"},
    {CODE("\x66\x0f\x59\x18"), "mulpd  (%rax),%xmm3",
     "mulpd  xmm3,xmmword ptr [rax]"},
    {CODE("\xf0\x0f\xb1\x17"), "lock cmpxchg %edx,(%rdi)",
     "lock cmpxchg dword ptr [rdi],edx"},
    {CODE("\x48\x0f\xc1\x02"), "xadd   %rax,(%rdx)",
     "xadd   qword ptr [rdx],rax"},
    {CODE("\x64\x48\x8b\x04\x25\x28\x00\x00\x00"), "mov    %fs:0x28,%rax",
     NULL},
    {CODE("\x8b\x0d\x00\x02\x00\x00"), "mov    0x200(%rip),%ecx",
     "mov    ecx,dword ptr [rip+0x200]"},
    {CODE("\x48\x98"), "cltq",
     "cdqe"},
    {CODE("\x48\x99"), "cqto",
     "cqo"},
    {CODE("\x0f\x95\xc0"), "setne  %al",
     "setne  al"},
    {CODE("\x0f\x18\x4f\x40"), "prefetcht0 0x40(%rdi)",
     "prefetcht0 byte ptr [rdi+0x40]"},
    {CODE("\xc3"), "ret",
     "ret"},
    {CODE("\x55"), "push   %rbp",
     "push   rbp"},
};
/* clang-format on */

static void test_texts_are_objdumps(void **state)
{
        char text[DISASSEMBLY_TEXT_BYTES];
        (void)state;
        for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++) {
                const struct expectation *expected = &expectations[i];
                const uint8_t *code = (const uint8_t *)expected->code;
                assert_int_equal(disassembly_text(code, expected->length, 0x1000,
                                                  DISASSEMBLY_ATT, text),
                                 expected->length);
                assert_string_equal(text, expected->att);
                disassembly_text(code, expected->length, 0x1000, DISASSEMBLY_INTEL, text);
                if (expected->intel)
                        assert_string_equal(text, expected->intel);
        }
}

static void test_branches_lead_to_addresses(void **state)
{
        char text[DISASSEMBLY_TEXT_BYTES];
        (void)state;
        disassembly_text((const uint8_t *)"\x74\x0e", 2, 0x1000, DISASSEMBLY_ATT, text);
        assert_string_equal(text, "je     1010");
        disassembly_text((const uint8_t *)"\xe8\xfb\x0f\x00\x00", 5, 0x1000,
                         DISASSEMBLY_INTEL, text);
        assert_string_equal(text, "call   2000");
}

static void test_what_is_cut_off_has_no_text(void **state)
{
        char text[DISASSEMBLY_TEXT_BYTES];
        (void)state;
        for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++)
                for (size_t length = 0; length < expectations[i].length; length++)
                        assert_int_equal(
                            disassembly_text((const uint8_t *)expectations[i].code,
                                             length, 0, DISASSEMBLY_ATT, text),
                            0);
}

/* Sanitizers look at what is read and written. */
static void test_any_bytes_are_taken(void **state)
{
        char text[DISASSEMBLY_TEXT_BYTES];
        uint8_t code[DISASSEMBLY_CODE_BYTES];
        uint64_t x = 1;
        (void)state;
        for (int i = 0; i < 200000; i++) {
                for (size_t byte = 0; byte < sizeof(code); byte++) {
                        x = x * 6364136223846793005u + 1442695040888963407u;
                        code[byte] = (uint8_t)(x >> 56);
                }
                size_t length =
                    disassembly_text(code, sizeof(code), x, (x >> 40) & 1, text);
                assert_in_range(length, 0, sizeof(code));
                if (length)
                        assert_true(strnlen(text, sizeof(text)) < sizeof(text));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_texts_are_objdumps),
            cmocka_unit_test(test_branches_lead_to_addresses),
            cmocka_unit_test(test_what_is_cut_off_has_no_text),
            cmocka_unit_test(test_any_bytes_are_taken),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
