/* SPDX-License-Identifier: MIT */
/* Entries are skipped as bytes: few of them have a wanted attribute. */
#include "entry_skip.h"

#include <dwarf.h>
#include <string.h>

#include "abbreviation_step.h"
#include "append.h"

static uint64_t read_number(const uint8_t *at, unsigned bytes)
{
        uint64_t value = 0;
        uint32_t word;

        if (bytes == sizeof(word)) { /* mostly */
                memcpy(&word, at, sizeof(word));
                return word;
        }
        if (bytes == sizeof(value)) {
                memcpy(&value, at, sizeof(value));
                return value;
        }
        for (unsigned i = 0; i < bytes; i++)
                value |= (uint64_t)at[i] << 8 * i;
        return value;
}

static const struct abbreviation *find(const struct abbreviations *table, uint64_t code)
{
        size_t at = number_from(table->items, table->count, sizeof(*table->items), code);

        return at < table->count && table->items[at].code == code ? &table->items[at]
                                                                  : NULL;
}

/* As abbreviations_next(): fast where the code has one byte, as most codes have. */
static inline const struct abbreviation *next_entry(const struct abbreviations *table,
                                                    const uint8_t **at,
                                                    const uint8_t *end, uint64_t *code)
{
        if (*at < end && **at < 0x80) {
                *code = *(*at)++;
        } else if (!read_leb(at, end, code)) {
                *code = UINT64_MAX;
                return NULL;
        }
        if (*code == 0)
                return NULL;
        /* As compilers number them. */
        return *code <= table->count && table->items[*code - 1].code == *code
                   ? &table->items[*code - 1]
                   : find(table, *code);
}

const struct abbreviation *abbreviations_next(const struct abbreviations *table,
                                              const uint8_t **at, const uint8_t *end,
                                              uint64_t *code)
{
        return next_entry(table, at, end, code);
}

static bool skip_bytes(const uint8_t **at, const uint8_t *end, uint64_t bytes)
{
        if (bytes > (uint64_t)(end - *at))
                return false;
        *at += bytes;
        return true;
}

static bool skip_step(const struct unit_layout *layout,
                      const struct abbreviation_step *step, const uint8_t **at,
                      const uint8_t *end)
{
        uint64_t length;
        const uint8_t *nul;

        switch ((enum step_kind)step->kind) {
        case STEP_BYTES:
                return skip_bytes(at, end, step->bytes);
        case STEP_LEB:
                return skip_leb(at, end);
        case STEP_BLOCK:
                if (step->bytes == 0)
                        return read_leb(at, end, &length) && skip_bytes(at, end, length);
                nul = *at;
                return skip_bytes(at, end, step->bytes) &&
                       skip_bytes(at, end, read_number(nul, step->bytes));
        case STEP_TEXT: /* mostly of few letters: longer ones are in a section of texts */
                for (nul = *at; nul < end && *nul;)
                        nul++;
                *at = nul + (nul < end);
                return nul < end;
        case STEP_INDIRECT:
                break;
        }
        struct abbreviation_step named;

        return read_leb(at, end, &length) && length != DW_FORM_implicit_const &&
               abbreviation_step_of(layout, length, &named) &&
               named.kind != STEP_INDIRECT && skip_step(layout, &named, at, end);
}

/* The value of a number that lies between START and END. */
static uint64_t value_of(const struct abbreviation_step *step, const uint8_t *start,
                         const uint8_t *end)
{
        uint64_t value;

        if (step->kind == STEP_BYTES)
                return read_number(start, step->bytes);
        return read_leb(&start, end, &value) ? value : 0;
}

/* The address attributes of an entry. */
struct said {
        uint64_t numbers[ABBREVIATION_USES];
        bool has[ABBREVIATION_USES];
};

static void take_said(const struct said *said, struct entry_place *place)
{
        place->low = said->numbers[USE_LOW];
        place->high = said->has[USE_SIZE]
                          ? said->numbers[USE_LOW] + said->numbers[USE_SIZE]
                          : said->numbers[USE_HIGH];
        place->has_range =
            said->has[USE_LOW] && said->has[USE_HIGH] != said->has[USE_SIZE];
        place->ranges = said->numbers[USE_RANGES];
        place->sibling = said->numbers[USE_SIBLING];
}

