/* SPDX-License-Identifier: MIT */
/* Reading debugging information entries that may lie: references to a missing
 * alternate file are not followed, chains and walks end. */
#ifndef MEMLAG_SYMBOLIZE_DIE_H
#define MEMLAG_SYMBOLIZE_DIE_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abbreviation.h"
#include "debug_image.h"
#include "line_table.h"
#include "range_map.h"
#include "split_types.h"
#include "split_unit.h"

struct dwarf_unit {
        uint64_t die_offset;
        struct split_unit *split; /* once it was looked for and found; owned */
        bool split_asked;
};

/* Bytes that strings may stand in. */
struct dwarf_bytes {
        const char *start;
        const char *end;
};

/* A table of abbreviations that was read, for the next one who walks over its unit. */
struct dwarf_abbreviations {
        const char *start; /* NULL: none */
        struct unit_layout layout;
        struct abbreviations table;
        unsigned users;   /* walks that are not over */
        bool of_one_walk; /* not kept: its place was in use */
};

/* Where the units' own parts of the program's sections begin, in ascending order. */
struct split_bases {
        uint64_t *addresses; /* in .debug_addr; one for each unit that is split */
        uint64_t *ranges;    /* in .debug_ranges */
        size_t count;
        bool read;
};

struct dwarf_file {
        const struct elf_file *source;
        bool shared; /* the bytes are those of another one */
        struct debug_image image;
        struct debug_image alt_image;
        Dwarf *dwarf;
        Dwarf *alt;                    /* what dwz moved away; NULL: none, or not found */
        struct dwarf_bytes strings[8]; /* the sections of both with strings */
        struct dwarf_bytes lines;      /* .debug_line */
        struct dwarf_unit *units;
        size_t unit_count;
        size_t units_refused;      /* they are too costly to read */
        size_t alt_units_refused;  /* those of the alternate file */
        size_t units_misplaced;    /* their lists of ranges are damaged */
        uint64_t units_end;        /* where in the section the last one ends */
        struct range_map unit_map; /* code.c's: the number of the unit with an address */
        bool units_mapped;
        /* Work that is left: well-formed information needs a small multiple of its
         * size, a hostile file may ask for any amount. */
        uint64_t budget;
        bool spent; /* the budget of one that shared the bytes */
        struct split_package package;
        struct split_types types;   /* of the package */
        struct split_unit **splits; /* those of the units, and those that hold types */
        size_t split_count;
        size_t split_capacity;
        struct split_bases bases;
        uint64_t split_bytes;   /* that the splits take */
        size_t splits_missing;  /* units whose files are gone or are others */
        size_t splits_too_many; /* units for which there was no room */
        struct dwarf_abbreviations abbreviations[16]; /* by their place */
};

/* Opens the DWARF of FILE, with ALT (or NULL) as its alternate file; both must
 * stay open. Where variables are need only be there WITH_LOCATIONS. 0, -ENOENT when there
 * is none, -EINVAL when it is damaged, -EFBIG when there is too much to unpack,
 * -ENOMEM. */
int dwarf_file_open(struct dwarf_file *dwarf, const struct elf_file *file,
                    const struct elf_file *alt, bool with_locations);
void dwarf_file_close(struct dwarf_file *dwarf);
/* The budget of well-formed information with so much of entries and lines. */
uint64_t dwarf_work(uint64_t entry_bytes, uint64_t line_bytes);
/* Whether other threads can have readers of their own: all of it is in memory, and no
 * unit is split. */
bool dwarf_file_shareable(const struct dwarf_file *file);
/* Opens such a reader of FILE, which must stay open and which its own threads only read;
 * with FILE's budget. 0 or -ENOMEM. */
int dwarf_file_share(struct dwarf_file *copy, const struct dwarf_file *file);
/* Lets go of what was only kept for a while. */
void dwarf_file_forget(struct dwarf_file *dwarf);

