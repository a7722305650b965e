/* SPDX-License-Identifier: MIT */
/* Most attributes have a fixed size; those next to each other become one step. */
#include "abbreviation.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

enum step_kind { STEP_BYTES, STEP_LEB, STEP_BLOCK, STEP_TEXT, STEP_INDIRECT };

enum step_use { USE_NONE, USE_LOW, USE_HIGH, USE_SIZE, USE_RANGES, USE_SIBLING };

_Static_assert(USE_SIBLING + 1 == ABBREVIATION_USES, "a number for each");

static bool read_leb(const uint8_t **at, const uint8_t *end, uint64_t *value)
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

static bool skip_leb(const uint8_t **at, const uint8_t *end)
{
        while (*at < end)
                if (!(*(*at)++ & 0x80))
                        return true;
        return false;
}

static uint64_t read_number(const uint8_t *at, unsigned bytes, bool swapped)
{
        uint64_t value = 0;
        uint32_t word;

        if (bytes == sizeof(word) && !swapped) { /* mostly */
                memcpy(&word, at, sizeof(word));
                return word;
        }
        if (bytes == sizeof(value) && !swapped) {
                memcpy(&value, at, sizeof(value));
                return value;
        }
        for (unsigned i = 0; i < bytes; i++)
                value |= (uint64_t)at[i] << 8 * (swapped ? bytes - 1 - i : i);
        return value;
}

/* ---- the table ---- */

/* What an attribute of FORM takes (DWARF 5, sections 7.5.5 and 7.5.6, and the forms of
 * GNU). Of a block, BYTES is how long its length is; 0: a LEB128. False: unknown. */
static bool form_step(const struct unit_layout *layout, uint64_t form,
                      struct abbreviation_step *step)
{
        *step = (struct abbreviation_step){.kind = STEP_BYTES};
        switch (form) {
        case DW_FORM_flag_present:
        case DW_FORM_implicit_const:
                return true;
        case DW_FORM_data1:
        case DW_FORM_ref1:
        case DW_FORM_flag:
        case DW_FORM_strx1:
        case DW_FORM_addrx1:
                step->bytes = 1;
                return true;
        case DW_FORM_data2:
        case DW_FORM_ref2:
        case DW_FORM_strx2:
        case DW_FORM_addrx2:
                step->bytes = 2;
                return true;
        case DW_FORM_strx3:
        case DW_FORM_addrx3:
                step->bytes = 3;
                return true;
        case DW_FORM_data4:
        case DW_FORM_ref4:
        case DW_FORM_ref_sup4:
        case DW_FORM_strx4:
        case DW_FORM_addrx4:
                step->bytes = 4;
                return true;
        case DW_FORM_data8:
        case DW_FORM_ref8:
        case DW_FORM_ref_sup8:
        case DW_FORM_ref_sig8:
                step->bytes = 8;
                return true;
        case DW_FORM_data16:
                step->bytes = 16;
                return true;
        case DW_FORM_addr:
                step->bytes = layout->address_bytes;
                return true;
        case DW_FORM_ref_addr:
                step->bytes =
                    layout->version < 3 ? layout->address_bytes : layout->offset_bytes;
                return true;
        case DW_FORM_strp:
        case DW_FORM_line_strp:
        case DW_FORM_strp_sup:
        case DW_FORM_sec_offset:
        case DW_FORM_GNU_ref_alt:
        case DW_FORM_GNU_strp_alt:
                step->bytes = layout->offset_bytes;
                return true;
        case DW_FORM_sdata:
        case DW_FORM_udata:
        case DW_FORM_ref_udata:
        case DW_FORM_strx:
        case DW_FORM_addrx:
        case DW_FORM_loclistx:
        case DW_FORM_rnglistx:
        case DW_FORM_GNU_addr_index:
        case DW_FORM_GNU_str_index:
                step->kind = STEP_LEB;
                return true;
        case DW_FORM_string:
                step->kind = STEP_TEXT;
                return true;
        case DW_FORM_block1:
        case DW_FORM_block2:
        case DW_FORM_block4:
                step->bytes = form == DW_FORM_block1 ? 1 : form == DW_FORM_block2 ? 2 : 4;
                step->kind = STEP_BLOCK;
                return true;
        case DW_FORM_block:
        case DW_FORM_exprloc:
                step->kind = STEP_BLOCK;
                return true;
        case DW_FORM_indirect:
                step->kind = STEP_INDIRECT;
                return true;
        default:
                return false;
        }
}

