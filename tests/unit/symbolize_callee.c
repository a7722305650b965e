/* SPDX-License-Identifier: MIT */
/* Which registers a call changes, of functions whose instructions are written out here.
 */
#include "dwarf_test.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "callee.h"

#define CODE(name, code)                                                                 \
        __attribute__((naked, used, noinline)) static void name(void)                    \
        {                                                                                \
                __asm__(code);                                                           \
        }

enum {
        RAX = 1 << 0,
        RDX = 1 << 1,
        RCX = 1 << 2,
        RSI = 1 << 4,
        RDI = 1 << 5,
        R8 = 1 << 8,
        R9 = 1 << 9,
        R10 = 1 << 10,
        R11 = 1 << 11
};

/* ---- what is known ---- */

CODE(returns, "ret")
CODE(compares, "cmp %rdi, %rsi\n test %al, %al\n mov %rdx, (%r8)\n ret")
CODE(writes_r8, "mov $1, %r8d\n ret")
CODE(writes_a_byte, "mov $1, %cl\n mov %dh, %ah\n ret")
CODE(restores, "push %rbx\n mov %rdi, %rbx\n pop %rbx\n ret")
CODE(pops, "push %rdi\n pop %r10\n ret")
CODE(multiplies, "mul %rsi\n ret")
CODE(multiplies_to_two, "mulx %rdi, %r8, %r9\n ret")
CODE(multiplies_to_one, "imul %rsi, %rdi\n ret")
CODE(divides, "div %ecx\n ret")
CODE(exchanges, "xchg %r8, %r9\n ret")
CODE(exchanges_memory, "xchg %r10, (%rdi)\n ret")
CODE(adds_to_memory, "lock xadd %r11, (%rdi)\n ret")
CODE(compares_and_swaps, "lock cmpxchg %rdx, (%rdi)\n ret")
CODE(copies_bytes, "rep movsb\n ret")
CODE(fills, "rep stosq\n ret")
CODE(searches, "repne scasb\n ret")
CODE(searches_once, "scasw\n ret")
CODE(compares_bytes, "repe cmpsb\n ret")
CODE(compares_once, "cmpsq\n ret")
CODE(loads_by_string, "lodsq\n ret")
CODE(stores_once, "stosb\n ret")
CODE(reads_a_port, "insb\n ret")
CODE(writes_a_port, "rep outsb\n ret")
CODE(counts_down, "1: loop 1b\n ret")
CODE(may_move, "cmovne %rdi, %rdx\n ret")
CODE(enters_the_kernel, "syscall\n ret")
CODE(enters_the_kernel_as_of_old, "int $0x80\n ret")
CODE(reads_the_clock, "rdtsc\n ret")
CODE(moves_from_vector, "movq %xmm0, %r9\n vaddpd %ymm0, %ymm1, %ymm2\n ret")
CODE(branches, "test %edi, %edi\n jne 1f\n mov $1, %ecx\n ret\n1: mov $1, %edx\n ret")
CODE(has_code_after_its_end, "ret\n mov $1, %r9d\n ret")
CODE(calls_one, "call writes_r8\n mov $1, %ecx\n ret")
CODE(ends_in_one, "mov $1, %esi\n jmp writes_r8")
CODE(may_end_in_one, "test %edi, %edi\n jne writes_r8\n ret")
CODE(calls_two, "call calls_one\n call pops\n ret")
/* A compiler may add an ud2 of two bytes. */
CODE(as_long_as_may_be, ".fill 4093, 1, 0x90\n ret")

CODE(deep_0, "mov $1, %r8d\n ret")
CODE(deep_1, "call deep_0\n ret")
CODE(deep_2, "call deep_1\n ret")
CODE(deep_3, "call deep_2\n ret")
CODE(deep_4, "call deep_3\n ret")
CODE(deep_5, "call deep_4\n ret")
CODE(deep_6, "call deep_5\n ret")
CODE(deep_7, "call deep_6\n ret")
CODE(deep_8, "call deep_7\n ret")

/* ---- what is not ---- */

CODE(deep_9, "call deep_8\n ret")
CODE(calls_itself, "call calls_itself\n ret")
CODE(calls_its_caller, "call calls_back\n ret")
CODE(calls_back, "call calls_its_caller\n ret")
CODE(calls_anything, "call *%rax\n ret")
CODE(calls_anything_in_memory, "call *8(%rdi)\n ret")
CODE(jumps_anywhere, "jmp *%rax")
CODE(jumps_by_a_table, "jmp *(%rsi, %rdi, 8)")
CODE(calls_another_file, "call abort@PLT\n ret")
CODE(jumps_into_another, "jmp writes_r8 + 6")
CODE(may_jump_into_another, "test %edi, %edi\n jne writes_r8 + 6\n ret")
CODE(calls_into_itself, "call 1f\n1: pop %rax\n ret")
CODE(too_long, ".fill 4096, 1, 0x90\n ret")
CODE(with_a_hole, "jmp 1f\n .byte 0x06\n1: ret")
CODE(ends_in_an_instruction, "ret\n .byte 0x48, 0xb8, 0x01")
CODE(calls_what_is_unknown, "call calls_anything\n ret")

