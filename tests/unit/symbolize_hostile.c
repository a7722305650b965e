/* SPDX-License-Identifier: MIT */
/* Damaged and hostile ELF files: whatever is in them, the stage comes back with an
 * answer, in time and without touching memory that is not its own (this test is also
 * run under the sanitizers). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module.h"

enum { QUESTIONS = 200, MUTATIONS = 60 };

/* ---- debugging information that leads nowhere ---------------------------------------
 */

/* A unit of its own beside the compiler's: entries that are their own origin, their
 * own type and their own sibling, and a call in a file that does not exist. */
__asm__(".pushsection .text\n"
        ".globl hostile_code\n"
        ".type hostile_code, @function\n"
        "hostile_code: mov 8(%rdi), %rax\n ret\n"
        ".size hostile_code, 5\n"
        ".popsection\n"
        ".pushsection .data\n"
        "hostile_data: .quad 1\n"
        ".popsection\n"
        ".pushsection .debug_abbrev\n"
        "hostile_abbrev:\n"
        ".uleb128 1, 0x11\n .byte 1\n" /* compile unit with children */
        ".uleb128 0x11, 1, 0x12, 1, 0, 0\n"
        ".uleb128 2, 0x2e\n .byte 1\n" /* function: range, origin, sibling */
        ".uleb128 0x11, 1, 0x12, 1, 0x31, 0x13, 1, 0x13, 0, 0\n"
        ".uleb128 3, 0x1d\n .byte 0\n" /* inlined: range, origin, call file and line */
        ".uleb128 0x11, 1, 0x12, 1, 0x31, 0x13, 0x58, 6, 0x59, 6, 0, 0\n"
        ".uleb128 4, 0x34\n .byte 0\n" /* variable: location, type, specification */
        ".uleb128 2, 0x18, 0x49, 0x13, 0x47, 0x13, 0, 0\n"
        ".uleb128 5, 0x01\n .byte 0\n" /* array of itself */
        ".uleb128 0x49, 0x13, 0, 0\n"
        ".uleb128 6, 0x0f\n .byte 0\n" /* pointer */
        ".uleb128 0x49, 0x13, 0, 0\n"
        ".uleb128 7, 0x16\n .byte 0\n" /* typedef */
        ".uleb128 0x49, 0x13, 0, 0\n"
        ".uleb128 8, 0x13\n .byte 1\n" /* struct of so many bytes */
        ".uleb128 0x0b, 0x0f, 0, 0\n"
        ".uleb128 9, 0x0d\n .byte 0\n" /* member: offset and type */
        ".uleb128 0x38, 0x0f, 0x49, 0x13, 0, 0\n"
        ".uleb128 10, 0x05\n .byte 0\n" /* parameter: location and type */
        ".uleb128 2, 0x18, 0x49, 0x13, 0, 0\n"
        ".byte 0\n"
        ".popsection\n"
        ".pushsection .debug_info\n"
        "hostile_unit: .4byte hostile_end - hostile_version\n"
        "hostile_version: .2byte 4\n .4byte hostile_abbrev\n .byte 8\n"
        ".uleb128 1\n .8byte hostile_code, hostile_code + 5\n"
        "hostile_function: .uleb128 2\n .8byte hostile_code, hostile_code + 5\n"
        ".4byte hostile_function - hostile_unit, hostile_function - hostile_unit\n"
        "hostile_inlined: .uleb128 3\n .8byte hostile_code, hostile_code + 5\n"
        ".4byte hostile_inlined - hostile_unit, 0xffffffff, 0xffffffff\n"
        /* in rdi; in register 2^63; in what only computing tells */
        ".uleb128 10, 1\n .byte 0x55\n .4byte hostile_pointer - hostile_unit\n"
        ".uleb128 10, 10\n .byte 0x90\n .uleb128 0x7fffffffffffffff\n"
        ".4byte hostile_pointer - hostile_unit\n"
        ".uleb128 10, 3\n .byte 0x75, 0x00, 0x06\n"
        ".4byte hostile_pointer - hostile_unit\n"
        ".byte 0\n"
        /* a pointer to a struct that holds itself and itself again, in a register */
        "hostile_pointer: .uleb128 6\n .4byte hostile_struct - hostile_unit\n"
        "hostile_typedef: .uleb128 7\n .4byte hostile_typedef - hostile_unit\n"
        "hostile_struct: .uleb128 8, 16\n"
        ".uleb128 9, 0\n .4byte hostile_struct - hostile_unit\n"
        ".uleb128 9, 0\n .4byte hostile_array - hostile_unit\n"
        ".uleb128 9, 8\n .4byte hostile_typedef - hostile_unit\n"
        ".uleb128 9, 8\n .4byte hostile_pointer - hostile_unit\n"
        ".byte 0\n"
        "hostile_variable: .uleb128 4, 9\n .byte 3\n .8byte hostile_data\n"
        ".4byte hostile_array - hostile_unit, hostile_variable - hostile_unit\n"
        "hostile_array: .uleb128 5\n .4byte hostile_array - hostile_unit\n"
        ".byte 0\n"
        "hostile_end:\n"
        ".popsection\n");
