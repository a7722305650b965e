/* SPDX-License-Identifier: MIT */
/* Which instructions load, and from where, on code as GNU as assembles it. */
#include <dlfcn.h>
#include <link.h>

#include <asm/perf_regs.h>

#include "instruction.h"
#include "unit_test.h"

enum {
        LOADS = 1 << 0,
        STORES = 1 << 1, /* and does not load */
        ENDS = 1 << 2,   /* does not go on behind itself */
        TELLS = 1 << 3,  /* its address */
        PADS = 1 << 4,
};

struct expectation {
        const char *text;
        const char *code;
        size_t length;
        int properties;
        uint64_t address;
};

/* Register number N holds 0x1000 * (N + 1). */
static bool read_register(const void *context, unsigned number, uint64_t *value)
{
        *value = UINT64_C(0x1000) * (number + 1);
        return true;
}

#define CODE(bytes) bytes, sizeof(bytes) - 1
#define IP          UINT64_C(0x400000)

static const struct expectation expectations[] = {
    /* rax is register 0, rbx 1, rcx 2, rdi 5, r8 16 */
    {"mov (%rbx),%rax", CODE("\x48\x8b\x03"), LOADS | TELLS, 0x2000},
    {"mov (%rax),%rax", CODE("\x48\x8b\x00"), LOADS, 0},
    {"mov (%rax),%eax", CODE("\x8b\x00"), LOADS, 0},
    {"mov 0x10(%rbx,%rcx,8),%rax", CODE("\x48\x8b\x44\xcb\x10"), LOADS | TELLS,
     0x2000 + 0x3000 * 8 + 0x10},
    {"mov -8(%r8),%rcx", CODE("\x49\x8b\x48\xf8"), LOADS | TELLS, 0x11000 - 8},
    {"mov 0x100(%rip),%rax", CODE("\x48\x8b\x05\x00\x01\x00\x00"), LOADS | TELLS,
     IP + 7 + 0x100},
    {"mov %fs:0x28,%rax", CODE("\x64\x48\x8b\x04\x25\x28\x00\x00\x00"), LOADS, 0},
    {"add (%rdi),%rax", CODE("\x48\x03\x07"), LOADS | TELLS, 0x6000},
    {"add %rax,(%rdi)", CODE("\x48\x01\x07"), LOADS | TELLS, 0x6000},
    {"mov %rax,(%rdi)", CODE("\x48\x89\x07"), STORES | TELLS, 0x6000},
    {"push %rbx", CODE("\x53"), STORES, 0},
    {"lea (%rdi),%rax", CODE("\x48\x8d\x07"), 0, 0},
    {"prefetcht0 (%rdi)", CODE("\x0f\x18\x0f"), 0, 0},
    {"nopl (%rax)", CODE("\x0f\x1f\x00"), PADS, 0},
    {"xchg %ax,%ax", CODE("\x66\x90"), PADS, 0},
    {"movups %xmm0,(%rdi)", CODE("\x0f\x11\x07"), STORES | TELLS, 0x6000},
    {"add %rbx,%rax", CODE("\x48\x01\xd8"), 0, 0},
    {"movups (%rdi,%rcx,4),%xmm0", CODE("\x0f\x10\x04\x8f"), LOADS | TELLS,
     0x6000 + 0x3000 * 4},
    {"lock xadd %rax,(%rdi)", CODE("\xf0\x48\x0f\xc1\x07"), LOADS | TELLS, 0x6000},
    {"pop %rbx", CODE("\x5b"), LOADS, 0},
    {"ret", CODE("\xc3"), LOADS | ENDS, 0},
    {"jmp", CODE("\xeb\x05"), ENDS, 0},
    {"jmp *(%rdi)", CODE("\xff\x27"), LOADS | TELLS | ENDS, 0x6000},
    {"ud2", CODE("\x0f\x0b"), ENDS, 0},
    {"jne", CODE("\x75\x05"), 0, 0},
};

