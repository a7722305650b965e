/* SPDX-License-Identifier: MIT */
/* The stage of names: reads the mapped ELF files and turns the raw rows of a sample
 * database into locations, inlined functions and data objects. */
#ifndef MEMLAG_SYMBOLIZE_H
#define MEMLAG_SYMBOLIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "db.h"

/* name_source.c also lists every option that affects names, to find out whether they must
 * be made again. */
struct symbolize_options {
        /* Directories of separate debug files, searched before /usr/lib/debug;
         * NULL-terminated, or NULL. */
        const char *const *debuginfo_paths;
        /* Further functions that only pass on memory from an allocator; '*' stands for
         * any characters. NULL-terminated, or NULL. */
        const char *const *allocators;
        /* For another machine's files: their root directory, or NULL. */
        const char *symfs;
        /* Directories with files by build-id, like ~/.debug; NULL-terminated, or NULL. */
        const char *const *build_id_paths;
        /* The kernel's file, and a copy of its /proc/kallsyms; each may be NULL. Without
         * both the kernel has no names, unless build_id_paths has them. */
        const char *vmlinux;
        const char *kallsyms;
        /* Whether to ask the servers in DEBUGINFOD_URLS for missing debug files. */
        bool debuginfod;
        /* Whether names may be lost if their files have changed or are gone. */
        bool drop_names;
        /* Prints to standard output the evidence for the types of samples at this
         * instruction. 0: none. */
        uint64_t trace_types;
};

/* Names all samples of DB (opened for writing) in one transaction. Replaces the results
 * of an earlier run; an error keeps them. If they were made from the same files with the
 * same options, it does nothing. Only reads the files of this machine. Clears the
 * findings, which depend on the replaced names. 0 or a negative errno value with a
 * message in DIAG; -ESTALE: names would be lost, and nothing was changed. */
int symbolize(struct db *db, const struct symbolize_options *options, struct diag *diag);

#endif
