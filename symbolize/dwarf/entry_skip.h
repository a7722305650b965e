/* SPDX-License-Identifier: MIT */
/* From one entry of a unit to the next, by the unit's abbreviations. Pure functions over
 * bytes that may lie: nothing from END on is read, and *AT stays at or before it. */
#ifndef MEMLAG_SYMBOLIZE_ENTRY_SKIP_H
#define MEMLAG_SYMBOLIZE_ENTRY_SKIP_H

#include <stdbool.h>
#include <stdint.h>

#include "abbreviation.h"

/* The address attributes of an entry. */
struct entry_place {
        bool has_range; /* from low to high; other forms are not read */
        uint64_t low;
        uint64_t high;
        uint64_t ranges;  /* offset of the list of its ranges; 0: none */
        uint64_t sibling; /* offset in the unit; 0: not said */
};

/* The abbreviation of the entry at *AT, which moves behind its code, or NULL: there is
 * none, or (*CODE is 0) the entries of a level end here. */
const struct abbreviation *abbreviations_next(const struct abbreviations *table,
                                              const uint8_t **at, const uint8_t *end,
                                              uint64_t *code);

/* Moves *AT from behind the entry's code to its end. False when that is not inside. */
bool abbreviation_skip(const struct abbreviations *table,
                       const struct abbreviation *abbreviation,
                       const struct unit_layout *layout, const uint8_t **at,
                       const uint8_t *end, struct entry_place *place);

#endif
