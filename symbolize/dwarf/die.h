/* SPDX-License-Identifier: MIT */
/* Reads debugging information entries, which may be wrong: it follows no reference to a
 * missing alternate file, and bounds chains and traversals. */
#ifndef MEMLAG_SYMBOLIZE_DIE_H
#define MEMLAG_SYMBOLIZE_DIE_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf_file.h"
#include "line_table.h"
#include "string_pool.h"

/* The entry of unit number UNIT, and the parent of the unit's entries: a different
 * entry if the compiler left them in a separate file. False if the unit cannot be
 * read. */
bool die_open_unit(struct dwarf_file *file, size_t unit, Dwarf_Die *die,
                   Dwarf_Die *entries);

/* The entry of the program's unit with the lines of DIE's unit: another one if DIE is in
 * a separate file. NUMBER becomes that unit's number. False: it is not the program's. */
bool die_lines_unit(struct dwarf_file *file, Dwarf_Die *die, Dwarf_Die *unit,
                    size_t *number);

/* The attribute NAME of DIE itself; false when absent or unreadable. */
bool die_attribute(const struct dwarf_file *file, Dwarf_Die *die, unsigned name,
                   Dwarf_Attribute *attribute);
/* Whether the attribute's value is in the alternate file, which is missing. */
bool die_lost(const struct dwarf_file *file, Dwarf_Die *die, unsigned name);
bool die_number(const struct dwarf_file *file, Dwarf_Die *die, unsigned name,
                uint64_t *number);
/* NULL also if its length exceeds the budget. */
const char *die_string(struct dwarf_file *file, Dwarf_Die *die, unsigned name);
bool die_reference(struct dwarf_file *file, Dwarf_Die *die, unsigned name,
                   Dwarf_Die *target);

/* The position of an inlined call; 0: not known. */
struct die_call {
        uint64_t file;
        uint64_t line;
        uint64_t column;
        bool has_file;
};

void die_call(Dwarf_Die *die, struct die_call *call);

/* The same, for DIE or its abstract origin. */
bool die_inherited_reference(struct dwarf_file *file, const Dwarf_Die *die, unsigned name,
                             Dwarf_Die *target);
/* The entry whose instance or definition DIE is; false: none. */
bool die_origin(struct dwarf_file *file, Dwarf_Die *die, Dwarf_Die *origin);

/* Reads the header of the lines of the unit at DIE. 0; -ENOENT when it has none, or it is
 * damaged; -ENOMEM. On error TABLE is empty. */
int die_line_table(struct dwarf_file *file, Dwarf_Die *die, struct line_table *table);

/* Takes WORK (entries, or bytes read) from the budget. False: it is now spent. */
bool die_spend(struct dwarf_file *file, uint64_t work);

/* The linkage name, else the source name, of DIE or its abstract origin; NULL if it
 * has none. A C function has a linkage name if its author gave it another name than
 * the source's. */
const char *die_linkage_name(struct dwarf_file *file, Dwarf_Die *die);
const char *die_name(struct dwarf_file *file, Dwarf_Die *die);
/* The readable form of that name in NAMES; 0: it has none. */
uint32_t die_put_name(struct dwarf_file *file, struct string_pool *names, Dwarf_Die *die);

/* Calls ADD for each code range of DIE until it returns non-zero. Returns that. */
typedef int die_add_range(void *context, uint64_t low, uint64_t high);
int die_ranges(struct dwarf_file *file, Dwarf_Die *die, die_add_range *add,
               void *context);
/* The entry address of the function at DIE. If the function has several ranges, as with
 * cold parts, the entry is the first range's start (DWARF 5, sections 2.17 and 2.18). */
bool die_entry_address(struct dwarf_file *file, Dwarf_Die *die, Dwarf_Addr *entry);

/* The section that contains DIE; no bytes if it is not known. */
struct elf_bytes die_section(const struct dwarf_file *file, const Dwarf_Die *die);

#endif
