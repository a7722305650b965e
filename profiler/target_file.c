/* SPDX-License-Identifier: MIT */
/* Finds the file that a command names and reports obstacles to recording it. Does not
 * start programs. */
#include "target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "simpmu/taken_place.h"

/* As the kernel: an interpreter may be a script itself, this often. */
#define INTERPRETERS_MAX 4
#define START_BYTES      256

/* The file FILE of the command, for error messages about COMMAND. */
struct subject {
        const char *command;
        const char *file;
        bool simulated;
};

static int cannot_run(const struct subject *subject, struct diag *diag, const char *why)
{
        if (strcmp(subject->command, subject->file) == 0)
                return diag_set(diag, EXIT_CANNOT_RUN, "cannot run '%s': %s",
                                subject->command, why);
        return diag_set(diag, EXIT_CANNOT_RUN, "cannot run '%s': %s: %s",
                        subject->command, subject->file, why);
}

/* ---- formats ---- */

/* Returns true if the program at FD names a dynamic linker that does not exist. */
static bool lacks_linker(int fd, const Elf64_Ehdr *header)
{
        Elf64_Phdr segment;
        char linker[PATH_MAX];
        for (uint64_t i = 0; i < header->e_phnum; i++) {
                off_t at = (off_t)(header->e_phoff + i * sizeof(segment));
                if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
                        return false;
                if (segment.p_type == PT_INTERP)
                        return segment.p_filesz > 0 &&
                               segment.p_filesz <= sizeof(linker) &&
                               pread(fd, linker, segment.p_filesz,
                                     (off_t)segment.p_offset) ==
                                   (ssize_t)segment.p_filesz &&
                               linker[segment.p_filesz - 1] == '\0' &&
                               access(linker, F_OK) != 0;
        }
        return false;
}

/* Returns true if a string table of ELF has SYMBOL. */
static bool has_symbol(Elf *elf, const char *symbol)
{
        for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
             section = elf_nextscn(elf, section)) {
                GElf_Shdr header;
                const Elf_Data *data =
                    gelf_getshdr(section, &header) && header.sh_type == SHT_STRTAB
                        ? elf_getdata(section, NULL)
                        : NULL;
                if (data && data->d_buf &&
                    memmem(data->d_buf, data->d_size, symbol, strlen(symbol) + 1))
                        return true;
        }
        return false;
}

/* Sanitizers that do not work under Valgrind: a symbol of programs built with one. */
static const char *sanitizer_objection(int fd)
{
        const char *objection = NULL;
        Elf *elf = elf_version(EV_CURRENT) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
        if (has_symbol(elf, "__asan_init"))
                objection = "it is built with -fsanitize=address, whose memory is where "
                            "the simulated PMU is; record it with --source clock, or a "
                            "build without";
        else if (has_symbol(elf, "__lsan_init"))
                objection = "it is built with -fsanitize=leak, whose check never ends "
                            "when simulated; record it with --source clock, or a build "
                            "without";
        elf_end(elf);
        return objection;
}

static const char *elf_objection(const struct subject *subject, int fd, const char *start,
                                 size_t length)
{
        Elf64_Ehdr header;
        if (length > EI_CLASS && start[EI_CLASS] == ELFCLASS32)
                return "it is a 32-bit program; only 64-bit x86 programs can be recorded";
        if (length < sizeof(header))
                return "its ELF header is cut off";
        memcpy(&header, start, sizeof(header));
        if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
            header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64)
                return "it is a program for another machine; only 64-bit x86 programs "
                       "can "
                       "be recorded";
        if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
                return "it is an ELF file, but no program";
        if (lacks_linker(fd, &header))
                return "its dynamic linker does not exist (readelf -l names it)";
        if (subject->simulated && taken_place_needed(fd, &header))
                return "it is linked to addresses where the simulated PMU is; record it "
                       "with --source clock, or link it elsewhere";
        return subject->simulated ? sanitizer_objection(fd) : NULL;
}

/* Returns true if FILE gains privileges at exec. Valgrind refuses privileged programs,
 * even if the user has the privileges already. */
static bool gains_rights(const char *file, const struct stat *status)
{
        return (status->st_mode & (S_ISUID | S_ISGID)) ||
               getxattr(file, "security.capability", NULL, 0) > 0;
}

/* The interpreter named in a script's first line, cut out of START. */
static char *interpreter_of(char *start)
{
        char *name = start + 2 + strspn(start + 2, " \t");
        name[strcspn(name, " \t\r\n")] = '\0';
        return name;
}

