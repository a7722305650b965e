/* SPDX-License-Identifier: MIT */
/* The stage of names: turns the raw rows of a sample database into locations,
 * inlined functions and data objects, by reading the ELF files that were mapped. */
#ifndef MEMLAG_SYMBOLIZE_H
#define MEMLAG_SYMBOLIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "db.h"

/* Every option that decides on names is also in name_source.c, which tells by it whether
 * names are to be made again. */
struct symbolize_options {
        /* Directories of separate debug files, searched before /usr/lib/debug;
         * NULL-terminated, or NULL. */
        const char *const *debuginfo_paths;
        /* Functions that only hand memory on from an allocator, besides those known; '*'
         * stands for any characters. NULL-terminated, or NULL. */
        const char *const *allocators;
        /* Another machine's files: the directory that was its root, or NULL. */
        const char *symfs;
        /* Directories with files by build-id, as perf keeps them in ~/.debug;
         * NULL-terminated, or NULL. */
        const char *const *build_id_paths;
        /* The kernel's file, and a copy of its /proc/kallsyms; each may be NULL. Without
         * them it has no names, unless they are in build_id_paths. */
        const char *vmlinux;
        const char *kallsyms;
        /* Whether to ask the servers in DEBUGINFOD_URLS for debug files that are not
         * here. Nothing is asked otherwise. */
        bool debuginfod;
        /* Whether names may be lost whose files are others now, or gone. */
        bool drop_names;
        /* The address of an instruction that samples have: what decided on their types is
         * printed to standard output. 0: of none. */
        uint64_t trace_types;
};

/* Names all samples of DB (opened for writing) in one transaction: what an earlier
 * run wrote is replaced, and on error kept. When it was made from the same files with
 * the same options, there is nothing to do. Files of this machine are only read. The
 * findings that were made from names that are replaced are cleared too.
 * Returns 0 or a negative errno value with a message in DIAG; -ESTALE: names
 * would be lost, and all are as they were. */
int symbolize(struct db *db, const struct symbolize_options *options, struct diag *diag);

#endif
