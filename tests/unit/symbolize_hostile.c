/* SPDX-License-Identifier: MIT */
/* Damaged and hostile ELF files. For any contents, the stage returns an answer in time
 * and touches no foreign memory (this test is also run under the sanitizers). PROGRAM is
 * a small program with types of every kind and with hostile_entries.c. */
#include <elf.h>

#define QUESTIONS 200
#include "../fuzz/ask.h"
#include "unit_test.h"

enum { MUTATIONS = 60 };

/* ---- asking ---- */

static char *program;
static size_t program_bytes;
static uint64_t text_start, text_bytes;

static void write_file(const char *path, const char *contents, size_t bytes)
{
        FILE *file = fopen(path, "w");

        assert_non_null(file);
        assert_int_equal(fwrite(contents, 1, bytes, file), bytes);
        assert_ok(fclose(file));
}

/* Names addresses all over the code and data of the file at PATH. */
static void ask_everything(const char *path)
{
        struct module module = {.wanted.path = path};

        assert_ok(module_check(&module));
        if (module.state == MODULE_READY) {
                elf_file_close(&module.file);
                ask(&module, text_start, text_bytes);
                assert_false(module.no_memory);
        }
}

static int read_program(void **state)
{
        int fd = open(PROGRAM, O_RDONLY | O_CLOEXEC);
        struct stat status;

        if (fd < 0 || fstat(fd, &status) < 0)
                return -1;
        program_bytes = (size_t)status.st_size;
        program = mmap(NULL, program_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        close(fd);
        const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)program;
        const Elf64_Phdr *phdr = (const Elf64_Phdr *)(program + ehdr->e_phoff);

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
        const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)program;
        const Elf64_Shdr *shdr = (const Elf64_Shdr *)(program + ehdr->e_shoff);
        const char *names = program + shdr[ehdr->e_shstrndx].sh_offset;

        for (size_t i = 0; i < ehdr->e_shnum; i++) {
                if (strcmp(names + shdr[i].sh_name, name) == 0) {
                        *offset = shdr[i].sh_offset;
                        *bytes = shdr[i].sh_size;
                        return;
                }
        }
        fail_msg("%s was built without %s", PROGRAM, name);
}

/* The address of the symbol NAME in the file. */
static uint64_t find_symbol(const char *name)
{
        size_t symbols_at = 0, bytes = 0, names_at = 0, names_bytes;

        find_section(".symtab", &symbols_at, &bytes);
        find_section(".strtab", &names_at, &names_bytes);
        for (size_t at = 0; at < bytes; at += sizeof(Elf64_Sym)) {
                const Elf64_Sym *symbol = (const Elf64_Sym *)(program + symbols_at + at);

                if (strcmp(program + names_at + symbol->st_name, name) == 0)
                        return symbol->st_value;
        }
        fail_msg("%s has no %s", PROGRAM, name);
        return 0;
}

/* Changes a few bytes between OFFSET and OFFSET + BYTES and asks, many times. */
static void mutate(size_t offset, size_t bytes)
{
        static const unsigned char nasty[] = {0x00, 0xff, 0x7f, 0x80, 0x01};
        char *copy = malloc(program_bytes);

        assert_non_null(copy);
        for (unsigned round = 0; round < MUTATIONS; round++) {
                srand(round);
                memcpy(copy, program, program_bytes);
                for (int i = rand() % 8; i >= 0; i--) {
                        size_t at = offset + (size_t)rand() % bytes;

                        copy[at] = (char)(rand() % 2 ? rand() : nasty[rand() % 5]);
                }
                write_file("mutant", copy, program_bytes);
                ask_everything("mutant");
        }
        free(copy);
        unlink("mutant");
}

/* ---- tests ---- */

TEST(references_in_circles_end)
{
        static const char *const nowhere[] = {NULL};
        struct debug_search search = {.directories = nowhere};
        struct module module = {.wanted.path = PROGRAM};
        struct code_place place = {0}, *list = &place;
        struct code_frames frames = {0};
        struct types types = {0};
        struct string_pool *names = string_pool_new();
        struct access access = {.code = &place}, *access_list = &access;
        const struct module_questions questions = {.code = {&list, 1, 0},
                                                   .accesses = {&access_list, 1, 0}};
        const struct module_answers answers = {names, &frames, &types};

        place.vaddr = find_symbol("hostile_code");
        assert_ok(module_check(&module));
        assert_int_equal(module.state, MODULE_READY);
        elf_file_close(&module.file);
        module_name(&module, &search, &questions, &answers);
        assert_false(module.no_memory);
        /* The hostile entries have no name to show; the symbol table has. */
        assert_int_equal(place.frame_count, 0);
        assert_string_equal(string_pool_text(names, place.function), "hostile_code");
        /* The parameter in rdi points to a type that holds itself. */
        assert_true(access.asked);
        assert_int_equal(access.flow.outcome, FLOW_FOUND);
        assert_int_equal(access.flow.place.kind, PLACE_POINTER);
        assert_int_equal(access.flow.place.offset, 8);
        ask_types(&types, names);
        types_free(&types);
        code_frames_free(&frames);
        string_pool_free(names);
        ask_everything(PROGRAM);
}

