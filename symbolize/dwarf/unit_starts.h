/* SPDX-License-Identifier: MIT */
/* Addresses at which code of several units begins: functions folded by the linker
 * (ICF), or copies of one inline function. */
#ifndef MEMLAG_SYMBOLIZE_UNIT_STARTS_H
#define MEMLAG_SYMBOLIZE_UNIT_STARTS_H

#include "die.h"
#include "elf_file.h"

struct unit_start {
        uint64_t vaddr;
        uint32_t unit; /* its number */
};

/* Zero-initialised: none. */
struct unit_starts {
        struct unit_start *items; /* by address, and unit */
        size_t count;
        size_t capacity;
};

/* Reads the starts of DWARF, which belongs to FILE. 0 or -ENOMEM; freed in any case. */
int unit_starts_read(struct unit_starts *starts, struct dwarf_file *dwarf,
                     const struct elf_file *file);
void unit_starts_free(struct unit_starts *starts);

/* The first of the items at VADDR or behind. */
size_t unit_starts_from(const struct unit_starts *starts, uint64_t vaddr);

#endif
