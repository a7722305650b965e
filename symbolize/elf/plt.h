/* SPDX-License-Identifier: MIT */
/* The procedure linkage table: small pieces of code that linkers make, one for each
 * function of another library. Calls of the function go through its stub (System V
 * ABI, AMD64 supplement, 5.2). No symbol table names stubs. */
#ifndef MEMLAG_SYMBOLIZE_PLT_H
#define MEMLAG_SYMBOLIZE_PLT_H

#include "elf_file.h"

struct plt_stub {
        uint64_t vaddr;
        uint64_t size_bytes;
        const char *function; /* that it jumps to; owned by the Elf handle */
};

struct plt {
        struct plt_stub *stubs;
        size_t count;
        size_t capacity;
};

/* Reads the stubs of FILE. 0 or -ENOMEM; freed in any case. */
int plt_read(struct plt *plt, const struct elf_file *file);
void plt_free(struct plt *plt);

#endif
