/* SPDX-License-Identifier: MIT */
/* Pointers of blocks whose code is gone, as where it was merged with that of another
 * block: nothing but their types is left. */
#ifndef MEMLAG_SYMBOLIZE_LOST_POINTERS_H
#define MEMLAG_SYMBOLIZE_LOST_POINTERS_H

#include "variables.h"

struct code_range {
        uint64_t low;
        uint64_t high;
};

/* Adds the variable at DIE, whose block without code is as deep as BLOCK says, in its
 * instance, and has RANGES, COUNT of them, around it, to VARIABLES' lost pointers where
 * it is a pointer. 0 or -ENOMEM. */
int lost_pointers_add(struct variables *variables, struct type_reader *reader,
                      Dwarf_Die *die, const struct lost_pointer *block,
                      const struct code_range *ranges, size_t count);

/* Adds the variable at DIE to what the function INSTANCE is missing, where it is a
 * pointer. 0 or -ENOMEM. */
int lost_pointers_missing(struct variables *variables, struct type_reader *reader,
                          Dwarf_Die *die, uint32_t instance);

/* Adds the variable at PLACE's entry, which is nowhere in its block with RANGES, to
 * VARIABLES' unplaced ones, with PLACE's blocks. 0 or -ENOMEM. */
int lost_pointers_unplaced(struct variables *variables, struct type_reader *reader,
                           const struct unplaced_variable *place,
                           const struct code_range *ranges, size_t count);

/* Adds those in the blocks of ORIGIN, the entry that a function with RANGES is an
 * instance of, that are not among KEPT, the offsets of KEPT_COUNT blocks, which it puts
 * in order. 0 or -ENOMEM. */
int lost_pointers_of_origin(struct variables *variables, struct type_reader *reader,
                            Dwarf_Die *origin, Dwarf_Off *kept, size_t kept_count,
                            const struct code_range *ranges, size_t count);

/* Adds the variables of ORIGIN, the entry that the inlined function INSTANCE is one of,
 * that are not among KEPT, the offsets of KEPT_COUNT variables, which it puts in order,
 * to VARIABLES' missing ones. 0 or -ENOMEM. */
int lost_pointers_of_inlined(struct variables *variables, struct type_reader *reader,
                             Dwarf_Die *origin, Dwarf_Off *kept, size_t kept_count,
                             uint32_t instance);

#endif
