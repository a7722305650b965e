/* SPDX-License-Identifier: MIT */
/* The text of instructions, compared with objdump's. */
#include <dlfcn.h>
#include <gnu/libc-version.h>

#include "disassembly.h"
#include "unit_test.h"

struct expectation {
        const char *code;
        size_t length;
        const char *att;
        const char *intel; /* NULL: other assemblers write it in another way */
};

#define CODE(bytes) bytes, sizeof(bytes) - 1

/* clang-format off */
static const struct expectation expectations[] = {
    {CODE("\x48\x8b\x03"), "mov    (%rbx),%rax", "mov    rax,qword ptr [rbx]"},
    {CODE("\x48\x8b\x44\xcb\x10"), "mov    0x10(%rbx,%rcx,8),%rax",
     "mov    rax,qword ptr [rbx+rcx*8+0x10]"},
    {CODE("\x0f\xb6\x51\x01"), "movzbl 0x1(%rcx),%edx", "movzx  edx,byte ptr [rcx+0x1]"},
    {CODE("\x48\x0f\xbf\x07"), "movswq (%rdi),%rax", "movsx  rax,word ptr [rdi]"},
    {CODE("\x49\x63\x3c\xba"), "movslq (%r10,%rdi,4),%rdi",
     "movsxd rdi,dword ptr [r10+rdi*4]"},
    {CODE("\x66\x0f\xbe\x06"), "movsbw (%rsi),%ax", "movsx  ax,byte ptr [rsi]"},
    {CODE("\x48\x03\x57\x08"), "add    0x8(%rdi),%rdx", "add    rdx,qword ptr [rdi+0x8]"},
    {CODE("\x83\x78\x04\xff"), "cmpl   $0xffffffff,0x4(%rax)",
     "cmp    dword ptr [rax+0x4],0xffffffff"},
    {CODE("\x48\x0f\x44\x02"), "cmove  (%rdx),%rax", "cmove  rax,qword ptr [rdx]"},
    {CODE("\x48\x0f\x43\xfe"), "cmovae %rsi,%rdi", "cmovae rdi,rsi"},
    {CODE("\xff\x50\x18"), "call   *0x18(%rax)", "call   qword ptr [rax+0x18]"},
    {CODE("\xff\xe2"), "jmp    *%rdx", "jmp    rdx"},
    {CODE("\xf6\x04\x58\x01"), "testb  $0x1,(%rax,%rbx,2)",
     "test   byte ptr [rax+rbx*2],0x1"},
    {CODE("\xf2\x0f\x10\x48\x08"), "movsd  0x8(%rax),%xmm1",
     "movsd  xmm1,qword ptr [rax+0x8]"},
    {CODE("\xf3\x0f\x10\x10"), "movss  (%rax),%xmm2", "movss  xmm2,dword ptr [rax]"},
    {CODE("\xf2\x0f\x2a\x00"), "cvtsi2sdl (%rax),%xmm0", "cvtsi2sd xmm0,dword ptr [rax]"},
    {CODE("\xc5\xfe\x6f\x0e"), "vmovdqu (%rsi),%ymm1", "vmovdqu ymm1,ymmword ptr [rsi]"},
    {CODE("\x62\xe1\xfe\x48\x6f\x06"), "vmovdqu64 (%rsi),%zmm16",
     "vmovdqu64 zmm16,zmmword ptr [rsi]"},
    {CODE("\xc5\xfa\x7e\x07"), "vmovq  (%rdi),%xmm0", "vmovq  xmm0,qword ptr [rdi]"},
    {CODE("\x66\x0f\x59\x18"), "mulpd  (%rax),%xmm3", "mulpd  xmm3,xmmword ptr [rax]"},
    {CODE("\xf0\x0f\xb1\x17"), "lock cmpxchg %edx,(%rdi)",
     "lock cmpxchg dword ptr [rdi],edx"},
    {CODE("\x48\x0f\xc1\x02"), "xadd   %rax,(%rdx)", "xadd   qword ptr [rdx],rax"},
    {CODE("\x64\x48\x8b\x04\x25\x28\x00\x00\x00"), "mov    %fs:0x28,%rax", NULL},
    {CODE("\x8b\x0d\x00\x02\x00\x00"), "mov    0x200(%rip),%ecx",
     "mov    ecx,dword ptr [rip+0x200]"},
    {CODE("\x48\x98"), "cltq", "cdqe"},
    {CODE("\x48\x99"), "cqto", "cqo"},
    {CODE("\x0f\x95\xc0"), "setne  %al", "setne  al"},
    {CODE("\x0f\x18\x4f\x40"), "prefetcht0 0x40(%rdi)", "prefetcht0 byte ptr [rdi+0x40]"},
    {CODE("\xf0\xff\x43\x20"), "lock incl 0x20(%rbx)", "lock inc dword ptr [rbx+0x20]"},
    {CODE("\xf6\x10"), "notb   (%rax)", "not    byte ptr [rax]"},
    {CODE("\x48\xf7\x65\x00"), "mulq   0x0(%rbp)", "mul    qword ptr [rbp+0x0]"},
    {CODE("\x66\xd3\x20"), "shlw   %cl,(%rax)", "shl    word ptr [rax],cl"},
    {CODE("\x48\x0f\xaf\x07"), "imul   (%rdi),%rax", "imul   rax,qword ptr [rdi]"},
    {CODE("\xdb\x2f"), "fldt   (%rdi)", "fld    tbyte ptr [rdi]"},
    {CODE("\xd9\x07"), "flds   (%rdi)", "fld    dword ptr [rdi]"},
    {CODE("\xdd\x1f"), "fstpl  (%rdi)", "fstp   qword ptr [rdi]"},
    {CODE("\xdc\x07"), "faddl  (%rdi)", "fadd   qword ptr [rdi]"},
    {CODE("\xdf\x07"), "filds  (%rdi)", "fild   word ptr [rdi]"},
    {CODE("\xdb\x07"), "fildl  (%rdi)", "fild   dword ptr [rdi]"},
    {CODE("\xdf\x3f"), "fistpll (%rdi)", "fistp  qword ptr [rdi]"},
    {CODE("\xd9\x2f"), "fldcw  (%rdi)", "fldcw  word ptr [rdi]"},
    {CODE("\xde\xe1"), "fsubp  %st,%st(1)", "fsubrp st(1),st"},
    {CODE("\xd8\xe1"), "fsub   %st(1),%st", "fsub   st,st(1)"},
    {CODE("\xf3\xab"), "rep stos %eax,%es:(%rdi)", NULL},
    {CODE("\x48\xa5"), "movsq  %ds:(%rsi),%es:(%rdi)", NULL},
    {CODE("\xa7"), "cmpsl  %es:(%rdi),%ds:(%rsi)", NULL},
    {CODE("\x64\xac"), "lods   %fs:(%rsi),%al", NULL},
    {CODE("\x67\x66\xaf"), "scas   %es:(%edi),%ax", NULL},
    {CODE("\xd7"), "xlat   %ds:(%rbx)", NULL},
    {CODE("\x62\xb1\x7e\xca\x6f\x06"), "vmovdqu32 (%rsi),%zmm0{%k2}{z}",
     "vmovdqu32 zmm0{k2}{z},zmmword ptr [rsi]"},
    {CODE("\x48\xb8\x08\x07\x06\x05\x04\x03\x02\x01"),
     "movabs $0x102030405060708,%rax", "movabs rax,0x102030405060708"},
    {CODE("\xf3\x0f\x2a\x07"), "cvtsi2ssl (%rdi),%xmm0", "cvtsi2ss xmm0,dword ptr [rdi]"},
    {CODE("\xf3\x48\x0f\x2a\x07"), "cvtsi2ssq (%rdi),%xmm0",
     "cvtsi2ss xmm0,qword ptr [rdi]"},
    {CODE("\xf2\x0f\x2a\xc7"), "cvtsi2sd %edi,%xmm0", "cvtsi2sd xmm0,edi"},
    {CODE("\xf3\x0f\x5a\x07"), "cvtss2sd (%rdi),%xmm0", "cvtss2sd xmm0,dword ptr [rdi]"},
    {CODE("\xf3\x0f\x2d\x07"), "cvtss2si (%rdi),%eax", "cvtss2si eax,dword ptr [rdi]"},
    {CODE("\xc5\xff\xe6\x07"), "vcvtpd2dqy (%rdi),%xmm0",
     "vcvtpd2dq xmm0,ymmword ptr [rdi]"},
    {CODE("\xc3"), "ret", "ret"},
    {CODE("\x55"), "push   %rbp", "push   rbp"},
};
/* clang-format on */

