/* SPDX-License-Identifier: MIT */
/* Reads a program's headers for its interpreter, checks the interpreter, and checks the
 * first library that the program needs. */
#include "heap_program.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES 16
/* A foreign program waits while its file is read here. The kernel executes no file with
 * more headers than this. */
#define HEADERS_LIMIT (65536 / sizeof(Elf64_Phdr))
/* Programs with hundreds of libraries need a tenth. */
#define DYNAMIC_LIMIT 4096
/* A C library has one version for each release that extended the dynamic linker. */
#define VERSIONS_LIMIT 64
/* Limited by a small stack. The longest paths of package managers have some 100
 * bytes. */
#define LINKER_PATH_BYTES 512

/* Headers are read one by one: the stack of the caller of exec may have only a few
 * KiB. */
struct program {
        int fd;
        unsigned headers;
        uint64_t headers_offset;
};

static bool read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
        return pread(fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* False: the file at FD is no ELF file of 64 bits. */
static bool open_program(int fd, struct program *program)
{
        Elf64_Ehdr header;
        if (!read_at(fd, &header, sizeof(header), 0) ||
            memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
            header.e_ident[EI_CLASS] != ELFCLASS64 ||
            header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > HEADERS_LIMIT)
                return false;
        *program = (struct program){fd, header.e_phnum, header.e_phoff};
        return true;
}

static bool read_header(const struct program *program, unsigned number,
                        Elf64_Phdr *header)
{
        return number < program->headers &&
               read_at(program->fd, header, sizeof(*header),
                       program->headers_offset + number * sizeof(*header));
}

static bool find_header(const struct program *program, uint32_t type, Elf64_Phdr *header)
{
        for (unsigned i = 0; read_header(program, i, header); i++)
                if (header->p_type == type)
                        return true;
        return false;
}

/* Where in the file the byte at ADDRESS is; 0: nowhere. */
static uint64_t file_offset(const struct program *program, uint64_t address)
{
        Elf64_Phdr header;
        for (unsigned i = 0; read_header(program, i, &header); i++)
                if (header.p_type == PT_LOAD && address >= header.p_vaddr &&
                    address - header.p_vaddr < header.p_filesz)
                        return header.p_offset + (address - header.p_vaddr);
        return 0;
}

/* Fields of the dynamic section of a program or of the dynamic linker. */
struct dynamic {
        uint64_t strings;  /* the address of its strings; 0: it has none */
        uint64_t versions; /* of the definitions; 0: none */
        uint64_t own_name; /* among the strings */
        uint64_t needed;   /* the first library's name there, if NEEDS */
        bool needs;
};

/* False: the section exceeds DYNAMIC_LIMIT. */
static bool read_dynamic(const struct program *program, struct dynamic *dynamic)
{
        Elf64_Phdr header;
        Elf64_Dyn entry;
        *dynamic = (struct dynamic){0};
        if (!find_header(program, PT_DYNAMIC, &header))
                return true;
        uint64_t count = header.p_filesz / sizeof(entry);
        for (uint64_t i = 0; i < count; i++) {
                if (i == DYNAMIC_LIMIT)
                        return false;
                if (!read_at(program->fd, &entry, sizeof(entry),
                             header.p_offset + i * sizeof(entry)) ||
                    entry.d_tag == DT_NULL)
                        return true;
                if (entry.d_tag == DT_STRTAB)
                        dynamic->strings = entry.d_un.d_ptr;
                if (entry.d_tag == DT_VERDEF)
                        dynamic->versions = entry.d_un.d_ptr;
                if (entry.d_tag == DT_SONAME)
                        dynamic->own_name = entry.d_un.d_val;
                if (entry.d_tag == DT_NEEDED && !dynamic->needs) {
                        dynamic->needed = entry.d_un.d_val;
                        dynamic->needs = true;
                }
        }
        return true;
}

/* Returns true if the first needed library may be a sanitizer's runtime: it aborts a
 * process that loads another library before. */
static bool may_have_sanitizer(const struct program *program)
{
        static const char *const runtimes[] = {"libasan.so", "libtsan.so", "liblsan.so",
                                               "libhwasan.so", "libclang_rt."};
        struct dynamic dynamic;
        if (!read_dynamic(program, &dynamic))
                return true;
        uint64_t strings = file_offset(program, dynamic.strings);
        char name[NAME_BYTES] = "";
        if (!dynamic.needs || !strings ||
            !read_at(program->fd, name, sizeof(name) - 1, strings + dynamic.needed))
                return false;
        for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++)
                if (strncmp(name, runtimes[i], strlen(runtimes[i])) == 0)
                        return true;
        return false;
}