extern char hostile_code[];
extern char __executable_start[]; /* the linker's */

/* ---- asking
 * ---------------------------------------------------------------------------- */

static char *self;
static size_t self_bytes;
static uint64_t text_start, text_bytes;

static void write_file(const char *path, const char *contents, size_t bytes)
{
        FILE *file = fopen(path, "w");

        assert_non_null(file);
        assert_int_equal(fwrite(contents, 1, bytes, file), bytes);
        assert_int_equal(fclose(file), 0);
}

static int count_field(void *context, const struct field *field)
{
        (void)field;
        ++*(size_t *)context;
        return 0;
}

/* Asks for every field of every type. */
static void look_at_types(const struct types *types, struct string_pool *names)
{
        static const struct type_access access = {.bytes = 8};
        struct field field;
        size_t fields = 0;

        for (uint32_t i = 0; i < types->count && i < QUESTIONS; i++) {
                type_fields(types, names, i, count_field, &fields);
                for (uint64_t offset = 0; offset < 64; offset += 8)
                        type_field(types, names, i, offset, &access, &field);
                type_field(types, names, i, UINT64_MAX, &access, &field);
        }
}

/* Names addresses all over the code and data of the file at PATH. */
static void ask_everything(const char *path)
{
        static const char *const nowhere[] = {NULL};
        struct debug_search search = {.directories = nowhere};
        struct module module = {.path = (char *)path};
        struct code_place code[QUESTIONS] = {0}, *code_list[QUESTIONS];
        struct data_place data[QUESTIONS] = {0}, *data_list[QUESTIONS];
        struct access accesses[QUESTIONS] = {0}, *access_list[QUESTIONS];
        struct code_frames frames = {0};
        struct types types = {0};
        struct string_pool *names = string_pool_new();
        const struct module_questions questions = {code_list, QUESTIONS,   data_list,
                                                   QUESTIONS, access_list, QUESTIONS};
        const struct module_answers answers = {names, &frames, &types};

        assert_non_null(names);
        assert_int_equal(module_check(&module), 0);
        for (size_t i = 0; i < QUESTIONS; i++) {
                code[i].vaddr = text_start + text_bytes * i / QUESTIONS;
                data[i].vaddr = text_start + text_bytes * i / QUESTIONS * 2;
                code_list[i] = &code[i];
                data_list[i] = &data[i];
                accesses[i].code = &code[i];
                access_list[i] = &accesses[i];
        }
        if (module.state == MODULE_READY) {
                elf_file_close(&module.file);
                assert_int_equal(module_name(&module, &search, &questions, &answers), 0);
                look_at_types(&types, names);
        }
        types_free(&types);
        free(frames.items);
        string_pool_free(names);
}

static int read_self(void **state)
{
        (void)state;
        int fd = open("/proc/self/exe", O_RDONLY);
        struct stat status;

        if (fd < 0 || fstat(fd, &status) < 0)
                return -1;
        self_bytes = (size_t)status.st_size;
        self = mmap(NULL, self_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        close(fd);
        const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)self;
        const Elf64_Phdr *phdr = (const Elf64_Phdr *)(self + ehdr->e_phoff);

        for (size_t i = 0; i < ehdr->e_phnum; i++) {
                if (phdr[i].p_type == PT_LOAD && (phdr[i].p_flags & PF_X)) {
                        text_start = phdr[i].p_vaddr;
                        text_bytes = phdr[i].p_memsz;
                }
        }
        return text_bytes ? 0 : -1;
}

/* The part of the file that the section NAME takes. */
static void find_section(const char *name, size_t *offset, size_t *bytes)
{
        const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)self;
        const Elf64_Shdr *shdr = (const Elf64_Shdr *)(self + ehdr->e_shoff);
        const char *names = self + shdr[ehdr->e_shstrndx].sh_offset;

        for (size_t i = 0; i < ehdr->e_shnum; i++) {
                if (strcmp(names + shdr[i].sh_name, name) == 0) {
                        *offset = shdr[i].sh_offset;
                        *bytes = shdr[i].sh_size;
                        return;
                }
        }
        fail_msg("this program was built without %s", name);
}

/* Changes a few bytes between OFFSET and OFFSET + BYTES and asks, many times. */
static void mutate(size_t offset, size_t bytes)
{
        static const unsigned char nasty[] = {0x00, 0xff, 0x7f, 0x80, 0x01};
        char *copy = malloc(self_bytes);

        assert_non_null(copy);
        for (unsigned round = 0; round < MUTATIONS; round++) {
                srand(round);
                memcpy(copy, self, self_bytes);
                for (int i = rand() % 8; i >= 0; i--) {
                        size_t at = offset + (size_t)rand() % bytes;

                        copy[at] = rand() % 2
                                       ? (char)rand()
                                       : (char)nasty[(size_t)rand() % sizeof(nasty)];
                }
                write_file("mutant", copy, self_bytes);
                ask_everything("mutant");
        }
        free(copy);
        unlink("mutant");
}

