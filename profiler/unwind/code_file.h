/* SPDX-License-Identifier: MIT */
/* A mapped file with code, as the unwinder needs it: its unwind tables, the rules
 * derived from them, and its code. Files are hostile and may change meanwhile. */
#ifndef MEMLAG_CODE_FILE_H
#define MEMLAG_CODE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keyed.h"
#include "perf/records/record.h"
#include "unwind_table.h"

/* How to get from an instruction to its caller. */
struct unwind_rule {
        void *state; /* libunwind's; NULL: not known */
        bool of_signal;
};

struct code_file {
        char *path;   /* its own */
        bool is_vdso; /* the kernel's own, which has no path */
        uint8_t build_id[RECORD_BUILD_ID_BYTES];
        size_t build_id_bytes; /* 0: not known, any file will do */
        bool read;
        Elf *elf;
        struct unwind_table *table; /* NULL: not there, or another file than was mapped */
        struct keyed rules;         /* struct unwind_rule by (0, address in the file) */
        uint8_t *page;              /* the page of its code that was read last */
        uint64_t page_offset;
};

/* Reads the tables of FILE, once; false: it has none. */
bool code_file_read(struct code_file *file);

/* Returns the 8 bytes at OFFSET; zero if FILE is shorter, or unreadable. */
uint64_t code_file_word(struct code_file *file, uint64_t offset);

/* Frees the members of FILE. */
void code_file_free(struct code_file *file);

#endif
