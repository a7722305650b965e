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

const struct abbreviation *abbreviations_next(const struct abbreviations *table,
                                              const uint8_t **at, const uint8_t *end,
                                              uint64_t *code)
{
        if (!read_leb(at, end, code)) {
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

bool abbreviation_skip(const struct abbreviations *table,
                       const struct abbreviation *abbreviation,
                       const struct unit_layout *layout, const uint8_t **at,
                       const uint8_t *end, struct entry_place *place)
{
        uint64_t numbers[STEP_USES] = {0};
        bool has[STEP_USES] = {false};

        for (uint32_t i = 0; i < abbreviation->step_count; i++) {
                const struct abbreviation_step *step =
                    &table->steps[abbreviation->first_step + i];
                const uint8_t *start = *at;

                if (!skip_step(layout, step, at, end))
                        return false;
                if (step->use == USE_NONE)
                        continue;
                has[step->use] = true;
                numbers[step->use] = value_of(step, start, *at);
        }
        *place = (struct entry_place){
            .has_range = has[USE_LOW] && has[USE_HIGH] != has[USE_SIZE],
            .low = numbers[USE_LOW],
            .high =
                has[USE_SIZE] ? numbers[USE_LOW] + numbers[USE_SIZE] : numbers[USE_HIGH],
            .ranges = numbers[USE_RANGES],
            .sibling = numbers[USE_SIBLING]};
        return abbreviation->valid;
}