static void mutate_section(const char *name)
{
        size_t offset = 0, bytes = 1;

        find_section(name, &offset, &bytes);
        mutate(offset, bytes);
}

/* ---- tests
 * ---------------------------------------------------------------------------------- */

static void references_in_circles_end(void **state)
{
        (void)state;
        static const char *const nowhere[] = {NULL};
        struct debug_search search = {.directories = nowhere};
        struct module module = {.path = (char *)"/proc/self/exe"};
        struct code_place place = {0}, *list = &place;
        struct code_frames frames = {0};
        struct types types = {0};
        struct string_pool *names = string_pool_new();
        struct access access = {.code = &place}, *access_list = &access;
        const struct module_questions questions = {
            .code = &list, .code_count = 1, .accesses = &access_list, .access_count = 1};
        const struct module_answers answers = {names, &frames, &types};

        place.vaddr = (uintptr_t)hostile_code;
        if (((const Elf64_Ehdr *)self)->e_type == ET_DYN)
                place.vaddr -= (uintptr_t)__executable_start;
        assert_int_equal(module_check(&module), 0);
        assert_int_equal(module.state, MODULE_READY);
        elf_file_close(&module.file);
        assert_int_equal(module_name(&module, &search, &questions, &answers), 0);
        /* The hostile entries have no name; the symbol table has. */
        assert_int_equal(place.frame_count, 2);
        assert_string_equal(string_pool_text(names, frames.items[1].function),
                            "hostile_code");
        assert_int_equal(frames.items[0].call_file, 0);
        /* The parameter in rdi points to a type that holds itself. */
        assert_true(access.asked);
        assert_int_equal(access.flow.outcome, FLOW_FOUND);
        assert_int_equal(access.flow.place.kind, PLACE_POINTER);
        assert_int_equal(access.flow.place.offset, 8);
        look_at_types(&types, names);
        types_free(&types);
        free(frames.items);
        string_pool_free(names);
        ask_everything("/proc/self/exe");
}

static void truncated_files_are_survived(void **state)
{
        (void)state;
        for (size_t bytes = 0; bytes < self_bytes; bytes += 1 + bytes / 20 + bytes % 7) {
                write_file("short", self, bytes);
                ask_everything("short");
        }
        unlink("short");
}

static void damaged_headers_are_survived(void **state)
{
        (void)state;
        const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)self;

        mutate(0, sizeof(*ehdr) + ehdr->e_phnum * sizeof(Elf64_Phdr));
        mutate(ehdr->e_shoff, ehdr->e_shnum * sizeof(Elf64_Shdr));
}

static void damaged_debug_information_is_survived(void **state)
{
        (void)state;
        mutate_section(".debug_info");
        mutate_section(".debug_abbrev");
        mutate_section(".debug_line");
        mutate_section(".debug_str");
}

/* What types and fields are found from beside these. */
static void damaged_code_and_locations_are_survived(void **state)
{
        (void)state;
        mutate_section(".text");
        mutate_section(".debug_loclists");
        mutate_section(".debug_rnglists");
}

static void damaged_symbols_are_survived(void **state)
{
        (void)state;
        mutate_section(".symtab");
        mutate_section(".strtab");
        mutate_section(".note.gnu.build-id");
}

/* None of these may be waited for, read without end or taken for a program. */
static void other_kinds_of_file_are_refused(void **state)
{
        (void)state;
        static const char *const paths[] = {"fifo", "/dev/zero", "/dev/tty",
                                            ".",    "",          "/nonexistent"};

        unlink("fifo");
        assert_int_equal(mkfifo("fifo", 0600), 0);
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
                struct module module = {.path = (char *)paths[i]};

                assert_int_equal(module_check(&module), 0);
                assert_int_not_equal(module.state, MODULE_READY);
        }
        unlink("fifo");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(references_in_circles_end),
            cmocka_unit_test(truncated_files_are_survived),
            cmocka_unit_test(damaged_headers_are_survived),
            cmocka_unit_test(damaged_debug_information_is_survived),
            cmocka_unit_test(damaged_code_and_locations_are_survived),
            cmocka_unit_test(damaged_symbols_are_survived),
            cmocka_unit_test(other_kinds_of_file_are_refused),
        };
        char directory[] = "symbolize_hostile_XXXXXX";

        if (!mkdtemp(directory) || chdir(directory))
                return 1;
        int failed = cmocka_run_group_tests(tests, read_self, NULL);

        return chdir("..") || rmdir(directory) || failed;
}