static bool is_number(uint64_t form)
{
        return form == DW_FORM_data1 || form == DW_FORM_data2 || form == DW_FORM_data4 ||
               form == DW_FORM_data8 || form == DW_FORM_udata;
}

static enum step_use use_of(uint64_t attribute, uint64_t form)
{
        switch (attribute) {
        case DW_AT_low_pc:
                return form == DW_FORM_addr ? USE_LOW : USE_NONE;
        case DW_AT_high_pc:
                return form == DW_FORM_addr ? USE_HIGH
                       : is_number(form)    ? USE_SIZE
                                            : USE_NONE;
        case DW_AT_ranges:
                return form == DW_FORM_sec_offset ? USE_RANGES : USE_NONE;
        case DW_AT_sibling:
                return form == DW_FORM_ref1 || form == DW_FORM_ref2 ||
                               form == DW_FORM_ref4 || form == DW_FORM_ref8 ||
                               form == DW_FORM_ref_udata
                           ? USE_SIBLING
                           : USE_NONE;
        default:
                return USE_NONE;
        }
}

static int add_step(struct abbreviations *table, struct abbreviation *abbreviation,
                    const struct abbreviation_step *step)
{
        struct abbreviation_step *last =
            abbreviation->step_count > 0 ? &table->steps[table->step_count - 1] : NULL;

        if (step->kind == STEP_BYTES && step->use == USE_NONE &&
            (step->bytes == 0 || (last && last->kind == STEP_BYTES &&
                                  last->use == USE_NONE && last->bytes < INT32_MAX))) {
                if (step->bytes > 0)
                        last->bytes += step->bytes;
                return 0;
        }
        if (table->step_count >= UINT32_MAX ||
            array_reserve(&table->steps, &table->step_capacity, table->step_count,
                          sizeof(*table->steps)) < 0)
                return -ENOMEM;
        table->steps[table->step_count++] = *step;
        abbreviation->step_count++;
        return 0;
}

/* 1 when there is one more attribute, 0 at the end of the abbreviation, -EINVAL at the
 * end of the table's bytes. */
static int read_attribute(const uint8_t **at, const uint8_t *end, uint64_t *attribute,
                          uint64_t *form)
{
        if (!read_leb(at, end, attribute) || !read_leb(at, end, form))
                return -EINVAL;
        if (*form == DW_FORM_implicit_const && !skip_leb(at, end))
                return -EINVAL;
        return *attribute != 0 || *form != 0;
}

/* Puts the steps together where they can be. */
static void fix_size(const struct abbreviations *table, struct abbreviation *abbreviation)
{
        uint32_t bytes = 0;

        for (uint32_t i = 0; i < abbreviation->step_count; i++) {
                const struct abbreviation_step *step =
                    &table->steps[abbreviation->first_step + i];

                if (step->kind != STEP_BYTES || step->bytes > UINT16_MAX - bytes)
                        return;
                if (step->use != USE_NONE)
                        abbreviation->numbers[step->use] = (struct abbreviation_number){
                            (uint16_t)bytes, (uint8_t)step->bytes};
                bytes += step->bytes;
        }
        abbreviation->fixed_bytes = (uint16_t)bytes;
        abbreviation->fixed = abbreviation->valid;
}

/* Of an entry with children. In the declaration of a function, too, are its parameters
 * only: a flag of another form may say that it is none. */
static bool holds_no_code(uint64_t tag)
{
        switch (tag) {
        case DW_TAG_call_site:
        case DW_TAG_GNU_call_site:
        case DW_TAG_array_type:
        case DW_TAG_subroutine_type:
        case DW_TAG_GNU_template_parameter_pack:
        case DW_TAG_GNU_formal_parameter_pack:
                return true;
        default:
                return false;
        }
}

static int read_abbreviation(struct abbreviations *table,
                             const struct unit_layout *layout, uint64_t code,
                             const uint8_t **at, const uint8_t *end)
{
        struct abbreviation abbreviation = {
            .code = code, .first_step = (uint32_t)table->step_count, .valid = true};
        uint64_t tag, attribute, form;
        int more;

        if (!read_leb(at, end, &tag) || *at == end)
                return -EINVAL;
        abbreviation.tag = tag <= UINT16_MAX ? (uint32_t)tag : 0;
        abbreviation.has_children = *(*at)++ == DW_CHILDREN_yes;
        bool declares = false;

        while ((more = read_attribute(at, end, &attribute, &form)) > 0) {
                struct abbreviation_step step;

                abbreviation.valid &= form_step(layout, form, &step);
                abbreviation.has_code |=
                    attribute == DW_AT_low_pc || attribute == DW_AT_ranges;
                declares |=
                    attribute == DW_AT_declaration && form == DW_FORM_flag_present;
                step.use = use_of(attribute, form);
                if (add_step(table, &abbreviation, &step) < 0)
                        return -ENOMEM;
        }
        if (more < 0)
                return more;
        abbreviation.codeless = abbreviation.valid && !abbreviation.has_code &&
                                (!abbreviation.has_children || holds_no_code(tag) ||
                                 (tag == DW_TAG_subprogram && declares));
        fix_size(table, &abbreviation);
        if (array_reserve(&table->items, &table->capacity, table->count,
                          sizeof(*table->items)) < 0)
                return -ENOMEM;
        table->items[table->count++] = abbreviation;
        return 0;
}

