/* SPDX-License-Identifier: MIT */
/* Locates a module's file at its recorded path. A file of another machine is in a copy of
 * that machine's file system, or in perf's cache of files by build-id. */
#ifndef MEMLAG_SYMBOLIZE_MODULE_FILE_H
#define MEMLAG_SYMBOLIZE_MODULE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"

struct sqlite3_stmt;

/* The recorded properties of a file without a build-id. */
struct recorded_file {
        bool known;
        uint64_t size_bytes;
        int64_t checksum; /* CRC-32; negative: not known, the file was changed already */
};

/* The wanted file: PATH, with this build-id if one was recorded. */
struct module_identity {
        const char *path;
        const uint8_t *build_id;
        size_t build_id_bytes; /* 0: not recorded */
        struct recorded_file file;
};

/* Columns of an identity, from module joined with module_file. */
#define MODULE_IDENTITY_COLUMNS "path, build_id, f.size_bytes, f.checksum"
#define MODULE_IDENTITY_JOIN    " LEFT JOIN module_file AS f USING (module_id) "

/* The identity in ROW, from COLUMN on. The row owns its texts. */
struct module_identity module_identity_of_row(struct sqlite3_stmt *row, int column);

/* Whether FILE is the wanted one: by build-id, or by size and checksum. If nothing was
 * recorded, any file is. */
bool module_identity_is(const struct module_identity *identity,
                        const struct elf_file *file);

/* perf's name for the kernel among mapped files. */
extern const char kernel_module[];
/* The name of mappings of the vDSO, which the kernel maps into every 64-bit process. */
extern const char vdso_module[];

struct module_search {
        const char *symfs; /* the directory that is the machine's root; NULL: / */
        const char *const *build_id_directories; /* NULL-terminated, or NULL */
        const char *vmlinux;                     /* the kernel's file, or NULL */
};

/* Opens the first file that is the wanted one: 0. -ESTALE when there are only other
 * files, -ENOEXEC when it is not ELF, -ENOENT when there is none, -ENOMEM. */
int module_file_open(const struct module_identity *identity,
                     const struct module_search *search, struct elf_file *file);

/* The path of the kernel's symbol list in perf's cache, to be freed; NULL: none. */
char *module_file_kallsyms(const struct module_identity *identity,
                           const struct module_search *search);

#endif
