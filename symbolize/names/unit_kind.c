/* SPDX-License-Identifier: MIT */
#include "unit_kind.h"

#include <string.h>

/* Languages of DWARF that not every libdw names. */
enum {
        LANG_C_PLUS_PLUS_17 = 0x2a,
        LANG_C_PLUS_PLUS_20 = 0x2b,
        LANG_C_PLUS_PLUS_23 = 0x3a,
};

static bool is_gcc(const char *producer)
{
        return strncmp(producer, "GNU C", 5) == 0;
}

bool unit_classes_declare(struct dwarf_file *dwarf, Dwarf_Die *entries)
{
        const char *producer = die_string(dwarf, entries, DW_AT_producer);
        uint64_t language;

        if (!producer || !die_number(dwarf, entries, DW_AT_language, &language) ||
            (!is_gcc(producer) && !strstr(producer, "clang version")))
                return false;
        switch (language) {
        case DW_LANG_C89:
        case DW_LANG_C:
        case DW_LANG_C99:
        case DW_LANG_C11:
        case DW_LANG_C_plus_plus:
        case DW_LANG_C_plus_plus_03:
        case DW_LANG_C_plus_plus_11:
        case DW_LANG_C_plus_plus_14:
        case LANG_C_PLUS_PLUS_17:
        case LANG_C_PLUS_PLUS_20:
        case LANG_C_PLUS_PLUS_23:
                return true;
        default:
                return false;
        }
}

bool unit_is_cplusplus(struct dwarf_file *dwarf, Dwarf_Die *entries)
{
        uint64_t language;

        if (!die_number(dwarf, entries, DW_AT_language, &language))
                return false;
        switch (language) {
        case DW_LANG_C_plus_plus:
        case DW_LANG_C_plus_plus_03:
        case DW_LANG_C_plus_plus_11:
        case DW_LANG_C_plus_plus_14:
        case LANG_C_PLUS_PLUS_17:
        case LANG_C_PLUS_PLUS_20:
        case LANG_C_PLUS_PLUS_23:
        case DW_LANG_ObjC_plus_plus:
                return true;
        default:
                return false;
        }
}

bool unit_is_of_gcc(struct dwarf_file *dwarf, Dwarf_Die *entries)
{
        const char *producer = die_string(dwarf, entries, DW_AT_producer);

        return producer && is_gcc(producer);
}
