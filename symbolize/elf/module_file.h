/* SPDX-License-Identifier: MIT */
/* Locates a module's file at its recorded path. A file of another machine is in a copy
 * of that machine's files, or in perf's cache of files by build-id. */
#ifndef MEMLAG_SYMBOLIZE_MODULE_FILE_H
#define MEMLAG_SYMBOLIZE_MODULE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "module_identity.h"

/* How perf names the kernel where it names the files that are mapped. */
extern const char kernel_module[];
/* The name of the mappings of the file that the kernel maps into every 64-bit process. */
extern const char vdso_module[];

struct module_search {
        const char *symfs; /* the directory that is the machine's root; NULL: / */
        const char *const *build_id_directories; /* NULL-terminated, or NULL */
        const char *vmlinux;                     /* the kernel's file, or NULL */
};

/* Opens the first file that is the right one: 0. -ESTALE when there are only others,
 * -ENOEXEC when it is not ELF, -ENOENT when it is nowhere, -ENOMEM. */
int module_file_open(const struct module_identity *identity,
                     const struct module_search *search, struct elf_file *file);

/* The path of the kernel's symbols in perf's cache, which is the caller's to free; NULL
 * when there is none. */
char *module_file_kallsyms(const struct module_identity *identity,
                           const struct module_search *search);

#endif