static int compare_codes(const void *left, const void *right)
{
        const struct abbreviation *a = left, *b = right;

        if (a->code != b->code)
                return a->code < b->code ? -1 : 1;
        return a->first_step < b->first_step ? -1 : a->first_step > b->first_step;
}

int abbreviations_read(struct abbreviations *table, const struct unit_layout *layout,
                       const uint8_t *start, const uint8_t *end, size_t *read_bytes)
{
        const uint8_t *at = start;
        uint64_t code;
        int error = 0;

        *table = (struct abbreviations){0};
        while (!error && read_leb(&at, end, &code) && code != 0)
                error = read_abbreviation(table, layout, code, &at, end);
        *read_bytes = (size_t)(at - start);
        if (table->count > 1)
                qsort(table->items, table->count, sizeof(*table->items), compare_codes);
        return error == -ENOMEM ? error : 0;
}

void abbreviations_free(struct abbreviations *table)
{
        free(table->items);
        free(table->steps);
        *table = (struct abbreviations){0};
}

/* ---- entries ---- */

static const struct abbreviation *find(const struct abbreviations *table, uint64_t code)
{
        size_t low = 0, high = table->count;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (table->items[middle].code < code)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < table->count && table->items[low].code == code ? &table->items[low]
                                                                    : NULL;
}

/* As abbreviations_next(): quickly where the code is of one byte, as most are. */
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
                       skip_bytes(at, end,
                                  read_number(nul, step->bytes, layout->swapped));
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
               form_step(layout, length, &named) && named.kind != STEP_INDIRECT &&
               skip_step(layout, &named, at, end);
}

/* The value of a number that lies between START and END. */
static uint64_t value_of(const struct unit_layout *layout,
                         const struct abbreviation_step *step, const uint8_t *start,
                         const uint8_t *end)
{
        uint64_t value;

        if (step->kind == STEP_BYTES)
                return read_number(start, step->bytes, layout->swapped);
        return read_leb(&start, end, &value) ? value : 0;
}

/* What an entry says of its place, as it comes. */
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
static inline bool skip_fixed(const struct abbreviation *abbreviation,
                              const struct unit_layout *layout, const uint8_t **at,
                              const uint8_t *end, struct entry_place *place)
{
        struct said said;

        if (abbreviation->fixed_bytes > (uint64_t)(end - *at))
                return false;
        for (size_t i = USE_LOW; i < ABBREVIATION_USES; i++) {
                struct abbreviation_number number = abbreviation->numbers[i];

                said.has[i] = number.bytes > 0;
                said.numbers[i] = said.has[i] ? read_number(*at + number.at, number.bytes,
                                                            layout->swapped)
                                              : 0;
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
                return skip_fixed(abbreviation, layout, at, end, place);
        for (uint32_t i = 0; i < abbreviation->step_count; i++) {
                const struct abbreviation_step *step =
                    &table->steps[abbreviation->first_step + i];
                const uint8_t *start = *at;

                if (!skip_step(layout, step, at, end))
                        return false;
                if (step->use == USE_NONE)
                        continue;
                said.has[step->use] = true;
                said.numbers[step->use] = value_of(layout, step, start, *at);
        }
        take_said(&said, place);
        return abbreviation->valid;
}

/* ---- many entries ---- */

struct pass {
        const struct abbreviations *table;
        const struct unit_layout *layout;
        const uint8_t *start;
        const uint8_t *end;
};

/* Steps over the attributes of an entry, and to its sibling where it says where that is.
 * *INSIDE: the entry's children come next. False at the end of what can be read. */
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
                        sibling = read_number(*at + number.at, number.bytes,
                                              pass->layout->swapped);
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
                        sibling = value_of(pass->layout, step, value, *at);
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
