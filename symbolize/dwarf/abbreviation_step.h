/* SPDX-License-Identifier: MIT */
/* The steps that the attributes of an entry are parted into: for who makes them, and who
 * goes by them. */
#ifndef MEMLAG_SYMBOLIZE_ABBREVIATION_STEP_H
#define MEMLAG_SYMBOLIZE_ABBREVIATION_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "abbreviation.h"

/* How to skip an attribute: a fixed number of bytes, a LEB128, a block with its
 * length, a text up to its NUL, or a form that the entry names. */
enum step_kind { STEP_BYTES, STEP_LEB, STEP_BLOCK, STEP_TEXT, STEP_INDIRECT };

/* The part of an entry's address ranges or tree position that the attribute gives. */
enum step_use {
        USE_NONE,
        USE_LOW,
        USE_HIGH,
        USE_SIZE,
        USE_RANGES,
        USE_SIBLING,
        STEP_USES
};

/* Sets *STEP to skip an attribute of FORM (DWARF 5, sections 7.5.5 and 7.5.6, and the
 * forms of GNU), without a use. For a block, the step's bytes are the size of the
 * block's length; 0: a LEB128. False: unknown. */
bool abbreviation_step_of(const struct unit_layout *layout, uint64_t form,
                          struct abbreviation_step *step);

/* Reads the LEB128 at *AT, which moves behind it: *VALUE is its low 64 bits. False: it
 * goes on to END. */
static inline bool read_leb(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
        *value = 0;
        for (unsigned shift = 0; *at < end; shift += 7) {
                uint8_t byte = *(*at)++;

                if (shift < 64)
                        *value |= (uint64_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80))
                        return true;
        }
        return false;
}

/* The same without its value. */
static inline bool skip_leb(const uint8_t **at, const uint8_t *end)
{
        while (*at < end)
                if (!(*(*at)++ & 0x80))
                        return true;
        return false;
}

#endif