/* The entry of unit number UNIT, and the one that has the unit's entries below it:
 * another one when the compiler left them in a separate file. False when the unit
 * cannot be read. */
bool die_open_unit(struct dwarf_file *file, size_t unit, Dwarf_Die *die,
                   Dwarf_Die *entries);

/* Whether DIE's unit has a table of the files that entries refer to by number; else it
 * is the one of the unit in the program. */
bool die_has_files(const struct dwarf_file *file, const Dwarf_Die *die);

/* The attribute NAME of DIE itself; false when absent or unreadable. */
bool die_attribute(const struct dwarf_file *file, Dwarf_Die *die, unsigned name,
                   Dwarf_Attribute *attribute);
/* Whether what that attribute says is in the alternate file, which is missing. */
bool die_lost(const struct dwarf_file *file, Dwarf_Die *die, unsigned name);
bool die_number(const struct dwarf_file *file, Dwarf_Die *die, unsigned name,
                uint64_t *number);
/* NULL also when its length is beyond the budget. */
const char *die_string(struct dwarf_file *file, Dwarf_Die *die, unsigned name);
bool die_reference(struct dwarf_file *file, Dwarf_Die *die, unsigned name,
                   Dwarf_Die *target);

/* Where an inlined call is; 0: not said. */
struct die_call {
        uint64_t file;
        uint64_t line;
        uint64_t column;
        bool has_file;
};

void die_call(Dwarf_Die *die, struct die_call *call);

/* The same, of DIE or of what it is an instance of. */
bool die_inherited_reference(struct dwarf_file *file, const Dwarf_Die *die, unsigned name,
                             Dwarf_Die *target);
/* The entry that DIE is an instance or the definition of; false: of none. */
bool die_origin(struct dwarf_file *file, Dwarf_Die *die, Dwarf_Die *origin);

/* Reads the header of the lines of the unit at DIE. 0; -ENOENT when it has none, or it is
 * damaged; -ENOMEM. On error TABLE is empty. */
int die_line_table(struct dwarf_file *file, Dwarf_Die *die, struct line_table *table);

/* Takes WORK (entries, or bytes read) from the budget; false when it is spent, which
 * leaves 0. */
bool die_spend(struct dwarf_file *file, uint64_t work);

/* The name for linking, else the name in the source, of DIE or of what it is an
 * instance of; NULL when it has none. A C function has one for linking when its author
 * gave it another than the source's. */
const char *die_linkage_name(struct dwarf_file *file, Dwarf_Die *die);
const char *die_name(struct dwarf_file *file, Dwarf_Die *die);

/* Calls ADD for each code range of DIE until it returns non-zero, which is
 * returned. */
typedef int die_add_range(void *context, uint64_t low, uint64_t high);
int die_ranges(struct dwarf_file *file, Dwarf_Die *die, die_add_range *add,
               void *context);
/* The same without looking for what a walk has seen: that DIE has a list at OFFSET (0: it
 * has not). BASE is that of its unit. */
int die_ranges_at(struct dwarf_file *file, Dwarf_Die *die, uint64_t offset, uint64_t base,
                  die_add_range *add, void *context);
uint64_t die_range_base(Dwarf_Die *unit);

/* The section that DIE lies in; start is NULL when that is not known. */
struct dwarf_bytes die_section(const struct dwarf_file *file, const Dwarf_Die *die);
/* Whether the bytes of DIE's file have the other order than the host's. */
bool die_swapped(const Dwarf_Die *die);
/* The abbreviations of DIE's unit, which its header says are at OFFSET; they stay until
 * the caller is done with them, and are kept for a while. 0, -ENOENT or -ENOMEM. */
int die_abbreviations(struct dwarf_file *file, const Dwarf_Die *die, uint64_t offset,
                      const struct unit_layout *layout,
                      struct dwarf_abbreviations **kept);
void die_abbreviations_done(struct dwarf_abbreviations *kept);

#endif