/* Of an entry of fixed size. */
static inline bool skip_fixed(const struct abbreviation *abbreviation, const uint8_t **at,
                              const uint8_t *end, struct entry_place *place)
{
        struct said said;

        if (abbreviation->fixed_bytes > (uint64_t)(end - *at))
                return false;
        for (size_t i = USE_LOW; i < ABBREVIATION_USES; i++) {
                struct abbreviation_number number = abbreviation->numbers[i];

                said.has[i] = number.bytes > 0;
                said.numbers[i] =
                    said.has[i] ? read_number(*at + number.at, number.bytes) : 0;
        }
        take_said(&said, place);
        *at += abbreviation->fixed_bytes;
        return true;
}

bool abbreviation_skip(const struct abbreviations *table,
                       const struct abbreviation *abbreviation,
                       const struct unit_layout *layout, const uint8_t **at,
                       const uint8_t *end, struct entry_place *place)
{
        struct said said = {0};

        if (abbreviation->fixed)
                return skip_fixed(abbreviation, at, end, place);
        for (uint32_t i = 0; i < abbreviation->step_count; i++) {
                const struct abbreviation_step *step =
                    &table->steps[abbreviation->first_step + i];
                const uint8_t *start = *at;

                if (!skip_step(layout, step, at, end))
                        return false;
                if (step->use == USE_NONE)
                        continue;
                said.has[step->use] = true;
                said.numbers[step->use] = value_of(step, start, *at);
        }
        take_said(&said, place);
        return abbreviation->valid;
}

struct pass {
        const struct abbreviations *table;
        const struct unit_layout *layout;
        const uint8_t *start;
        const uint8_t *end;
};

/* Steps over the attributes of an entry, and to its sibling if the entry has a sibling
 * reference. *INSIDE: the entry's children come next. False at the end of the readable
 * bytes. */
static inline bool step_over(const struct pass *pass,
                             const struct abbreviation *abbreviation, const uint8_t **at,
                             bool *inside)
{
        const struct abbreviation_step *step =
            &pass->table->steps[abbreviation->first_step];
        uint64_t sibling = 0;

        if (abbreviation->fixed) {
                if (abbreviation->fixed_bytes > (uint64_t)(pass->end - *at))
                        return false;
                struct abbreviation_number number = abbreviation->numbers[USE_SIBLING];

                if (number.bytes > 0)
                        sibling = read_number(*at + number.at, number.bytes);
                *at += abbreviation->fixed_bytes;
        }
        for (uint32_t i = abbreviation->fixed ? 0 : abbreviation->step_count; i > 0;
             i--, step++) {
                const uint8_t *value = *at;

                if (step->kind == STEP_BYTES) {
                        if (step->bytes > (uint64_t)(pass->end - value))
                                return false;
                        *at += step->bytes;
                } else if (!skip_step(pass->layout, step, at, pass->end)) {
                        return false;
                }
                if (step->use == USE_SIBLING)
                        sibling = value_of(step, value, *at);
        }
        *inside = abbreviation->has_children;
        if (*inside && sibling > (uint64_t)(*at - pass->start) &&
            sibling <= (uint64_t)(pass->end - pass->start)) {
                *at = pass->start + sibling;
                *inside = false;
        }
        return abbreviation->valid;
}

/* Steps over entries until DEPTH levels end; with none to end, until an entry that is not
 * codeless or the end of the level, which *AT is left at. */
static inline bool pass_entries(const struct pass *pass, const uint8_t **at, size_t depth)
{
        const bool to_end = depth > 0;

        while (!to_end || depth > 0) {
                const uint8_t *next = *at;
                uint64_t code;
                const struct abbreviation *abbreviation =
                    next_entry(pass->table, &next, pass->end, &code);
                bool inside;

                if (code == 0 && depth > 0) {
                        depth--;
                        *at = next;
                        continue;
                }
                if (!abbreviation || (depth == 0 && !abbreviation->codeless))
                        return false;
                if (!step_over(pass, abbreviation, &next, &inside))
                        return false;
                *at = next;
                depth += inside;
        }
        return true;
}

void abbreviations_pass(const struct abbreviations *table,
                        const struct unit_layout *layout, const uint8_t *start,
                        const uint8_t **at, const uint8_t *end)
{
        const struct pass pass = {table, layout, start, end};

        pass_entries(&pass, at, 0);
}

bool abbreviations_leave(const struct abbreviations *table,
                         const struct unit_layout *layout, const uint8_t *start,
                         const uint8_t **at, const uint8_t *end)
{
        const struct pass pass = {table, layout, start, end};

        return pass_entries(&pass, at, 1);
}