TEST(test_texts_are_objdumps)
{
        char text[DISASSEMBLY_TEXT_BYTES];
        for (size_t i = 0; i < LENGTH(expectations); i++) {
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

/* ---- a whole library ---- */

/* The path of this process's C library; "": it is linked statically. */
static void libc_path(char *path, size_t bytes)
{
        Dl_info info;
        int found = dladdr((const void *)(uintptr_t)&gnu_get_libc_version, &info);
        snprintf(path, bytes, "%s", found && info.dli_fname ? info.dli_fname : "");
        if (!strstr(path, "libc.so"))
                *path = '\0';
}

/* Removes the count of a shift by 1, which only some versions of binutils write. */
static void remove_count_of_1(char *text)
{
        char *count = strchr(text, '$');
        const char *operand = count ? strchr(count, ',') : NULL;
        if (operand && strchr("sr", text[0]) && strchr("holarc", text[1]) &&
            strtoul(count + 1, NULL, 0) == 1)
                memmove(count, operand + 1, strlen(operand));
}

/* Replaces several blanks by one; removes symbol names and comments. */
static void make_plain(char *text)
{
        char *to = text;
        for (const char *at = text; *at && *at != '#' && *at != '<' && *at != '\n'; at++)
                if (*at != ' ' || (to > text && to[-1] != ' '))
                        *to++ = *at;
        while (to > text && to[-1] == ' ')
                to--;
        *to = '\0';
        remove_count_of_1(text);
}

/* The bytes in hexadecimal digits at TEXT. */
static size_t parse_code(const char *text, uint8_t code[DISASSEMBLY_CODE_BYTES])
{
        size_t length = 0;
        unsigned byte;
        for (; length < DISASSEMBLY_CODE_BYTES && sscanf(text, "%2x", &byte) == 1;
             text += 3)
                code[length++] = (uint8_t)byte;
        return length;
}

/* Whether the text of CODE may differ from objdump's, EXPECTED. */
static bool may_differ(const uint8_t *code, const char *expected)
{
        return strstr(expected, "nop") || strcmp(expected, "xchg %ax,%ax") == 0 ||
               strcmp(expected, "repz ret") == 0 || /* prefixes without an effect */
               /* predicates that are part of the name there, and here an operand */
               (code[0] == 0x62 && strncmp(expected, "vpcmp", 5) == 0);
}

/* Compares each instruction in the C library's code. */
TEST(test_a_library_has_objdumps_texts)
{
        char path[4096], command[4200], line[1024], text[DISASSEMBLY_TEXT_BYTES];
        size_t compared = 0, other = 0;
        libc_path(path, sizeof(path));
        if (!*path || system("objdump --version >/dev/null 2>&1") != 0)
                skip_test("no C library of its own, or no objdump");
        snprintf(command, sizeof(command), "objdump -d -w -j .text '%s'", path);
        FILE *objdump = popen(command, "r");
        assert_non_null(objdump);
        while (fgets(line, sizeof(line), objdump)) {
                char *bytes = strchr(line, '\t');
                char *expected = bytes ? strchr(bytes + 1, '\t') : NULL;
                uint8_t code[DISASSEMBLY_CODE_BYTES];
                if (!expected || strstr(expected, "(bad)"))
                        continue;
                *expected++ = '\0';
                make_plain(expected);
                size_t length = parse_code(bytes + 1, code);
                size_t taken = disassembly_text(code, length, strtoull(line, NULL, 16),
                                                DISASSEMBLY_ATT, text);
                make_plain(text);
                compared++;
                if ((strcmp(text, expected) == 0 && taken == length) ||
                    may_differ(code, expected))
                        continue;
                if (other++ < 20)
                        print_message("%s is '%s' here, and there '%s'\n", bytes + 1,
                                      text, expected);
        }
        assert_ok(pclose(objdump));
        assert_int_equal(other, 0);
        assert_true(compared > 100000);
}

TEST(test_branches_lead_to_addresses)
{
        char text[DISASSEMBLY_TEXT_BYTES];
        disassembly_text((const uint8_t *)"\x74\x0e", 2, 0x1000, DISASSEMBLY_ATT, text);
        assert_string_equal(text, "je     1010");
        disassembly_text((const uint8_t *)"\xe8\xfb\x0f\x00\x00", 5, 0x1000,
                         DISASSEMBLY_INTEL, text);
        assert_string_equal(text, "call   2000");
}

TEST(test_what_is_cut_off_has_no_text)
{
        char text[DISASSEMBLY_TEXT_BYTES];
        for (size_t i = 0; i < LENGTH(expectations); i++)
                for (size_t length = 0; length < expectations[i].length; length++)
                        assert_int_equal(
                            disassembly_text((const uint8_t *)expectations[i].code,
                                             length, 0, DISASSEMBLY_ATT, text),
                            0);
}

/* Intel SDM volume 2: the CPUID flag of SHA1MSG1 is SHA; 06 is invalid in 64-bit mode. */
TEST(test_an_instruction_has_an_extension)
{
        char mnemonic[DISASSEMBLY_TEXT_BYTES];
        assert_string_equal(
            disassembly_extension((const uint8_t *)"\x0f\x38\xc9\xc0", 4, mnemonic),
            "SHA");
        assert_string_equal(mnemonic, "sha1msg1");
        assert_null(disassembly_extension((const uint8_t *)"\x06\x90", 2, mnemonic));
}

/* Sanitizers check all reads and writes. */
TEST(test_any_bytes_are_taken)
{
        char text[DISASSEMBLY_TEXT_BYTES];
        uint8_t code[DISASSEMBLY_CODE_BYTES];
        uint64_t x = 1;
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
