/* SPDX-License-Identifier: MIT */
/* The debug information of one ELF file: opened and closed. die.h
 * reads its entries. */
#ifndef MEMLAG_SYMBOLIZE_DWARF_FILE_H
#define MEMLAG_SYMBOLIZE_DWARF_FILE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debug_image.h"
#include "split_types.h"
#include "split_unit.h"

/* The limit on runs of a unit's line program for single functions. */
#define DWARF_LINE_RUNS UINT64_C(64)

/* Most units have fewer. Therefore neighbours in a unit seldom share a slot. */
#define DWARF_ABBREVIATIONS 1024

struct dwarf_unit {
        uint64_t die_offset;
        struct split_unit *split; /* after a successful search; owned */
        bool split_asked;
        unsigned line_runs; /* of its line program, for single functions */
};

/* Finds the sibling of an entry by its abbreviation. libdw would read all attributes each
 * time. Offsets are 0 where they are not known. */
struct dwarf_abbreviation {
        struct Dwarf_CU *unit; /* NULL: the slot is empty */
        Dwarf_Abbrev *abbrev;
        uint32_t code; /* as its bytes are */
        uint16_t sibling_at;
        uint16_t entry_bytes;
        uint16_t tag;
        bool same_size; /* of all its entries, which have no children */
};

/* The starts of the units' parts in the program's sections, in ascending order. */
struct split_bases {
        uint64_t *addresses; /* in .debug_addr; one for each unit that is split */
        uint64_t *ranges;    /* in .debug_ranges */
        size_t count;
        bool read;
};

struct dwarf_file {
        const struct elf_file *source;
        struct debug_image image;
        struct debug_image alt_image;
        Dwarf *dwarf;
        Dwarf *alt;                  /* dwz's file; NULL: none, or not found */
        struct elf_bytes strings[8]; /* string sections of both files */
        struct elf_bytes lines;      /* .debug_line */
        struct dwarf_unit *units;
        size_t unit_count;

        /* Remaining work. Well-formed information needs a small multiple of its size; a
         * hostile file may need any amount. */
        uint64_t budget;
        uint64_t line_budget; /* the same, for lines of single functions alone */
        uint64_t code_budget; /* bytes of the functions that are decoded */
        struct split_package package;
        struct split_types types;   /* of the package */
        struct split_unit **splits; /* split units of units, and of types */
        size_t split_count;
        size_t split_capacity;
        struct split_bases bases;
        uint64_t split_bytes;   /* memory of the splits */
        size_t splits_missing;  /* units whose files are gone or have changed */
        size_t splits_too_many; /* units beyond the capacity */
        struct dwarf_abbreviation abbreviations[DWARF_ABBREVIATIONS]; /* by code */
};

/* Opens the DWARF of FILE, with ALT (or NULL) as its alternate file; both must stay open.
 * WITH_LOCATIONS: the locations of variables are needed. 0, -ENOENT when there is none,
 * -EINVAL when it is damaged, -EFBIG when there is too much to unpack, -ENOMEM. */
int dwarf_file_open(struct dwarf_file *dwarf, const struct elf_file *file,
                    const struct elf_file *alt, bool with_locations);
void dwarf_file_close(struct dwarf_file *dwarf);

#endif
