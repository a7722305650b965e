/* SPDX-License-Identifier: MIT */
/* Layout of a unit's entries (DWARF 5, section 7.5), prepared to skip from entry to
 * entry without decoding their attributes. The bytes may be malformed. */
#ifndef MEMLAG_SYMBOLIZE_ABBREVIATION_H
#define MEMLAG_SYMBOLIZE_ABBREVIATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the unit's header. */
struct unit_layout {
        uint8_t version;
        uint8_t address_bytes;
        uint8_t offset_bytes;
};

/* Over one attribute, or over several that have a fixed size together. */
struct abbreviation_step {
        uint8_t kind;
        uint8_t use;
        uint32_t bytes;
};

struct abbreviation {
        uint64_t code;
        uint32_t tag;
        bool has_children;
        bool has_code; /* names an address or ranges of code */
        bool valid;    /* all attribute sizes are known */
        uint32_t first_step;
        uint32_t step_count;
};

/* The table of a unit. Zero-initialised: empty. */
struct abbreviations {
        struct abbreviation *items; /* by code */
        size_t count;
        size_t capacity;
        struct abbreviation_step *steps;
        size_t step_count;
        size_t step_capacity;
};

/* Reads the table at START, which ends before END; omits a truncated end. Sets
 * *READ_BYTES. 0 or -ENOMEM; freed in any case. */
int abbreviations_read(struct abbreviations *table, const struct unit_layout *layout,
                       const uint8_t *start, const uint8_t *end, size_t *read_bytes);
void abbreviations_free(struct abbreviations *table);

#endif