/* The linker leaves this one out: nobody calls it, and it is alone in its section. */
__attribute__((naked, used, noinline, section(".text.left_out"))) static void
left_out(void)
{
        __asm__("ret");
}

/* What is open to ask. */
struct question {
        struct elf_file file;
        struct dwarf_file dwarf;
        struct symbol_table symbols;
        struct types types;
        struct type_reader reader;
        struct string_pool *names;
        struct globals globals;
};

/* The unit that this file is. */
static Dwarf_Die own_unit(struct dwarf_file *dwarf)
{
        Dwarf_Die unit;

        for (size_t i = 0; i < dwarf->unit_count; i++) {
                assert_non_null(
                    dwarf_offdie(dwarf->dwarf, dwarf->units[i].die_offset, &unit));
                const char *name = dwarf_diename(&unit);

                if (name && strstr(name, "symbolize_callee.c"))
                        return unit;
        }
        fail_msg("the program has no unit of this file");
        return unit;
}

static void open_question(struct question *question)
{
        *question = (struct question){.names = string_pool_new()};
        assert_non_null(question->names);
        open_own_dwarf(&question->file, &question->dwarf);
        type_reader_open(&question->reader, &question->dwarf, &question->types,
                         question->names);
        question->globals = (struct globals){.reader = &question->reader,
                                             .symbols = &question->symbols,
                                             .file = &question->file};
        Dwarf_Die unit = own_unit(&question->dwarf);

        assert_int_equal(globals_of_unit(&question->globals, &unit), 0);
}

static void close_question(struct question *question)
{
        globals_free(&question->globals);
        type_reader_close(&question->reader);
        types_free(&question->types);
        string_pool_free(question->names);
        dwarf_file_close(&question->dwarf);
        elf_file_close(&question->file);
}

static struct global_function *function_named(struct question *question, const char *name)
{
        for (size_t i = 0; i < question->globals.function_count; i++) {
                struct global_function *function = &question->globals.functions[i];
                const char *found = dwarf_diename(&function->die);

                if (found && strcmp(found, name) == 0)
                        return function;
        }
        fail_msg("the program has no function %s", name);
        return NULL;
}

static uint32_t written_by(const char *name)
{
        struct question question;

        open_question(&question);
        uint32_t written = callee_written(&question.globals, &question.file,
                                          function_named(&question, name)->vaddr);

        close_question(&question);
        return written;
}

static void knows_what_is_written(void **state)
{
        (void)state;
        const struct {
                const char *function;
                uint32_t written;
        } cases[] = {
            {"returns", 0},
            {"compares", 0},
            {"writes_r8", R8},
            {"writes_a_byte", RCX | RAX},
            {"restores", 0},
            {"pops", R10},
            {"multiplies", RAX | RDX},
            {"multiplies_to_two", R8 | R9},
            {"multiplies_to_one", RDI},
            {"divides", RAX | RDX},
            {"exchanges", R8 | R9},
            {"exchanges_memory", R10},
            {"adds_to_memory", R11},
            {"compares_and_swaps", RAX},
            {"copies_bytes", RCX | RSI | RDI},
            {"fills", RCX | RDI},
            {"searches", RCX | RDI},
            {"searches_once", RDI},
            {"compares_bytes", RCX | RSI | RDI},
            {"compares_once", RSI | RDI},
            {"loads_by_string", RAX | RSI},
            {"stores_once", RDI},
            {"reads_a_port", RDI},
            {"writes_a_port", RCX | RSI},
            {"counts_down", RCX},
            {"may_move", RDX},
            {"enters_the_kernel", RAX | RCX | R11},
            {"enters_the_kernel_as_of_old", RAX},
            {"reads_the_clock", RAX | RDX},
            {"moves_from_vector", R9},
            {"branches", RCX | RDX},
            {"has_code_after_its_end", R9},
            {"calls_one", R8 | RCX},
            {"ends_in_one", R8 | RSI},
            {"may_end_in_one", R8},
            {"calls_two", R8 | RCX | R10},
            {"as_long_as_may_be", 0},
            {"deep_8", R8},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                uint32_t written = written_by(cases[i].function);

                if (written != cases[i].written)
                        fail_msg("%s: registers %" PRIx32 ", not %" PRIx32,
                                 cases[i].function, written, cases[i].written);
        }
}

