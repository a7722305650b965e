/* SPDX-License-Identifier: MIT */
/* The entries of a unit outside of the program: in a file (.dwo) or in a package (.dwp).
 * libdw would open any file that the program names, and cannot read packages. Therefore
 * it gets the unit as a file in memory. */
#ifndef MEMLAG_SYMBOLIZE_SPLIT_UNIT_H
#define MEMLAG_SYMBOLIZE_SPLIT_UNIT_H

#include <elfutils/libdw.h>

#include "split_package.h"

/* The program's part of the unit. */
struct split_skeleton {
        const char *path; /* of the program; NULL: not known */
        Elf *elf;         /* its debug information */
        unsigned version;
        uint64_t unit_id;
        const char *name;      /* of the .dwo file */
        const char *directory; /* NAME is relative to it; or NULL */
        uint64_t addr_base;    /* of the unit in .debug_addr */
        uint64_t addr_end;     /* where the next unit's begin; 0: unknown */
        uint64_t ranges_base;  /* in .debug_ranges, before DWARF 5 */
        uint64_t ranges_end;   /* as addr_end */
        uint64_t low_pc;       /* the base of its ranges */
};

struct split_unit {
        Dwarf *dwarf;
        Elf *elf;
        char *image;
        size_t image_bytes;
        Dwarf_Die die; /* of the unit */
        uint64_t low_pc;
        unsigned version;
        uint64_t lists_at; /* of .debug_rnglists in image; 0: none */
        uint64_t lists_size;
        uint64_t work; /* limit for its entries, as dwarf_file.budget */
        size_t number; /* of the program's unit; SIZE_MAX: none */
};

/* Opens the rest of SKELETON's unit. 0, -ENOENT if there is no file or it is another
 * unit's, -EFBIG if libdw would take too much memory (die_cost.h), -ENOMEM. */
int split_unit_open(struct split_unit *unit, const struct split_skeleton *skeleton,
                    struct split_package *package);
void split_unit_close(struct split_unit *unit);

/* Opens UNIT, zero-initialised, from PARTS: only its entries, without DIE. 0, or an error
 * as above; the caller closes it also on error. */
int split_unit_make(struct split_unit *unit, unsigned version,
                    const struct elf_bytes *parts);

/* The start of an entry's range list in UNIT, for dwarf_ranges(); RANGES is the entry's
 * attribute. 0: none. */
uint64_t split_unit_range_list(const struct split_unit *unit, Dwarf_Attribute *ranges);

#endif