/* Returns true if the dynamic linker has the GNU C library version that defines
 * _dl_find_object, which the tracker calls. An older linker aborts the program. */
static bool is_new_enough(const struct program *linker, uint64_t versions)
{
        const Elf64_Word glibc_2_35 = 0x069691b5; /* the name's hash in ELF */
        Elf64_Verdef version;
        uint64_t at = file_offset(linker, versions);
        for (unsigned i = 0; at && i < VERSIONS_LIMIT; i++) {
                if (!read_at(linker->fd, &version, sizeof(version), at))
                        return false;
                if (version.vd_hash == glibc_2_35)
                        return true;
                at = version.vd_next ? at + version.vd_next : 0;
        }
        return false;
}

/* Returns true if the file at FD is the GNU C library's dynamic linker for 64-bit
 * programs, by the name in the file. Other linkers would reject the tracker. */
static bool is_our_linker(int fd)
{
        static const char ours[] = "ld-linux-x86-64.so.2";
        char name[sizeof(ours)];
        struct program linker;
        struct dynamic dynamic;
        if (!open_program(fd, &linker) || !read_dynamic(&linker, &dynamic))
                return false;
        uint64_t strings = file_offset(&linker, dynamic.strings);
        return strings && read_at(fd, name, sizeof(name), strings + dynamic.own_name) &&
               memcmp(name, ours, sizeof(name)) == 0 &&
               is_new_enough(&linker, dynamic.versions);
}

static bool has_our_linker(const struct program *program)
{
        Elf64_Phdr header;
        if (!find_header(program, PT_INTERP, &header) || header.p_filesz == 0 ||
            header.p_filesz > LINKER_PATH_BYTES)
                return false;
        char path[header.p_filesz];
        if (!read_at(program->fd, path, sizeof(path), header.p_offset) ||
            path[sizeof(path) - 1] != '\0')
                return false;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        bool ours = fd >= 0 && is_our_linker(fd);
        if (fd >= 0)
                close(fd);
        return ours;
}

/* Returns true if the file at FD accepts a preloaded library, or is a script or a file
 * that the kernel refuses. */
static bool file_takes_preload(int fd)
{
        Elf64_Ehdr header;
        if (!read_at(fd, &header, sizeof(header), 0) ||
            memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
            header.e_phnum > HEADERS_LIMIT)
                return true;
        struct program program;
        return open_program(fd, &program) && has_our_linker(&program) &&
               !may_have_sanitizer(&program);
}

bool program_takes_preload(const char *path)
{
        struct stat status;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return true;
        bool own_rights =
            fstat(fd, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID));
        bool takes = !own_rights && file_takes_preload(fd);
        close(fd);
        return takes;
}

/* The length of the longest directory in SEARCH_PATH that a path can have. */
static size_t longest_directory(const char *search_path)
{
        size_t longest = 0;
        for (const char *at = search_path; *at; at += *at == ':') {
                size_t length = strcspn(at, ":");
                if (length > longest && length < PATH_MAX)
                        longest = length;
                at += length;
        }
        return longest;
}

bool program_in_path_takes_preload(const char *file)
{
        const char *search_path = getenv("PATH");
        size_t file_length = strlen(file);
        if (strchr(file, '/'))
                return program_takes_preload(file);
        if (!search_path || file_length >= PATH_MAX)
                return true;
        size_t longest = longest_directory(search_path);
        char path[longest + file_length + 2];
        for (const char *at = search_path; at;) {
                size_t length = strcspn(at, ":");
                if (length <= longest) {
                        memcpy(path, at, length);
                        path[length] = '/';
                        memcpy(path + length + (length > 0), file, file_length + 1);
                        if (access(path, X_OK) == 0)
                                return program_takes_preload(path);
                }
                at = at[length] ? at + length + 1 : NULL;
        }
        return true;
}
