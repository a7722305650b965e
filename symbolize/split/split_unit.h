/* SPDX-License-Identifier: MIT */
/* The entries of a unit outside of the program: in a file (.dwo), or in a package of them
 * (.dwp). libdw would open any file that the program names and knows no packages; here it
 * gets the unit as a file in memory. */
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
        const char *directory; /* that it is below, or NULL */
        uint64_t addr_base;    /* of the unit in .debug_addr */
        uint64_t addr_end;     /* where the next unit's begin; 0: nowhere */
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
        uint64_t work; /* that its entries may cost, as in dwarf_file.budget */
        size_t number; /* of the program's unit; SIZE_MAX: none */
};

/* Opens the rest of SKELETON's unit: 0, -ENOENT when it is nowhere or is not the one,
 * -EFBIG when libdw is not to be given it (die_cost.h), -ENOMEM. */
int split_unit_open(struct split_unit *unit, const struct split_skeleton *skeleton,
                    struct split_package *package);
void split_unit_close(struct split_unit *unit);

/* Opens UNIT, zero-initialised, from PARTS: only entries, without DIE. 0, or as above; to
 * be closed also on error. */
int split_unit_make(struct split_unit *unit, unsigned version,
                    const struct elf_bytes *parts);

/* Where the range list of an entry of UNIT begins, for dwarf_ranges(); RANGES is its
 * attribute. 0: nowhere. */
uint64_t split_unit_range_list(const struct split_unit *unit, Dwarf_Attribute *ranges);

#endif