/* Interrupted, they have registers of the address that they have reached. */
TEST(repeated_string_instructions_are_known_and_others_are_not)
{
        static const struct {
                const char *text, *code;
                bool repeated, loads;
                uint64_t address;
        } cases[] = {
            {"rep stosb", "\xf3\xaa\xc3\xc3", true, false, 0x6000},
            {"rep movsq", "\xf3\x48\xa5\xc3", true, true, 0x5000},
            {"repne scasb", "\xf2\xae\xc3\xc3", true, true, 0x6000},
            {"stosb", "\xaa\xc3\xc3\xc3", false, false, 0},
            {"movss (%rdi),%xmm0", "\xf3\x0f\x10\x07", false, false, 0},
            {"pause", "\xf3\x90\xc3\xc3", false, false, 0},
            {"repz ret", "\xf3\xc3\xc3\xc3", false, false, 0},
        };
        for (size_t i = 0; i < LENGTH(cases); i++) {
                struct instruction instruction;
                uint64_t address = 0;
                bool repeated =
                    instruction_repeated((const uint8_t *)cases[i].code,
                                         INSTRUCTION_REPEATED_BYTES, &instruction);
                assert_int_equal(repeated, cases[i].repeated);
                if (!repeated)
                        continue;
                assert_int_equal(instruction.loads, cases[i].loads);
                assert_true(
                    instruction_address(&instruction, IP, read_register, NULL, &address));
                assert_int_equal(address, cases[i].address);
        }
}

TEST(single_instructions)
{
        for (size_t i = 0; i < LENGTH(expectations); i++) {
                const struct expectation *expected = &expectations[i];
                struct instruction instruction;
                uint64_t address = 0;
                if (!instruction_last((const uint8_t *)expected->code, expected->length,
                                      &instruction))
                        fail_msg("%s: not decoded", expected->text);
                int found =
                    (instruction.loads ? LOADS : 0) | (instruction.stores ? STORES : 0) |
                    (instruction.nop ? PADS : 0) | (instruction.continues ? 0 : ENDS);
                if (instruction_address(&instruction, IP, read_register, NULL, &address))
                        found |= TELLS;
                if (found != expected->properties ||
                    ((found & TELLS) && address != expected->address) ||
                    instruction.length != expected->length)
                        fail_msg("%s: %#x, address %llx", expected->text, (unsigned)found,
                                 (unsigned long long)address);
        }
}

TEST(the_last_of_several)
{
        struct instruction instruction;
        /* push %rbp; mov %rsp,%rbp; mov (%rbx),%rax */
        static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x03};
        assert_true(instruction_last(code, sizeof(code), &instruction));
        assert_int_equal(instruction.offset, 4);
        assert_int_equal(instruction.length, 3);
        assert_true(instruction.loads && instruction.continues);
        assert_int_equal(instruction.base, PERF_REG_X86_BX);
        assert_true(instruction_last(code, 4, &instruction));
        assert_int_equal(instruction.offset, 1);
        assert_false(instruction.loads);
        /* In the middle of an instruction, and nothing at all. */
        assert_false(instruction_last(code, 6, &instruction));
        assert_false(instruction_last(code, 0, &instruction));
}

struct agreement {
        size_t instructions, right, wrong;
};

/* Decodes function NAME of the C library onwards, and backwards from each instruction. */
static void compare_directions(const char *name, struct agreement *agreement)
{
        struct instruction instruction;
        const ElfW(Sym) *symbol = NULL;
        Dl_info info;
        const uint8_t *code = dlsym(RTLD_DEFAULT, name);
        assert_non_null(code);
        assert_true(dladdr1(code, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol);
        for (size_t at = 0, end = 1; at < symbol->st_size; at = end) {
                for (end = at + 1; !instruction_last(code + at, end - at, &instruction);)
                        end++;
                if (end < INSTRUCTION_BEFORE_BYTES)
                        continue;
                agreement->instructions++;
                bool found = instruction_before(code + end - INSTRUCTION_BEFORE_BYTES,
                                                INSTRUCTION_BEFORE_BYTES, &instruction);
                agreement->right += found && instruction.length == end - at;
                agreement->wrong += found && instruction.length != end - at;
        }
}

TEST(decoding_backwards)
{
        static const char *const names[] = {"qsort_r", "vfprintf",    "regexec", "malloc",
                                            "realloc", "getaddrinfo", "glob",    "strtod",
                                            "mktime",  "vfscanf"};
        struct agreement agreement = {0};
        for (size_t i = 0; i < LENGTH(names); i++)
                compare_directions(names[i], &agreement);
        print_message("%zu instructions, %zu right, %zu wrong\n", agreement.instructions,
                      agreement.right, agreement.wrong);
        assert_in_range(agreement.instructions, 1000, SIZE_MAX);
        assert_in_range(100 * agreement.right / agreement.instructions, 99, 100);
        assert_in_range(agreement.wrong, 0, agreement.instructions / 500);
}

TEST(nothing_is_before_data)
{
        struct instruction instruction;
        uint8_t code[INSTRUCTION_BEFORE_BYTES];
        memset(code, 0x06, sizeof(code)); /* invalid in 64-bit mode */
        assert_false(instruction_before(code, sizeof(code), &instruction));
        assert_false(instruction_before(code, 0, &instruction));
}