static void takes_all_for_written_where_it_does_not_know(void **state)
{
        (void)state;
        const char *functions[] = {
            "deep_9",
            "calls_itself",
            "calls_its_caller",
            "calls_anything",
            "calls_anything_in_memory",
            "jumps_anywhere",
            "jumps_by_a_table",
            "calls_another_file",
            "jumps_into_another",
            "may_jump_into_another",
            "calls_into_itself",
            "too_long",
            "with_a_hole",
            "ends_in_an_instruction",
            "calls_what_is_unknown",
        };

        for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
                if (written_by(functions[i]) != CALL_CLOBBERED)
                        fail_msg("%s: registers %" PRIx32 " only", functions[i],
                                 written_by(functions[i]));
}

static void says_the_same_when_asked_again(void **state)
{
        (void)state;
        struct question question;

        open_question(&question);
        for (int i = 0; i < 2; i++) {
                assert_int_equal(
                    callee_written(&question.globals, &question.file,
                                   function_named(&question, "calls_two")->vaddr),
                    R8 | RCX | R10);
                assert_int_equal(
                    callee_written(&question.globals, &question.file,
                                   function_named(&question, "calls_itself")->vaddr),
                    CALL_CLOBBERED);
        }
        close_question(&question);
}

static void knows_nothing_of_what_is_no_beginning(void **state)
{
        (void)state;
        struct question question;

        open_question(&question);
        uint64_t vaddr = function_named(&question, "writes_r8")->vaddr;

        assert_int_equal(callee_written(&question.globals, &question.file, vaddr + 6),
                         CALL_CLOBBERED);
        assert_int_equal(callee_written(&question.globals, &question.file, 0),
                         CALL_CLOBBERED);
        assert_int_equal(callee_written(&question.globals, &question.file, UINT64_MAX),
                         CALL_CLOBBERED);
        close_question(&question);
}

/* A call through a register has no target, not the one at the address 0. */
static void takes_no_function_at_0_for_one_that_is_not_known(void **state)
{
        (void)state;
        struct question question;

        open_question(&question);
        const struct global_function *returns = function_named(&question, "returns");

        question.globals.functions[0] =
            (struct global_function){.vaddr = 0, .die = returns->die};
        assert_int_equal(
            callee_written(&question.globals, &question.file,
                           function_named(&question, "calls_anything")->vaddr),
            CALL_CLOBBERED);
        close_question(&question);
}

static void knows_no_function_that_the_linker_left_out(void **state)
{
        (void)state;
        struct question question;

        open_question(&question);
        for (size_t i = 0; i < question.globals.function_count; i++)
                assert_string_not_equal(dwarf_diename(&question.globals.functions[i].die),
                                        "left_out");
        assert_null(globals_function(&question.globals, 0));
        close_question(&question);
}

/* Of a file that ends in the function. */
static void knows_nothing_of_a_part_of_a_function(void **state)
{
        (void)state;
        struct question question;

        open_question(&question);
        uint64_t vaddr = function_named(&question, "writes_r8")->vaddr;

        for (size_t i = 0; i < question.file.segment_count; i++)
                if (&question.file.segments[i] == elf_file_segment(&question.file, vaddr))
                        question.file.segments[i].file_bytes =
                            vaddr + 6 - question.file.segments[i].vaddr;
        assert_int_equal(callee_written(&question.globals, &question.file, vaddr),
                         CALL_CLOBBERED);
        close_question(&question);
}

/* Of a function whose entry says where it begins, but not which code it has. */
static void knows_nothing_of_a_function_without_code(void **state)
{
        (void)state;
        struct question question;

        open_question(&question);
        struct global_function *function = function_named(&question, "writes_r8");
        Dwarf_Die unit = own_unit(&question.dwarf);

        /* The first of this unit that is no function: a type. */
        assert_int_equal(dwarf_child(&unit, &function->die), 0);
        while (dwarf_tag(&function->die) == DW_TAG_subprogram)
                assert_int_equal(dwarf_siblingof(&function->die, &function->die), 0);
        assert_int_equal(
            callee_written(&question.globals, &question.file, function->vaddr),
            CALL_CLOBBERED);
        close_question(&question);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(knows_what_is_written),
            cmocka_unit_test(takes_all_for_written_where_it_does_not_know),
            cmocka_unit_test(says_the_same_when_asked_again),
            cmocka_unit_test(knows_nothing_of_what_is_no_beginning),
            cmocka_unit_test(takes_no_function_at_0_for_one_that_is_not_known),
            cmocka_unit_test(knows_no_function_that_the_linker_left_out),
            cmocka_unit_test(knows_nothing_of_a_part_of_a_function),
            cmocka_unit_test(knows_nothing_of_a_function_without_code),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
