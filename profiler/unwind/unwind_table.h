/* SPDX-License-Identifier: MIT */
/* The unwind tables of one ELF file for x86-64: .eh_frame, found through .eh_frame_hdr
 * if it exists, then .debug_frame. Entries are rewritten in one simple form that cannot
 * harm their reader. Files are hostile and may change meanwhile. */
#ifndef MEMLAG_UNWIND_TABLE_H
#define MEMLAG_UNWIND_TABLE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_table;

/* Reads the tables of ELF, which must stay open as long. NULL: it is no file for x86-64,
 * or there is no memory. */
struct unwind_table *unwind_table_new(Elf *elf);
void unwind_table_free(struct unwind_table *table);

/* Computes the bias between the file's virtual addresses and process addresses, for code
 * at FILE_OFFSET mapped at START_ADDR. False: no executable segment has that offset. */
bool unwind_table_bias(const struct unwind_table *table, uint64_t start_addr,
                       uint64_t file_offset, uint64_t *bias);

/* An entry: an FDE of .eh_frame (LSB, "Exception Frames") after its CIE, at OFFSET of
 * unwind_table_bytes. Its function's address is absolute (DW_EH_PE_udata8). */
struct unwind_entry {
        bool known; /* it exists, and is sound */
        bool of_signal;
        uint64_t offset;
        uint64_t start_addr; /* the function, in the file's virtual addresses */
        uint64_t length_bytes;
};

/* Finds the entry for the instruction at ADDRESS, a virtual address of the file. False:
 * there is none. */
bool unwind_table_find(struct unwind_table *table, uint64_t address,
                       struct unwind_entry *entry);

/* The rewritten entries so far: their bytes stay as they are, but may move. */
const uint8_t *unwind_table_bytes(const struct unwind_table *table, size_t *length);

#endif
