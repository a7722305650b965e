/* SPDX-License-Identifier: MIT */
/* Which entries of the functions that those with code are instances of these have, too:
 * compilers leave out what has no code. */
#ifndef MEMLAG_SYMBOLIZE_ORIGIN_ENTRIES_H
#define MEMLAG_SYMBOLIZE_ORIGIN_ENTRIES_H

#include "lost_pointers.h"

struct origin_entry {
        Dwarf_Off origin;
        uint32_t instance; /* number of the function that has it, inlined or not */
};

/* Zero-initialised: none. */
struct origin_entries {
        struct origin_entry *items;
        size_t count;
        size_t capacity;
};

/* A function with code, which may be inlined in another. */
struct function_instance {
        Dwarf_Die die;
        uint32_t number;
        bool inlined;
        const struct code_range *ranges;
        size_t range_count;
};

/* Takes note of the origin of DIE, if it has one, a block or variable of the function
 * that is number INSTANCE. 0 or -ENOMEM. */
int origin_entries_keep(struct origin_entries *entries, struct dwarf_file *dwarf,
                        Dwarf_Die *die, uint32_t instance);

/* Puts them in order of the instances, before they are compared. */
void origin_entries_sort(struct origin_entries *entries);

/* Adds to VARIABLES what FUNCTION's origin has in other blocks than ENTRIES, whose code
 * is lost, or of an inlined one with variables, in other variables. 0 or -ENOMEM. */
int origin_entries_compare(const struct origin_entries *entries,
                           struct variables *variables, struct type_reader *reader,
                           const struct function_instance *function);

void origin_entries_free(struct origin_entries *entries);

#endif
