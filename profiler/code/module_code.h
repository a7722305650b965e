/* SPDX-License-Identifier: MIT */
/* The code of ELF files, by file offset: its bytes, and known instruction boundaries.
 * Files are hostile and may change meanwhile. */
#ifndef MEMLAG_CODE_MODULE_CODE_H
#define MEMLAG_CODE_MODULE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module_code;

/* Opens PATH; NULL when it is no ELF file for x86-64, is unreadable, or there is no
 * memory. */
struct module_code *module_code_open(const char *path);
void module_code_close(struct module_code *module);

/* Converts FILE_OFFSET to the file address (ELF virtual address); false when it is in no
 * executable segment. */
bool module_code_address(const struct module_code *module, uint64_t file_offset,
                         uint64_t *address);

/* Finds the last known instruction boundary at or before ADDRESS, from the file's unwind
 * table (.eh_frame) or its symbols; false when there is none. */
bool module_code_boundary(struct module_code *module, uint64_t address,
                          uint64_t *boundary);

/* Returns true if a function is known to begin at ADDRESS. */
bool module_code_is_entry(struct module_code *module, uint64_t address);

/* Reads LENGTH bytes at ADDRESS; false when they are not all there. */
bool module_code_read(const struct module_code *module, uint64_t address, void *bytes,
                      size_t length);

#endif
