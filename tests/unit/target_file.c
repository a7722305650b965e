/* SPDX-License-Identifier: MIT */
/* The file that a command names, made here byte by byte, is judged before anything
 * runs. */
#include <elf.h>

#include "directory.h"
#include "target_file.h"

static void write_file(const char *path, const void *bytes, size_t length, mode_t mode)
{
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, length, file), length);
        assert_ok(fclose(file));
        assert_ok(chmod(path, mode));
}

static Elf64_Ehdr elf_header(uint8_t class, uint16_t machine, uint16_t type)
{
        Elf64_Ehdr header = {
            .e_type = type, .e_machine = machine, .e_version = EV_CURRENT};
        memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = class;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        return header;
}

static void assert_told_of(const char *command, bool simulated, int status,
                           const char *message)
{
        struct diag diag = {""};
        assert_int_equal(target_file_check(command, simulated, &diag), status);
        if (!strstr(diag.text, message))
                fail_msg("'%s' does not say '%s'", diag.text, message);
}

static void assert_told(const char *command, int status, const char *message)
{
        assert_told_of(command, false, status, message);
}

TEST(elf_programs_are_told_apart)
{
        const struct {
                uint8_t class;
                uint16_t machine, type;
                const char *message; /* NULL: can be recorded */
        } cases[] = {
            {ELFCLASS64, EM_X86_64, ET_EXEC, NULL},
            {ELFCLASS64, EM_X86_64, ET_DYN, NULL},
            {ELFCLASS32, EM_386, ET_EXEC, "32-bit"},
            {ELFCLASS32, EM_X86_64, ET_DYN, "32-bit"},
            {ELFCLASS64, EM_AARCH64, ET_DYN, "another machine"},
            {ELFCLASS64, EM_X86_64, ET_REL, "no program"},
            {ELFCLASS64, EM_X86_64, ET_CORE, "no program"},
        };
        for (size_t i = 0; i < LENGTH(cases); i++) {
                Elf64_Ehdr header =
                    elf_header(cases[i].class, cases[i].machine, cases[i].type);
                write_file("program", &header, sizeof(header), 0755);
                if (cases[i].message)
                        assert_told("./program", EXIT_CANNOT_RUN, cases[i].message);
                else
                        assert_told("./program", 0, "");
        }
        Elf64_Ehdr header = elf_header(ELFCLASS64, EM_X86_64, ET_EXEC);
        write_file("program", &header, 20, 0755);
        assert_told("./program", EXIT_CANNOT_RUN, "cut off");
}

/* As Valgrind's own programs, which begin at 0x58000000. */
TEST(a_program_in_the_place_of_valgrind_is_not_simulated)
{
        struct {
                Elf64_Ehdr header;
                Elf64_Phdr segments[2];
        } program = {elf_header(ELFCLASS64, EM_X86_64, ET_EXEC),
                     {{.p_type = PT_LOAD, .p_vaddr = 0x400000, .p_memsz = 4096},
                      {.p_type = PT_LOAD, .p_vaddr = 0x57fff000, .p_memsz = 4097}}};
        program.header.e_phoff = sizeof(program.header);
        program.header.e_phnum = 2;
        write_file("program", &program, sizeof(program), 0755);
        assert_told_of("./program", true, EXIT_CANNOT_RUN, "where the simulated PMU is");
        assert_told_of("./program", false, 0, "");
        program.segments[1].p_memsz = 4096;
        write_file("program", &program, sizeof(program), 0755);
        assert_told_of("./program", true, 0, "");
        program.header.e_type = ET_DYN;
        program.segments[1].p_memsz = 4097;
        write_file("program", &program, sizeof(program), 0755);
        assert_told_of("./program", true, 0, "");
}

TEST(a_program_needs_its_dynamic_linker)
{
        struct {
                Elf64_Ehdr header;
                Elf64_Phdr segment;
                char linker[16];
        } program = {elf_header(ELFCLASS64, EM_X86_64, ET_DYN),
                     {.p_type = PT_INTERP,
                      .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
                      .p_filesz = 9},
                     "/nowhere"};
        program.header.e_phoff = sizeof(program.header);
        program.header.e_phnum = 1;
        write_file("program", &program, sizeof(program), 0755);
        assert_told("./program", EXIT_CANNOT_RUN, "its dynamic linker does not exist");
        strcpy(program.linker, "/bin/../");
        write_file("program", &program, sizeof(program), 0755);
        assert_told("./program", 0, "");
}

TEST(scripts_need_an_interpreter_that_runs)
{
        const struct {
                const char *text;
                int status;
                const char *message;
        } cases[] = {
            {"#!/bin/sh\n", 0, ""},
            {"#! \t/bin/sh -e\n", 0, ""},
            {"#!/nowhere/sh\n", EXIT_CANNOT_RUN, "/nowhere/sh: No such file"},
            {"#!\n", EXIT_CANNOT_RUN, "names no interpreter"},
            {"echo hello\n", EXIT_CANNOT_RUN, "neither an ELF program nor a script"},
            {"", EXIT_CANNOT_RUN, "is empty"},
        };
        for (size_t i = 0; i < LENGTH(cases); i++) {
                write_file("script", cases[i].text, strlen(cases[i].text), 0755);
                assert_told("./script", cases[i].status, cases[i].message);
        }
        const char *self = text_of("#!%s/script\n", test_directory);
        write_file("script", self, strlen(self), 0755);
        assert_told("./script", EXIT_CANNOT_RUN, "too many interpreters");
}

TEST(what_is_no_program_is_named)
{
        assert_told("./missing", EXIT_NOT_FOUND, "No such file");
        assert_told("", EXIT_NOT_FOUND, "no such command");
        assert_ok(mkdir("sub", 0755));
        assert_told("./sub", EXIT_CANNOT_RUN, "is a directory");
        write_file("plain", "#!/bin/sh\n", 10, 0644);
        assert_told("./plain", EXIT_CANNOT_RUN, "not executable");
        assert_told("./plain/x", EXIT_NOT_FOUND, "Not a directory");
        assert_ok(mkfifo("fifo", 0755));
        assert_told("./fifo", EXIT_CANNOT_RUN, "not a regular file");
}

TEST(path_is_searched_as_execvp_does)
{
        assert_ok(mkdir("first", 0755));
        assert_ok(mkdir("second", 0755));
        write_file("first/tool", "#!/bin/sh\n", 10, 0644);
        assert_ok(setenv("PATH", "nowhere:first:second", 1));
        assert_told("tool", EXIT_CANNOT_RUN, "first/tool: it is not executable");
        write_file("second/tool", "#!/bin/sh\n", 10, 0755);
        assert_told("tool", 0, "");
        assert_told("nothing-of-this-name", EXIT_NOT_FOUND, "no such command in PATH");
        write_file("here", "#!/bin/sh\n", 10, 0755);
        assert_told("here", EXIT_NOT_FOUND, "./here");
        assert_ok(setenv("PATH", "first:", 1)); /* empty: the working directory */
        assert_told("here", 0, "");
}
