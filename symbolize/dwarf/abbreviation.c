/* SPDX-License-Identifier: MIT */
/* Most attributes have a fixed size; adjacent attributes of fixed size become one
 * step. */
#include "abbreviation.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "abbreviation_step.h"
#include "append.h"

bool abbreviation_step_of(const struct unit_layout *layout, uint64_t form,
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
            APPEND(table->steps, table->step_count, table->step_capacity, *step) < 0)
                return -ENOMEM;
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

        while ((more = read_attribute(at, end, &attribute, &form)) > 0) {
                struct abbreviation_step step;

                abbreviation.valid &= abbreviation_step_of(layout, form, &step);
                abbreviation.has_code |=
                    attribute == DW_AT_low_pc || attribute == DW_AT_ranges;
                step.use = use_of(attribute, form);
                if (add_step(table, &abbreviation, &step) < 0)
                        return -ENOMEM;
        }
        if (more < 0)
                return more;
        return PUSH(table, abbreviation);
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
