/* SPDX-License-Identifier: MIT */
/* Searches where gdb does ("Debugging Information in Separate Files"):
 * DIR/.build-id/xx/yyyy.debug, then the linked name beside the program, in its .debug
 * directory and below DIR. */
#include "debug_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file_checksum.h"

static const char system_directory[] = "/usr/lib/debug";

/* A file named in NAME_SECTION, with the evidence for the right file. */
struct link {
        const struct elf_file *of; /* where it is named */
        const char *name;
        const char *beside; /* the path between a directory and NAME */
        uint8_t build_id[ELF_BUILD_ID_BYTES];
        size_t build_id_bytes; /* 0: unknown */
        bool has_checksum;
        uint32_t checksum;
        bool *others; /* set when a file of another build is there */
};

static bool same_build_id(const struct elf_file *file, const struct link *link)
{
        return file->build_id_bytes == link->build_id_bytes &&
               memcmp(file->build_id, link->build_id, link->build_id_bytes) == 0;
}

static bool same_checksum(const struct elf_file *file, uint32_t checksum)
{
        uint32_t present;

        return file_checksum(file->fd, &present) && present == checksum;
}

/* Whether a link leads back to the file that contains it: the debug file may have the
 * program's name. */
static bool same_file(const struct elf_file *a, const struct elf_file *b)
{
        struct stat left, right;

        return fstat(a->fd, &left) == 0 && fstat(b->fd, &right) == 0 &&
               left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

/* Opens PATH if it is the file of LINK: by build-id if both have one, else by
 * checksum. */
static int open_matching(const char *path, const struct link *link, struct elf_file *file)
{
        int error = elf_file_open(file, path);

        if (error)
                return error == -ENOMEM ? error : -ENOENT;
        if (same_file(file, link->of)) {
                elf_file_close(file);
                return -ENOENT;
        }
        if (link->build_id_bytes > 0 && file->build_id_bytes > 0
                ? same_build_id(file, link)
                : link->has_checksum && same_checksum(file, link->checksum))
                return 0;
        *link->others = true;
        elf_file_close(file);
        return -ENOENT;
}

__attribute__((format(printf, 3, 4))) static int
open_formatted(const struct link *link, struct elf_file *file, const char *format, ...)
{
        char *path;
        va_list arguments;

        va_start(arguments, format);
        int length = vasprintf(&path, format, arguments);

        va_end(arguments);
        if (length < 0)
                return -ENOMEM;
        int error = open_matching(path, link, file);

        free(path);
        return error;
}

static int find_by_build_id(const char *directory, const struct link *link,
                            struct elf_file *file)
{
        char hex[ELF_BUILD_ID_HEX];

        if (link->build_id_bytes < 2)
                return -ENOENT;
        elf_build_id_hex(link->build_id, link->build_id_bytes, hex);
        return open_formatted(link, file, "%s/.build-id/%.2s/%s.debug", directory, hex,
                              hex + 2);
}

static int find_by_name(const char *directory, const struct link *link,
                        struct elf_file *file)
{
        if (!link->name || !*link->name || strchr(link->name, '/'))
                return -ENOENT;
        return open_formatted(link, file, "%s%s/%s", directory, link->beside, link->name);
}

/* The directory of PATH with every link resolved, without the final slash; the caller
 * frees it. NULL when there is none. */
static char *directory_of(const char *path)
{
        char *resolved = path ? realpath(path, NULL) : NULL;
        char *slash = resolved ? strrchr(resolved, '/') : NULL;

        if (slash)
                *slash = '\0';
        return resolved;
}

typedef int find_in(const char *directory, const struct link *link,
                    struct elf_file *file);

static int in_directories(const struct debug_search *search, find_in *find,
                          const struct link *link, struct elf_file *file)
{
        int error = -ENOENT;

        for (const char *const *at = search->directories; at && *at && error == -ENOENT;
             at++)
                error = find(*at, link, file);
        return error == -ENOENT ? find(system_directory, link, file) : error;
}

static int find_linked(const char *path, const struct debug_search *search,
                       struct link *link, struct elf_file *file)
{
        char *directory = directory_of(path);

        if (!directory)
                return -ENOENT;
        link->beside = "";
        int error = find_by_name(directory, link, file);

        link->beside = "/.debug";
        if (error == -ENOENT)
                error = find_by_name(directory, link, file);
        link->beside = directory;
        if (error == -ENOENT)
                error = in_directories(search, find_by_name, link, file);
        free(directory);
        return error;
}

static int fetch(const struct debug_search *search, const char *path,
                 const struct link *link, struct elf_file *file)
{
        const struct elf_wanted wanted = {path, link->build_id, link->build_id_bytes};

        return search->fetch ? search->fetch(search->fetch_context, &wanted, file)
                             : -ENOENT;
}

bool debug_file_has_dwarf(const struct elf_file *file)
{
        return elf_section_named(file->elf, ".debug_info") != NULL;
}

int debug_file_find(const struct elf_file *file, const struct debug_search *search,
                    struct elf_file *debug)
{
        bool others = false;
        struct link link = {
            .of = file, .build_id_bytes = file->build_id_bytes, .others = &others};
        int error;

        memcpy(link.build_id, file->build_id, sizeof(link.build_id));
        link.name = dwelf_elf_gnu_debuglink(file->elf, &link.checksum);
        link.has_checksum = link.name != NULL;
        error = in_directories(search, find_by_build_id, &link, debug);
        if (error == -ENOENT)
                error = find_linked(file->path, search, &link, debug);
        if (error == -ENOENT)
                error = fetch(search, file->path, &link, debug);
        return error == -ENOENT && others ? -ESTALE : error;
}

/* DIRECTORY replaces /usr/lib/debug, where packages store shared entries. */
static int find_shared_in(const char *directory, const struct link *link,
                          struct elf_file *file)
{
        size_t system_bytes = strlen(system_directory);

        if (strncmp(link->name, system_directory, system_bytes) != 0 ||
            link->name[system_bytes] != '/')
                return -ENOENT;
        return open_formatted(link, file, "%s%s", directory, link->name + system_bytes);
}

static int find_absolute(const struct debug_search *search, const struct link *link,
                         struct elf_file *file)
{
        int error = in_directories(search, find_shared_in, link, file);

        if (error == -ENOENT && search->root)
                error = open_formatted(link, file, "%s%s", search->root, link->name);
        return error == -ENOENT ? open_matching(link->name, link, file) : error;
}

/* The name and build-id of dwz's file in DEBUG's link. */
static bool read_alt_link(const struct elf_file *debug, struct link *link)
{
        const struct elf_bytes bytes = elf_section_bytes(debug->elf, ".gnu_debugaltlink");
        size_t name_bytes = bytes.data ? strnlen(bytes.data, bytes.size) + 1 : 0;

        if (name_bytes >= bytes.size || bytes.size - name_bytes > sizeof(link->build_id))
                return false;
        link->name = bytes.data;
        link->build_id_bytes = bytes.size - name_bytes;
        memcpy(link->build_id, bytes.data + name_bytes, link->build_id_bytes);
        return true;
}

int debug_file_find_alt(const struct elf_file *debug, const struct debug_search *search,
                        struct elf_file *alt)
{
        bool others = false;
        struct link link = {.of = debug, .others = &others};
        int error;

        if (!read_alt_link(debug, &link))
                return -ENOENT;
        error = in_directories(search, find_by_build_id, &link, alt);
        if (error == -ENOENT && link.name[0] == '/')
                error = find_absolute(search, &link, alt);
        if (error == -ENOENT && link.name[0] != '/') {
                char *beside = directory_of(debug->path);

                if (beside)
                        error = open_formatted(&link, alt, "%s/%s", beside, link.name);
                free(beside);
        }
        return error == -ENOENT ? fetch(search, link.name, &link, alt) : error;
}

int debug_file_alt_wanted(const struct elf_file *debug, char **text)
{
        struct link link = {.of = debug};
        char hex[ELF_BUILD_ID_HEX];

        if (!read_alt_link(debug, &link))
                return -ENOENT;
        elf_build_id_hex(link.build_id, link.build_id_bytes, hex);
        return asprintf(text, "%s (build-id %s)", link.name, hex) < 0 ? -ENOMEM : 0;
}