TEST(truncated_files_are_survived)
{
        for (size_t bytes = 0; bytes < program_bytes;
             bytes += 1 + bytes / 20 + bytes % 7) {
                write_file("short", program, bytes);
                ask_everything("short");
        }
        unlink("short");
}

/* Mutates, by section, a program that is too large for tests/fuzz/elf.c. */
TEST(damaged_sections_are_survived)
{
        static const char *const sections[] = {
            ".debug_info", ".debug_abbrev",     ".debug_line",     ".debug_str",
            ".text",       ".debug_loclists",   ".debug_rnglists", ".symtab",
            ".strtab",     ".note.gnu.build-id"};
        const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)program;

        mutate(0, sizeof(*ehdr) + ehdr->e_phnum * sizeof(Elf64_Phdr));
        mutate(ehdr->e_shoff, ehdr->e_shnum * sizeof(Elf64_Shdr));
        for (size_t i = 0; i < LENGTH(sections); i++) {
                size_t offset = 0, bytes = 1;

                find_section(sections[i], &offset, &bytes);
                mutate(offset, bytes);
        }
}

/* The program with HEADERS more sections of the same ENTRIES relocations. */
static void write_same_sections(const char *path, size_t headers, size_t entries)
{
        const Elf64_Ehdr *was = (const Elf64_Ehdr *)program;
        const Elf64_Shdr *sections = (const Elf64_Shdr *)(program + was->e_shoff);
        size_t at = (program_bytes + 15) / 16 * 16;
        size_t headers_at = at + entries * sizeof(Elf64_Rela);
        size_t count = was->e_shnum + headers;
        size_t bytes = headers_at + count * sizeof(Elf64_Shdr);
        char *copy = calloc(1, bytes);
        uint32_t symbols = 0;

        assert_non_null(copy);
        memcpy(copy, program, program_bytes);
        for (uint32_t i = 0; i < was->e_shnum; i++)
                if (sections[i].sh_type == SHT_SYMTAB)
                        symbols = i;
        const Elf64_Sym *symbol =
            (const Elf64_Sym *)(program + sections[symbols].sh_offset);
        uint64_t number = 0;

        while (symbol[number].st_name == 0)
                number++;
        Elf64_Rela *rela = (Elf64_Rela *)(copy + at);
        Elf64_Shdr *shdr = (Elf64_Shdr *)(copy + headers_at);

        for (size_t i = 0; i < entries; i++)
                rela[i] =
                    (Elf64_Rela){.r_offset = 0x1000000 + 8 * i,
                                 .r_info = ELF64_R_INFO(number, R_X86_64_JUMP_SLOT)};
        memcpy(shdr, sections, was->e_shnum * sizeof(*shdr));
        for (size_t i = was->e_shnum; i < count; i++)
                shdr[i] = (Elf64_Shdr){.sh_type = SHT_RELA,
                                       .sh_flags = SHF_ALLOC,
                                       .sh_offset = at,
                                       .sh_size = entries * sizeof(Elf64_Rela),
                                       .sh_link = symbols,
                                       .sh_addralign = 8,
                                       .sh_entsize = sizeof(Elf64_Rela)};
        Elf64_Ehdr *ehdr = (Elf64_Ehdr *)copy;

        ehdr->e_shoff = headers_at;
        ehdr->e_shnum = (Elf64_Half)count;
        write_file(path, copy, bytes);
        free(copy);
}

static enum module_state state_of(const char *path)
{
        struct module module = {.wanted.path = path};

        assert_ok(module_check(&module));
        if (module.state == MODULE_READY)
                elf_file_close(&module.file);
        return module.state;
}

/* Reading would cost the product of both numbers. */
TEST(sections_of_the_same_bytes_are_refused)
{
        write_same_sections("same", 1, 20000);
        assert_int_equal(state_of("same"), MODULE_READY);
        ask_everything("same");
        write_same_sections("same", 1000, 20000);
        assert_int_equal(state_of("same"), MODULE_NOT_ELF);
        unlink("same");
}

/* No such file may be waited for, read without end or taken for a program. */
TEST(other_kinds_of_file_are_refused)
{
        static const char *const paths[] = {"fifo", "/dev/zero", "/dev/tty",
                                            ".",    "",          "/nonexistent"};

        unlink("fifo");
        assert_ok(mkfifo("fifo", 0600));
        for (size_t i = 0; i < LENGTH(paths); i++) {
                struct module module = {.wanted.path = paths[i]};

                assert_ok(module_check(&module));
                assert_int_not_equal(module.state, MODULE_READY);
        }
        unlink("fifo");
}

int main(void)
{
        char directory[] = "symbolize_hostile_XXXXXX";

        if (!mkdtemp(directory) || chdir(directory))
                return 1;
        int failed = run_unit_tests(read_program, NULL);

        return chdir("..") || rmdir(directory) || failed;
}