static int check_file(const struct subject *subject, int scripts, struct diag *diag);

/* START: the first LENGTH bytes of the file at FD. */
static int check_start(const struct subject *subject, int fd, char *start, size_t length,
                       int scripts, struct diag *diag)
{
        if (length >= SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0) {
                const char *objection = elf_objection(subject, fd, start, length);
                return objection ? cannot_run(subject, diag, objection) : 0;
        }
        if (length == 0)
                return cannot_run(subject, diag, "it is empty");
        if (length < 2 || memcmp(start, "#!", 2) != 0)
                return cannot_run(subject, diag,
                                  "it is neither an ELF program nor a script that begins "
                                  "with '#!'; give the program that runs it");
        const char *interpreter = interpreter_of(start);
        if (!*interpreter)
                return cannot_run(subject, diag, "its first line names no interpreter");
        if (scripts == INTERPRETERS_MAX)
                return cannot_run(subject, diag, "too many interpreters in a row");
        struct subject next = {subject->command, interpreter, subject->simulated};
        return check_file(&next, scripts + 1, diag);
}

static int check_file(const struct subject *subject, int scripts, struct diag *diag)
{
        struct stat status;
        if (stat(subject->file, &status) != 0)
                return cannot_run(subject, diag, strerror(errno));
        if (S_ISDIR(status.st_mode))
                return cannot_run(subject, diag, "it is a directory");
        if (!S_ISREG(status.st_mode))
                return cannot_run(subject, diag, "it is not a regular file");
        if (access(subject->file, X_OK) != 0)
                return cannot_run(subject, diag,
                                  "it is not executable (chmod +x makes it so)");
        if (gains_rights(subject->file, &status))
                return cannot_run(subject, diag,
                                  "it is a set-user-id or set-group-id program or has "
                                  "capabilities; record a copy without them");
        int fd = open(subject->file, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return cannot_run(subject, diag,
                                  errno == EACCES ? "it is not readable, which recording "
                                                    "needs (chmod +r makes it so)"
                                                  : strerror(errno));
        char start[START_BYTES + 1];
        ssize_t length = read(fd, start, START_BYTES);
        int rc;
        if (length < 0) {
                rc = cannot_run(subject, diag, strerror(errno));
        } else {
                start[length] = '\0';
                rc = check_start(subject, fd, start, (size_t)length, scripts, diag);
        }
        close(fd);
        return rc;
}

/* ---- the search ---- */

static bool is_executable_file(const char *file)
{
        struct stat status;
        return stat(file, &status) == 0 && S_ISREG(status.st_mode) &&
               access(file, X_OK) == 0;
}

/* Returns the first executable file of that name in PATH, or else the first file of that
 * name, which determines the error; NULL: not found. The caller frees it. */
static char *search(const char *command)
{
        const char *path = getenv("PATH");
        char *fallback = NULL;
        for (const char *at = path ? path : "/bin:/usr/bin"; at;) {
                size_t length = strcspn(at, ":");
                char *file = NULL;
                if (asprintf(&file, "%.*s%s%s", (int)length, at, length ? "/" : "",
                             command) < 0)
                        break;
                if (is_executable_file(file)) {
                        free(fallback);
                        return file;
                }
                struct stat status;
                if (!fallback && stat(file, &status) == 0 && S_ISREG(status.st_mode))
                        fallback = file;
                else
                        free(file);
                at = at[length] ? at + length + 1 : NULL;
        }
        return fallback;
}

int target_file_check(const char *command, bool simulated, struct diag *diag)
{
        struct stat status;
        if (!*command)
                return diag_set(diag, EXIT_NOT_FOUND, "'': no such command");
        if (strchr(command, '/')) {
                if (stat(command, &status) != 0)
                        return diag_set(
                            diag, errno == EACCES ? EXIT_CANNOT_RUN : EXIT_NOT_FOUND,
                            "cannot run '%s': %s", command, strerror(errno));
                struct subject subject = {command, command, simulated};
                return check_file(&subject, 0, diag);
        }
        char *file = search(command);
        if (!file)
                return diag_set(
                    diag, EXIT_NOT_FOUND,
                    "'%s': no such command in PATH; give its path, such as ./%s", command,
                    command);
        struct subject subject = {command, file, simulated};
        int rc = check_file(&subject, 0, diag);
        free(file);
        return rc;
}
